//! One step of a run: applied, measured at every size, judged, kept.

use super::{BASELINE, Run};
use crate::context::KernelContext;
use crate::runner::Failure;
use crate::store::{CheckpointResult, NewCheckpoint};
use crate::workflow::apply::{Told, Workshop};
use crate::workflow::count;
use crate::workflow::environment::Environment;
use crate::workflow::error::WorkflowError;
use crate::workflow::expect;
use crate::workflow::judge::{Checker, RunJudge};
use crate::workflow::line::{Pace, Point, SizeResult};
use crate::workflow::measure::{Effort, SizeMeasured, measure};
use crate::workflow::observer::Progress;
use crate::workflow::row::{Row, Verdict};
use crate::workflow::rows::{self, StepFacts};
use peak_grammar::ir::{Application, Workflow};
use std::rc::Rc;

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
        before: &Point,
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
        let context = &before.context;
        let mut known = known.clone();
        if let Some(size) = before.sizes.first().filter(|_| environment.options.counters) {
            known.extend(count::facts(context, &size.configuration, &size.inputs, environment));
        }
        let mut judge = RunJudge { environment, checker: Checker { validator, reused, known: &known } };
        let applied = workshop.apply(application, context, &mut judge, &mut told);
        let provider = workshop.provider.name();
        applied.keep(self.environment.store, Some(self.id), step, provider)?;
        let (chosen, again) = std::mem::take(&mut self.choice_calls);
        (facts.model_calls, facts.repairs) = (chosen + applied.answered(), again + applied.repairs());
        self.expects.clone_from(&applied.expects);
        match self.environment.replays {
            true => self.reused.completions += applied.answered(),
            false => self.reused.asked += applied.answered(),
        }
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
        let expects = std::mem::take(&mut self.expects);
        let expected = expect::lines(&expects, before, &point, self.environment, &mut self.said);
        let mut rows =
            rows::rows(&facts, kernel, &measured, Some(before), Some(self.line.baseline()), self.environment);
        if let Some(first) = rows.first_mut() {
            first.notes.extend(expected.iter().cloned());
        }
        expected.iter().for_each(|line| self.observer.note(&format!("{}: {line}", facts.name)));
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

#[allow(clippy::too_many_arguments, reason = "one call of the store, with what it keeps")]
pub(super) fn put(
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
