//! From a failure to the facts of the next request. Never a bare "try again".

use crate::provider::ParentAnswer;
use crate::runner::{Failure, FailureClass};
use serde_json::{Value, json};

/// Facts of a failure, at most this many go into a prompt.
const MAX_FACTS: usize = 12;

/// Bytes of one fact, at most.
const MAX_FACT_BYTES: usize = 2000;

/// Bytes of a failed answer, at most, that are shown again.
const MAX_SHOWN_BYTES: usize = 32 << 10;

/// What a repair tells the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// What failed.
    pub failure: Failure,
    /// The region's text as the failed answer had it, where it could be read.
    pub answer: Option<String>,
    /// The completion that failed, for the key.
    pub completion_sha256: String,
    /// What usually goes wrong; with the first repair of a pass.
    pub known_failures: Option<String>,
    /// The failure showed only after later passes, and the group starts again with this pass.
    pub restarts_group: bool,
}

impl Repair {
    /// What of it counts for the key of a recording.
    #[must_use]
    pub fn parent(&self) -> ParentAnswer {
        let class = self.failure.class.name();
        let class = if self.restarts_group { format!("group-{class}") } else { class.to_owned() };
        ParentAnswer { completion_sha256: self.completion_sha256.clone(), class }
    }

    pub(super) fn values(&self) -> Value {
        json!({
            "what": what(self.failure.class),
            "message": clip(&self.failure.message),
            "facts": self.failure.facts.iter().take(MAX_FACTS).map(|fact| clip(fact)).collect::<Vec<_>>(),
            "answer": self.answer.as_ref().filter(|answer| answer.len() <= MAX_SHOWN_BYTES),
            "known_failures": self.known_failures,
            "restarts_group": self.restarts_group,
        })
    }
}

fn what(class: FailureClass) -> &'static str {
    match class {
        FailureClass::Apply => "could not be applied",
        FailureClass::Compile => "was applied and does not compile",
        FailureClass::Launch => "compiles, and the device refuses to launch it",
        FailureClass::Results => "compiles and runs, and gives wrong results",
        FailureClass::Sanitizer => "compiles and runs, and a checker stopped it for a defect",
        FailureClass::Timeout => "compiles, and did not finish in time",
        FailureClass::Crash => "compiles, and crashed the device",
        FailureClass::Provider => "did not arrive",
    }
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(MAX_FACT_BYTES) {
        Some((end, _)) => format!("{} [cut]", &text[..end]),
        None => text.to_owned(),
    }
}
