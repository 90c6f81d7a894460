//! Why there is nothing to tune. A candidate that fails is no error but a result.

use crate::runner::Failure;
use indexmap::IndexMap;
use miette::Diagnostic;

/// Why tuning could not be done.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Diagnostic)]
pub enum TuneError {
    /// No configuration meets the requirements.
    #[error("none of {product} configurations is valid{}: {}", if *.complete { "" } else { " among those looked at" }, counted(.excluded))]
    #[diagnostic(
        code("peak::nothing-valid"),
        help("widen the range of a tuning parameter, or relax the requirement that excludes most")
    )]
    NothingValid {
        /// Assignments in all.
        product: u128,
        /// Whether every one was looked at.
        complete: bool,
        /// How many each reason excluded.
        excluded: IndexMap<String, u128>,
    },
    /// No strategy of that name.
    #[error("there is no tuning strategy `{name}`; there are {}", .there.join(", "))]
    #[diagnostic(code("peak::unknown-strategy"))]
    UnknownStrategy {
        /// What was asked for.
        name: String,
        /// Every name.
        there: Vec<&'static str>,
    },
    /// The machine lacks something that every candidate needs.
    #[error("nothing can be measured here: {0}")]
    #[diagnostic(code("peak::environment"), help("{}", .0.facts.join("; ")))]
    Environment(Failure),
}

/// The reasons, the one that excluded most first.
fn counted(excluded: &IndexMap<String, u128>) -> String {
    let mut reasons: Vec<(&String, &u128)> = excluded.iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(a.1));
    let words: Vec<String> = reasons.iter().map(|(reason, count)| format!("{reason} excluded {count}")).collect();
    if words.is_empty() { "a tuning parameter has no values".to_owned() } else { words.join(", ") }
}
