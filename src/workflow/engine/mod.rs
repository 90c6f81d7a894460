//! Carries out a workflow: steps in order, branches, checkpoints. What a step came to is a row; only what keeps the run
//! from going on at all is an error.

mod attempt;
mod choose;
mod compare;

use crate::context::{Inputs, KernelContext};
use crate::provider::Usage;
use crate::runner::{Failure, FailureClass, is_environment};
use crate::store::{NewRun, RunStatus};
use crate::validate::outputs::CheckPlan;
use crate::validate::{OutputsValidator, VALIDATORS};
use crate::workflow::apply::ApplyError;
use crate::workflow::environment::Environment;
use crate::workflow::error::WorkflowError;
use crate::workflow::judge::{Checker, largest_checked};
use crate::workflow::line::{Line, Pace, Point, SizeResult};
use crate::workflow::measure::{SizeMeasured, measure};
use crate::workflow::observer::{Answer, Best, Finished, Observer, Question, Reused};
use crate::workflow::row::{Row, Verdict};
use crate::workflow::rows::{self, StepFacts};
use attempt::{effort, put};
use indexmap::IndexMap;
use peak_grammar::ir::{Application, Expectation, FailurePolicy, Workflow, WorkflowStep};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::atomic::Ordering;

/// The name of the first row and checkpoint.
pub const BASELINE: &str = "baseline";

/// Why a run ended early that was asked to.
const STOPPED: &str = "stopped on request";

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// Every row, in order.
    pub rows: Vec<Row>,
    /// The last event.
    pub finished: Finished,
    /// What ended the run early, where something did.
    pub failure: Option<Failure>,
    /// Whether that was a request to stop.
    pub interrupted: bool,
    /// Why steps failed, in full, by step: diagnostics for people.
    pub diagnostics: Vec<(String, ApplyError)>,
}

/// A run under way.
pub(super) struct Run<'e, 'a> {
    pub environment: &'e mut Environment<'a>,
    pub workflow: &'e Workflow,
    pub observer: &'e mut dyn Observer,
    pub id: i64,
    pub sizes: Vec<Inputs>,
    pub validator: OutputsValidator,
    pub reused: Reused,
    pub known: Vec<String>,
    pub rows: Vec<Row>,
    pub diagnostics: Vec<(String, ApplyError)>,
    line: Line,
    steps: usize,
    named: IndexMap<String, usize>,
    /// What a model chose, from which context (by hash), and did not come to anything.
    tried: BTreeSet<(String, String)>,
    /// Answers and repairs of a choice that count for the step that comes of it.
    choice_calls: (usize, usize),
    /// What the transformation that was just applied expects.
    expects: Vec<Expectation>,
    /// Counters of which it was said that nothing counts them.
    said: BTreeSet<String>,
}

/// How often a person is asked about one step, at most.
const MAX_ASKED: usize = 16;

/// How a list of steps ended.
enum Flow {
    /// Carried out.
    Done,
    /// Ended early.
    Stopped(Failure),
}

/// Runs a workflow from a kernel's context.
///
/// # Errors
/// Nothing can be run at all: no valid configuration, a wrong baseline, a construct that is not built yet, a broken
/// store. A step that fails is a row of the outcome.
pub fn run(
    workflow: &Workflow,
    context: KernelContext,
    environment: &mut Environment<'_>,
    observer: &mut dyn Observer,
) -> Result<Outcome, WorkflowError> {
    check_built(&workflow.steps)?;
    let sizes = match environment.has_timer() {
        true => rows::timed_sizes(&context.kernel, &workflow.time_at),
        // Where nothing is timed, small sizes say all that there is to say.
        false => vec![largest_checked(&context.kernel)],
    };
    let id = environment.store.start_run(&NewRun {
        workflow: workflow.name.clone(),
        kernel: workflow.kernel.clone(),
        backend: environment.backend.name().to_owned(),
        runtime: environment.info.runtime.clone(),
        device: environment.info.name.clone(),
        provider: environment.provider.name().to_owned(),
    })?;
    let result = run_from(workflow, context, sizes, id, environment, observer);
    let status = match &result {
        Ok(Outcome { failure: None, .. }) => RunStatus::Finished,
        Ok(Outcome { interrupted: true, .. }) | Err(WorkflowError::Interrupted) => RunStatus::Stopped,
        _ => RunStatus::Failed,
    };
    environment.store.finish_run(id, status)?;
    result
}

