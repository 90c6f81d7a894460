//! One transformation: specialized for the device, bound to the context, lowered. Workflows and `peak lower` share it.

use super::environment::Environment;
use super::retold::Retold;
use crate::context::KernelContext;
use crate::context::scope::Facts;
use crate::lowering::{
    self, AnswerFormat, Attempt, Event, Judge, Lowering, LoweringError, Surroundings, Templates, Unjudged,
    apply_transformation,
};
use crate::plan::{NotApplicable, PlanInputs, TransformationPlan, plan};
use crate::provider::{Catch, CompletionRequest, Provider};
use crate::runner::{Failure, FailureClass};
use crate::store::{NewAttempt, Store};
use miette::Diagnostic;
use peak_backend_api::Backend;
use peak_grammar::ir::{Application, Device, Expectation, Library};
use peak_grammar::specialize;
use thiserror::Error;

/// What applying works with, the judge aside.
#[derive(Clone, Copy)]
pub struct Workshop<'a> {
    /// Every declaration.
    pub library: &'a Library,
    /// The language.
    pub backend: &'a dyn Backend,
    /// The device's file, where one matches.
    pub device: Option<&'a Device>,
    /// Facts in force.
    pub facts: &'a Facts,
    /// Who is asked.
    pub provider: &'a dyn Provider,
    /// The prompts' templates.
    pub templates: &'a Templates,
    /// Repairs of one pass, at most.
    pub repairs: u32,
    /// How answers are asked for.
    pub format: AnswerFormat,
}

/// Why a transformation was not applied.
#[derive(Debug, Error, Diagnostic)]
pub enum ApplyError {
    /// Packs contradict one another, or there is no such transformation.
    #[error("{message}")]
    #[diagnostic(code("peak::not-specialized"), help("`peak list transformation` shows what there is"))]
    Specialize {
        /// What is wrong.
        message: String,
    },
    /// It does not apply to this context.
    #[error(transparent)]
    #[diagnostic(transparent)]
    NotApplicable(#[from] NotApplicable),
    /// No valid answer.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Lowering(#[from] LoweringError),
    /// What an earlier part of the run came to.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Retold(#[from] Retold),
}

/// What applying came to.
pub struct AppliedStep {
    /// The new context; else the failure, as data, and the diagnostic for people.
    pub result: Result<KernelContext, (Failure, ApplyError)>,
    /// Every request, in order.
    pub attempts: Vec<Attempt>,
    /// Their prompts, in the same order.
    pub prompts: Vec<String>,
    /// What the transformation expects of counters and resources.
    pub expects: Vec<Expectation>,
}

impl AppliedStep {
    fn refused(error: ApplyError) -> AppliedStep {
        let failure = Failure::new(FailureClass::Apply, error.to_string());
        AppliedStep { result: Err((failure, error)), attempts: Vec::new(), prompts: Vec::new(), expects: Vec::new() }
    }

    /// Answers that came.
    #[must_use]
    pub fn answered(&self) -> usize {
        self.attempts.iter().filter(|attempt| attempt.completion.is_some()).count()
    }

    /// Of those, answers to repairs.
    #[must_use]
    pub fn repairs(&self) -> usize {
        self.attempts.iter().filter(|attempt| attempt.completion.is_some() && attempt.attempt > 0).count()
    }

    /// Keeps every attempt with its texts; of a run, with the step.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn keep(
        &self,
        store: &mut Store,
        run: Option<(i64, usize)>,
        transformation: &str,
        provider: &str,
    ) -> Result<(), crate::store::StoreError> {
        for (position, attempt) in self.attempts.iter().enumerate() {
            store.put_attempt(&NewAttempt {
                run: run.map(|(run, _)| run),
                at: run.map(|(_, step)| (count(step), count(position))),
                transformation,
                pass: &attempt.pass,
                region: attempt.region.words(),
                number: attempt.attempt + 1,
                class: attempt.class.map(FailureClass::name),
                code: attempt.code.as_deref(),
                message: attempt.message.as_deref().unwrap_or_default(),
                facts: &attempt.facts,
                prompt: self.prompts.get(position).map_or("", String::as_str),
                completion: attempt.completion.as_deref(),
                provider,
                usage: attempt.usage,
            })?;
        }
        Ok(())
    }
}

impl<'a> Workshop<'a> {
    /// That of a run.
    #[must_use]
    pub fn of(environment: &Environment<'a>, repairs: u32) -> Workshop<'a> {
        Workshop {
            library: environment.library,
            backend: environment.backend,
            device: environment.device,
            facts: environment.facts,
            provider: environment.provider,
            templates: environment.templates,
            repairs,
            format: environment.format,
        }
    }

    /// The plan of a transformation for a context.
    ///
    /// # Errors
    /// It is not there, packs contradict one another, or it does not apply.
    pub fn plan(
        &self,
        application: &Application,
        context: &KernelContext,
    ) -> Result<TransformationPlan, Box<ApplyError>> {
        planned(self.library, self.device.map(|device| device.name.as_str()), self.facts, application, context)
    }

    /// What applying would ask first, where that hangs on no device; nothing where no model is asked.
    #[must_use]
    pub fn first_request(
        &self,
        application: &Application,
        context: &KernelContext,
        known: &[String],
    ) -> Option<CompletionRequest> {
        let catch = Catch::new(self.provider, &context.applied, &application.transformation, None);
        let catching = Workshop { provider: &catch, ..*self };
        catching.apply(application, context, &mut Unjudged { known: known.to_vec() }, &mut |_| {});
        catch.caught()
    }

    /// What prompts say of language and device.
    #[must_use]
    pub fn surroundings(&self) -> Surroundings<'a> {
        Surroundings { spelling: self.backend.spelling(), device: self.device, facts: self.facts }
    }

