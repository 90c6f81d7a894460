//! One measurement: its key in the cache, its deadline, and when an earlier one may stand for it.

use super::outcome::{Measured, Times};
use super::tuner::TuneRequest;
use crate::context::Configuration;
use crate::context::launch::ConcretePlan;
use crate::runner::{Execute, Failure, FailureClass, Fill, Job, Timing, is_environment};
use peak_backend_api::{Artifact, DeviceInfo};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Version of how we measure: raised whenever a change could move a number. Part of every key.
pub const HARNESS_VERSION: u32 = 2;

/// A later candidate may take this many times as long as the quickest call so far.
const DEADLINE_FACTOR: u32 = 10;

/// The shortest deadline: starting a worker and loading a program take their time.
const DEADLINE_LEAST: Duration = Duration::from_secs(10);

/// A candidate slower than this many times the best in its first counted run is given up.
const GIVE_UP_FACTOR: f64 = 3.0;

/// Measurements of earlier runs, by key.
pub trait Cache {
    /// The measurement of that key.
    fn get(&mut self, key: &str) -> Option<Measured>;

    /// Keeps a measurement as soon as it is there.
    fn put(&mut self, key: &str, measured: &Measured);
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCache;

impl Cache for NoCache {
    fn get(&mut self, _: &str) -> Option<Measured> {
        None
    }

    fn put(&mut self, _: &str, _: &Measured) {}
}

/// What a time depends on, as a content address.
pub fn key(
    request: &TuneRequest<'_>,
    context_hash: &str,
    configuration: &Configuration,
    device: &DeviceInfo,
    timing: &Timing,
) -> String {
    let sorted = |values: &Configuration| values.iter().map(|(k, v)| (k.clone(), *v)).collect::<BTreeMap<_, _>>();
    let parts = serde_json::json!({
        "harness": HARNESS_VERSION,
        "context": context_hash,
        "configuration": sorted(configuration),
        "inputs": sorted(request.inputs),
        "facts": sorted(request.facts),
        "fill": request.fill,
        "device": [device.backend, device.runtime, device.name, device.driver],
        "target": request.target,
        "toolchain": request.toolchain,
        "timing": Timing { give_up_ns: None, ..*timing },
    });
    crate::hash::hex(parts.to_string().as_bytes())
}

/// Whether an outcome is worth keeping: not what another run of this machine might not repeat.
pub fn lasting(measured: &Measured) -> bool {
    match &measured.failure {
        None => measured.times.is_none_or(|times| !times.is_noisy()),
        Some(failure) => {
            matches!(failure.class, FailureClass::Compile | FailureClass::Launch) && !is_environment(failure)
        }
    }
}

/// Whether an earlier measurement answers now: a steady one, and one that was given up only if it could not win now either.
pub fn answers(earlier: &Measured, best_ns: Option<f64>) -> bool {
    match &earlier.times {
        _ if !lasting(earlier) => false,
        Some(times) if times.gave_up => best_ns.is_some_and(|best| times.time_ns_median > best),
        _ => true,
    }
}

/// Times candidates, with a deadline and a limit that follow the best so far.
#[derive(Debug)]
pub struct Stopwatch {
    /// The deadline while nothing has succeeded, and the longest of all.
    pub first_deadline: Duration,
    quickest: Option<Duration>,
}

impl Stopwatch {
    pub fn new(first_deadline: Duration) -> Stopwatch {
        Stopwatch { first_deadline, quickest: None }
    }

    /// The quick timing that many candidates get.
    pub fn quick(
        &mut self,
        execute: &mut dyn Execute,
        candidate: (&ConcretePlan, &Arc<Artifact>),
        fill: Fill,
        timing: &Timing,
        best_ns: Option<f64>,
    ) -> Result<Times, Failure> {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive time in nanoseconds")]
        let give_up_ns = best_ns.map(|best| (best * GIVE_UP_FACTOR) as u64);
        let job = job(candidate, fill, self.deadline());
        let start = Instant::now();
        let outcome = execute.time(&job, &Timing { give_up_ns, ..*timing })?;
        let took = start.elapsed();
        if !outcome.gave_up {
            self.quickest = Some(self.quickest.map_or(took, |quickest| quickest.min(took)));
        }
        Times::of(&outcome, false).ok_or_else(no_samples)
    }

