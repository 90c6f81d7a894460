//! What the journal of a run holds of its past: enough to stand where the run stood, without doing anything again.

use super::decision::Decision;
use super::line::SizeResult;
use super::retold::Retold;
use super::row::{Row, Verdict};
use crate::runner::Failure;
use serde::{Deserialize, Serialize};

/// One entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Past {
    /// A step that was applied, measured and judged; its context is the checkpoint's.
    Step {
        rows: Vec<Row>,
        sizes: Vec<SizeResult>,
        verdict: Verdict,
        /// Whether it was kept, where that was a decision.
        decision: Option<Decision>,
    },
    /// A step without a valid attempt.
    Failed { rows: Vec<Row>, failure: Failure, told: Option<Retold> },
    /// A decision outside of a step.
    Decision(Decision),
}

impl Past {
    /// The word in the store.
    pub fn kind(&self) -> &'static str {
        match self {
            Past::Step { .. } => "step",
            Past::Failed { .. } => "failed",
            Past::Decision(_) => "decision",
        }
    }

    /// The decision that it holds.
    pub fn decision(self) -> Option<Decision> {
        match self {
            Past::Step { decision, .. } => decision,
            Past::Decision(decision) => Some(decision),
            Past::Failed { .. } => None,
        }
    }
}
