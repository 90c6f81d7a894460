//! Carries out a workflow: steps in order, branches, checkpoints. What a step came to is a row; only what keeps the run
//! from going on at all is an error.

mod attempt;
mod branches;
mod choose;
mod compare;
mod journal;

use crate::context::{Inputs, KernelContext};
use crate::provider::Usage;
use crate::runner::{Failure, FailureClass, is_environment};
use crate::store::{NewRun, RunStatus, Store};
use crate::validate::outputs::CheckPlan;
use crate::validate::{OutputsValidator, VALIDATORS};
use crate::workflow::apply::ApplyError;
use crate::workflow::decision::DecisionKind;
use crate::workflow::environment::Environment;
use crate::workflow::error::WorkflowError;
use crate::workflow::judge::{Checker, largest_checked};
use crate::workflow::line::{Line, Point, SizeResult};
use crate::workflow::measure::{SizeMeasured, measure};
use crate::workflow::observer::{Answer, Best, Finished, Observer, Question, Reused};
use crate::workflow::past::Past;
use crate::workflow::row::{Row, Verdict};
use crate::workflow::rows::{self, StepFacts};
use attempt::{effort, kept_context, put};
use indexmap::IndexMap;
use journal::{Journal, place};
use peak_grammar::ir::{Application, Expectation, FailurePolicy, Workflow, WorkflowStep};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Mutex;
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
    pub journal: Journal,
    /// A connection of its own: answers are kept while steps are under way.
    pub answers: Mutex<Store>,
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
    let id = started(workflow, environment)?;
    let Some(_lock) = environment.store.lock_run(id)? else { return Err(WorkflowError::InProgress { run: id }) };
    environment.store.continue_run(id)?;
    let result = run_from(workflow, context, sizes, id, environment, observer);
    let status = match &result {
        Ok(Outcome { failure: None, .. }) => RunStatus::Finished,
        Ok(Outcome { interrupted: true, .. }) | Err(WorkflowError::Interrupted) => RunStatus::Stopped,
        _ => RunStatus::Failed,
    };
    environment.store.finish_run(id, status)?;
    result
}

/// The run to go on with, or a new one.
fn started(workflow: &Workflow, environment: &Environment<'_>) -> Result<i64, WorkflowError> {
    if let Some(id) = environment.options.resume {
        return Ok(id);
    }
    Ok(environment.store.start_run(&NewRun {
        workflow: workflow.name.clone(),
        kernel: workflow.kernel.clone(),
        backend: environment.backend.name().to_owned(),
        runtime: environment.info.runtime.clone(),
        device: environment.info.name.clone(),
        provider: environment.provider.name().to_owned(),
        options: serde_json::json!(environment.options).to_string(),
    })?)
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
    let mut journal = Journal::open(environment.store, id, environment.options.decisions.clone())?;
    let answers = Mutex::new(environment.store.again()?);
    let mut start = Start { sizes: &sizes, id, known: &known, validator: &mut validator, reused: &mut reused };
    let (baseline, rows) = start.baseline(workflow, context, &mut journal, environment, observer)?;
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
        journal,
        answers,
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

/// What the baseline is made with.
struct Start<'s> {
    sizes: &'s [Inputs],
    id: i64,
    known: &'s [String],
    validator: &'s mut OutputsValidator,
    reused: &'s mut Reused,
}

impl Start<'_> {
    /// The naive kernel, measured and kept; as it was kept, where the run goes on.
    fn baseline(
        &mut self,
        workflow: &Workflow,
        context: KernelContext,
        journal: &mut Journal,
        environment: &mut Environment<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(Point, Vec<Row>), WorkflowError> {
        let place = place(0, BASELINE, &context.hash());
        let step = BASELINE.to_owned();
        if let Some((Past::Step { rows, sizes, .. }, checkpoint)) = journal.past(&place)? {
            self.reused.steps += 1;
            let context = Rc::new(kept_context(environment.store, checkpoint)?);
            return Ok((Point { step, context, sizes, checkpoint: checkpoint.unwrap_or_default() }, rows));
        }
        let measured = self.measured(workflow, &context, environment, observer)?;
        let facts = StepFacts { index: 0, name: BASELINE, verdict: Verdict::Accepted, ..StepFacts::default() };
        let rows = rows::rows(&facts, &context.kernel, &measured, None, None, environment);
        let sizes = results(measured);
        let (rows_kept, verdict) = (rows.clone(), Verdict::Accepted);
        let past = Past::Step { rows: rows_kept, sizes: sizes.clone(), verdict, decision: None };
        let checkpoint = put(environment, journal, self.id, None, &context, place, &past)?;
        Ok((Point { step, context: Rc::new(context), sizes, checkpoint }, rows))
    }

    fn measured(
        &mut self,
        workflow: &Workflow,
        context: &KernelContext,
        environment: &mut Environment<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<SizeMeasured>, WorkflowError> {
        let effort = effort(workflow, environment, 0, BASELINE);
        let mut measured = Vec::new();
        for inputs in self.sizes {
            let mut checker = Checker { validator: self.validator, reused: self.reused, known: self.known };
            let size = measure(context, inputs, &[], &effort, environment, &mut checker, observer);
            measured.push(size.map_err(|failure| match environment.cancelled.load(Ordering::Relaxed) {
                true => WorkflowError::Interrupted,
                false => WorkflowError::Baseline { failure },
            })?);
        }
        Ok(measured)
    }
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
                self.keep_best()?;
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
            match self.asked_of_a_person(application, &failure)?.as_str() {
                "retry" => {}
                "skip" => break,
                _ => return Ok(Flow::Stopped(failure)),
            }
        }
        Ok(Flow::Done)
    }

    /// What a person says to a failure.
    fn asked_of_a_person(&mut self, application: &Application, failure: &Failure) -> Result<String, WorkflowError> {
        let step = application.transformation.as_str();
        let context = self.line.current().context.hash();
        self.decide(DecisionKind::Ask, step, context, |run| {
            let standing = run.line.current().step.clone();
            let question = Question { step, failure: &failure.to_string(), standing: &standing };
            match run.observer.ask(&question) {
                Answer::Retry => "retry".to_owned(),
                Answer::Skip => "skip".to_owned(),
                Answer::Stop => "stop".to_owned(),
            }
        })
    }

    /// `try ... or keep going`: a failure or a slow-down costs nothing.
    fn try_apply(&mut self, application: &Application) -> Result<Flow, WorkflowError> {
        let failure = self.attempt(application, true)?;
        // A machine that can't run anything will not run the next step either.
        Ok(failure.filter(is_environment).map_or(Flow::Done, Flow::Stopped))
    }

    fn finish(mut self, flow: Flow) -> Result<Outcome, WorkflowError> {
        let failure = match flow {
            Flow::Done => None,
            Flow::Stopped(failure) => Some(failure),
        };
        // A run that ended early still names the best verified kernel.
        match &failure {
            Some(_) => self.line.keep_best(),
            // As the last step it was just carried out.
            None if self.workflow.steps.last() == Some(&WorkflowStep::KeepBest) => {}
            None if self.workflow.steps.contains(&WorkflowStep::KeepBest) => self.keep_best()?,
            None => {}
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
