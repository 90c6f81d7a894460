//! How often to run: warm-up until stable, then until the median is known well enough. Pure but for the runs it asks for.

use super::super::{TimeOutcome, Timing, statistics};

/// Warm-up ends when two runs in a row differ by less than this share.
const STABLE_SHARE: f64 = 0.05;

/// Warm-up runs at most, as a multiple of [`Timing::warmup`].
const WARMUP_FACTOR: u32 = 4;

/// Warm-up runs submitted together, at most.
const WARMUP_BATCH: u32 = 256;

/// What a run is taken to need at least: no launch is quicker.
const LEAST_RUN_NS: u64 = 1_000;

/// Device time of the runs submitted together, where inputs need no refreshing in between.
const BATCH_NS: u64 = 20_000_000;

/// What a few runs took.
pub struct Batch {
    /// Device time of each.
    pub samples_ns: Vec<u64>,
    /// Wall time of all.
    pub wall_ns: u64,
}

/// Times with `run(repeats)`, which runs one at a time where `batched` is false.
pub fn time_adaptively<E>(
    timing: &Timing,
    batched: bool,
    mut run: impl FnMut(u32) -> Result<Batch, E>,
) -> Result<TimeOutcome, E> {
    let mut outcome = TimeOutcome { warmup: warm_up(timing, batched, &mut run)?, ..TimeOutcome::default() };
    let mut spent_ns = 0u64;
    while !done(timing, &outcome.samples_ns, spent_ns) {
        let repeats = if batched { batch_size(timing, &outcome.samples_ns) } else { 1 };
        let batch = run(repeats)?;
        spent_ns = spent_ns.saturating_add(batch.samples_ns.iter().sum());
        outcome.wall_ns = outcome.wall_ns.saturating_add(batch.wall_ns);
        outcome.samples_ns.extend(batch.samples_ns);
        if let (Some(limit), Some(first)) = (timing.give_up_ns, outcome.samples_ns.first())
            && *first > limit
        {
            outcome.gave_up = true;
            break;
        }
    }
    Ok(outcome)
}

/// The runs that it took: until two in a row agree, then on until the device has been busy for long enough.
fn warm_up<E>(timing: &Timing, batched: bool, run: &mut impl FnMut(u32) -> Result<Batch, E>) -> Result<u32, E> {
    let most = timing.warmup.saturating_mul(WARMUP_FACTOR);
    let (mut count, mut last, mut stable, mut busy_ns) = (0u32, 0u64, false, 0u64);
    while count < most && !(count >= timing.warmup && stable) {
        let now = run(1)?.samples_ns.first().copied().unwrap_or(0);
        stable = count > 0 && differs_by(last, now) < STABLE_SHARE;
        last = now;
        busy_ns = busy_ns.saturating_add(now);
        count += 1;
    }
    while busy_ns < timing.warmup_ns {
        let missing = u32::try_from((timing.warmup_ns - busy_ns).min(BATCH_NS) / last.max(1)).unwrap_or(u32::MAX);
        let repeats = if batched { missing.clamp(1, WARMUP_BATCH) } else { 1 };
        let samples_ns = run(repeats)?.samples_ns;
        // A timer that stands still must not keep us here.
        busy_ns = busy_ns.saturating_add(samples_ns.iter().sum::<u64>().max(u64::from(repeats) * LEAST_RUN_NS));
        count = count.saturating_add(repeats);
    }
    Ok(count)
}

fn differs_by(a: u64, b: u64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "nanoseconds of a kernel are far below 2^53")]
    let share = a.abs_diff(b) as f64 / a.max(b).max(1) as f64;
    share
}

fn done(timing: &Timing, samples_ns: &[u64], spent_ns: u64) -> bool {
    let count = u32::try_from(samples_ns.len()).unwrap_or(u32::MAX);
    // One run at least: a time without samples is no time.
    if count < timing.min_repeats.max(1) {
        return false;
    }
    let narrow = || statistics::relative_width(samples_ns).is_some_and(|width| width <= timing.relative_interval);
    count >= timing.max_repeats || spent_ns >= timing.budget_ns || narrow()
}

