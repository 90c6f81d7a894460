//! Natural transformations and utilities.

use super::{Computes, Expr, Origin, Prose, Region, Requirement, Snippet, Target, TuningParameter};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::fmt;

/// `utility NAME`: hand-written code to insert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Utility {
    /// `kebab-case` name.
    pub name: String,
    /// One line.
    pub title: Option<String>,
    /// Names of its macro parameters, for readers.
    pub takes: Vec<String>,
    /// Code by backend.
    pub code: IndexMap<String, String>,
    /// Where it was declared.
    pub origin: Origin,
}

/// `transformation NAME`: a named sequence of passes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transformation {
    /// `kebab-case` name.
    pub name: String,
    /// One line.
    pub title: Option<String>,
    /// `for kernels ...`.
    pub kernels: KernelSelector,
    /// `on cuda, hip, hlsl`; empty means every backend.
    pub on: Vec<String>,
    /// `needs tuning NAME, ...`: parameters that must be there already.
    pub needs_tuning: Vec<String>,
    /// `needs let NAME, ...`: launch-plan names that must be there already.
    pub needs_lets: Vec<String>,
    /// Transformations that must have been applied before.
    pub after: Vec<String>,
    /// Transformations that must not have been applied before.
    pub conflicts_with: Vec<String>,
    /// Why it helps.
    pub because: Prose,
    /// Settings: `takes NAME: TYPE = DEFAULT`.
    pub settings: Vec<Setting>,
    /// Tuning parameters that it introduces.
    pub introduces: Vec<TuningParameter>,
    /// Requirements that it adds.
    pub requires: Vec<Requirement>,
    /// Counters or resources, checked after applying, as warnings.
    pub expects: Vec<Expectation>,
    /// In order.
    pub passes: Vec<Pass>,
    /// What usually goes wrong: goes to the model with the first repair.
    pub known_failures: Prose,
    /// Where it was declared.
    pub origin: Origin,
}

/// Which kernels a transformation is for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelSelector {
    /// No `for` clause.
    Any,
    /// `for kernels NAME, ...`.
    Named(Vec<String>),
    /// `for kernels computing PATTERN`: names in it that are no function bind to the kernel's own.
    Computing(Computes),
}

/// `takes NAME: TYPE = DEFAULT`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// `snake_case` name.
    pub name: String,
    /// What it may hold, and its default.
    pub default: SettingValue,
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingValue {
    /// `int`.
    Integer(i64),
    /// `bool`: `yes` or `no`.
    Flag(bool),
    /// `text`.
    Text(String),
}

/// `expects COUNTER to fall|rise by at least N times`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// A counter's or resource's stable name.
    pub counter: String,
    /// Falls rather than rises.
    pub falls: bool,
    /// At least this many times, above 1.
    pub factor: f64,
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = if self.falls { "fall" } else { "rise" };
        write!(f, "{} to {way} by at least {} times", self.counter, self.factor)
    }
}

/// One step of a transformation; it yields a new kernel context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// `kebab-case` name, unique in the transformation.
    pub name: String,
    /// One line.
    pub title: Option<String>,
    /// What is done, in order. All prose of one region is one request.
    pub steps: Vec<Step>,
    /// What may be broken when it ends.
    pub effect: Effect,
    /// Lines of `checks`.
    pub checks: Vec<Check>,
    /// `replace requirement NAME: ...`.
    pub replaces: Vec<Requirement>,
    /// `retire PARAMETER`.
    pub retires: Vec<String>,
    /// Where it was declared (a pack may replace a pass).
    pub origin: Origin,
}

/// What may be broken when a pass ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The default: validated after the pass.
    #[default]
    KeepsResults,
    /// Must parse and compile; nothing runs until the group closes.
    MayBreakResults,
    /// Need not compile until the group closes.
    MayBreakBuild,
}

/// Something done to one region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Where.
    pub region: Region,
    /// `in REGION for BACKEND, ...`: only there; empty means every backend.
    pub on: Vec<String>,
    /// What.
    pub action: Action,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Words for a model.
    Prose(Prose),
    /// `insert UTILITY` or `insert` with a fenced block.
    Insert {
        /// What is inserted.
        what: Insertion,
        /// Where.
        place: Place,
    },
    /// `` rewrite `PATTERN` to `PATTERN` ``: structural, over the syntax tree.
    Rewrite {
        /// What is looked for.
        target: Target,
        /// What takes its place; `None` is `to nothing`.
        replacement: Option<Snippet>,
    },
    /// `` rename `OLD` to `NEW` ``: an identifier, wherever it means the same.
    Rename {
        /// The identifier.
        from: String,
        /// Its new name.
        to: String,
    },
    /// `set grid|block|shared|LET to EXPR, ...`; host code only.
    Set {
        /// Which clause.
        target: SetTarget,
        /// One expression, or one for each of x, y, z.
        to: Vec<Expr>,
    },
}

/// What `insert` inserts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Insertion {
    /// A utility, by name.
    Utility(String),
    /// A fenced block's text.
    Code(String),
}

/// Where `insert` inserts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// `at the top`, the default.
    Top,
    /// `at the end`.
    End,
    /// ``before `PATTERN` ``.
    Before(Target),
    /// ``after `PATTERN` ``.
    After(Target),
}

/// What `set` changes in the launch plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetTarget {
    /// The grid of every launch.
    Grid,
    /// The block of every launch.
    Block,
    /// The dynamic shared memory of every launch, in bytes.
    Shared,
    /// A `let`.
    Let(String),
}

/// A line of `checks`: what the region's text must show after the pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// `REGION mentions NAME`.
    Mentions {
        /// Where.
        region: Region,
        /// An identifier, or the text of a backticked piece of code.
        name: String,
    },
    /// `REGION does not mention NAME`.
    Lacks {
        /// Where.
        region: Region,
        /// An identifier, or the text of a backticked piece of code.
        name: String,
    },
    /// `REGION has N nested loops`: at least that deep somewhere.
    NestedLoops {
        /// Where.
        region: Region,
        /// Depth.
        depth: u32,
    },
    /// `REGION has N barriers`: at least.
    Barriers {
        /// Where.
        region: Region,
        /// How many.
        count: u32,
    },
}
