//! Clauses of `transformation`, its passes and their steps.

use super::{Assignment, Expression, ValueSet};
use crate::ir::{Check, Effect, Region, SettingValue, Side, Which};
use crate::syntax::{Name, Prose, Span, Spanned};
use serde::Serialize;

/// A clause of `transformation`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TransformationClause {
    /// `for kernels NAME, ...`.
    ForKernels(Vec<Name>),
    /// `for kernels computing PATTERN`.
    Computing(Vec<Assignment>),
    /// `on LANGUAGE, ...`.
    On(Vec<Name>),
    /// `needs tuning NAME, ...`.
    NeedsTuning(Vec<Name>),
    /// `needs let NAME, ...`.
    NeedsLet(Vec<Name>),
    /// `after NAME, ...`.
    After(Vec<Name>),
    /// `conflicts with NAME, ...`.
    ConflictsWith(Vec<Name>),
    /// `because` and prose.
    Because(Prose),
    /// `takes NAME: TYPE = DEFAULT`.
    Takes(Setting),
    /// `introduces NAME in ...`.
    Introduces(Introduced),
    /// `requires [NAME:] CONDITION`.
    Requires(Requirement),
    /// `expects COUNTER to fall|rise by at least N times`.
    Expects {
        /// The counter.
        counter: Name,
        /// Whether it falls.
        falls: bool,
        /// By how much.
        factor: Spanned<f64>,
    },
    /// `pass NAME`.
    Pass(Pass),
    /// `known failures` and prose.
    KnownFailures(Prose),
}

/// `NAME in VALUES [start at N]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Introduced {
    /// The tuning parameter.
    pub name: Name,
    /// What it may be.
    pub values: ValueSet,
    /// Where the search starts.
    pub start: Option<Spanned<i64>>,
}

/// `[NAME:] CONDITION`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Requirement {
    /// Its name.
    pub name: Option<Name>,
    /// What must hold.
    pub condition: Expression,
}

/// `NAME: TYPE = VALUE`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// Its name.
    pub name: Name,
    /// `int`, `bool`, `text`, if it is said.
    pub kind: Option<Name>,
    /// The default.
    pub value: Spanned<SettingValue>,
}

/// `pass NAME "title"`, or `replace pass NAME`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pass {
    /// Its name.
    pub name: Name,
    /// Its title.
    pub title: Option<String>,
    /// From the head to the last line.
    pub span: Span,
    /// The clauses.
    pub clauses: Vec<Spanned<PassClause>>,
}

/// A clause of `pass`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PassClause {
    /// `in REGION [for LANGUAGE, ...]`.
    In {
        /// The region.
        region: Region,
        /// Empty: for all.
        languages: Vec<Name>,
        /// Words or steps.
        content: RegionContent,
    },
    /// `keeps results`, `may break results`, `may break the build`.
    Effect(Effect),
    /// `checks`.
    Checks(Vec<Spanned<Check>>),
    /// `replace requirement NAME: CONDITION`.
    ReplaceRequirement(Name, Expression),
    /// `retire NAME, ...`.
    Retire(Vec<Name>),
}

/// What stands below `in REGION`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RegionContent {
    /// Words for a model.
    Prose(Prose),
    /// Steps for the compiler.
    Steps(Vec<Spanned<RegionStep>>),
}

/// A step that needs no model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RegionStep {
    /// `insert UTILITY [PLACE]`.
    InsertUtility(Name, Place),
    /// `insert [PLACE]` and a fence.
    InsertCode(String, Place),
    /// `` rewrite `PATTERN` to `PATTERN` ``, or `to nothing`.
    Rewrite(Target, Option<Spanned<String>>),
    /// `` rename `OLD` to `NEW` ``.
    Rename(String, String),
    /// `set NAME to EXPR, ...`.
    Set(Name, Vec<Expression>),
}

/// Where `insert` inserts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// `at the top`, and where nothing is said.
    Top,
    /// `at the end`.
    End,
    /// ``before `PATTERN` ``.
    Before(Target),
    /// ``after `PATTERN` ``.
    After(Target),
}

/// The code that a step looks for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Target {
    /// The pattern.
    pub pattern: Spanned<String>,
    /// Which of its matches, if it is said.
    pub which: Option<Which>,
    /// `innermost`.
    pub innermost: bool,
    /// ``before|after|inside `ANCHOR` ``.
    pub within: Option<(Side, Spanned<String>)>,
    /// `if any`.
    pub if_any: bool,
}