/// One run first, so that a hopeless candidate costs no more; then as many as fit [`BATCH_NS`].
fn batch_size(timing: &Timing, samples_ns: &[u64]) -> u32 {
    let Some(last) = samples_ns.last() else { return 1 };
    let fitting = u32::try_from(BATCH_NS / (*last).max(1)).unwrap_or(u32::MAX);
    let count = u32::try_from(samples_ns.len()).unwrap_or(u32::MAX);
    let target = if count < timing.min_repeats { timing.min_repeats } else { timing.max_repeats };
    // At most doubling: the interval is looked at often enough.
    fitting.min(target.saturating_sub(count)).min(count).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    const TIMING: Timing = Timing {
        warmup: 2,
        warmup_ns: 0,
        min_repeats: 6,
        max_repeats: 100,
        relative_interval: 0.02,
        budget_ns: u64::MAX,
        give_up_ns: None,
    };

    /// Runs that take what `times` says, the last for ever; counts the calls.
    fn timed(timing: &Timing, batched: bool, times: &[u64]) -> (TimeOutcome, u32) {
        let (mut at, mut calls) = (0, 0);
        let outcome = time_adaptively(timing, batched, |repeats| {
            calls += 1;
            let mut next = || {
                let time = times[at.min(times.len() - 1)];
                at += 1;
                time
            };
            let samples_ns: Vec<u64> = (0..repeats).map(|_| next()).collect();
            Ok::<_, Infallible>(Batch { wall_ns: samples_ns.iter().sum(), samples_ns })
        });
        match outcome {
            Ok(outcome) => (outcome, calls),
            Err(never) => match never {},
        }
    }

    #[test]
    fn steady_runs_stop_at_the_minimum() {
        let (outcome, _) = timed(&TIMING, true, &[1000]);
        assert_eq!((outcome.warmup, outcome.samples_ns.len(), outcome.wall_ns), (2, 6, 6000));
    }

    #[test]
    fn warm_up_goes_on_until_two_runs_agree_and_is_bounded() {
        let (outcome, _) = timed(&TIMING, true, &[900, 500, 300, 299]);
        assert_eq!(outcome.warmup, 4);
        let never = [1000, 10, 1000, 10, 1000, 10, 1000, 10, 1000];
        assert_eq!(timed(&TIMING, true, &never).0.warmup, 8);
    }

    #[test]
    fn warm_up_keeps_the_device_busy_for_long_enough() {
        let timing = Timing { warmup_ns: 100_000_000, ..TIMING };
        let (outcome, _) = timed(&timing, true, &[1_000_000]);
        assert_eq!((outcome.warmup, outcome.samples_ns.len()), (100, 6));
        assert_eq!(timed(&timing, false, &[60_000_000]).0.warmup, 2);
        assert!(timed(&timing, true, &[0]).0.warmup >= 100_000, "a timer that stands still does not hang us");
    }

    #[test]
    fn noisy_runs_go_on_to_the_maximum_or_the_budget() {
        let noise: Vec<u64> = (0..200).map(|i| 1000 + (i * 7919) % 500).collect();
        let exact = Timing { relative_interval: 0.000_1, ..TIMING };
        assert_eq!(timed(&exact, true, &noise).0.samples_ns.len(), 100);
        let (outcome, _) = timed(&Timing { budget_ns: 20_000, ..exact }, false, &noise);
        assert!((6..=20).contains(&outcome.samples_ns.len()), "{}", outcome.samples_ns.len());
    }

    #[test]
    fn a_slow_candidate_costs_one_counted_run() {
        let (outcome, _) = timed(&Timing { give_up_ns: Some(999), ..TIMING }, true, &[1000]);
        assert!(outcome.gave_up);
        assert_eq!(outcome.samples_ns.len(), 1);
    }

    #[test]
    fn runs_go_one_at_a_time_where_inputs_are_refreshed() {
        let (outcome, calls) = timed(&TIMING, false, &[1000]);
        assert_eq!(calls as usize, outcome.warmup as usize + outcome.samples_ns.len());
    }
}
