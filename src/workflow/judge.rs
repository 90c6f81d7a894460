//! Validates contexts on the device: while passes are applied (a few configurations at small sizes), and after tuning
//! (the winner, at the timed sizes too). What the store knows is not validated again.

use super::environment::Environment;
use super::observer::Reused;
use crate::context::launch::ConcretePlan;
use crate::context::source::compile_request;
use crate::context::{Configuration, Inputs, KernelContext};
use crate::lowering::Judge;
use crate::runner::{Failure, FailureClass, is_environment};
use crate::tune::Rng;
use crate::tune::space::Space;
use crate::validate::{Candidate, OutputsValidator, Validator, Verified};
use peak_backend_api::Artifact;
use peak_grammar::ir::{ArgumentKind, Kernel};
use std::sync::Arc;
use std::time::Duration;

/// Version of what a validation means: part of its key.
const VALIDATION_VERSION: u32 = 1;

/// How long one run of a candidate may take while it is validated.
pub(super) const RUN_DEADLINE: Duration = Duration::from_secs(30);

/// Configurations that a context is judged at while passes are applied.
const JUDGED_CONFIGURATIONS: usize = 3;

/// The validator of a run, with what it has to count.
pub struct Checker<'v> {
    /// Judges results.
    pub validator: &'v mut OutputsValidator,
    /// What is counted.
    pub reused: &'v mut Reused,
    /// What prompts say of the context.
    pub known: &'v [String],
}

/// A [`Judge`] for one application of a transformation.
pub struct RunJudge<'e, 'a, 'v> {
    /// Where it runs.
    pub environment: &'e mut Environment<'a>,
    /// Who judges.
    pub checker: Checker<'v>,
}

impl Judge for RunJudge<'_, '_, '_> {
    fn compile(&mut self, context: &KernelContext) -> Result<(), Failure> {
        let (inputs, configurations) = judged_at(context, self.environment)?;
        for configuration in &configurations {
            compile(context, configuration, &inputs, self.environment)
                .map_err(|failure| seen_at(failure, &inputs, configuration))?;
        }
        Ok(())
    }

    fn validate(&mut self, context: &KernelContext) -> Result<(), Failure> {
        let (_, configurations) = judged_at(context, self.environment)?;
        validate(context, &configurations, &[], self.environment, &mut self.checker).map(|_| ())
    }

    fn known(&self) -> Vec<String> {
        self.checker.known.to_vec()
    }
}

/// A failure with what it was seen at; the machine's own stays as it is.
fn seen_at(failure: Failure, inputs: &Inputs, configuration: &Configuration) -> Failure {
    if is_environment(&failure) {
        return failure;
    }
    let values: Vec<String> = configuration.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    failure.with_fact(format!("seen at {} with {}", inputs_words(inputs), values.join(", ")))
}

/// Compiles one configuration.
pub(super) fn compile(
    context: &KernelContext,
    configuration: &Configuration,
    inputs: &Inputs,
    environment: &Environment<'_>,
) -> Result<(ConcretePlan, Arc<Artifact>), Failure> {
    let space = Space::new(context, inputs, environment.facts);
    let plan = space.plan(configuration).map_err(|invalid| Failure::new(FailureClass::Launch, invalid.to_string()))?;
    let target = environment.info.target.as_deref().unwrap_or_default();
    let request = compile_request(context, configuration, &plan, environment.backend, target, environment.facts);
    Ok((plan, environment.compile.compile(&request)?))
}

/// Validates configurations at the kernel's checked sizes and at `timed`, unless the store knows that they are valid.
///
/// # Errors
/// What is wrong, with its facts.
pub(super) fn validate(
    context: &KernelContext,
    configurations: &[Configuration],
    timed: &[Inputs],
    environment: &mut Environment<'_>,
    checker: &mut Checker<'_>,
) -> Result<Verified, Failure> {
    let key = validation_key(context, configurations, timed, environment, checker.validator);
    if !environment.options.fresh
        && let Ok(Some(verified)) = environment.store.measurement::<Verified>(&key)
    {
        checker.reused.validations += 1;
        return Ok(verified);
    }
    let candidate = Candidate {
        context,
        configurations,
        timed,
        backend: environment.backend,
        facts: environment.facts,
        deadline: RUN_DEADLINE,
    };
    let verified = checker.validator.validate(&candidate, environment.compile, environment.execute)?;
    checker.reused.validated += 1;
    // Without the note, the next run validates again.
    let _ = environment.store.put_measurement(&key, &verified);
    Ok(verified)
}

fn validation_key(
    context: &KernelContext,
    configurations: &[Configuration],
    timed: &[Inputs],
    environment: &Environment<'_>,
    validator: &OutputsValidator,
) -> String {
    let info = environment.info;
    let parts = serde_json::json!({
        "validation": VALIDATION_VERSION,
        "validator": validator.name(),
        "context": context.hash(),
        "configurations": configurations,
        "timed": timed,
        "device": [&info.backend, &info.runtime, &info.name, &info.driver],
        "toolchain": environment.toolchain,
        "seed": environment.options.seed,
    });
    crate::hash::hex(parts.to_string().as_bytes())
}

/// Where a context is judged while passes are applied: its largest checked size, its start configuration if that is
/// valid, and a few others.
fn judged_at(context: &KernelContext, environment: &Environment<'_>) -> Result<(Inputs, Vec<Configuration>), Failure> {
    let inputs = largest_checked(&context.kernel);
    let space = Space::new(context, &inputs, environment.facts);
    let start = space.adapt(&context.start());
    let mut configurations: Vec<Configuration> = Vec::new();
    if space.plan(&start).is_ok() {
        configurations.push(start);
    }
    let mut rng = Rng::new(environment.options.seed);
    for _ in 0..4 * JUDGED_CONFIGURATIONS {
        if configurations.len() >= JUDGED_CONFIGURATIONS {
            break;
        }
        if let Some(configuration) = space.sample(&mut rng, 10_000).filter(|found| !configurations.contains(found)) {
            configurations.push(configuration);
        }
    }
    if configurations.is_empty() {
        let why = space.explain();
        let words: Vec<String> = why.alone.iter().map(|(reason, count)| format!("{reason} excludes {count}")).collect();
        let message = format!("no configuration is valid at {}", inputs_words(&inputs));
        let failure = Failure::new(FailureClass::Launch, message).with_fact(words.join(", "));
        let joined = format!("these cannot be met together: {}", why.conflict.join("; "));
        return Err(if why.conflict.len() > 1 { failure.with_fact(joined) } else { failure });
    }
    Ok((inputs, configurations))
}

/// The largest of the sizes for validation.
pub(super) fn largest_checked(kernel: &Kernel) -> Inputs {
    let scalars = kernel.arguments.iter().filter_map(|argument| match &argument.kind {
        ArgumentKind::Scalar { values, checked, .. } => {
            let sizes = if checked.is_empty() { values } else { checked };
            Some((argument.name.clone(), sizes.iter().copied().max()?))
        }
        ArgumentKind::Array { .. } => None,
    });
    scalars.collect()
}

/// `n = 512`, or `no inputs`.
#[must_use]
pub fn inputs_words(inputs: &Inputs) -> String {
    let words: Vec<String> = inputs.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if words.is_empty() { "no inputs".to_owned() } else { words.join(", ") }
}
