//! What times and people decide in a run: whether a `try` is kept, which branch wins, whether `repeat` goes on, what is
//! best, what a person says to a failure. Plain data; kept in the journal, and beside recordings, so that a run can be
//! walked again the same way on another machine.

use crate::store::{Store, StoreError};
use serde::{Deserialize, Serialize};

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionKind {
    /// `try`: `kept` or `left`.
    Try,
    /// `choose best of`: the number of the branch, from 1.
    ChooseBest,
    /// After a round of `repeat`: `on`, `end`, or `undo`, which ends it too.
    Repeat,
    /// `keep best`: the hash of the best context.
    KeepBest,
    /// A person's answer to a failure: `retry`, `skip` or `stop`.
    Ask,
}

/// One decision, and where it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// What is decided.
    pub kind: DecisionKind,
    /// The transformation, or the construct's words.
    pub step: String,
    /// The hash of the context that the run stood at.
    pub context: String,
    /// As [`DecisionKind`] says.
    pub outcome: String,
}

impl Decision {
    /// Whether the other was made at the same place.
    pub(super) fn is_at(&self, other: &Decision) -> bool {
        (self.kind, &self.step, &self.context) == (other.kind, &other.step, &other.context)
    }
}

/// The decisions of a run, as a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decisions {
    /// The device that they were made on.
    pub device: String,
    /// In order.
    #[serde(default)]
    pub decision: Vec<Decision>,
}

impl Decisions {
    /// Where those of a workflow lie, below a folder of recordings.
    #[must_use]
    pub fn path(kernel: &str, backend: &str, workflow: &str) -> String {
        format!("{kernel}/{backend}/decisions/{workflow}.toml")
    }
}

/// The decisions of a run, in order.
///
/// # Errors
/// The store cannot be read.
pub fn decisions(store: &Store, run: i64) -> Result<Vec<Decision>, StoreError> {
    let entries = store.journal(run)?;
    // An entry of another version holds no decision that this one knows.
    let known = entries.iter().filter_map(|entry| serde_json::from_str::<super::past::Past>(&entry.value).ok());
    Ok(known.filter_map(super::past::Past::decision).collect())
}
