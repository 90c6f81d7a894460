//! Clauses of `workflow` and its steps.

use super::ValueSet;
use crate::ir::{OnFailure, SettingValue};
use crate::syntax::{Name, Spanned};
use serde::Serialize;

/// A clause of `workflow`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkflowClause {
    /// `start from kernel NAME`.
    StartFrom(Name),
    /// `target DEVICE`.
    Target(Name),
    /// `on LANGUAGE`.
    On(Name),
    /// `on failure ...`.
    OnFailure(OnFailure),
    /// `validate N samples, with VALIDATOR, ...`.
    Validate(u32, Vec<Name>),
    /// `tune up to N configurations after each step [by STRATEGY]`.
    Tune(u32, Option<Name>),
    /// `time at NAME = VALUES; ...`.
    TimeAt(Vec<(Name, ValueSet)>),
    /// A step.
    Step(WorkflowStep),
}

/// A step of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkflowStep {
    /// `apply ...`.
    Apply(Application),
    /// `try ... [or keep going]`.
    Try(Application),
    /// `choose best of` and branches.
    ChooseBest(Vec<Vec<WorkflowStep>>),
    /// `repeat at most N times [until the gain is below P percent]`.
    Repeat {
        /// At most.
        times: u32,
        /// In percent.
        until_gain_below: Option<f64>,
        /// What.
        body: Vec<WorkflowStep>,
    },
    /// `let the model choose from ...`.
    LetModelChoose(Vec<Application>),
    /// `search ... with STRATEGY [WIDTH][, at most N model calls]`.
    Search {
        /// Over what.
        from: Vec<Application>,
        /// How.
        strategy: String,
        /// How wide.
        width: Option<u32>,
        /// At most.
        model_calls: Option<u32>,
    },
    /// `checkpoint "NAME"`.
    Checkpoint(String),
    /// `restore "NAME"`.
    Restore(Spanned<String>),
    /// `compare with NAME`.
    CompareWith(Name),
    /// `keep best`.
    KeepBest,
}

/// `NAME [with ADJUSTMENT, ...]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Application {
    /// The transformation.
    pub transformation: Name,
    /// What is adjusted.
    pub adjustments: Vec<Adjustment>,
}

/// One adjustment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Adjustment {
    /// `PARAMETER in VALUES`.
    Narrow(Name, ValueSet),
    /// `NAME = VALUE`.
    Give(Name, SettingValue),
    /// `PARAMETER as OTHER`.
    Rename(Name, Name),
}
