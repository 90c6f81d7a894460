//! Files and declarations; devices, packs and utilities.

use super::{Introduced, KernelClause, Pass, Requirement, Setting, TransformationClause, ValueSet, WorkflowClause};
use crate::syntax::{Name, Prose, Span, Spanned};
use serde::Serialize;

/// A file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct File {
    /// Its name as it was given.
    pub name: String,
    /// `use "path"`: what the caller is to load beside it, relative to this file.
    pub uses: Vec<Spanned<String>>,
    /// In order.
    pub declarations: Vec<Declaration>,
    /// Clauses that could not be read; each has its diagnostic.
    pub unread: Vec<Spanned<String>>,
}

/// `KIND NAME "title"`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Header {
    /// The name.
    pub name: Name,
    /// The one-line title.
    pub title: Option<String>,
    /// The whole declaration, from its head to its last line.
    pub span: Span,
}

/// A top-level declaration.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Declaration {
    /// `kernel`.
    Kernel(Block<KernelClause>),
    /// `utility`.
    Utility(Block<UtilityClause>),
    /// `transformation`.
    Transformation(Block<TransformationClause>),
    /// `device`.
    Device(Block<DeviceClause>),
    /// `pack`.
    Pack(Block<PackClause>),
    /// `workflow`.
    Workflow(Block<WorkflowClause>),
    /// `build`.
    Build(Block<BuildClause>),
}

/// A declaration's head and its clauses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Block<C> {
    /// The head.
    pub header: Header,
    /// The clauses, in order.
    pub clauses: Vec<Spanned<C>>,
}

/// A clause of `utility`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UtilityClause {
    /// `takes NAME, ...`.
    Takes(Vec<Name>),
    /// `code for LANGUAGE, ...` and a fence.
    Code {
        /// The languages.
        languages: Vec<Name>,
        /// The fence's text.
        code: String,
    },
}

/// A clause of `device`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceClause {
    /// `speaks LANGUAGE TARGET ..., ...`: language first.
    Speaks(Vec<Vec<Name>>),
    /// `matches "NAME", ...`.
    Matches(Vec<Spanned<String>>),
    /// `has [for LANGUAGE, ...] NAME = VALUE, ...`, in bytes where a unit was given.
    Has {
        /// Empty: for all.
        languages: Vec<Name>,
        /// The facts.
        facts: Vec<(Name, i64)>,
    },
    /// `peaks at RATE, ...`.
    Peaks(Vec<PeakRate>),
    /// `knows` and prose.
    Knows(Prose),
}

/// `66.9 TFLOPS f32 [on tensor cores]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeakRate {
    /// Units per second, or none where the unit is unknown.
    pub value: f64,
    /// Whether bytes rather than FLOP are counted.
    pub bytes: bool,
    /// An element type, or `memory`.
    pub of: Name,
    /// `tensor cores`.
    pub unit: Option<String>,
}

/// A clause of `build`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BuildClause {
    /// `kernels NAME, ...`.
    Kernels(Vec<Name>),
    /// `sizes INPUT in VALUES; ...`.
    Sizes(Vec<(Name, ValueSet)>),
    /// `for devices NAME, ...`.
    Devices(Vec<Name>),
    /// `using workflow NAME`.
    Using(Name),
    /// `output "FOLDER"`.
    Output(Spanned<String>),
}

/// A clause of `pack`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PackClause {
    /// `for devices NAME, ...`.
    Devices(Vec<Name>),
    /// `extends PACK`.
    Extends(Name),
    /// `has [for LANGUAGE, ...] NAME = VALUE, ...`, as a device's.
    Has {
        /// Empty: for all.
        languages: Vec<Name>,
        /// The facts.
        facts: Vec<(Name, i64)>,
    },
    /// `knows` and prose.
    Knows(Prose),
    /// `specialize TRANSFORMATION` and clauses.
    Specialize {
        /// The transformation.
        transformation: Name,
        /// The clauses.
        clauses: Vec<Spanned<SpecializeClause>>,
    },
    /// A transformation of the pack's own.
    Transformation(Block<TransformationClause>),
    /// A workflow of the pack's own.
    Workflow(Block<WorkflowClause>),
}

/// A clause of `specialize`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpecializeClause {
    /// `replace pass NAME` and its clauses.
    ReplacePass(Pass),
    /// `introduces PARAMETER in ...`.
    Introduces(Introduced),
    /// `requires [NAME:] CONDITION`.
    Requires(Requirement),
    /// `takes NAME = VALUE`.
    Takes(Setting),
    /// `knows` and prose.
    Knows(Prose),
}
