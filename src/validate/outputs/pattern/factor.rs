//! Off by one factor.

use super::{Evidence, Finding, MANY_POINTS, how_many, plain};

pub(super) fn test(evidence: &Evidence<'_>) -> Option<Finding> {
    let points: Vec<usize> =
        evidence.some_wrong(MANY_POINTS).into_iter().filter(|flat| ratio(evidence, *flat).is_some()).collect();
    let factor = median(points.iter().filter_map(|flat| ratio(evidence, *flat)).collect())?;
    let nice = nearest_nice(factor);
    let explains = evidence.share(&points, |flat| evidence.holds(flat, nice * evidence.truth.expected[flat]));
    let telling = nice != 0.0 && (nice - 1.0).abs() > 1e-3;
    (telling && explains > 0.0).then(|| Finding {
        sentence: format!(
            "off by a factor: {} of {} is {} times what it should be{}",
            how_many(explains, evidence),
            evidence.output,
            spelled(nice),
            named(evidence, nice),
        ),
        explains,
    })
}

/// Actual over expected, where the expected value is large enough to divide by.
pub(super) fn ratio(evidence: &Evidence<'_>, flat: usize) -> Option<f64> {
    let expected = evidence.truth.expected[flat];
    let ratio = evidence.actual[flat] / expected;
    (expected.abs() > 100.0 * evidence.truth.allowed[flat] && ratio.is_finite()).then_some(ratio)
}

pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// A whole number or the inverse of one, if it is close to the factor: what a mistake in a loop makes.
fn nearest_nice(factor: f64) -> f64 {
    let candidates = [factor.round(), 1.0 / (1.0 / factor).round()];
    let close = |nice: &f64| nice.is_finite() && *nice != 0.0 && (nice / factor - 1.0).abs() < 1e-3;
    candidates.into_iter().find(close).unwrap_or(factor)
}

pub(super) fn spelled(factor: f64) -> String {
    let inverse = 1.0 / factor;
    match factor.abs() < 1.0 && (inverse - inverse.round()).abs() < 1e-9 {
        true => format!("1/{}", plain(inverse.round())),
        false => plain(factor),
    }
}

fn named(evidence: &Evidence<'_>, factor: f64) -> String {
    let whole = if factor.abs() < 1.0 { 1.0 / factor } else { factor };
    match whole > 1.0 && (whole - whole.round()).abs() < 1e-9 && whole < 1e9 {
        true => evidence.named(whole.round() as usize),
        false => String::new(),
    }
}
