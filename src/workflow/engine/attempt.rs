//! One step of a run: applied, measured at every size, judged, kept.

use super::journal::{Journal, place};
use super::{BASELINE, Run};
use crate::context::KernelContext;
use crate::runner::Failure;
use crate::store::{CheckpointResult, NewCheckpoint, Store, StoreError};
use crate::workflow::apply::{Told, Workshop};
use crate::workflow::count;
use crate::workflow::decision::{Decision, DecisionKind};
use crate::workflow::environment::Environment;
use crate::workflow::error::WorkflowError;
use crate::workflow::expect;
use crate::workflow::judge::{Checker, RunJudge};
use crate::workflow::line::{Pace, Point, SizeResult};
use crate::workflow::measure::{Effort, SizeMeasured, measure};
use crate::workflow::observer::Progress;
use crate::workflow::past::Past;
use crate::workflow::remembered::Remembered;
use crate::workflow::retold::Retold;
use crate::workflow::row::{Row, Verdict};
use crate::workflow::rows::{self, StepFacts};
use peak_grammar::ir::{Application, Workflow};
use std::rc::Rc;

/// The outcome of a `try` that is not kept.
const LEFT: &str = "left";

impl Run<'_, '_> {
    /// Applies, tunes, validates, and moves on where that is right. Gives the failure where there is one.
    pub(super) fn attempt(
        &mut self,
        application: &Application,
        unless_slower: bool,
    ) -> Result<Option<Failure>, WorkflowError> {
        let index = self.steps;
        self.steps += 1;
        let name = application.transformation.as_str();
        let before = self.line.current().clone();
        let place = place(index, name, &before.context.hash());
        if let Some((past, checkpoint)) = self.journal.past(&place)? {
            return self.relive(name, past, checkpoint);
        }
        let mut facts = StepFacts { index, name, ..StepFacts::default() };
        let applied = self.lowered(application, &before, index, &mut facts)?;
        let measured = match applied {
            Ok(context) => self.measure_all(&context, &before, index, name).map(|sizes| (context, sizes)),
            Err(failure) => Err(failure),
        };
        let (context, measured) = match measured {
            Ok(found) => found,
            // What was cut short did not fail.
            Err(failure) if self.ended().is_some() => return Ok(Some(failure)),
            Err(failure) => {
                let rows = rows::failed(&facts, &self.sizes, &failure, self.environment);
                let told = self.diagnostics.last().filter(|(step, _)| step == name).map(|(_, error)| Retold::of(error));
                let past = Past::Failed { rows: rows.clone(), failure: failure.clone(), told };
                self.journal.append(self.environment.store, place, &past, None)?;
                self.tell(rows, None);
                return Ok(Some(failure));
            }
        };
        self.settle(place, facts, context, measured, &before, unless_slower)?;
        Ok(None)
    }

    /// Stands where an earlier part of the run stood after this step.
    fn relive(&mut self, name: &str, past: Past, checkpoint: Option<i64>) -> Result<Option<Failure>, WorkflowError> {
        self.reused.steps += 1;
        match past {
            Past::Step { mut rows, sizes, verdict, .. } => {
                let point = self.point(name, sizes, checkpoint)?;
                let full_name = self.checkpoint_name(point.checkpoint)?;
                rows.iter_mut().for_each(|row| row.checkpoint = Some(full_name.clone()));
                if verdict == Verdict::Accepted {
                    self.environment.store.set_current(point.checkpoint)?;
                    self.line.accept(point);
                }
                self.tell(rows, None);
                Ok(None)
            }
            Past::Failed { rows, failure, told } => {
                self.diagnostics.extend(told.map(|told| (name.to_owned(), told.into())));
                self.tell(rows, None);
                Ok(Some(failure))
            }
            // A place names a step or a decision, never either.
            Past::Decision(_) => Ok(None),
        }
    }

