//! The result was added to what the output held before.

use super::{Evidence, Finding, MANY_POINTS, how_many};
use crate::data::decode;
use crate::runner::POISON;

pub(super) fn test(evidence: &Evidence<'_>) -> Option<Finding> {
    // Poisoned floats stay NaN when they are added to: `unwritten` tells that.
    let poison = decode(evidence.truth.element, &POISON.repeat(2))[0];
    let before = |flat: usize| evidence.before.map_or(poison, |before| before[flat]);
    let points: Vec<usize> = evidence.some_wrong(MANY_POINTS);
    let explains = evidence.share(&points, |flat| {
        let before = before(flat);
        before.is_finite() && before != 0.0 && evidence.holds(flat, evidence.truth.expected[flat] + before)
    });
    (explains > 0.0).then(|| Finding {
        sentence: format!(
            "adds to earlier contents: {} of {} is the right result plus what it held before the run",
            how_many(explains, evidence),
            evidence.output,
        ),
        explains,
    })
}