    /// The thorough timing that the best few get.
    pub fn thorough(
        &self,
        execute: &mut dyn Execute,
        candidate: (&ConcretePlan, &Arc<Artifact>),
        fill: Fill,
        timing: &Timing,
    ) -> Result<Times, Failure> {
        let budget = Duration::from_nanos(timing.budget_ns.saturating_mul(2));
        let job = job(candidate, fill, self.first_deadline.saturating_add(budget));
        let outcome = execute.time(&job, &Timing { give_up_ns: None, ..*timing })?;
        Times::of(&outcome, true).ok_or_else(no_samples)
    }

    fn deadline(&self) -> Duration {
        let adapted = self.quickest.map(|quickest| quickest.saturating_mul(DEADLINE_FACTOR).max(DEADLINE_LEAST));
        adapted.map_or(self.first_deadline, |adapted| adapted.min(self.first_deadline))
    }
}

fn job((plan, artifact): (&ConcretePlan, &Arc<Artifact>), fill: Fill, deadline: Duration) -> Job {
    Job { artifact: Arc::clone(artifact), plan: plan.clone(), fill, deadline }
}

fn no_samples() -> Failure {
    Failure::new(FailureClass::Launch, "no run was counted")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_follow_the_quickest_call_within_bounds() {
        let mut watch = Stopwatch::new(Duration::from_secs(60));
        assert_eq!(watch.deadline(), Duration::from_secs(60));
        watch.quickest = Some(Duration::from_millis(1));
        assert_eq!(watch.deadline(), DEADLINE_LEAST);
        watch.quickest = Some(Duration::from_secs(3));
        assert_eq!(watch.deadline(), Duration::from_secs(30));
        watch.quickest = Some(Duration::from_secs(30));
        assert_eq!(watch.deadline(), Duration::from_secs(60));
    }

    #[test]
    fn what_was_given_up_answers_only_while_it_cannot_win() {
        let times = Times {
            time_ns_median: 300.0,
            time_ns_p20: 300.0,
            time_ns_p80: 300.0,
            samples: 1,
            gave_up: true,
            thorough: false,
        };
        let earlier =
            Measured { configuration: Configuration::new(), times: Some(times), failure: None, reused: false };
        assert!(answers(&earlier, Some(100.0)));
        assert!(!answers(&earlier, Some(400.0)));
        assert!(!answers(&earlier, None));
    }

    #[test]
    fn noisy_times_are_neither_kept_nor_taken_from_an_older_store() {
        let with_p80 = |time_ns_p80| {
            let times = Times {
                time_ns_median: 100.0,
                time_ns_p20: 99.0,
                time_ns_p80,
                samples: 7,
                gave_up: false,
                thorough: true,
            };
            Measured { configuration: Configuration::new(), times: Some(times), failure: None, reused: false }
        };
        assert!(lasting(&with_p80(108.0)) && answers(&with_p80(108.0), None));
        assert!(!lasting(&with_p80(110.0)) && !answers(&with_p80(110.0), Some(1.0)));
    }

    #[test]
    fn crashes_time_outs_and_missing_toolchains_are_not_kept() {
        let failed = |failure: Failure| Measured {
            configuration: Configuration::new(),
            times: None,
            failure: Some(failure),
            reused: false,
        };
        let plain = |class| failed(Failure::new(class, "x"));
        assert!(lasting(&plain(FailureClass::Compile)) && lasting(&plain(FailureClass::Launch)));
        assert!(!lasting(&plain(FailureClass::Crash)) && !lasting(&plain(FailureClass::Timeout)));
        let mend = format!("{}./run", crate::runner::MEND);
        assert!(!lasting(&failed(Failure::new(FailureClass::Compile, "x").with_fact(mend))));
    }
}
