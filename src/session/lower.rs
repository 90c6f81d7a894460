//! One transformation carried out on one kernel, outside a workflow: what `peak lower` prints.

use super::context::start_context;
use super::error::SessionError;
use super::machine::Machine;
use crate::context::KernelContext;
use crate::context::scope::Facts;
use crate::error::{Class, Classified, Error, Result};
use crate::library::Loaded;
use crate::lowering::{AnswerFormat, Attempt, LoweringError, Templates, Unjudged};
use crate::plan::TransformationPlan;
use crate::provider::{Catch, CompletionRequest, Provider};
use crate::runner::{Failure, FailureClass, is_environment};
use crate::store::Store;
use crate::tune::TuneTiming;
use crate::validate::OutputsValidator;
use crate::validate::outputs::CheckPlan;
use crate::workflow::{
    ApplyError, Checker, Environment, Options, Reused, RunJudge, Told, Workshop, counted_facts, known_facts,
    timed_sizes,
};
use indexmap::IndexMap;
use peak_backend_api::Backend;
use peak_grammar::ir::{Action, Application, Device, OnFailure, Pass, Region, Step};
use peak_grammar::specialize;
use std::sync::atomic::AtomicBool;

/// What to lower, and with what.
pub struct LowerRequest<'a> {
    /// Every declaration.
    pub loaded: &'a Loaded,
    /// The transformation.
    pub transformation: &'a str,
    /// The kernel.
    pub kernel: &'a str,
    /// Transformations to apply first.
    pub after: &'a [String],
    /// The language.
    pub backend: &'a dyn Backend,
    /// The device's file, where one is meant.
    pub device: Option<&'a Device>,
    /// Facts in force.
    pub facts: &'a Facts,
    /// Who is asked.
    pub provider: &'a dyn Provider,
    /// The prompts' templates.
    pub templates: &'a Templates,
    /// Whether prompts hold what the device counted, where it counts.
    pub counters: bool,
    /// How answers are asked for.
    pub format: AnswerFormat,
}

/// What lowering came to.
pub struct Lowered {
    /// The context before the transformation.
    pub before: KernelContext,
    /// The context after it.
    pub after: KernelContext,
    /// Its plan.
    pub plan: TransformationPlan,
    /// Every request of it.
    pub attempts: Vec<Attempt>,
    /// Whether a device judged it.
    pub judged: bool,
}

