//! No element is far off, but together they are less precise than the type.

use super::{Evidence, Finding, plain};

pub(super) fn test(evidence: &Evidence<'_>) -> Option<Finding> {
    let (rms, limit) = evidence.lost_bits?;
    let accumulator = evidence.truth.bound.accumulator;
    Some(Finding {
        sentence: format!(
            "bits were lost: the root mean square of error / scale is {}, and sums in {accumulator} stay below {}: \
             inputs or partial sums went through a narrower type",
            plain(rms),
            plain(limit),
        ),
        explains: if evidence.wrong.is_empty() { 1.0 } else { super::MIN_EXPLAINS },
    })
}