fn run_from(
    workflow: &Workflow,
    context: KernelContext,
    sizes: Vec<Inputs>,
    id: i64,
    environment: &mut Environment<'_>,
    observer: &mut dyn Observer,
) -> Result<Outcome, WorkflowError> {
    let plan = CheckPlan { seed: environment.options.seed, ..CheckPlan::default() };
    let mut validator = OutputsValidator::new(&context, &context.start(), plan)?;
    let mut reused = Reused::default();
    let known = rows::known_facts(&context.kernel, &sizes, environment.device);
    let context = Rc::new(context);
    let effort = effort(workflow, environment, 0, BASELINE);
    let mut measured = Vec::new();
    for inputs in &sizes {
        let mut checker = Checker { validator: &mut validator, reused: &mut reused, known: &known };
        let size = measure(&context, inputs, &[], &effort, environment, &mut checker, observer).map_err(|failure| {
            match environment.cancelled.load(Ordering::Relaxed) {
                true => WorkflowError::Interrupted,
                false => WorkflowError::Baseline { failure },
            }
        })?;
        measured.push(size);
    }
    let facts = StepFacts { index: 0, name: BASELINE, verdict: Verdict::Accepted, ..StepFacts::default() };
    let rows = rows::rows(&facts, &context.kernel, &measured, None, None, environment);
    let checkpoint = put(environment, id, BASELINE, None, &context, &rows, 0, Verdict::Accepted)?;
    let baseline = Point { step: BASELINE.to_owned(), context, sizes: results(measured), checkpoint };
    let line = Line::new(baseline);
    let mut run = Run {
        environment,
        workflow,
        observer,
        id,
        sizes,
        validator,
        reused,
        known,
        rows: Vec::new(),
        diagnostics: Vec::new(),
        line,
        steps: 1,
        named: IndexMap::new(),
        tried: BTreeSet::new(),
        choice_calls: (0, 0),
        expects: Vec::new(),
        said: BTreeSet::new(),
    };
    run.tell(rows, Some(BASELINE));
    run.say_of_validators();
    let flow = run.steps(&workflow.steps)?;
    run.finish(flow)
}

/// Constructs that are parsed and not carried out yet are refused before anything runs.
fn check_built(steps: &[WorkflowStep]) -> Result<(), WorkflowError> {
    for step in steps {
        match step {
            WorkflowStep::Search { .. } => return Err(not_built()),
            WorkflowStep::ChooseBest(branches) => branches.iter().try_for_each(|branch| check_built(branch))?,
            WorkflowStep::Repeat { body, .. } => check_built(body)?,
            _ => {}
        }
    }
    Ok(())
}

fn not_built() -> WorkflowError {
    WorkflowError::NotBuilt { what: "`search`".to_owned() }
}

fn results(measured: Vec<SizeMeasured>) -> Vec<SizeResult> {
    measured.into_iter().map(|size| size.result).collect()
}

