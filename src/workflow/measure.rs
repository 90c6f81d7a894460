//! What a context comes to at each size: tuned, its winner validated at the size that was timed.

use super::environment::{Environment, StoreCache};
use super::judge::{Checker, compile, inputs_words, validate};
use super::line::SizeResult;
use super::observer::{Observer, Progress};
use crate::context::{Configuration, Inputs, KernelContext};
use crate::evaluate::occupancy::{Occupancy, lowest};
use crate::runner::{Distribution, Failure, FailureClass, Fill};
use crate::tune::space::Space;
use crate::tune::{Bench, Measured, Times, TuneError, TuneEvent, TuneOutcome, TuneRequest, tune};
use crate::validate::{Validator, Verified};
use peak_backend_api::Resources;

/// Good configurations that go on to the next step, at most.
const INCUMBENTS: usize = 128;

/// How a step is tuned and validated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort<'a> {
    /// Order of the step, for progress.
    pub index: usize,
    /// Its name, for progress.
    pub step: &'a str,
    /// Configurations to try.
    pub budget: u32,
    /// The workflow's strategy.
    pub strategy: Option<&'a str>,
    /// Configurations to validate, the winner included.
    pub samples: u32,
}

/// One size of one step.
#[derive(Clone, Debug)]
pub(super) struct SizeMeasured {
    pub result: SizeResult,
    /// What the winner's code uses.
    pub code: Option<CodeFacts>,
    pub times: Option<Times>,
    pub verified_by: Vec<String>,
    pub notes: Vec<String>,
    pub measured: usize,
    pub valid: Option<u64>,
}

/// What compiled code uses, and the lowest occupancy of its launches, where that is known.
#[derive(Clone, Debug, Default)]
pub(super) struct CodeFacts {
    pub resources: Resources,
    pub occupancy: Option<Occupancy>,
}

/// Of code that the tuner compiled before: it is at hand.
pub(super) fn code_facts(
    context: &KernelContext,
    configuration: &Configuration,
    inputs: &Inputs,
    environment: &Environment<'_>,
) -> Option<CodeFacts> {
    let (plan, artifact) = compile(context, configuration, inputs, environment).ok()?;
    Some(CodeFacts { resources: artifact.resources, occupancy: lowest(&artifact, &plan, environment.facts) })
}

/// Tunes a context at one size and validates its winner there.
///
/// # Errors
/// Nothing valid, every candidate failed, or a validated configuration is wrong.
pub(super) fn measure(
    context: &KernelContext,
    inputs: &Inputs,
    incumbents: &[Configuration],
    effort: &Effort<'_>,
    environment: &mut Environment<'_>,
    checker: &mut Checker<'_>,
    observer: &mut dyn Observer,
) -> Result<SizeMeasured, Failure> {
    if !environment.has_timer() {
        return untimed(context, inputs, environment, checker);
    }
    let outcome = tuned(context, inputs, incumbents, effort, environment, observer)?;
    checker.reused.measurements += outcome.reused;
    checker.reused.measured += outcome.measured.len() - outcome.reused;
    let ranked = ranked(&outcome);
    let Some(winner) = outcome.best.as_ref() else { return Err(every_one_failed(&outcome)) };
    let samples = usize::try_from(effort.samples).unwrap_or(1).max(1);
    let checked = spread(&winner.configuration, &ranked, samples);
    observer.progress(&Progress {
        index: effort.index,
        step: effort.step.to_owned(),
        doing: format!("validating the winner and {} more at {}", checked.len() - 1, inputs_words(inputs)),
        done: 0,
        total: None,
        best_ns: winner.time_ns(),
    });
    // All of them at the timed size too: a large tile fits no small one.
    let verified = validate(context, &checked, std::slice::from_ref(inputs), environment, checker)?;
    let valid = outcome.space.valid.and_then(|valid| u64::try_from(valid).ok());
    Ok(SizeMeasured {
        code: code_facts(context, &winner.configuration, inputs, environment),
        result: SizeResult {
            inputs: inputs.clone(),
            configuration: winner.configuration.clone(),
            incumbents: ranked.into_iter().take(INCUMBENTS).collect(),
            median_ns: winner.time_ns(),
            spread_ns: winner.times.map(|times| (times.time_ns_p20, times.time_ns_p80)),
        },
        times: winner.times,
        verified_by: vec![checker.validator.name().to_owned()],
        notes: notes(&verified),
        measured: outcome.measured.len(),
        valid,
    })
}