    /// Applies a transformation to a context, which stays as it is.
    pub fn apply(
        &self,
        application: &Application,
        context: &KernelContext,
        judge: &mut dyn Judge,
        told: &mut dyn FnMut(Told<'_>),
    ) -> AppliedStep {
        let plan = match self.plan(application, context) {
            Ok(plan) => plan,
            Err(error) => return AppliedStep::refused(*error),
        };
        let mut watcher = Watcher { told, prompts: Vec::new() };
        let mut lowering = Lowering {
            provider: self.provider,
            templates: self.templates,
            surroundings: self.surroundings(),
            judge,
            observer: &mut watcher,
            repairs: self.repairs,
            format: self.format,
        };
        let result = apply_transformation(context, &plan, &mut lowering);
        let (prompts, expects) = (watcher.prompts, plan.expects.clone());
        match result {
            Ok(applied) => AppliedStep { result: Ok(applied.context), attempts: applied.attempts, prompts, expects },
            Err(rejected) => {
                let error = ApplyError::Lowering(rejected.diagnostic);
                AppliedStep { result: Err((rejected.failure, error)), attempts: rejected.attempts, prompts, expects }
            }
        }
    }
}

/// The plan of a transformation for a context, on a device of the library or on none.
///
/// # Errors
/// It is not there, packs contradict one another, or it does not apply.
pub fn planned(
    library: &Library,
    device: Option<&str>,
    facts: &Facts,
    application: &Application,
    context: &KernelContext,
) -> Result<TransformationPlan, Box<ApplyError>> {
    let specialized = specialize::transformation(library, &application.transformation, device)
        .map_err(|error| Box::new(ApplyError::Specialize { message: error.to_string() }))?;
    let inputs = PlanInputs {
        transformation: &specialized.transformation,
        knowledge: &specialized.knowledge,
        utilities: &library.utilities,
        application,
        facts,
    };
    let plan = plan(context, &inputs).map_err(|reason| Box::new(ApplyError::NotApplicable(reason)))?;
    check_conflicts(library, device, &application.transformation, context)?;
    Ok(plan)
}

/// A conflict holds both ways: what was applied before may name this one.
fn check_conflicts(
    library: &Library,
    device: Option<&str>,
    name: &str,
    context: &KernelContext,
) -> Result<(), Box<ApplyError>> {
    let refuses = |other: &&String| {
        let declared = specialize::transformation(library, other, device);
        declared.is_ok_and(|declared| declared.transformation.conflicts_with.iter().any(|own| own == name))
    };
    match context.applied.iter().find(refuses) {
        None => Ok(()),
        Some(other) => Err(Box::new(ApplyError::NotApplicable(NotApplicable::Conflict {
            transformation: name.to_owned(),
            other: other.clone(),
        }))),
    }
}

fn count(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// What people are told while a transformation is applied.
#[derive(Clone, Copy, Debug)]
pub enum Told<'a> {
    /// What is being done.
    Doing(&'a str),
    /// A word that stays: an answer that failed.
    Note(&'a str),
    /// A prompt, just before a model is asked.
    Prompt(&'a str),
}

/// Turns lowering's events into words, and keeps the prompts.
struct Watcher<'o> {
    told: &'o mut dyn FnMut(Told<'_>),
    prompts: Vec<String>,
}

impl lowering::Observer for Watcher<'_> {
    fn event(&mut self, event: &Event<'_>) {
        let doing = match event {
            Event::Pass { name, index, of } => format!("pass {name} ({} of {of})", index + 1),
            Event::Asked { pass, region, attempt, prompt } => {
                self.prompts.push((*prompt).to_owned());
                (self.told)(Told::Prompt(prompt));
                let again = if *attempt > 0 { format!(", repair {attempt}") } else { String::new() };
                format!("asking for {pass}, {region}{again}")
            }
            Event::Compiled { pass } => format!("validating {pass}"),
            Event::Answered { .. } | Event::Validated { .. } => return,
            // The run's end tells of it in full, with what to do.
            Event::Failed { class: FailureClass::Provider, .. } => return,
            Event::Failed { pass, class, message, .. } => {
                (self.told)(Told::Note(&format!("{pass}: {class}: {message}")));
                return;
            }
            Event::GroupRestarted { pass } => format!("starting again at {pass}"),
        };
        (self.told)(Told::Doing(&doing));
    }
}
