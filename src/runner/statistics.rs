//! Statistics of run times. Pure: slices in, numbers out; no clock.

/// An interval that holds the median with at least 95% probability, in the samples' unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The distribution-free 95% interval of the median: the order statistics whose ranks the binomial distribution gives.
///
/// `None` with fewer than six samples: no pair of ranks covers 95% then.
#[must_use]
pub fn median_interval(samples: &[u64]) -> Option<Interval> {
    let samples: Vec<f64> = samples.iter().copied().map(float).collect();
    interval(&samples, 0.05)
}

/// As [`median_interval`], with a probability of at most `error` to miss the median; `None` with too few samples for that.
#[must_use]
pub fn interval(samples: &[f64], error: f64) -> Option<Interval> {
    let rank = interval_rank(samples.len(), error)?;
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(Interval { low: sorted[rank], high: sorted[sorted.len() - 1 - rank] })
}

/// The interval's width as a share of the median; `None` as [`median_interval`], or for a median of zero.
#[must_use]
pub fn relative_width(samples: &[u64]) -> Option<f64> {
    let interval = median_interval(samples)?;
    let median = quantile(samples, 0.5).filter(|median| *median > 0.0)?;
    Some((interval.high - interval.low) / median)
}

/// A quantile by linear interpolation between order statistics (0.5 is the median); `None` without samples.
#[must_use]
pub fn quantile(samples: &[u64], q: f64) -> Option<f64> {
    let samples: Vec<f64> = samples.iter().copied().map(float).collect();
    quantile_of(&samples, q)
}

/// As [`quantile`], of any numbers.
#[must_use]
pub fn quantile_of(samples: &[f64], q: f64) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let place = q.clamp(0.0, 1.0) * float(sorted.len().checked_sub(1)? as u64);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the number of samples")]
    let low = place.floor() as usize;
    let next = sorted.get(low + 1).unwrap_or(&sorted[low]);
    Some(sorted[low] * (1.0 - place.fract()) + next * place.fract())
}

/// The largest rank `r` (from 0) such that the order statistics `r` and `count - 1 - r` miss the median with a probability
/// of at most `error`.
///
/// With `B` binomial over `count` fair coins, the enclosure fails with probability `2 P(B <= r)`.
fn interval_rank(count: usize, error: f64) -> Option<usize> {
    let n = float(count as u64);
    // In logarithms: 2^-count underflows beyond a thousand samples.
    let mut log_term = -n * std::f64::consts::LN_2;
    let mut tail = 0.0;
    let mut rank = None;
    for r in 0..count / 2 {
        tail += log_term.exp();
        if 2.0 * tail > error {
            break;
        }
        rank = Some(r);
        let k = float(r as u64);
        log_term += ((n - k) / (k + 1.0)).ln();
    }
    rank
}

fn float(value: u64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "nanoseconds and counts are far below 2^53")]
    {
        value as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_tables() {
        // Ranks from 1 in published tables of the sign test's interval: n=6: 1, n=10: 2, n=20: 6, n=50: 18, n=100: 40.
        for (count, rank) in [(6, 1), (10, 2), (20, 6), (50, 18), (100, 40)] {
            assert_eq!(interval_rank(count, 0.05), Some(rank - 1), "{count} samples");
        }
        assert_eq!(interval_rank(5, 0.05), None);
        assert_eq!(interval_rank(0, 0.05), None);
        assert!(interval_rank(5000, 0.05).is_some_and(|rank| (2400..2500).contains(&rank)));
    }

    #[test]
    fn the_interval_covers_a_known_median_as_often_as_it_claims() {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % 2001
        };
        let covered = (0..2000)
            .filter(|_| {
                let samples: Vec<u64> = (0..15).map(|_| next()).collect();
                median_interval(&samples).is_some_and(|i| i.low <= 1000.0 && 1000.0 <= i.high)
            })
            .count();
        assert!((1890..=2000).contains(&covered), "{covered} of 2000 intervals cover the median");
    }

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&[40, 10, 30, 20], 0.5), Some(25.0));
        assert_eq!(quantile(&[10, 20, 30, 40, 50], 0.2), Some(18.0));
        assert_eq!(quantile(&[7], 0.8), Some(7.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn equal_samples_have_no_width() {
        assert_eq!(relative_width(&[100; 6]), Some(0.0));
        assert_eq!(relative_width(&[0; 6]), None);
        assert_eq!(relative_width(&[1, 2, 3]), None);
    }
}
