//! What a transformation expects of counters and resources, looked at where it can be: the winner is compiled before and
//! after, and counted where the device counts. An expectation that is not met is a word in the row, never a verdict.

use super::count::{count, counts, is_metric};
use super::environment::Environment;
use super::line::Point;
use super::measure::{CodeFacts, code_facts};
use crate::evaluate::occupancy::Occupancy;
use crate::inspect::Executed;
use peak_grammar::ir::Expectation;
use std::collections::BTreeSet;

/// Resources of a compiled kernel that an `expects` may name.
const RESOURCES: [&str; 5] = ["instructions", "occupancy", "registers", "shared_bytes", "spill_bytes"];

/// A line for each expectation that was looked at; one that nothing here counts is said once a run (`said`).
pub(super) fn lines(
    expects: &[Expectation],
    before: &Point,
    after: &Point,
    environment: &mut Environment<'_>,
    said: &mut BTreeSet<String>,
) -> Vec<String> {
    if expects.is_empty() {
        return Vec::new();
    }
    let counted = expects.iter().any(|expected| is_metric(&expected.counter));
    let (old, new) = (seen(before, counted, environment), seen(after, counted, environment));
    let device_counts = counts(environment.info);
    let amounts = |name: &str| (old.amount(name), new.amount(name));
    let line = |expected: &Expectation| match amounts(&expected.counter) {
        (Some(old), Some(new)) => Some(compared(expected, old, new)),
        _ => said.insert(expected.counter.clone()).then(|| uncounted(expected, device_counts)),
    };
    expects.iter().filter_map(line).collect()
}

/// What is known of a point's winner at its first size.
#[derive(Default)]
struct Seen {
    /// What its code uses, where its compiler tells.
    code: Option<CodeFacts>,
    /// What it executes, where that was asked for and the device counts.
    executed: Option<Vec<Executed>>,
}

fn seen(point: &Point, counted: bool, environment: &mut Environment<'_>) -> Seen {
    let Some(size) = point.sizes.first() else { return Seen::default() };
    let code = code_facts(&point.context, &size.configuration, &size.inputs, environment);
    let count = |environment| count(&point.context, &size.configuration, &size.inputs, environment);
    let executed = if counted { count(environment) } else { None };
    Seen { code, executed }
}

impl Seen {
    fn amount(&self, name: &str) -> Option<f64> {
        match &self.executed {
            Some(entries) if is_metric(name) => {
                #[allow(clippy::cast_precision_loss, reason = "compared by factors")]
                let sum = entries.iter().filter_map(|entry| entry.named(name)).sum::<u64>() as f64;
                Some(sum)
            }
            _ => amount(self.code.as_ref(), name),
        }
    }
}

fn amount(code: Option<&CodeFacts>, name: &str) -> Option<f64> {
    let CodeFacts { resources, occupancy } = code?;
    #[allow(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    match name {
        "instructions" => resources.instructions.map(|count| count as f64),
        "occupancy" => occupancy.as_ref().map(Occupancy::share),
        "registers" => resources.registers.map(f64::from),
        "shared_bytes" => resources.shared_bytes.map(|bytes| bytes as f64),
        "spill_bytes" => resources.spill_bytes.map(f64::from),
        _ => None,
    }
}

fn compared(expected: &Expectation, old: f64, new: f64) -> String {
    let counter = &expected.counter;
    let met = if expected.falls { old >= new * expected.factor } else { new >= old * expected.factor };
    let change = match () {
        () if (old - new).abs() < f64::EPSILON => format!("{counter} stayed at {new}"),
        () if new < old => format!("{counter} fell from {old} to {new}"),
        () => format!("{counter} rose from {old} to {new}"),
    };
    match met {
        true => format!("{change}, as expected"),
        false => format!("{change}; expected was {expected}"),
    }
}

fn uncounted(expected: &Expectation, device_counts: bool) -> String {
    let known = RESOURCES.contains(&expected.counter.as_str());
    let why = match is_metric(&expected.counter) {
        _ if known => "this compiler does not tell it",
        true if device_counts => "the count failed",
        true => "this device does not count it",
        false => "nothing here counts it",
    };
    format!("expected was {expected}: not looked at, {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expectation(counter: &str, falls: bool) -> Expectation {
        Expectation { counter: counter.to_owned(), falls, factor: 2.0 }
    }

    #[test]
    fn a_factor_is_met_or_told() {
        let falls = expectation("registers", true);
        assert_eq!(compared(&falls, 64.0, 32.0), "registers fell from 64 to 32, as expected");
        assert_eq!(
            compared(&falls, 64.0, 40.0),
            "registers fell from 64 to 40; expected was registers to fall by at least 2 times"
        );
        assert_eq!(
            compared(&expectation("registers", false), 64.0, 64.0),
            "registers stayed at 64; expected was registers to rise by at least 2 times"
        );
        assert!(uncounted(&expectation("global_load_bytes", true), false).ends_with("this device does not count it"));
        assert!(uncounted(&expectation("registers", true), true).ends_with("this compiler does not tell it"));
        assert!(uncounted(&expectation("happiness", false), true).ends_with("nothing here counts it"));
    }
}
