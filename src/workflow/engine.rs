//! Carries out a workflow: steps in order, branches, checkpoints. What a step came to is a row; only what keeps the run
//! from going on at all is an error.

use super::apply::{ApplyError, Told, Workshop};
use super::environment::Environment;
use super::error::WorkflowError;
use super::judge::{Checker, RunJudge};
use super::line::{Line, Pace, Point, SizeResult};
use super::measure::{Effort, SizeMeasured, measure};
use super::observer::{Best, Finished, Observer, Progress, Reused};
use super::row::{Row, Verdict};
use super::rows::{self, StepFacts};
use crate::context::{Inputs, KernelContext};
use crate::runner::{Failure, FailureClass};
use crate::store::{CheckpointResult, NewCheckpoint, NewRun, RunStatus};
use crate::validate::OutputsValidator;
use crate::validate::outputs::CheckPlan;
use indexmap::IndexMap;
use peak_grammar::ir::{Application, FailurePolicy, Workflow, WorkflowStep};
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
}

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
    let sizes = rows::timed_sizes(&context.kernel, &workflow.time_at);
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
    };
    run.tell(rows, Some(BASELINE));
    let flow = run.steps(&workflow.steps)?;
    run.finish(flow)
}

/// Constructs that are parsed and not carried out yet are refused before anything runs.
fn check_built(steps: &[WorkflowStep]) -> Result<(), WorkflowError> {
    let not_built = |what: &str| Err(WorkflowError::NotBuilt { what: what.to_owned() });
    for step in steps {
        match step {
            WorkflowStep::LetModelChoose(_) => return not_built("`let the model choose`"),
            WorkflowStep::Search { .. } => return not_built("`search`"),
            WorkflowStep::ChooseBest(branches) => branches.iter().try_for_each(|branch| check_built(branch))?,
            WorkflowStep::Repeat { body, .. } => check_built(body)?,
            _ => {}
        }
    }
    Ok(())
}

fn effort<'w>(workflow: &'w Workflow, environment: &Environment<'_>, index: usize, step: &'w str) -> Effort<'w> {
    Effort {
        index,
        step,
        budget: environment.options.tune_budget.unwrap_or(workflow.tune_budget),
        strategy: workflow.tune_strategy.as_deref(),
        samples: workflow.validate_samples,
    }
}

fn results(measured: Vec<SizeMeasured>) -> Vec<SizeResult> {
    measured.into_iter().map(|size| size.result).collect()
}

#[allow(clippy::too_many_arguments, reason = "one call of the store, with what it keeps")]
fn put(
    environment: &mut Environment<'_>,
    run: i64,
    name: &str,
    parent: Option<i64>,
    context: &KernelContext,
    rows: &[Row],
    step: usize,
    verdict: Verdict,
) -> Result<i64, WorkflowError> {
    let results: Vec<CheckpointResult> = rows
        .iter()
        .map(|row| CheckpointResult {
            inputs: row.inputs.clone(),
            configuration: row.configuration.clone(),
            time_ns_median: row.time_ns_median,
            time_ns_p20: row.time_ns_p20,
            time_ns_p80: row.time_ns_p80,
            speedup_step: row.speedup_step,
            speedup_total: row.speedup_total,
        })
        .collect();
    let id = environment.store.put_checkpoint(&NewCheckpoint {
        run,
        name,
        parent,
        context,
        step: u32::try_from(step).unwrap_or(u32::MAX),
        transformation: (name != BASELINE).then_some(name),
        verdict: verdict.name(),
        verified_by: rows.first().map_or(&[], |row| row.verified_by.as_slice()),
        results: &results,
    })?;
    Ok(id)
}

impl Run<'_, '_> {
    fn steps(&mut self, steps: &[WorkflowStep]) -> Result<Flow, WorkflowError> {
        for step in steps {
            if self.is_stopped() {
                break;
            }
            if let Flow::Stopped(failure) = self.step(step)? {
                return Ok(Flow::Stopped(failure));
            }
        }
        match self.is_stopped() {
            true => Ok(Flow::Stopped(Failure::new(FailureClass::Timeout, STOPPED))),
            false => Ok(Flow::Done),
        }
    }

    /// Whether somebody asked the run to stop.
    fn is_stopped(&self) -> bool {
        self.observer.cancelled() || self.environment.cancelled.load(Ordering::Relaxed)
    }

