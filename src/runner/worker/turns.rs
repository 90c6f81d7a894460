//! Lets candidates take turns: warms each up, then times round after round. Pure but for the runs that it asks for.

use crate::runner::paired::{LOOKS, Pairing, Turns};
use crate::runner::statistics;
use peak_backend_api::Conditions;

/// Runs of one candidate in one round, at most.
const RUNS_MAX: u64 = 64;

/// Rounds that are repeated because heat or a brake held the clocks down, at most.
const REPEATED_MAX: u32 = 64;

/// What a run is taken to need at least: no launch is quicker.
const LEAST_RUN_NS: u64 = 1_000;

/// What is asked of a device.
pub trait Turn {
    /// Why a run can fail.
    type Error;

    /// Runs a candidate that often; the device time of each run, in nanoseconds.
    fn run(&mut self, candidate: usize, repeats: u32) -> Result<Vec<u64>, Self::Error>;

    /// How many runs of a candidate may follow each other: 1 where its inputs are renewed before each.
    fn most(&self, candidate: usize) -> u32;

    /// How the device fares.
    fn conditions(&mut self) -> Option<Conditions>;
}

/// Times `candidates` candidates.
///
/// # Errors
/// That of the first run that fails.
pub fn take_turns<T: Turn>(how: &Pairing, candidates: usize, turn: &mut T) -> Result<Turns, T::Error> {
    let runs = (0..candidates).map(|candidate| warm_up(how, candidate, turn)).collect::<Result<Vec<u32>, _>>()?;
    let mut turns =
        Turns { times_ns: vec![Vec::new(); candidates], runs, before: turn.conditions(), ..Turns::default() };
    let mut spent_ns = 0u64;
    for look in LOOKS {
        while turns.rounds() < look {
            let times = round(&turns, turn)?;
            let total = times.iter().zip(&turns.runs).map(|(time, runs)| time.saturating_mul(u64::from(*runs)));
            spent_ns = spent_ns.saturating_add(total.sum());
            if turns.repeated < REPEATED_MAX && turn.conditions().is_some_and(|now| now.spoil()) {
                turns.repeated += 1;
                continue;
            }
            turns.times_ns.iter_mut().zip(times).for_each(|(all, time)| all.push(time));
        }
        if spent_ns >= how.budget_ns || (turns.decided() && !how.to_the_end) {
            break;
        }
    }
    turns.after = turn.conditions();
    Ok(turns)
}

/// Each candidate's median of its runs; every other round goes backwards, so that none always follows the same one.
fn round<T: Turn>(turns: &Turns, turn: &mut T) -> Result<Vec<u64>, T::Error> {
    let count = turns.runs.len();
    let mut times = vec![0; count];
    for place in 0..count {
        let candidate = if turns.rounds().is_multiple_of(2) { place } else { count - 1 - place };
        times[candidate] = sample(turn, candidate, turns.runs[candidate])?;
    }
    Ok(times)
}

/// The median of some runs.
fn sample<T: Turn>(turn: &mut T, candidate: usize, runs: u32) -> Result<u64, T::Error> {
    let mut samples = Vec::new();
    while (samples.len() as u64) < u64::from(runs) {
        let left = runs.saturating_sub(u32::try_from(samples.len()).unwrap_or(u32::MAX));
        samples.extend(turn.run(candidate, left.min(turn.most(candidate)).max(1))?);
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time between two that are whole")]
    let median = statistics::quantile(&samples, 0.5).unwrap_or_default().round() as u64;
    Ok(median.max(1))
}

/// Keeps the device busy with a candidate; how many of its runs make a sample.
fn warm_up<T: Turn>(how: &Pairing, candidate: usize, turn: &mut T) -> Result<u32, T::Error> {
    let mut last = sample(turn, candidate, 1)?;
    let mut busy_ns = last;
    loop {
        let fitting = u32::try_from((how.sample_ns / last.max(1)).clamp(1, RUNS_MAX)).unwrap_or(1);
        if busy_ns >= how.warmup_ns {
            return Ok(fitting);
        }
        last = sample(turn, candidate, fitting)?;
        // A timer that stands still must not keep us here.
        busy_ns = busy_ns.saturating_add(last.max(LEAST_RUN_NS).saturating_mul(u64::from(fitting)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use peak_backend_api::{Caches, HeldDown};
    use std::convert::Infallible;

    /// A device on which candidates take what they take, and some rounds are held down.
    struct Fake {
        times_ns: Vec<u64>,
        most: u32,
        hot: u32,
        calls: Vec<(usize, u32)>,
    }

    impl Turn for Fake {
        type Error = Infallible;

        fn run(&mut self, candidate: usize, repeats: u32) -> Result<Vec<u64>, Infallible> {
            self.calls.push((candidate, repeats));
            Ok(vec![self.times_ns[candidate]; repeats as usize])
        }

        fn most(&self, _: usize) -> u32 {
            self.most
        }

        fn conditions(&mut self) -> Option<Conditions> {
            let hot = self.hot > 0;
            self.hot = self.hot.saturating_sub(1);
            Some(Conditions { held_down: hot.then_some(HeldDown::Heat).into_iter().collect(), ..Conditions::default() })
        }
    }

    const HOW: Pairing = Pairing {
        caches: Caches::Warm,
        warmup_ns: 1_000_000,
        sample_ns: 100_000,
        budget_ns: u64::MAX,
        to_the_end: false,
    };

    fn timed(how: &Pairing, fake: &mut Fake) -> Turns {
        match take_turns(how, fake.times_ns.len(), fake) {
            Ok(turns) => turns,
            Err(never) => match never {},
        }
    }

    fn fake(times_ns: &[u64]) -> Fake {
        Fake { times_ns: times_ns.to_vec(), most: u32::MAX, hot: 0, calls: Vec::new() }
    }

    #[test]
    fn rounds_end_when_they_say_something() {
        let mut device = fake(&[10_000, 20_000]);
        let turns = timed(&HOW, &mut device);
        assert_eq!((turns.rounds(), turns.runs.as_slice()), (16, [10, 5].as_slice()));
        let order: Vec<usize> = device.calls.iter().rev().take(4).rev().map(|(candidate, _)| *candidate).collect();
        assert_eq!(order, [0, 1, 1, 0], "they go forth and back");
        assert_eq!(timed(&Pairing { to_the_end: true, ..HOW }, &mut device).rounds(), 512);
    }

    #[test]
    fn one_alone_is_timed_to_the_budget() {
        let budget = Pairing { budget_ns: 100_000 * 40, ..HOW };
        assert_eq!(timed(&budget, &mut fake(&[10_000])).rounds(), 64);
    }

    #[test]
    fn rounds_in_heat_are_repeated_and_bounded() {
        let mut device = Fake { hot: 4, ..fake(&[10_000, 20_000]) };
        let turns = timed(&HOW, &mut device);
        // The first word was before the rounds.
        assert_eq!((turns.repeated, turns.rounds()), (3, 16));
        let mut device = Fake { hot: u32::MAX, ..fake(&[10_000, 20_000]) };
        let turns = timed(&HOW, &mut device);
        assert_eq!((turns.repeated, turns.rounds()), (REPEATED_MAX, 16));
    }

    #[test]
    fn runs_that_need_new_inputs_go_one_at_a_time() {
        let mut device = Fake { most: 1, ..fake(&[10_000]) };
        timed(&Pairing { budget_ns: 1, ..HOW }, &mut device);
        assert!(device.calls.iter().all(|(_, repeats)| *repeats == 1));
    }
}
