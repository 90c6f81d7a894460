//! The sum with terms left out, or counted twice.

use super::{Evidence, Finding, POINTS, how_many};
use crate::oracle::Alteration;

pub(super) fn test(evidence: &Evidence<'_>) -> Option<Finding> {
    let oracle = evidence.oracle?;
    let length = oracle.sum_length(evidence.inputs).ok()? as usize;
    let variable = oracle.sum_variable(evidence.output).unwrap_or("the sum");
    let points = evidence.some_wrong(POINTS);
    let mut best: Option<Finding> = None;
    for count in evidence.tile_sizes(length) {
        for end in [End::Last, End::First] {
            for (fault, terms) in [(Fault::Without, count), (Fault::Only, length - count), (Fault::Twice, count)] {
                let Some(values) = altered(evidence, end, terms, &points) else { continue };
                let matches = points.iter().zip(values).filter(|(flat, without)| {
                    let value = match fault {
                        Fault::Without | Fault::Only => *without,
                        Fault::Twice => 2.0 * evidence.truth.expected[**flat] - without,
                    };
                    evidence.holds(**flat, value)
                });
                let explains = matches.count() as f64 / points.len().max(1) as f64;
                if best.as_ref().is_none_or(|best| explains > best.explains) && explains > 0.0 {
                    let sentence = sentence(evidence, variable, end, fault, count, explains);
                    best = Some(Finding { sentence, explains });
                }
            }
        }
    }
    best
}

/// Which end of the sum.
#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

/// What is wrong with the terms there.
#[derive(Clone, Copy)]
enum Fault {
    Without,
    Only,
    Twice,
}

/// The sums without `terms` terms at one end.
fn altered(evidence: &Evidence<'_>, end: End, terms: usize, points: &[usize]) -> Option<Vec<f64>> {
    let terms = u32::try_from(terms).ok()?;
    let alteration = match end {
        End::First => Alteration { drop_first: terms, ..Alteration::default() },
        End::Last => Alteration { drop_last: terms, ..Alteration::default() },
    };
    evidence.oracle?.sample_altered(evidence.inputs, evidence.arrays, &alteration, evidence.output, points).ok()
}

fn sentence(evidence: &Evidence<'_>, variable: &str, end: End, fault: Fault, count: usize, explains: f64) -> String {
    let (where_, kept) = match end {
        End::First => ("first", "last"),
        End::Last => ("last", "first"),
    };
    let terms = if count == 1 { "term".to_owned() } else { format!("{count} terms") };
    let named = evidence.named_along(count, variable);
    let all = how_many(explains, evidence);
    match fault {
        Fault::Without => format!(
            "terms left out: {all} of {} equals the sum over {variable} without its {where_} {terms}{named}",
            evidence.output
        ),
        Fault::Only => format!(
            "terms left out: {all} of {} equals the sum over only the {kept} {terms} of {variable}{named}",
            evidence.output
        ),
        Fault::Twice => format!(
            "terms counted twice: {all} of {} equals the sum over {variable} with its {where_} {terms} added \
             twice{named}",
            evidence.output
        ),
    }
}
