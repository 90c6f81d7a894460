//! Clauses of `kernel`.

use super::{Assignment, Expression, Introduced, PlanStatement, Requirement, ValueSet};
use crate::ir::{Code, Direction, Initializer, Region, Tolerance};
use crate::syntax::{Name, Span, Spanned};
use serde::Serialize;

/// A clause of `kernel`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelClause {
    /// `computes ...`.
    Computes(Vec<Assignment>),
    /// `element T, accumulate T`.
    Elements {
        /// `element`.
        element: Option<Name>,
        /// `accumulate`.
        accumulate: Option<Name>,
    },
    /// `input`, `output`, `inout`.
    Argument {
        /// Which way the data goes.
        direction: Direction,
        /// Its name.
        name: Name,
        /// Its type.
        kind: ArgumentForm,
    },
    /// `tolerance ...`.
    Tolerance(Tolerance),
    /// `tune NAME in ...`.
    Tune(Introduced),
    /// `require [NAME:] CONDITION`.
    Require(Requirement),
    /// `device code for ...`, `macros for ...`.
    Source {
        /// Which region.
        region: Region,
        /// The languages.
        languages: Vec<Name>,
        /// Where the text is.
        code: Code,
    },
    /// `host code`.
    HostCode(HostCode),
}

/// The type of an argument.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentForm {
    /// `int in VALUES; checked at VALUES`.
    Scalar {
        /// The type.
        element: Name,
        /// For timing.
        values: ValueSet,
        /// For validation.
        checked: Option<ValueSet>,
    },
    /// `array[SHAPE] of T, INITIALIZER`.
    Array(ArrayType, Option<Initializer>),
}

/// `array[SHAPE] of T`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArrayType {
    /// Extents.
    pub shape: Vec<Expression>,
    /// The element type.
    pub element: Name,
}

/// `host code` and its statements.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostCode {
    /// The lines as written, dedented.
    pub text: String,
    /// Where they are.
    pub span: Span,
    /// The statements.
    pub statements: Vec<Spanned<PlanStatement>>,
}
