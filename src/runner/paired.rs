//! Times of several candidates that took turns, and what they say of each other. Pure: numbers in, a verdict out.
//!
//! A round times each candidate once, so that a clock that drifts, a GPU that warms up or a neighbour that wakes meets
//! them all alike. What is compared is the ratio of two times of one round. Rounds go on until the interval of the median
//! ratio says something, and it is looked at a fixed number of times only: each look takes its share of the 5% by which
//! all of them together may be wrong (Bonferroni), so that looking again is no way to a verdict.

use super::statistics::{Interval, interval, quantile_of};
use peak_backend_api::{Caches, Conditions, DeviceKind};
use serde::{Deserialize, Serialize};

/// Rounds after which the interval is looked at; the last is the end.
pub const LOOKS: [usize; 6] = [16, 32, 64, 128, 256, 512];

/// How often all looks together may hold an interval that misses the truth.
const ERROR: f64 = 0.05;

/// Ratios that lie this close to one are those of equals.
pub const SAME: f64 = 0.01;

/// How to take turns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pairing {
    /// What caches hold when a run starts.
    pub caches: Caches,
    /// Device time that warms each candidate up, at least, in nanoseconds.
    pub warmup_ns: u64,
    /// Device time of one candidate in one round, about, in nanoseconds: of as many runs the median is its time.
    pub sample_ns: u64,
    /// Ends at the look after this many nanoseconds of device time.
    pub budget_ns: u64,
    /// Goes on to the last look, whatever the intervals say.
    pub to_the_end: bool,
}

/// Times of candidates that took turns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Turns {
    /// By candidate, by round: the median of its runs in the round, in nanoseconds.
    pub times_ns: Vec<Vec<u64>>,
    /// By candidate: runs in one round.
    pub runs: Vec<u32>,
    /// How the device fared when the rounds began; `None` where it does not tell.
    pub before: Option<Conditions>,
    /// And when they ended.
    pub after: Option<Conditions>,
    /// Rounds that were repeated, because heat or a brake held the clocks down.
    pub repeated: u32,
}

/// What a candidate is to the one that it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Its time is smaller by more than 1%.
    Faster,
    /// Its time is larger by more than 1%.
    Slower,
    /// Their times lie within 1% of each other.
    Same,
    /// The interval is too wide to say.
    Unclear,
}

impl Verdict {
    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Same => "the same",
            Verdict::Unclear => "unclear",
        }
    }
}

/// A candidate's time as a share of that of the one that it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The median over the rounds.
    pub median: f64,
    /// The interval that holds it, whichever look it was, with 95%.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// What it means.
    pub verdict: Verdict,
}

/// How to take turns on a kind of device.
#[must_use]
pub fn pairing(kind: DeviceKind, caches: Caches) -> Pairing {
    let second = 1_000_000_000;
    let (warmup_ns, sample_ns, budget_ns) = match kind {
        DeviceKind::Software => (0, 0, 20 * second),
        _ => (second / 2, 2_000_000, 4 * second),
    };
    Pairing { caches, warmup_ns, sample_ns, budget_ns, to_the_end: false }
}

/// Compares the times of two candidates, round by round; `None` with too few rounds for an interval.
#[must_use]
pub fn ratio(base_ns: &[u64], other_ns: &[u64]) -> Option<Ratio> {
    #[allow(clippy::cast_precision_loss, reason = "nanoseconds of a kernel are far below 2^53")]
    let share = |(base, other): (&u64, &u64)| *other as f64 / (*base).max(1) as f64;
    let ratios: Vec<f64> = base_ns.iter().zip(other_ns).map(share).collect();
    let Interval { low, high } = interval(&ratios, ERROR / LOOKS.len() as f64)?;
    let verdict = if high < 1.0 - SAME {
        Verdict::Faster
    } else if low > 1.0 + SAME {
        Verdict::Slower
    } else if low >= 1.0 - SAME && high <= 1.0 + SAME {
        Verdict::Same
    } else {
        Verdict::Unclear
    };
    Some(Ratio { median: quantile_of(&ratios, 0.5)?, low, high, verdict })
}

impl Turns {
    /// Candidate `other` compared with candidate `base`.
    #[must_use]
    pub fn ratio(&self, base: usize, other: usize) -> Option<Ratio> {
        ratio(self.times_ns.get(base)?, self.times_ns.get(other)?)
    }

    /// Rounds that count.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.times_ns.first().map_or(0, Vec::len)
    }

    /// Whether each candidate's ratio to the first one says something.
    #[must_use]
    pub fn decided(&self) -> bool {
        let clear = |other| self.ratio(0, other).is_some_and(|ratio| ratio.verdict != Verdict::Unclear);
        self.times_ns.len() > 1 && (1..self.times_ns.len()).all(clear)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of a generator that is the same everywhere, in 0..1.
    fn noise(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed.wrapping_mul(2).wrapping_add(1);
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / (1u64 << 24) as f64
        }
    }

    /// Two candidates of which the second takes `factor` times as long, each run with noise of up to `spread`, on a clock
    /// that drifts by a tenth; as many rounds as it takes.
    fn compared(seed: u64, factor: f64, spread: f64) -> (Verdict, usize) {
        let mut next = noise(seed);
        let mut turns = Turns { times_ns: vec![Vec::new(), Vec::new()], ..Turns::default() };
        for look in LOOKS {
            while turns.rounds() < look {
                let clock = 1e6 * (1.0 + 0.1 * turns.rounds() as f64 / 512.0);
                turns.times_ns[0].push((clock * (1.0 + spread * next())) as u64);
                turns.times_ns[1].push((clock * factor * (1.0 + spread * next())) as u64);
            }
            if turns.decided() {
                break;
            }
        }
        (turns.ratio(0, 1).expect("there are rounds enough").verdict, turns.rounds())
    }

    #[test]
    fn equals_are_the_same_and_never_faster_or_slower() {
        for seed in 0..300 {
            assert_eq!(compared(seed, 1.0, 0.03).0, Verdict::Same, "seed {seed}");
        }
    }

    #[test]
    fn two_percent_are_told_apart() {
        let slower = (0..300).filter(|seed| compared(*seed, 1.02, 0.02).0 == Verdict::Slower).count();
        assert!(slower >= 295, "{slower} of 300");
        let faster = (0..300).filter(|seed| compared(*seed, 1.0 / 1.02, 0.02).0 == Verdict::Faster).count();
        assert!(faster >= 295, "{faster} of 300");
    }

    #[test]
    fn what_noise_hides_is_unclear_and_takes_every_round() {
        assert_eq!(compared(1, 1.01, 0.5), (Verdict::Unclear, 512));
        assert_eq!(compared(2, 2.0, 0.02), (Verdict::Slower, 16));
    }

    #[test]
    fn a_few_rounds_say_nothing() {
        assert_eq!(ratio(&[100; 5], &[100; 5]), None);
        assert!(ratio(&[100; 16], &[100; 16]).is_some());
    }
}
