//! Rejects checks that prove nothing: ones that zeros, a constant or a copy of an input would pass, and whole numbers
//! beyond what the oracle holds.

use super::compare::Truth;
use super::tolerance::LARGEST_EXACT;
use crate::oracle::{Arrays, Oracle};
use indexmap::IndexMap;

/// Why a check proves nothing, in words; `None` if it proves something.
pub(super) fn why(oracle: Option<&Oracle>, arrays: &Arrays, truths: &IndexMap<String, Truth>) -> Option<String> {
    truths.iter().find_map(|(name, truth)| {
        if !truth.element.is_float() && truth.scales.iter().any(|scale| *scale > LARGEST_EXACT) {
            return Some(format!("{name} has sums beyond 2^53, where the oracle is not exact"));
        }
        let copies = oracle.is_some_and(|oracle| oracle.copies(name));
        let words = without_work(truth, if copies { None } else { Some(arrays) })?;
        Some(format!("a kernel that {words} {name} would pass"))
    })
}

/// What a kernel could do instead of computing. A plain copy is the right result of a copying kernel.
fn without_work(truth: &Truth, arrays: Option<&Arrays>) -> Option<String> {
    if truth.accepts(|_| 0.0) {
        return Some("writes zeros to".to_owned());
    }
    // If any constant passes, so does the one in the middle of the extremes.
    let extreme = |pick: fn(f64, f64) -> f64| truth.expected.iter().copied().reduce(pick);
    let middle = f64::midpoint(extreme(f64::min)?, extreme(f64::max)?);
    if truth.expected.len() > 1 && (truth.accepts(|_| middle) || truth.accepts(|_| truth.expected[0])) {
        return Some("writes one constant to".to_owned());
    }
    let same_length = arrays?.iter().filter(|(_, values)| values.len() == truth.expected.len());
    let copied = same_length.into_iter().find(|(_, values)| truth.accepts(|index| values[index]));
    copied.map(|(name, _)| format!("copies {name} to"))
}