    /// The point of a checkpoint that is kept.
    fn point(&self, name: &str, sizes: Vec<SizeResult>, checkpoint: Option<i64>) -> Result<Point, WorkflowError> {
        let context = kept_context(self.environment.store, checkpoint)?;
        Ok(Point {
            step: name.to_owned(),
            context: Rc::new(context),
            sizes,
            checkpoint: checkpoint.unwrap_or_default(),
        })
    }

    /// Counts answers: those of the store and of recordings are replayed.
    pub(super) fn count_answers(&mut self, answered: usize, recalled: usize) {
        let asked = if self.environment.replays { 0 } else { answered.saturating_sub(recalled) };
        self.reused.asked += asked;
        self.reused.completions += answered - asked;
    }

    /// Asks the model, or replays; every attempt is kept.
    fn lowered(
        &mut self,
        application: &Application,
        before: &Point,
        index: usize,
        facts: &mut StepFacts<'_>,
    ) -> Result<Result<KernelContext, Failure>, WorkflowError> {
        let Run { environment, workflow, observer, validator, reused, known, answers, .. } = self;
        let step = application.transformation.as_str();
        let mut told = |told: Told<'_>| match told {
            Told::Doing(doing) => {
                let (step, doing) = (step.to_owned(), doing.to_owned());
                observer.progress(&Progress { index, step, doing, done: 0, total: None, best_ns: None });
            }
            Told::Note(note) => observer.note(&format!("{step}, {note}")),
            Told::Prompt(_) => {}
        };
        let provider = environment.provider;
        let asked = Remembered::new(provider, answers, self.id, index);
        let workshop = Workshop { provider: &asked, ..Workshop::of(environment, workflow.on_failure.retries) };
        let context = &before.context;
        let mut known = known.clone();
        if let Some(size) = before.sizes.first().filter(|_| environment.options.counters) {
            known.extend(count::facts(context, &size.configuration, &size.inputs, environment));
        }
        let mut judge = RunJudge { environment, checker: Checker { validator, reused, known: &known } };
        let applied = workshop.apply(application, context, &mut judge, &mut told);
        let recalled = asked.recalled();
        applied.keep(self.environment.store, Some((self.id, index)), step, provider.name())?;
        let (chosen, again) = std::mem::take(&mut self.choice_calls);
        (facts.model_calls, facts.repairs) = (chosen + applied.answered(), again + applied.repairs());
        self.expects.clone_from(&applied.expects);
        self.count_answers(applied.answered(), recalled);
        Ok(applied.result.map_err(|(failure, error)| {
            if !self.is_stopped() {
                self.diagnostics.push((step.to_owned(), error));
            }
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
        place: String,
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
        let decision = unless_slower.then(|| self.whether_kept(facts.name, before, slower)).transpose()?;
        let is_left = decision.as_ref().is_some_and(|decision| decision.outcome == LEFT);
        facts.verdict = if is_left { Verdict::Rejected } else { Verdict::Accepted };
        facts.reason = match (facts.verdict, slower) {
            (Verdict::Accepted, false) => None,
            (Verdict::Accepted, true) => Some("slower, kept: later steps may build on it".to_owned()),
            (_, true) => Some("slower than the step before".to_owned()),
            (_, false) => Some("left, as the recorded decision says".to_owned()),
        };
        let kernel = &point.context.kernel;
        let expects = std::mem::take(&mut self.expects);
        let expected = expect::lines(&expects, before, &point, self.environment, &mut self.said);
        let mut rows =
            rows::rows(&facts, kernel, &measured, Some(before), Some(self.line.baseline()), self.environment);
        if let Some(first) = rows.first_mut() {
            first.notes.extend(expected.iter().cloned());
        }
        expected.iter().for_each(|line| self.observer.note(&format!("{}: {line}", facts.name)));
        let parent = Some(before.checkpoint);
        let sizes = point.sizes.clone();
        let past = Past::Step { rows: rows.clone(), sizes, verdict: facts.verdict, decision };
        point.checkpoint = put(self.environment, &mut self.journal, self.id, parent, &point.context, place, &past)?;
        let name = self.checkpoint_name(point.checkpoint)?;
        rows.iter_mut().for_each(|row| row.checkpoint = Some(name.clone()));
        if facts.verdict == Verdict::Accepted {
            self.environment.store.set_current(point.checkpoint)?;
            self.line.accept(point);
        }
        self.tell(rows, None);
        Ok(())
    }

    /// Whether a `try` is kept: by its time, or as it is recorded.
    fn whether_kept(&mut self, name: &str, before: &Point, slower: bool) -> Result<Decision, WorkflowError> {
        let outcome = if slower { LEFT } else { "kept" }.to_owned();
        let (kind, step, context) = (DecisionKind::Try, name.to_owned(), before.context.hash());
        let made = Decision { kind, step, context, outcome };
        let recorded = self.journal.recorded(&made)?;
        Ok(Decision { outcome: recorded.unwrap_or_else(|| made.outcome.clone()), ..made })
    }

    pub(super) fn checkpoint_name(&self, id: i64) -> Result<String, WorkflowError> {
        let checkpoint = self.environment.store.checkpoint(id)?;
        Ok(checkpoint.map_or_else(|| id.to_string(), |checkpoint| checkpoint.full_name()))
    }

    pub(super) fn tell(&mut self, mut rows: Vec<Row>, checkpoint: Option<&str>) {
        if let Some(name) = checkpoint {
            rows.iter_mut().for_each(|row| row.checkpoint = Some(format!("{}/{name}", self.id)));
        }
        self.observer.rows(&rows);
        self.rows.extend(rows);
    }
}

pub(super) fn effort<'w>(
    workflow: &'w Workflow,
    environment: &Environment<'_>,
    index: usize,
    step: &'w str,
) -> Effort<'w> {
    Effort {
        index,
        step,
        budget: environment.options.tune_budget.unwrap_or(workflow.tune_budget),
        strategy: workflow.tune_strategy.as_deref(),
        samples: workflow.validate_samples,
    }
}