    fn step(&mut self, step: &WorkflowStep) -> Result<Flow, WorkflowError> {
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
                let runtime = &self.environment.info.runtime;
                self.observer.note(&format!("not compared with {library}: it does not run on the {runtime} runtime"));
                Ok(Flow::Done)
            }
            WorkflowStep::KeepBest => {
                self.line.keep_best();
                let id = self.line.current().checkpoint;
                self.environment.store.set_current(id)?;
                Ok(Flow::Done)
            }
            WorkflowStep::LetModelChoose(_) => Err(WorkflowError::NotBuilt { what: "`let the model choose`".into() }),
            WorkflowStep::Search { .. } => Err(WorkflowError::NotBuilt { what: "`search`".into() }),
        }
    }

    /// `apply`: a failure follows `on failure`; a slower kernel is accepted.
    fn apply(&mut self, application: &Application) -> Result<Flow, WorkflowError> {
        match self.attempt(application, false)? {
            None => Ok(Flow::Done),
            Some(failure) => {
                if self.workflow.on_failure.then == FailurePolicy::Ask {
                    self.observer.note(&format!(
                        "{} failed: the run ends at `{}`; mend the transformation, or take it out, and run again",
                        application.transformation,
                        self.line.current().step
                    ));
                }
                Ok(Flow::Stopped(failure))
            }
        }
    }

    /// `try ... or keep going`: a failure or a slow-down costs nothing.
    fn try_apply(&mut self, application: &Application) -> Result<Flow, WorkflowError> {
        let failure = self.attempt(application, true)?;
        // A machine that can't run anything will not run the next step either.
        Ok(failure.filter(super::judge::blames_machine).map_or(Flow::Done, Flow::Stopped))
    }

    /// Applies, tunes, validates, and moves on where that is right. Gives the failure where there is one.
    fn attempt(&mut self, application: &Application, unless_slower: bool) -> Result<Option<Failure>, WorkflowError> {
        let index = self.steps;
        self.steps += 1;
        let name = application.transformation.as_str();
        let before = self.line.current().clone();
        let mut facts = StepFacts { index, name, ..StepFacts::default() };
        let applied = self.lowered(application, &before.context, index, &mut facts)?;
        let measured = match applied {
            Ok(context) => self.measure_all(&context, &before, index, name).map(|sizes| (context, sizes)),
            Err(failure) => Err(failure),
        };
        let (context, measured) = match measured {
            Ok(found) => found,
            // What was cut short did not fail.
            Err(failure) if self.is_stopped() => return Ok(Some(failure)),
            Err(failure) => {
                let kernel = &before.context.kernel;
                let rows = rows::failed(&facts, kernel, &self.sizes, &failure, self.environment);
                self.tell(rows, None);
                return Ok(Some(failure));
            }
        };
        self.settle(facts, context, measured, &before, unless_slower)?;
        Ok(None)
    }

    /// Asks the model, or replays; every attempt is kept.
    fn lowered(
        &mut self,
        application: &Application,
        context: &KernelContext,
        index: usize,
        facts: &mut StepFacts<'_>,
    ) -> Result<Result<KernelContext, Failure>, WorkflowError> {
        let Run { environment, workflow, observer, validator, reused, known, .. } = self;
        let step = application.transformation.as_str();
        let mut told = |told: Told<'_>| match told {
            Told::Doing(doing) => {
                let (step, doing) = (step.to_owned(), doing.to_owned());
                observer.progress(&Progress { index, step, doing, done: 0, total: None, best_ns: None });
            }
            Told::Note(note) => observer.note(&format!("{step}, {note}")),
            Told::Prompt(_) => {}
        };
        let workshop = Workshop::of(environment, workflow.on_failure.retries);
        let mut judge = RunJudge { environment, checker: Checker { validator, reused, known } };
        let applied = workshop.apply(application, context, &mut judge, &mut told);
        let provider = workshop.provider.name();
        applied.keep(self.environment.store, Some(self.id), step, provider)?;
        (facts.model_calls, facts.repairs) = (applied.answered(), applied.repairs());
        match self.environment.replays {
            true => self.reused.completions += applied.answered(),
            false => self.reused.asked += applied.answered(),
        }
        Ok(applied.result.map_err(|(failure, error)| {
            self.diagnostics.push((step.to_owned(), error));
            failure
        }))
    }

    fn measure_all(
        &mut self,
        context: &KernelContext,
        before: &Point,
        index: usize,
        name: &str,
    ) -> Result<Vec<SizeMeasured>, Failure> {
        let Run { environment, workflow, observer, sizes, validator, reused, known, .. } = self;
        let effort = effort(workflow, environment, index, name);
        let mut measured = Vec::new();
        for inputs in sizes.iter() {
            let incumbents = before.at(inputs).map_or(&[][..], |size| &size.incumbents);
            let mut checker = Checker { validator, reused, known };
            measured.push(measure(context, inputs, incumbents, &effort, environment, &mut checker, *observer)?);
        }
        Ok(measured)
    }

    /// Decides the verdict of a valid step, keeps it, and moves on where it is accepted.
    fn settle(
        &mut self,
        mut facts: StepFacts<'_>,
        context: KernelContext,
        measured: Vec<SizeMeasured>,
        before: &Point,
        unless_slower: bool,
    ) -> Result<(), WorkflowError> {
        let context = Rc::new(context);
        let sizes: Vec<SizeResult> = measured.iter().map(|size| size.result.clone()).collect();
        let mut point = Point { step: facts.name.to_owned(), context, sizes, checkpoint: 0 };
        let pace = point.compared_with(before);
        let slower = pace == Some(Pace::Slower);
        facts.verdict = if unless_slower && slower { Verdict::Rejected } else { Verdict::Accepted };
        facts.reason = slower.then(|| match facts.verdict {
            Verdict::Accepted => "slower, kept: later steps may build on it".to_owned(),
            _ => "slower than the step before".to_owned(),
        });
        let kernel = &point.context.kernel;
        let mut rows =
            rows::rows(&facts, kernel, &measured, Some(before), Some(self.line.baseline()), self.environment);
        let parent = Some(before.checkpoint);
        point.checkpoint =
            put(self.environment, self.id, facts.name, parent, &point.context, &rows, facts.index, facts.verdict)?;
        let name = self.checkpoint_name(point.checkpoint)?;
        rows.iter_mut().for_each(|row| row.checkpoint = Some(name.clone()));
        if facts.verdict == Verdict::Accepted {
            self.environment.store.set_current(point.checkpoint)?;
            self.line.accept(point);
        }
        self.tell(rows, None);
        Ok(())
    }

    /// `choose best of`: every branch from here; the fastest valid one goes on.
    fn choose(&mut self, branches: &[Vec<WorkflowStep>]) -> Result<Flow, WorkflowError> {
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

    /// `repeat at most N times until the gain is below P percent`; once where nothing is timed.
    fn repeat(&mut self, times: u32, least: Option<f64>, body: &[WorkflowStep]) -> Result<Flow, WorkflowError> {
        for _ in 0..times {
            let before = self.line.current().score();
            if let Flow::Stopped(failure) = self.steps(body)? {
                return Ok(Flow::Stopped(failure));
            }
            let (Some(before), Some(after)) = (before, self.line.current().score()) else { break };
            let gain = (before / after - 1.0) * 100.0;
            if least.is_some_and(|least| gain < least) {
                break;
            }
        }
        Ok(Flow::Done)
    }

    fn checkpoint_name(&self, id: i64) -> Result<String, WorkflowError> {
        let checkpoint = self.environment.store.checkpoint(id)?;
        Ok(checkpoint.map_or_else(|| id.to_string(), |checkpoint| checkpoint.full_name()))
    }

    fn tell(&mut self, mut rows: Vec<Row>, checkpoint: Option<&str>) {
        if let Some(name) = checkpoint {
            rows.iter_mut().for_each(|row| row.checkpoint = Some(format!("{}/{name}", self.id)));
        }
        self.observer.rows(&rows);
        self.rows.extend(rows);
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
            stopped: failure.as_ref().map(|failure| match interrupted {
                true => STOPPED.to_owned(),
                false => format!("{}: {}", failure.class, failure.message),
            }),
        };
        let Run { rows, diagnostics, .. } = self;
        Ok(Outcome { rows, finished, failure, interrupted, diagnostics })
    }
}
