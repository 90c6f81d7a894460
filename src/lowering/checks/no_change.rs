//! The answer is the region as it was, comments and white space aside.

use super::{AnswerFacts, Rejection};
use crate::edit::tokens::{Syntax, normalized};

pub const CODE: &str = "peak::answer-no-change";

pub fn check(facts: &AnswerFacts<'_>) -> Option<Rejection> {
    let syntax = Syntax::of(facts.region);
    match normalized(facts.old(), syntax) == normalized(facts.new, syntax) {
        true => facts.reject(CODE, format!("the {} is the same as before", facts.region)),
        false => None,
    }
}
