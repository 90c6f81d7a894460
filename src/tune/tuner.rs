//! The tuner: asks a strategy, compiles ahead, gives many a short timing and the best few a long one.

use super::measure::{self, Stopwatch};
use super::outcome::{Measured, SpaceSize, Times, TuneEvent, TuneOutcome};
use super::pipeline::{self, Ready};
use super::space::{Count, Space, Survey, VISITS_MAX};
use super::strategy::{self, STRATEGIES, Strategy, StrategyEntry};
use super::{Cache, TuneError};
use crate::context::scope::Facts;
use crate::context::{Configuration, Inputs, KernelContext};
use crate::runner::{Compile, Execute, Failure, Fill, Timing, is_environment};
use peak_backend_api::{Backend, DeviceKind};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Configurations asked of a strategy at once: what it learns from them guides the next.
const BATCH: usize = 64;

/// Finalists, at least while there are so many.
const FINALISTS: usize = 4;

/// No finalist whose short timing is this many times the best one's, once a finalist succeeded.
const FINALIST_FACTOR: f64 = 1.5;

/// What to tune.
#[derive(Clone, Copy)]
pub struct TuneRequest<'a> {
    /// The kernel.
    pub context: &'a KernelContext,
    /// At these sizes.
    pub inputs: &'a Inputs,
    /// Facts of the device, in force for the backend.
    pub facts: &'a Facts,
    /// The backend, for its prelude.
    pub backend: &'a dyn Backend,
    /// The architecture to compile for; empty where artifacts are portable.
    pub target: &'a str,
    /// Versions of the toolchains, in words: part of cache keys.
    pub toolchain: &'a str,
    /// Configurations to try, at most; failures and reused measurements count.
    pub budget: usize,
    /// A strategy's name; the default where there is none.
    pub strategy: Option<&'a str>,
    /// Configurations to try first: winners of earlier contexts, adapted to this one's parameters.
    pub incumbents: &'a [Configuration],
    /// Seed of the strategy's choices.
    pub seed: u64,
    /// What the inputs hold while timing.
    pub fill: Fill,
    /// How to time.
    pub timing: TuneTiming,
    /// Threads that ask for artifacts: as many as the pool has workers.
    pub compile_threads: usize,
}

/// How to time while tuning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TuneTiming {
    /// For many.
    pub quick: Timing,
    /// For the best few.
    pub thorough: Timing,
    /// How long one measurement may take while nothing has succeeded; the longest of all.
    pub first_deadline: Duration,
}

impl TuneTiming {
    /// For a kind of device: up to 0.2 s a candidate, up to 2 s a finalist, a minute for the first. A GPU is kept busy
    /// for a while before each, since its clocks rise only under load.
    #[must_use]
    pub fn for_device(kind: DeviceKind) -> TuneTiming {
        let (quick_busy_ns, thorough_busy_ns) = match kind {
            DeviceKind::Software => (0, 0),
            _ => (40_000_000, 300_000_000),
        };
        let quick = Timing {
            warmup: 1,
            warmup_ns: quick_busy_ns,
            min_repeats: 2,
            max_repeats: 20,
            relative_interval: 0.05,
            budget_ns: 200_000_000,
            give_up_ns: None,
        };
        let thorough = Timing {
            warmup: 2,
            warmup_ns: thorough_busy_ns,
            min_repeats: 7,
            max_repeats: 200,
            relative_interval: 0.02,
            budget_ns: 2_000_000_000,
            give_up_ns: None,
        };
        TuneTiming { quick, thorough, first_deadline: Duration::from_secs(60) }
    }
}

/// What tuning works with.
pub struct Bench<'a> {
    /// Compiles.
    pub compile: &'a dyn Compile,
    /// Times.
    pub execute: &'a mut dyn Execute,
    /// Earlier measurements.
    pub cache: &'a mut dyn Cache,
    /// Hears of each result as it comes.
    pub progress: &'a mut dyn FnMut(TuneEvent<'_>),
    /// Set by somebody else to stop after the candidate in flight.
    pub cancelled: &'a AtomicBool,
}

