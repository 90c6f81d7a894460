//! Counts what was checked, by what, and what was skipped: the words of a verdict.

use super::plan::Check;
use crate::context::Configuration;
use crate::runner::{Failure, FailureClass};
use crate::validate::Verified;
use std::collections::BTreeSet;

pub(super) const BY_ORACLE: &str = "the oracle, every element";
pub(super) const BY_REFERENCE: &str = "the reference, every element";
pub(super) const BY_PRODUCT: &str = "Freivalds' check, every element";
pub(super) const BY_SAMPLES: &str = "the oracle, sampled elements";

/// What was checked so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    by: Vec<(&'static str, String)>,
    largest_error: f64,
    pub samples: usize,
    seeds: BTreeSet<u64>,
    skipped: Vec<String>,
    notes: Vec<String>,
}

impl Tally {
    pub fn count(&mut self, check: &Check, share: f64, by: &'static str) {
        self.samples += 1;
        self.largest_error = self.largest_error.max(share);
        self.seeds.insert(check.fill.seed);
        self.add(check, by);
    }

    pub fn add(&mut self, check: &Check, by: &'static str) {
        let size = size_of_check(check);
        if !self.by.iter().any(|(known, known_size)| *known == by && *known_size == size) {
            self.by.push((by, size));
        }
    }

    pub fn skip(&mut self, check: &Check, why: &str) {
        let words = format!("not at {}: {why}", size_of_check(check));
        if !self.skipped.contains(&words) {
            self.skipped.push(words);
        }
    }

    pub fn reject(&mut self, check: &Check, why: &str) {
        self.skipped.push(format!("check rejected at {}, {}: {why}", size_of_check(check), check.data()));
    }

    pub fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub fn nothing_checked(self, configuration: &Configuration) -> Failure {
        let words: Vec<String> = configuration.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let message = format!("nothing can be verified with {}: no check is left", words.join(", "));
        self.skipped.into_iter().fold(Failure::new(FailureClass::Results, message), Failure::with_fact)
    }

    pub fn verified(self) -> Verified {
        let mut by: Vec<String> = Vec::new();
        for kind in [BY_ORACLE, BY_REFERENCE, BY_PRODUCT, BY_SAMPLES] {
            let sizes: Vec<&str> =
                self.by.iter().filter(|(known, _)| *known == kind).map(|(_, size)| size.as_str()).collect();
            if !sizes.is_empty() {
                by.push(format!("{kind}: {}", sizes.join("; ")));
            }
        }
        let notes = self.skipped.into_iter().chain(self.notes).collect();
        Verified { by, largest_error: self.largest_error, samples: self.samples, seeds: self.seeds.len(), notes }
    }
}

/// `n = 64`, or `the only size` of a kernel without scalars.
fn size_of_check(check: &Check) -> String {
    let words: Vec<String> = check.inputs.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if words.is_empty() { "the only size".to_owned() } else { words.join(", ") }
}