impl LowerRequest<'_> {
    fn workshop(&self) -> Workshop<'_> {
        Workshop {
            library: &self.loaded.ir,
            backend: self.backend,
            device: self.device,
            facts: self.facts,
            provider: self.provider,
            templates: self.templates,
            repairs: OnFailure::default().retries,
            format: self.format,
        }
    }

    /// The plan, and the context that it is for.
    ///
    /// # Errors
    /// As [`LowerRequest::lower`].
    pub fn plan(
        &self,
        machine: Option<(&mut Machine, &mut Store)>,
        told: &mut dyn FnMut(Told<'_>),
    ) -> Result<(KernelContext, TransformationPlan)> {
        self.check_known(self.transformation)?;
        let before = self.chain(self.after, machine, told)?.after;
        let plan = self.workshop().plan(&application(self.transformation), &before).map_err(apply_error)?;
        Ok((before, plan))
    }

    /// The request of the first prompt, or of the first of `PASS` or `PASS.REGION`, just as it would be sent; `None`
    /// where no model is asked. What is asked before it, the provider answers.
    ///
    /// # Errors
    /// As [`LowerRequest::lower`], and an unknown pass.
    pub fn prompt(
        &self,
        pass: Option<&str>,
        machine: Option<(&mut Machine, &mut Store)>,
        told: &mut dyn FnMut(Told<'_>),
    ) -> Result<Option<CompletionRequest>> {
        if let Some(pass) = pass {
            self.check_pass(pass)?;
        }
        let catch = Catch::new(self.provider, self.after, self.transformation, pass);
        let request = LowerRequest { provider: &catch, ..*self };
        // That the prompt was not sent is no failure to tell of.
        let lowered = request.lower(machine, &mut |word| match catch.caught() {
            Some(_) => {}
            None => told(word),
        });
        match catch.caught() {
            Some(caught) => Ok(Some(caught)),
            None => lowered.map(|_| None),
        }
    }

    /// Applies the chain, then the transformation. A machine judges each pass; without one, answers are only checked.
    ///
    /// # Errors
    /// Unknown names, a transformation that does not apply, no answer, or no valid one.
    pub fn lower(
        &self,
        machine: Option<(&mut Machine, &mut Store)>,
        told: &mut dyn FnMut(Told<'_>),
    ) -> Result<Lowered> {
        let judged = machine.is_some();
        let mut chain = self.after.to_vec();
        chain.push(self.transformation.to_owned());
        let Chained { before, after, attempts } = self.chain(&chain, machine, told)?;
        let plan = self.workshop().plan(&application(self.transformation), &before).map_err(apply_error)?;
        Ok(Lowered { before, after, plan, attempts, judged })
    }

    /// Applies transformations in order.
    fn chain(
        &self,
        names: &[String],
        machine: Option<(&mut Machine, &mut Store)>,
        told: &mut dyn FnMut(Told<'_>),
    ) -> Result<Chained> {
        let context = start_context(self.loaded, self.kernel, self.backend.name())?;
        for name in names {
            self.check_known(name)?;
        }
        let workshop = self.workshop();
        let sizes = timed_sizes(&context.kernel, &IndexMap::new());
        let known = known_facts(&context.kernel, &sizes, self.device);
        let Some((machine, store)) = machine else {
            let mut judge = Unjudged { known };
            return each(names, context, |name, context| workshop.apply(&application(name), context, &mut judge, told));
        };
        let cancelled = AtomicBool::new(false);
        let mut validator = OutputsValidator::new(&context, &context.start(), CheckPlan::default())?;
        let mut reused = Reused::default();
        let parts = machine.parts();
        let mut environment = Environment {
            library: &self.loaded.ir,
            info: parts.info,
            device: self.device,
            facts: self.facts,
            backend: self.backend,
            toolchain: parts.toolchain,
            compile: parts.compile,
            execute: parts.execute,
            provider: self.provider,
            replays: false,
            templates: self.templates,
            format: self.format,
            store,
            timing: TuneTiming::for_device(parts.info.kind),
            options: Options::default(),
            cancelled: &cancelled,
        };
        let provider = self.provider.name().to_owned();
        each(names, context, |name, context| {
            let mut known = known.clone();
            if let Some(inputs) = sizes.first().filter(|_| self.counters) {
                known.extend(counted_facts(context, inputs, &mut environment));
            }
            let checker = Checker { validator: &mut validator, reused: &mut reused, known: &known };
            let mut judge = RunJudge { environment: &mut environment, checker };
            let step = workshop.apply(&application(name), context, &mut judge, told);
            if let Err(error) = step.keep(environment.store, None, name, &provider) {
                told(Told::Note(&format!("the attempts were not kept: {error}")));
            }
            step
        })
    }

    /// Whether the transformation has that pass, or that region of it.
    fn check_pass(&self, wanted: &str) -> Result<()> {
        self.check_known(self.transformation)?;
        let device = self.device.map(|device| device.name.as_str());
        let specialized = specialize::transformation(&self.loaded.ir, self.transformation, device)
            .map_err(|error| SessionError::Specialize { message: error.to_string() })?;
        let passes: Vec<&str> = specialized.transformation.passes.iter().map(|pass| pass.name.as_str()).collect();
        let (pass, region) = wanted.split_once('.').map_or((wanted, None), |(pass, region)| (pass, Some(region)));
        let known = |slug: &str| Region::ALL.iter().any(|region| region.slug() == slug);
        match passes.contains(&pass) && region.is_none_or(known) {
            true => {
                let found = specialized.transformation.passes.iter().find(|found| found.name == pass);
                found.map_or(Ok(()), |found| self.check_words(found, region))
            }
            false => Err(SessionError::UnknownPass {
                name: wanted.to_owned(),
                transformation: self.transformation.to_owned(),
                known: passes.join(", "),
            }
            .into()),
        }
    }

    /// Whether a model is asked in that pass, or for that region of it.
    fn check_words(&self, pass: &Pass, region: Option<&str>) -> Result<()> {
        let here = |step: &&Step| step.on.is_empty() || step.on.iter().any(|on| on == self.backend.name());
        let prose = pass.steps.iter().filter(here).filter(|step| matches!(step.action, Action::Prose(_)));
        let asked: Vec<Region> = prose.map(|step| step.region).collect();
        if asked.iter().any(|asked| region.is_none_or(|region| asked.slug() == region)) {
            return Ok(());
        }
        let wanted = region.map_or_else(|| pass.name.clone(), |region| format!("{}.{region}", pass.name));
        let has: Vec<String> = Region::ALL
            .iter()
            .filter(|region| asked.contains(region))
            .map(|region| format!("{}.{}", pass.name, region.slug()))
            .collect();
        let help = match has.is_empty() {
            true => "every step of this pass is mechanical: `--emit edits` shows what they do".to_owned(),
            false => format!("it has words for: {}", has.join(", ")),
        };
        let message = format!("`{wanted}` of `{}` has no words on {}", self.transformation, self.backend.name());
        Err(Error::plain(Class::Input, "peak::unknown-pass", message, help))
    }

    fn check_known(&self, name: &str) -> Result<()> {
        let library = &self.loaded.ir;
        let packs = library.packs.values().flat_map(|pack| pack.transformations.keys());
        let known: Vec<&str> = library.transformations.keys().chain(packs).map(String::as_str).collect();
        match known.contains(&name) {
            true => Ok(()),
            false => Err(SessionError::unknown("transformation", name, known.into_iter()).into()),
        }
    }
}

/// What a chain of transformations came to.
struct Chained {
    /// The context before the last.
    before: KernelContext,
    /// The context after it.
    after: KernelContext,
    /// The requests of the last.
    attempts: Vec<Attempt>,
}

fn each(
    names: &[String],
    start: KernelContext,
    mut apply: impl FnMut(&str, &KernelContext) -> crate::workflow::AppliedStep,
) -> Result<Chained> {
    let mut chained = Chained { before: start.clone(), after: start, attempts: Vec::new() };
    for name in names {
        let step = apply(name, &chained.after);
        let after = step.result.map_err(|(failure, error)| classified(&failure, error))?;
        chained = Chained { before: chained.after, after, attempts: step.attempts };
    }
    Ok(chained)
}

/// A transformation as it stands, without a workflow's `with`.
fn application(name: &str) -> Application {
    Application {
        transformation: name.to_owned(),
        ranges: IndexMap::new(),
        settings: IndexMap::new(),
        renames: IndexMap::new(),
    }
}

#[allow(clippy::boxed_local, reason = "this is what a failed plan comes as")]
fn apply_error(error: Box<ApplyError>) -> Error {
    Error::new(Class::Input, *error)
}

/// The class of a failed application.
#[must_use]
pub fn failure_class(failure: &Failure) -> Class {
    match failure.class {
        FailureClass::Provider => Class::Provider,
        _ if is_environment(failure) => Class::Environment,
        _ => Class::Validation,
    }
}

fn classified(failure: &Failure, error: ApplyError) -> Error {
    let class = match &error {
        ApplyError::Specialize { .. } | ApplyError::NotApplicable(_) => Class::Input,
        // The file's step is wrong, whatever the kernel.
        ApplyError::Lowering(LoweringError::Mechanical { error, .. }) if error.is_in_the_step() => Class::Input,
        ApplyError::Lowering(LoweringError::Provider(error)) => error.class(),
        ApplyError::Lowering(_) | ApplyError::Retold(_) => failure_class(failure),
    };
    Error::new(class, error)
}
