//! The poison of before the run is still there.

use super::{ALL, Evidence, Finding};
use crate::runner::POISON;

pub(super) fn test(evidence: &Evidence<'_>) -> Option<Finding> {
    if evidence.before.is_some() {
        return None;
    }
    let count = evidence.wrong.iter().filter(|flat| poisoned(evidence, **flat)).count();
    let explains = count as f64 / evidence.wrong.len().max(1) as f64;
    let all = if explains >= ALL { "every wrong element was" } else { "many were" };
    (count > 0).then(|| Finding {
        sentence: format!(
            "never written: {count} of {} elements of {} still hold what was there before the run ({all} left out, or \
             only added to)",
            evidence.actual.len(),
            evidence.output,
        ),
        explains,
    })
}

/// Whether an element still holds the poison of before the run.
pub(super) fn poisoned(evidence: &Evidence<'_>, flat: usize) -> bool {
    let width = evidence.truth.element.bytes();
    let element = evidence.bytes.get(flat * width..(flat + 1) * width);
    element.is_some_and(|bytes| bytes.iter().zip(POISON.iter().cycle()).all(|(byte, poison)| byte == poison))
}
