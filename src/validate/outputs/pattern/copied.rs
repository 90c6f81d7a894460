//! The output holds a copy of an input.

use super::{Evidence, Finding, MANY_POINTS, how_many};

pub(super) fn test(evidence: &Evidence<'_>) -> Option<Finding> {
    let points = evidence.some_wrong(MANY_POINTS);
    let same_length = evidence.arrays.iter().filter(|(_, values)| values.len() == evidence.actual.len());
    let shares = same_length.map(|(name, values)| {
        // Zeros and constants match by chance and have hypotheses of their own.
        (name, evidence.share(&points, |flat| values[flat] != 0.0 && evidence.actual[flat] == values[flat]))
    });
    let (name, explains) = shares.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (explains > 0.0).then(|| Finding {
        sentence: format!("copied: {} of {} equals {name} there", how_many(explains, evidence), evidence.output),
        explains,
    })
}
