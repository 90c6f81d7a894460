//! The region shrank to under a third, and no note says why.

use super::{AnswerFacts, Rejection};
use crate::edit::tokens::{Syntax, normalized};

pub const CODE: &str = "peak::answer-shrunk";

/// Regions of fewer tokens may shrink as they like.
const SMALL: usize = 60;

pub fn check(facts: &AnswerFacts<'_>) -> Option<Rejection> {
    let syntax = Syntax::of(facts.region);
    let (old, new) = (normalized(facts.old(), syntax).len(), normalized(facts.new, syntax).len());
    if old < SMALL || new * 3 >= old || facts.answer.notes.is_some() {
        return None;
    }
    let region = facts.region;
    facts.reject(CODE, format!("the {region} shrank from {old} tokens to {new}, and no `notes` block says why"))
}
