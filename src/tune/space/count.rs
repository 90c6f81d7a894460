//! A space as components: how many configurations are valid, some of them at random, and why there are none.

use super::clause::Clause;
use super::component::{Component, Count, Domains, components};
use crate::tune::Rng;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A space, split and counted.
#[derive(Debug)]
pub struct Counted {
    components: Vec<Component>,
    /// Whether every clause that reads no parameter holds.
    possible: bool,
}

impl Counted {
    /// Counts the assignments of `domains` that meet every clause.
    pub fn new(domains: &Domains, clauses: &[Arc<Clause>]) -> Counted {
        let fixed = clauses.iter().filter(|clause| clause.places.is_empty());
        let possible = fixed.clone().all(|clause| clause.is_met(&[]));
        let components = if possible { components(domains, clauses) } else { Vec::new() };
        Counted { components, possible }
    }

    /// How many there are: the product over the components. One that is empty makes the whole exactly so.
    pub fn total(&self) -> Count {
        if !self.possible || self.components.iter().any(|part| part.total() == Count::Exact(0)) {
            return Count::Exact(0);
        }
        self.components.iter().fold(Count::Exact(1), |held, part| product(held, part.total()))
    }

    /// One valid assignment, each equally likely; none where none was found (see [`Component::sample`]).
    pub fn sample(&self, rng: &mut Rng, tries: u32, places: usize) -> Option<Vec<i64>> {
        let mut values = vec![0; places];
        (self.possible && self.components.iter().all(|part| part.sample(rng, tries, &mut values))).then_some(values)
    }
}

fn product(a: Count, b: Count) -> Count {
    #[allow(clippy::cast_precision_loss, reason = "an estimate has fewer digits")]
    let parts = |count: Count| match count {
        Count::Exact(valid) => (valid as f64, 0.0),
        Count::Estimate { valid, error_share } => (valid, error_share),
    };
    match (a, b) {
        (Count::Exact(a), Count::Exact(b)) => Count::Exact(a.saturating_mul(b)),
        (a, b) => {
            let ((a, first), (b, second)) = (parts(a), parts(b));
            // Errors of independent factors add as squares.
            Count::Estimate { valid: a * b, error_share: first.hypot(second) }
        }
    }
}

/// Why nothing is valid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// What each reason excludes by itself, the most first.
    pub alone: Vec<(String, Count)>,
    /// Reasons that cannot be met together, none of which can be left out of the list; empty where that is not known.
    pub conflict: Vec<String>,
    /// Device facts that the reasons of the conflict read.
    pub facts: BTreeSet<String>,
}

/// What each reason excludes alone, and a smallest set of reasons (by leaving out one after another) that excludes all.
pub fn explain(domains: &Domains, clauses: &[Arc<Clause>], product: u128) -> Explanation {
    let mut reasons: Vec<&str> = Vec::new();
    for clause in clauses {
        if !reasons.contains(&clause.reason.as_str()) {
            reasons.push(&clause.reason);
        }
    }
    let total = |wanted: &dyn Fn(&str) -> bool| {
        let of_them: Vec<Arc<Clause>> = clauses.iter().filter(|clause| wanted(&clause.reason)).cloned().collect();
        Counted::new(domains, &of_them).total()
    };
    let mut alone: Vec<(String, Count)> = Vec::new();
    for reason in &reasons {
        let excluded = rest(product, total(&|own| own == *reason));
        if excluded != Count::Exact(0) {
            alone.push(((*reason).to_owned(), excluded));
        }
    }
    alone.sort_by(|a, b| amount(b.1).total_cmp(&amount(a.1)));
    let mut conflict = if total(&|_| true) == Count::Exact(0) { reasons.clone() } else { Vec::new() };
    for reason in &reasons {
        let without = |own: &str| own != *reason && conflict.contains(&own);
        if conflict.contains(reason) && total(&without) == Count::Exact(0) {
            conflict.retain(|own| own != reason);
        }
    }
    let read = clauses.iter().filter(|clause| conflict.contains(&clause.reason.as_str()));
    let facts = read.flat_map(|clause| clause.facts.iter().cloned()).collect();
    Explanation { alone, conflict: conflict.into_iter().map(str::to_owned).collect(), facts }
}

fn rest(product: u128, valid: Count) -> Count {
    match valid {
        Count::Exact(valid) => Count::Exact(product.saturating_sub(valid)),
        #[allow(clippy::cast_precision_loss, reason = "an estimate has fewer digits")]
        Count::Estimate { valid, error_share } => {
            let excluded = (product as f64 - valid).max(0.0);
            let error_share = if excluded > 0.0 { error_share * valid / excluded } else { f64::INFINITY };
            Count::Estimate { valid: excluded, error_share }
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "only for order")]
fn amount(count: Count) -> f64 {
    match count {
        Count::Exact(valid) => valid as f64,
        Count::Estimate { valid, .. } => valid,
    }
}