impl<'e> Run<'e, '_> {
    fn steps(&mut self, steps: &'e [WorkflowStep]) -> Result<Flow, WorkflowError> {
        for step in steps {
            if self.ended().is_some() {
                break;
            }
            if let Flow::Stopped(failure) = self.step(step)? {
                return Ok(Flow::Stopped(failure));
            }
        }
        Ok(self.ended().map_or(Flow::Done, Flow::Stopped))
    }

    /// Why no further step is carried out, where somebody asked to stop, or a budget is spent.
    fn ended(&self) -> Option<Failure> {
        if self.is_stopped() {
            return Some(Failure::new(FailureClass::Timeout, STOPPED));
        }
        let spent = self.environment.provider.refuses()?;
        Some(Failure::new(FailureClass::Provider, format!("the budget is spent: {spent}")))
    }

    /// Says which of the workflow's validators are not there: nothing is verified by them, and rows name those that did.
    fn say_of_validators(&mut self) {
        let known = |name: &String| VALIDATORS.iter().any(|entry| entry.name == name);
        let missing: Vec<&str> =
            self.workflow.validators.iter().filter(|name| !known(name)).map(String::as_str).collect();
        if !missing.is_empty() {
            let words = missing.join(", ");
            self.observer
                .note(&format!("`validate ... with {words}`: this build has no such validator; `outputs` judges"));
        }
    }

    /// Whether somebody asked the run to stop.
    fn is_stopped(&self) -> bool {
        self.observer.cancelled() || self.environment.cancelled.load(Ordering::Relaxed)
    }

    fn step(&mut self, step: &'e WorkflowStep) -> Result<Flow, WorkflowError> {
        match step {
            WorkflowStep::Apply(application) => self.apply(application),
            WorkflowStep::Try(application) => self.try_apply(application),
            WorkflowStep::ChooseBest(branches) => self.choose(branches),
            WorkflowStep::Repeat { times, until_gain_below_percent, body } => {
                self.repeat(*times, *until_gain_below_percent, body)
            }
            WorkflowStep::Checkpoint(name) => {
                self.named.insert(name.clone(), self.line.position());
                let id = self.line.current().checkpoint;
                let before = self.checkpoint_name(id)?;
                self.environment.store.name_checkpoint(id, name)?;
                let after = self.checkpoint_name(id)?;
                for row in self.rows.iter_mut().filter(|row| row.checkpoint.as_ref() == Some(&before)) {
                    row.checkpoint = Some(after.clone());
                }
                Ok(Flow::Done)
            }
            WorkflowStep::Restore(name) => match self.named.get(name) {
                Some(position) => {
                    self.line.go_to(*position);
                    Ok(Flow::Done)
                }
                None => Err(WorkflowError::UnknownCheckpoint { name: name.clone() }),
            },
            WorkflowStep::CompareWith(library) => {
                self.compare_with(library);
                Ok(Flow::Done)
            }
            WorkflowStep::KeepBest => {
                self.line.keep_best();
                let id = self.line.current().checkpoint;
                self.environment.store.set_current(id)?;
                Ok(Flow::Done)
            }
            WorkflowStep::LetModelChoose(from) => self.let_model_choose(from),
            WorkflowStep::Search { .. } => Err(not_built()),
        }
    }

    /// `apply`: a failure follows `on failure`; a slower kernel is accepted.
    fn apply(&mut self, application: &Application) -> Result<Flow, WorkflowError> {
        let asks = self.workflow.on_failure.then == FailurePolicy::Ask;
        for asked in 0.. {
            let Some(failure) = self.attempt(application, false)? else { break };
            if !asks || asked >= MAX_ASKED || self.ended().is_some() {
                return Ok(Flow::Stopped(failure));
            }
            let question = Question {
                step: &application.transformation,
                failure: &failure.to_string(),
                standing: &self.line.current().step,
            };
            match self.observer.ask(&question) {
                Answer::Retry => {}
                Answer::Skip => break,
                Answer::Stop => return Ok(Flow::Stopped(failure)),
            }
        }
        Ok(Flow::Done)
    }

    /// `try ... or keep going`: a failure or a slow-down costs nothing.
    fn try_apply(&mut self, application: &Application) -> Result<Flow, WorkflowError> {
        let failure = self.attempt(application, true)?;
        // A machine that can't run anything will not run the next step either.
        Ok(failure.filter(is_environment).map_or(Flow::Done, Flow::Stopped))
    }

    /// `choose best of`: every branch from here; the fastest valid one goes on.
    fn choose(&mut self, branches: &'e [Vec<WorkflowStep>]) -> Result<Flow, WorkflowError> {
        self.ask_ahead(branches);
        let start = self.line.position();
        let mut best: Option<usize> = None;
        let mut last_failure = None;
        for branch in branches {
            self.line.go_to(start);
            match self.steps(branch)? {
                Flow::Stopped(failure) => last_failure = Some(failure),
                Flow::Done => {
                    let here = self.line.position();
                    let wins = match best {
                        None => true,
                        Some(held) => self.line.current().compared_with(self.line.at(held)) == Some(Pace::Faster),
                    };
                    if wins {
                        best = Some(here);
                    }
                }
            }
        }
        self.line.go_to(best.unwrap_or(start));
        self.environment.store.set_current(self.line.current().checkpoint)?;
        match (best, last_failure) {
            (None, Some(failure)) => Ok(Flow::Stopped(failure)),
            _ => Ok(Flow::Done),
        }
    }

    /// `repeat at most N times until the gain is below P percent`; once where nothing is timed. A round that ends slower
    /// than it began is undone, and the last.
    fn repeat(&mut self, times: u32, least: Option<f64>, body: &'e [WorkflowStep]) -> Result<Flow, WorkflowError> {
        for _ in 0..times {
            let start = self.line.position();
            let before = self.line.current().score();
            if let Flow::Stopped(failure) = self.steps(body)? {
                return Ok(Flow::Stopped(failure));
            }
            let (Some(before), Some(after)) = (before, self.line.current().score()) else { break };
            if self.line.current().compared_with(self.line.at(start)) == Some(Pace::Slower) {
                self.line.go_to(start);
                self.environment.store.set_current(self.line.current().checkpoint)?;
                self.observer.note("this round made the kernel slower: it is undone, and `repeat` ends");
                break;
            }
            let gain = (before / after - 1.0) * 100.0;
            if least.is_some_and(|least| gain < least) {
                break;
            }
        }
        Ok(Flow::Done)
    }

    fn finish(mut self, flow: Flow) -> Result<Outcome, WorkflowError> {
        let failure = match flow {
            Flow::Done => None,
            Flow::Stopped(failure) => Some(failure),
        };
        // A run that ended early still names the best verified kernel.
        let keeps_best = self.workflow.steps.contains(&WorkflowStep::KeepBest) || failure.is_some();
        if keeps_best {
            self.line.keep_best();
        }
        let interrupted = failure.is_some() && self.is_stopped();
        let best = self.line.current();
        self.environment.store.set_current(best.checkpoint)?;
        let first = best.sizes.first();
        let baseline = first.and_then(|size| self.line.baseline().at(&size.inputs)?.median_ns);
        let median = first.and_then(|size| size.median_ns);
        let finished = Finished {
            workflow: self.workflow.name.clone(),
            run: self.id,
            steps: self.steps,
            accepted: self.line.accepted(),
            best: Best {
                checkpoint: self.checkpoint_name(best.checkpoint)?,
                time_ns_median: median,
                speedup_total: baseline.zip(median).map(|(baseline, median)| baseline / median),
                inputs: first.map(|size| size.inputs.clone()).unwrap_or_default(),
            },
            reused: self.reused,
            usage: Some(self.environment.provider.usage()).filter(|usage| *usage != Usage::default()),
            stopped: failure.as_ref().map(|failure| match interrupted {
                true => STOPPED.to_owned(),
                false => format!("{}: {}", failure.class, failure.message),
            }),
        };
        let Run { rows, diagnostics, .. } = self;
        Ok(Outcome { rows, finished, failure, interrupted, diagnostics })
    }
}
