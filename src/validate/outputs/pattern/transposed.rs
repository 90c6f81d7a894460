//! The last two dimensions of the output are exchanged.

use super::{Evidence, Finding, MANY_POINTS, how_many};

pub(super) fn test(evidence: &Evidence<'_>) -> Option<Finding> {
    let [.., rows, columns] = *evidence.truth.shape.as_slice() else { return None };
    if rows != columns {
        return None;
    }
    let matrix = rows * columns;
    let points = evidence.some_wrong(MANY_POINTS);
    let explains = evidence.share(&points, |flat| {
        let (base, place) = (flat / matrix * matrix, flat % matrix);
        evidence.holds(flat, evidence.truth.expected[base + place % columns * columns + place / columns])
    });
    let last = evidence.indices.len();
    let here = evidence.element(|_, name| name.to_owned());
    let there = evidence.element(|dimension, name| match last - dimension {
        1 => evidence.indices[last - 2].clone(),
        2 => evidence.indices[last - 1].clone(),
        _ => name.to_owned(),
    });
    (explains > 0.0).then(|| Finding {
        sentence: format!("transposed: for {}, {here} holds what {there} should", how_many(explains, evidence)),
        explains,
    })
}
