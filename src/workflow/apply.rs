//! One transformation of a workflow: specialized for the device, bound to the context, lowered, its attempts kept.

use super::engine::Run;
use super::judge::{Checker, RunJudge};
use super::observer::{Observer, Progress};
use crate::context::KernelContext;
use crate::lowering::{self, Attempt, Event, Lowering, Surroundings, apply_transformation};
use crate::plan::{PlanInputs, plan};
use crate::runner::{Failure, FailureClass};
use crate::store::NewAttempt;
use peak_grammar::ir::Application;
use peak_grammar::specialize;

/// What applying came to.
pub(super) struct AppliedStep {
    pub result: Result<KernelContext, Failure>,
    pub model_calls: usize,
    pub repairs: usize,
}

impl AppliedStep {
    fn refused(message: String) -> AppliedStep {
        AppliedStep { result: Err(Failure::new(FailureClass::Apply, message)), model_calls: 0, repairs: 0 }
    }
}

/// Applies a transformation to a context; what it refuses or fails with is the step's, not the run's.
pub(super) fn apply(
    run: &mut Run<'_, '_>,
    application: &Application,
    context: &KernelContext,
    index: usize,
) -> AppliedStep {
    let name = &application.transformation;
    let device = run.environment.device_name();
    let specialized = match specialize::transformation(run.environment.library, name, device) {
        Ok(specialized) => specialized,
        Err(error) => return AppliedStep::refused(error.to_string()),
    };
    let inputs = PlanInputs {
        transformation: &specialized.transformation,
        knowledge: &specialized.knowledge,
        utilities: &run.environment.library.utilities,
        application,
        facts: run.environment.facts,
    };
    let plan = match plan(context, &inputs) {
        Ok(plan) => plan,
        Err(reason) => return AppliedStep::refused(reason.to_string()),
    };
    let surroundings = Surroundings {
        spelling: run.environment.backend.spelling(),
        device: run.environment.device,
        facts: run.environment.facts,
    };
    let (provider, templates) = (run.environment.provider, run.environment.templates);
    let mut watcher = Watcher { observer: &mut *run.observer, index, step: name, prompts: Vec::new() };
    let checker = Checker { validator: &mut run.validator, reused: &mut run.reused, known: &run.known };
    let mut judge = RunJudge { environment: &mut *run.environment, checker };
    let mut lowering = Lowering {
        provider,
        templates,
        surroundings,
        judge: &mut judge,
        observer: &mut watcher,
        repairs: run.workflow.on_failure.retries,
    };
    let result = apply_transformation(context, &plan, &mut lowering);
    let prompts = watcher.prompts;
    let attempts = match &result {
        Ok(applied) => &applied.attempts,
        Err(rejected) => &rejected.attempts,
    };
    keep(run, name, attempts, &prompts);
    let answered = attempts.iter().filter(|attempt| attempt.completion.is_some()).count();
    match run.environment.replays {
        true => run.reused.completions += answered,
        false => run.reused.asked += answered,
    }
    let repairs = attempts.iter().filter(|attempt| attempt.completion.is_some() && attempt.attempt > 0).count();
    let result = match result {
        Ok(applied) => Ok(applied.context),
        Err(rejected) => {
            run.diagnostics.push((name.clone(), rejected.diagnostic));
            Err(rejected.failure)
        }
    };
    AppliedStep { result, model_calls: answered, repairs }
}

/// Keeps every attempt. A store that fails here fails at the checkpoint too, where it is reported.
fn keep(run: &mut Run<'_, '_>, transformation: &str, attempts: &[Attempt], prompts: &[String]) {
    let provider = run.environment.provider.name().to_owned();
    for (position, attempt) in attempts.iter().enumerate() {
        let _ = run.environment.store.put_attempt(&NewAttempt {
            run: Some(run.id),
            transformation,
            pass: &attempt.pass,
            region: attempt.region.words(),
            number: attempt.attempt + 1,
            class: attempt.class.map(FailureClass::name),
            message: attempt.message.as_deref().unwrap_or_default(),
            prompt: prompts.get(position).map_or("", String::as_str),
            completion: attempt.completion.as_deref(),
            provider: &provider,
        });
    }
}

/// Turns lowering's events into progress, and keeps the prompts.
struct Watcher<'o> {
    observer: &'o mut dyn Observer,
    index: usize,
    step: &'o str,
    prompts: Vec<String>,
}

impl lowering::Observer for Watcher<'_> {
    fn event(&mut self, event: &Event<'_>) {
        let doing = match event {
            Event::Pass { name, index, of } => format!("pass {name} ({} of {of})", index + 1),
            Event::Asked { pass, region, attempt, prompt } => {
                self.prompts.push((*prompt).to_owned());
                let again = if *attempt > 0 { format!(", repair {attempt}") } else { String::new() };
                format!("asking for {pass}, {region}{again}")
            }
            Event::Compiled { pass } => format!("validating {pass}"),
            Event::Answered { .. } | Event::Validated { .. } => return,
            Event::Failed { pass, class, message, .. } => {
                self.observer.note(&format!("{}, {pass}: {class}: {message}", self.step));
                return;
            }
            Event::GroupRestarted { pass } => format!("starting again at {pass}"),
        };
        let (index, step) = (self.index, self.step.to_owned());
        self.observer.progress(&Progress { index, step, doing, done: 0, total: None, best_ns: None });
    }
}
