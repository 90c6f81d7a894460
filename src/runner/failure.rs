//! How a candidate fails. A failure is data: it feeds repair, counts and tables.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The class of a failure, as in reports and `--json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The answer could not be applied: a check before compiling.
    Apply,
    /// The compiler rejects it, or it does not fit its launch.
    Compile,
    /// The device refuses the launch.
    Launch,
    /// Outputs are wrong.
    Results,
    /// A checker found a race, a bad access, an uninitialized read.
    Sanitizer,
    /// Not done by its deadline.
    Timeout,
    /// The worker or the device died.
    Crash,
    /// No answer came from the provider.
    Provider,
}

impl FailureClass {
    /// The name in tables and `--json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            FailureClass::Apply => "apply",
            FailureClass::Compile => "compile",
            FailureClass::Launch => "launch",
            FailureClass::Results => "results",
            FailureClass::Sanitizer => "sanitizer",
            FailureClass::Timeout => "timeout",
            FailureClass::Crash => "crash",
            FailureClass::Provider => "provider",
        }
    }
}

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A failure with its facts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct Failure {
    /// Its class.
    pub class: FailureClass,
    /// One line.
    pub message: String,
    /// Facts for a repair, in order: messages with their source lines, the pattern of a wrong result, ...
    pub facts: Vec<String>,
}

impl Failure {
    /// A failure without further facts.
    #[must_use]
    pub fn new(class: FailureClass, message: impl Into<String>) -> Failure {
        Failure { class, message: message.into(), facts: Vec::new() }
    }

    /// The failure with one more fact.
    #[must_use]
    pub fn with_fact(mut self, fact: impl Into<String>) -> Failure {
        self.facts.push(fact.into());
        self
    }
}