fn tuned(
    context: &KernelContext,
    inputs: &Inputs,
    incumbents: &[Configuration],
    effort: &Effort<'_>,
    environment: &mut Environment<'_>,
    observer: &mut dyn Observer,
) -> Result<TuneOutcome, Failure> {
    let request = TuneRequest {
        context,
        inputs,
        facts: environment.facts,
        backend: environment.backend,
        target: environment.info.target.as_deref().unwrap_or_default(),
        toolchain: environment.toolchain,
        budget: usize::try_from(effort.budget).unwrap_or(usize::MAX),
        strategy: effort.strategy,
        incumbents,
        seed: environment.options.seed,
        fill: Fill { seed: environment.options.seed, distribution: Distribution::Declared },
        timing: environment.timing,
        compile_threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let mut told = Progress {
        index: effort.index,
        step: effort.step.to_owned(),
        doing: format!("tuning at {}", inputs_words(inputs)),
        done: 0,
        total: None,
        best_ns: None,
    };
    let mut progress = |event: TuneEvent<'_>| {
        match event {
            TuneEvent::Surveyed { planned, .. } => told.total = Some(planned),
            TuneEvent::Measured { done, of, best_ns, .. } => {
                (told.done, told.total, told.best_ns) = (done, Some(of), best_ns);
            }
            _ => return,
        }
        observer.progress(&told);
    };
    let mut cache = StoreCache { store: environment.store, fresh: environment.options.fresh };
    let mut bench = Bench {
        compile: environment.compile,
        execute: environment.execute,
        cache: &mut cache,
        progress: &mut progress,
        cancelled: environment.cancelled,
    };
    tune(&request, &mut bench).map_err(|error| match error {
        TuneError::Environment(failure) => failure,
        other => Failure::new(FailureClass::Launch, other.to_string()),
    })
}

/// Without a timer: the first valid configuration, validated and not timed.
fn untimed(
    context: &KernelContext,
    inputs: &Inputs,
    environment: &mut Environment<'_>,
    checker: &mut Checker<'_>,
) -> Result<SizeMeasured, Failure> {
    let space = Space::new(context, inputs, environment.facts);
    let start = space.adapt(&context.start());
    space.plan(&start).map_err(|invalid| Failure::new(FailureClass::Launch, invalid.to_string()))?;
    let configurations = [start.clone()];
    let verified = validate(context, &configurations, &[], environment, checker)?;
    Ok(SizeMeasured {
        code: code_facts(context, &start, inputs, environment),
        result: SizeResult {
            inputs: inputs.clone(),
            configuration: start.clone(),
            incumbents: vec![start],
            median_ns: None,
            spread_ns: None,
        },
        times: None,
        verified_by: vec![checker.validator.name().to_owned()],
        notes: notes(&verified),
        measured: 0,
        valid: None,
    })
}

/// Configurations that were timed to the end, fastest first.
fn ranked(outcome: &TuneOutcome) -> Vec<Configuration> {
    let mut timed: Vec<&Measured> = outcome.measured.iter().filter(|measured| measured.time_ns().is_some()).collect();
    timed.sort_by(|a, b| a.time_ns().unwrap_or(f64::MAX).total_cmp(&b.time_ns().unwrap_or(f64::MAX)));
    timed.into_iter().map(|measured| measured.configuration.clone()).collect()
}

/// The winner, and others spread evenly over the ranking: good and bad ones alike must be right.
fn spread(winner: &Configuration, ranked: &[Configuration], count: usize) -> Vec<Configuration> {
    let mut chosen = vec![winner.clone()];
    for step in 1..count {
        let place = step * ranked.len().saturating_sub(1) / (count - 1).max(1);
        if let Some(configuration) = ranked.get(place).filter(|configuration| !chosen.contains(configuration)) {
            chosen.push(configuration.clone());
        }
    }
    chosen
}

/// The most frequent failure, with how many had it.
fn every_one_failed(outcome: &TuneOutcome) -> Failure {
    let failures: Vec<&Failure> = outcome.measured.iter().filter_map(|measured| measured.failure.as_ref()).collect();
    let of_class = |class| failures.iter().filter(|failure| failure.class == class).count();
    match failures.iter().max_by_key(|failure| of_class(failure.class)) {
        Some(failure) => {
            let mut worst = (*failure).clone();
            worst.message = format!("every configuration failed ({} tried): {}", failures.len(), worst.message);
            worst
        }
        None => Failure::new(FailureClass::Timeout, "stopped before a configuration was timed"),
    }
}

fn notes(verified: &Verified) -> Vec<String> {
    verified.notes.clone()
}