/// Finds the fastest configuration. Every result goes to the cache and to `progress` before the next begins.
///
/// # Errors
/// No valid configuration, an unknown strategy, or a machine that lacks what every candidate needs.
pub fn tune(request: &TuneRequest<'_>, bench: &mut Bench<'_>) -> Result<TuneOutcome, TuneError> {
    let space = Space::new(request.context, request.inputs, request.facts);
    let survey = space.survey(VISITS_MAX);
    let entry = strategy_entry(request, &survey)?;
    let counted = || match space.count() {
        Count::Exact(valid) => usize::try_from(valid).ok(),
        Count::Estimate { .. } => None,
    };
    let valid = if survey.complete { Some(survey.valid.len()) } else { counted() };
    let size = SpaceSize { product: survey.product, valid };
    let planned = size.valid.map_or(request.budget, |valid| valid.min(request.budget));
    (bench.progress)(TuneEvent::Surveyed { space: size, planned, strategy: entry.name });
    if size.valid == Some(0) {
        return Err(nothing_valid(&space));
    }
    let mut tuner = Tuner {
        request,
        space,
        context_hash: request.context.hash(),
        strategy: (entry.make)(&survey, request.seed),
        stopwatch: Stopwatch::new(request.timing.first_deadline),
        measured: Vec::new(),
        best_ns: None,
        planned,
        environment: None,
    };
    tuner.try_many(bench);
    if let Some(failure) = tuner.environment {
        return Err(TuneError::Environment(failure));
    }
    let cancelled = || bench.cancelled.load(Ordering::Relaxed);
    if tuner.measured.is_empty() && !cancelled() && request.budget > 0 {
        return Err(nothing_valid(&tuner.space));
    }
    let best = tuner.time_finalists(bench);
    let reused = tuner.measured.iter().filter(|measured| measured.reused).count();
    Ok(TuneOutcome {
        best,
        measured: tuner.measured,
        excluded: survey.excluded,
        space: size,
        strategy: entry.name,
        reused,
        cancelled: bench.cancelled.load(Ordering::Relaxed),
    })
}

fn strategy_entry(request: &TuneRequest<'_>, survey: &Survey) -> Result<&'static StrategyEntry, TuneError> {
    let Some(name) = request.strategy else { return Ok(strategy::default_for(survey, request.budget)) };
    strategy::find(name).ok_or_else(|| TuneError::UnknownStrategy {
        name: name.to_owned(),
        there: STRATEGIES.iter().map(|entry| entry.name).collect(),
    })
}

fn nothing_valid(space: &Space<'_>) -> TuneError {
    TuneError::NothingValid { product: space.product(), why: space.explain() }
}

struct Tuner<'a> {
    request: &'a TuneRequest<'a>,
    space: Space<'a>,
    context_hash: String,
    strategy: Box<dyn Strategy>,
    stopwatch: Stopwatch,
    measured: Vec<Measured>,
    best_ns: Option<f64>,
    planned: usize,
    environment: Option<Failure>,
}

