//! Why there is nothing to tune. A candidate that fails is no error but a result.

use super::space::Explanation;
use crate::runner::Failure;
use miette::Diagnostic;

/// Why tuning could not be done.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Diagnostic)]
pub enum TuneError {
    /// No configuration meets the requirements.
    #[error("none of {product} configurations is valid: {}", words(.why))]
    #[diagnostic(code("peak::nothing-valid"), help("{}", help(.why)))]
    NothingValid {
        /// Assignments in all.
        product: u128,
        /// What each reason excludes alone, and which cannot be met together.
        why: Explanation,
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

/// What each reason excludes alone, the most first.
fn words(why: &Explanation) -> String {
    let words: Vec<String> = why.alone.iter().map(|(reason, count)| format!("{reason} excludes {count}")).collect();
    if words.is_empty() { "a tuning parameter has no values".to_owned() } else { words.join(", ") }
}

fn help(why: &Explanation) -> String {
    match why.conflict.as_slice() {
        [] => "widen the range of a tuning parameter, or relax the requirement that excludes most".to_owned(),
        [one] => format!("nothing meets this alone: {one}; relax it, or widen the ranges that it reads"),
        many => format!(
            "these cannot be met together, and without any one of them something is left: {}; relax one, or widen a range that it reads",
            many.join("; ")
        ),
    }
}
