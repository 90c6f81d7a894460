//! Workflows: sequences of transformations, as one would tell them.

use super::{Origin, Values};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// `workflow NAME`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workflow {
    /// `kebab-case` name; several workflows may share one, the most specific wins.
    pub name: String,
    /// One line.
    pub title: Option<String>,
    /// `start from kernel NAME`.
    pub kernel: String,
    /// `target DEVICE`.
    pub target: Option<String>,
    /// `on BACKEND`.
    pub backend: Option<String>,
    /// `validate N samples`: configurations checked after each step.
    pub validate_samples: u32,
    /// `with sanitizer`, ...: validators beyond `outputs`.
    pub validators: Vec<String>,
    /// `tune up to N configurations after each step`.
    pub tune_budget: u32,
    /// `tune ... by random`; the runner's default where nothing is said.
    pub tune_strategy: Option<String>,
    /// `time at n = 512`: in place of the kernel's main values.
    pub time_at: IndexMap<String, Vec<i64>>,
    /// `on failure ...`.
    pub on_failure: OnFailure,
    /// In order.
    pub steps: Vec<WorkflowStep>,
    /// Where it was declared.
    pub origin: Origin,
}

/// What happens when an `apply` fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnFailure {
    /// Repairs a pass, at most.
    pub retries: u32,
    /// What then.
    pub then: FailurePolicy,
}

impl Default for OnFailure {
    fn default() -> Self {
        OnFailure { retries: 3, then: FailurePolicy::Stop }
    }
}

/// What happens when repairs are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailurePolicy {
    /// A person is asked.
    Ask,
    /// The workflow ends at the last checkpoint.
    Stop,
}

/// One step of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkflowStep {
    /// `apply NAME with PARAMETER in VALUES, setting = value`.
    Apply(Application),
    /// `try NAME or keep going`: a failure or a slow-down is no harm.
    Try(Application),
    /// `choose best of` and branches: one step a branch, or an indented `branch` of several.
    ChooseBest(Vec<Vec<WorkflowStep>>),
    /// `repeat at most N times until the gain is below P percent`.
    Repeat {
        /// At most.
        times: u32,
        /// Stops when a round gains less than this percentage.
        until_gain_below_percent: Option<f64>,
        /// What.
        body: Vec<WorkflowStep>,
    },
    /// `let the model choose from ...`.
    LetModelChoose(Vec<Application>),
    /// `search ... with beam 4, at most 60 model calls`.
    Search {
        /// Transformations to search over.
        from: Vec<Application>,
        /// `beam`, `mcts`, `evolve`.
        strategy: String,
        /// Its width.
        width: Option<u32>,
        /// Model calls at most.
        model_calls: Option<u32>,
    },
    /// `checkpoint "NAME"`.
    Checkpoint(String),
    /// `restore "NAME"`.
    Restore(String),
    /// `compare with LIBRARY`.
    CompareWith(String),
    /// `keep best`.
    KeepBest,
}

/// A transformation and how it is to be applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Application {
    /// The transformation.
    pub transformation: String,
    /// `with PARAMETER in VALUES`: narrower ranges.
    pub ranges: IndexMap<String, Values>,
    /// `with NAME = VALUE`: settings, as written.
    pub settings: IndexMap<String, super::SettingValue>,
    /// `with PARAMETER as OTHER`: names of needed tuning parameters mapped to the context's.
    pub renames: IndexMap<String, String>,
}
