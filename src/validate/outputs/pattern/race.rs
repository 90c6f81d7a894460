//! Two runs of the same data differ.

use super::{Evidence, Finding};

pub(super) fn test(evidence: &Evidence<'_>) -> Option<Finding> {
    let again = evidence.again?;
    let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
    let changed = evidence.actual.iter().zip(again).filter(|(a, b)| !same(**a, **b)).count();
    (changed > 0).then(|| Finding {
        sentence: format!(
            "changes from run to run: {changed} of {} elements of {} differ between two runs of the same data: a race, \
             such as a missing barrier",
            again.len(),
            evidence.output,
        ),
        explains: 1.0,
    })
}
