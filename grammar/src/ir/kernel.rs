//! Kernels: what is computed, on which arguments, with which code.

use super::{Computes, Expr, LaunchPlan, Origin, Region, Requirement, TuningParameter};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::fmt;

/// `kernel NAME`: all that is needed to run and judge a kernel before any transformation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// `kebab-case` name.
    pub name: String,
    /// One line.
    pub title: Option<String>,
    /// The oracle, if the kernel states what it computes.
    pub computes: Option<Computes>,
    /// `element f32`: the type behind `ELEMENT`.
    pub element: ElementType,
    /// `accumulate f32`: the type behind `ACCUMULATOR`; the element's where nothing is said.
    pub accumulator: ElementType,
    /// Inputs and outputs, in the order of the file.
    pub arguments: Vec<Argument>,
    /// How outputs are compared.
    pub tolerance: Tolerance,
    /// The kernel's own tuning parameters.
    pub tuning: Vec<TuningParameter>,
    /// The kernel's own requirements.
    pub requirements: Vec<Requirement>,
    /// Source files or blocks, by backend and region (device code, macros).
    pub code: IndexMap<String, IndexMap<Region, Code>>,
    /// The host region: text (as the launch plan's own syntax, no indentation of the file's) and its parsed form.
    pub host_code: String,
    /// The parsed host region.
    pub launch: LaunchPlan,
    /// Where it was declared.
    pub origin: Origin,
}

/// Source text that a kernel brings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// `from "FILE"`, relative to the declaring file.
    File(String),
    /// A fenced block.
    Inline(String),
}

/// An input or output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    /// Its name in the kernel's source.
    pub name: String,
    /// Which way the data goes.
    pub direction: Direction,
    /// Scalar or array.
    pub kind: ArgumentKind,
}

/// Which way an argument's data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Read only.
    Input,
    /// Written only; poisoned before every run.
    Output,
    /// `inout`: read and written; refreshed before every run.
    InOut,
}

/// What an argument is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentKind {
    /// A number, the same for the whole launch.
    Scalar {
        /// Its type in the kernel's source.
        element: ElementType,
        /// Every allowed value, for timing.
        values: Vec<i64>,
        /// `checked at`: the small values used for validation; `values` where nothing is said.
        checked: Vec<i64>,
    },
    /// A dense row-major array; shape in elements, outermost first.
    Array {
        /// Extents.
        shape: Vec<Expr>,
        /// Element type.
        element: ElementType,
        /// What it holds before a run (`Zeros` for outputs, which are poisoned anyway).
        initializer: Initializer,
    },
}

/// What an input array holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Initializer {
    /// All zero.
    Zeros,
    /// All one.
    Ones,
    /// `random uniform LOW to HIGH`: independent, half open. Integers are whole numbers in the bounds.
    Uniform {
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// `random normal`: mean 0, deviation 1.
    Normal,
}

/// Element types, with their width in bytes as [`ElementType::bytes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is the type of its name")]
pub enum ElementType {
    F16,
    Bf16,
    F32,
    F64,
    I8,
    U8,
    I32,
    U32,
    I64,
    U64,
}

impl ElementType {
    /// Every type, in the order of the reference.
    pub const ALL: [ElementType; 10] = [
        ElementType::F16,
        ElementType::Bf16,
        ElementType::F32,
        ElementType::F64,
        ElementType::I8,
        ElementType::U8,
        ElementType::I32,
        ElementType::U32,
        ElementType::I64,
        ElementType::U64,
    ];

    /// Bytes an element.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            ElementType::I8 | ElementType::U8 => 1,
            ElementType::F16 | ElementType::Bf16 => 2,
            ElementType::F32 | ElementType::I32 | ElementType::U32 => 4,
            ElementType::F64 | ElementType::I64 | ElementType::U64 => 8,
        }
    }

    /// Whether it is a floating-point type.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, ElementType::F16 | ElementType::Bf16 | ElementType::F32 | ElementType::F64)
    }

    /// Distance from one to the next larger number: 2^-10, 2^-7, 2^-23, 2^-52; zero for integers.
    #[must_use]
    pub fn epsilon(self) -> f64 {
        match self {
            ElementType::F16 => 2f64.powi(-10),
            ElementType::Bf16 => 2f64.powi(-7),
            ElementType::F32 => 2f64.powi(-23),
            ElementType::F64 => 2f64.powi(-52),
            _ => 0.0,
        }
    }

    /// The spelling in the language: `f32`, `bf16`; `int` and `uint` are read as `i32` and `u32`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ElementType::F16 => "f16",
            ElementType::Bf16 => "bf16",
            ElementType::F32 => "f32",
            ElementType::F64 => "f64",
            ElementType::I8 => "i8",
            ElementType::U8 => "u8",
            ElementType::I32 => "i32",
            ElementType::U32 => "u32",
            ElementType::I64 => "i64",
            ElementType::U64 => "u64",
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How far an output may lie from its reference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tolerance {
    /// `relative to the sum's length`: from element type, accumulator type and the length of the longest sum.
    SumLength,
    /// `relative X`: to the output's scale.
    Relative(f64),
    /// `absolute X`.
    Absolute(f64),
    /// `exact`: bit for bit.
    Exact,
}