impl Tuner<'_> {
    /// Seeds first, then what the strategy asks for, until the budget is used up.
    fn try_many(&mut self, bench: &mut Bench<'_>) {
        let mut seen = HashSet::new();
        let mut batch = self.seeds();
        loop {
            let left = self.request.budget.saturating_sub(self.measured.len());
            batch.retain(|configuration| seen.insert(sorted(configuration)));
            batch.truncate(left);
            self.measure_batch(&batch, bench);
            let stop = self.environment.is_some() || bench.cancelled.load(Ordering::Relaxed);
            let left = self.request.budget.saturating_sub(self.measured.len());
            if stop || left == 0 {
                return;
            }
            batch = self.strategy.ask(&self.space, left.min(BATCH));
            if batch.is_empty() {
                return;
            }
        }
    }

    /// Incumbents and the start that are valid here.
    fn seeds(&self) -> Vec<Configuration> {
        let start = self.request.context.start();
        let adapted = self.request.incumbents.iter().chain([&start]).map(|known| self.space.adapt(known));
        adapted.filter(|configuration| self.space.plan(configuration).is_ok()).collect()
    }

    fn measure_batch(&mut self, batch: &[Configuration], bench: &mut Bench<'_>) {
        let timing = self.request.timing.quick;
        let keys: Vec<String> = batch.iter().map(|configuration| self.key(configuration, bench, &timing)).collect();
        let mut unknown = Vec::new();
        for (index, configuration) in batch.iter().enumerate() {
            match bench.cache.get(&keys[index]).filter(|earlier| measure::answers(earlier, self.best_ns)) {
                Some(earlier) => self.note(Measured { reused: true, ..earlier }, bench),
                None => unknown.push((index, configuration.clone())),
            }
        }
        let (request, compile, cancelled) = (self.request, bench.compile, bench.cancelled);
        // The space is read by the threads that compile, the rest of the tuner by this one.
        let space = Space::new(request.context, request.inputs, request.facts);
        pipeline::build_all(
            request,
            &space,
            &unknown,
            compile,
            cancelled,
            request.compile_threads,
            |Ready { index, built }| {
                let times = built.and_then(|(plan, artifact)| {
                    let candidate = (&plan, &artifact);
                    self.stopwatch.quick(bench.execute, candidate, request.fill, &timing, self.best_ns)
                });
                let measured = measured(&batch[index], times);
                if let Some(failure) = measured.failure.as_ref().filter(|failure| is_environment(failure)) {
                    self.environment = Some(failure.clone());
                    return false;
                }
                if measure::lasting(&measured) {
                    bench.cache.put(&keys[index], &measured);
                }
                self.note(measured, bench);
                true
            },
        );
    }

    fn note(&mut self, measured: Measured, bench: &mut Bench<'_>) {
        if let Some(time) = measured.time_ns() {
            self.best_ns = Some(self.best_ns.map_or(time, |best| best.min(time)));
        }
        self.strategy.tell(&measured.configuration, measured.time_ns());
        self.measured.push(measured);
        if let Some(measured) = self.measured.last() {
            let done = self.measured.len();
            let of = self.planned.max(done);
            (bench.progress)(TuneEvent::Measured { measured, done, of, best_ns: self.best_ns });
        }
    }

    /// Times the best few at length, and more of them while none succeeds. The winner, if there is one.
    fn time_finalists(&mut self, bench: &mut Bench<'_>) -> Option<Measured> {
        let mut order: Vec<(f64, usize)> = self
            .measured
            .iter()
            .enumerate()
            .filter_map(|(index, measured)| Some((measured.time_ns()?, index)))
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let bound = order.first().map_or(0.0, |(best, _)| best * FINALIST_FACTOR);
        let of = order.iter().filter(|(time, _)| *time <= bound).count().min(FINALISTS);
        let mut best: Option<(f64, usize)> = None;
        for (done, (_, index)) in order.into_iter().enumerate() {
            if (done >= of && best.is_some()) || bench.cancelled.load(Ordering::Relaxed) {
                break;
            }
            let measured = self.time_finalist(index, bench);
            if let Some(time) = measured.time_ns()
                && best.is_none_or(|(least, _)| time < least)
            {
                best = Some((time, index));
            }
            (bench.progress)(TuneEvent::Finalist { measured: &measured, done: done + 1, of: of.max(done + 1) });
            self.measured[index] = measured;
        }
        // Cancelled before the first finalist: the short timing is what there is.
        let quick = self.measured.iter().filter(|one| one.time_ns().is_some()).min_by(|a, b| by_time(a, b));
        best.map(|(_, index)| &self.measured[index]).or(quick).cloned()
    }

    fn time_finalist(&self, index: usize, bench: &mut Bench<'_>) -> Measured {
        let timing = self.request.timing.thorough;
        let configuration = &self.measured[index].configuration;
        let key = self.key(configuration, bench, &timing);
        if let Some(earlier) = bench.cache.get(&key).filter(measure::lasting) {
            return Measured { reused: true, ..earlier };
        }
        let built = pipeline::build(self.request, &self.space, configuration, bench.compile);
        let times = built.and_then(|(plan, artifact)| {
            self.stopwatch.thorough(bench.execute, (&plan, &artifact), self.request.fill, &timing)
        });
        let measured = measured(configuration, times);
        if measure::lasting(&measured) {
            bench.cache.put(&key, &measured);
        }
        measured
    }

    fn key(&self, configuration: &Configuration, bench: &Bench<'_>, timing: &Timing) -> String {
        measure::key(self.request, &self.context_hash, configuration, bench.execute.device(), timing)
    }
}

fn measured(configuration: &Configuration, times: Result<Times, Failure>) -> Measured {
    let (times, failure) = match times {
        Ok(times) => (Some(times), None),
        Err(failure) => (None, Some(failure)),
    };
    Measured { configuration: configuration.clone(), times, failure, reused: false }
}

fn by_time(a: &Measured, b: &Measured) -> std::cmp::Ordering {
    a.time_ns().unwrap_or(f64::INFINITY).total_cmp(&b.time_ns().unwrap_or(f64::INFINITY))
}

fn sorted(configuration: &Configuration) -> Vec<(String, i64)> {
    let mut values: Vec<(String, i64)> = configuration.iter().map(|(name, value)| (name.clone(), *value)).collect();
    values.sort();
    values
}