/// The context of a checkpoint of the journal.
pub(super) fn kept_context(store: &Store, checkpoint: Option<i64>) -> Result<KernelContext, WorkflowError> {
    let kept = checkpoint.map(|id| store.checkpoint(id)).transpose()?.flatten();
    match kept {
        Some(kept) => Ok(store.context(&kept)?),
        None => Err(StoreError::content("the journal", "a step of it has no checkpoint").into()),
    }
}

/// Keeps a step and its checkpoint; gives the checkpoint's number.
pub(super) fn put(
    environment: &mut Environment<'_>,
    journal: &mut Journal,
    run: i64,
    parent: Option<i64>,
    context: &KernelContext,
    place: String,
    past: &Past,
) -> Result<i64, WorkflowError> {
    let Past::Step { rows, verdict, .. } = past else { return Ok(0) };
    let results: Vec<CheckpointResult> = rows.iter().map(result).collect();
    let (name, step) = rows.first().map_or((BASELINE, 0), |row| (row.name.as_str(), row.index));
    let new = NewCheckpoint {
        run,
        name,
        parent,
        context,
        step: u32::try_from(step).unwrap_or(u32::MAX),
        transformation: (name != BASELINE).then_some(name),
        verdict: verdict.name(),
        verified_by: rows.first().map_or(&[], |row| row.verified_by.as_slice()),
        results: &results,
    };
    let id = journal.append(environment.store, place, past, Some(&new))?;
    Ok(id.unwrap_or_default())
}

fn result(row: &Row) -> CheckpointResult {
    CheckpointResult {
        inputs: row.inputs.clone(),
        configuration: row.configuration.clone(),
        time_ns_median: row.time_ns_median,
        time_ns_p20: row.time_ns_p20,
        time_ns_p80: row.time_ns_p80,
        speedup_step: row.speedup_step,
        speedup_total: row.speedup_total,
    }
}
