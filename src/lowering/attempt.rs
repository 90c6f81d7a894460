//! What is kept of every request: the answer, its class, and why it failed.

use crate::provider::Usage;
use crate::runner::FailureClass;
use peak_grammar::ir::Region;
use serde::{Deserialize, Serialize};

/// One request and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The pass.
    pub pass: String,
    /// The region.
    pub region: Region,
    /// 0 for the first request of this region in this pass, then counting.
    pub attempt: u32,
    /// SHA-256 of the prompt, in hex.
    pub prompt_sha256: String,
    /// The key that recordings go by.
    pub key: String,
    /// What the model answered; `None` where no answer came.
    pub completion: Option<String>,
    /// The model, where it is known.
    pub model: Option<String>,
    /// `None` for an answer that stands.
    pub class: Option<FailureClass>,
    /// The stable code of the check that rejects it, where it was a check.
    pub code: Option<String>,
    /// Why it failed, in one line.
    pub message: Option<String>,
    /// What the answer took, where its provider says.
    pub usage: Option<Usage>,
    /// What more is known of the failure: what a repair is told.
    pub facts: Vec<String>,
}

impl Attempt {
    /// Whether the answer stands.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.class.is_none()
    }
}
