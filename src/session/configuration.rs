//! One configuration of a kernel context at one choice of inputs: what a person named, the rest as it would be chosen.

use super::error::SessionError;
use crate::context::launch::ConcretePlan;
use crate::context::scope::Facts;
use crate::context::{Configuration, Inputs, KernelContext};
use crate::error::{Class, Error, Result};
use crate::tune::space::{Space, VISITS_MAX};
use crate::workflow::{inputs_words, timed_sizes};
use indexmap::IndexMap;

/// What a person named.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Scalar inputs.
    pub inputs: Inputs,
    /// Tuning parameters.
    pub configuration: Configuration,
    /// What the others are, where that is valid: a checkpoint's winner. The start where nothing is said.
    pub usual: Option<Configuration>,
}

/// Execution parameters that are valid.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Scalar inputs.
    pub inputs: Inputs,
    /// Tuning parameters.
    pub configuration: Configuration,
    /// What they come to.
    pub plan: ConcretePlan,
}

/// The inputs and the configuration that are meant: at the first timed size that has a valid configuration, the usual
/// configuration with what was named in it; where that is not valid, the first valid one that has what was named.
///
/// # Errors
/// An unknown name, or values that no valid configuration has.
pub fn choose(context: &KernelContext, choice: &Choice, facts: &Facts) -> Result<Chosen> {
    let sizes = sizes(context, &choice.inputs)?;
    for name in choice.configuration.keys() {
        let known: Vec<&str> = context.tuning.iter().map(|parameter| parameter.name.as_str()).collect();
        if !known.contains(&name.as_str()) {
            return Err(unknown("tuning parameter", name, &known, &context.kernel.name));
        }
    }
    let usual = choice.usual.clone().unwrap_or_else(|| context.start());
    let mut why = String::new();
    for inputs in sizes {
        let space = Space::new(context, &inputs, facts);
        let named = |mut configuration: Configuration| {
            configuration.extend(choice.configuration.clone());
            configuration
        };
        let first = named(space.adapt(&usual));
        match space.plan(&first) {
            Ok(plan) => return Ok(Chosen { inputs, configuration: first, plan }),
            Err(invalid) => why = format!("{} at {}: {invalid}", words(&first), inputs_words(&inputs)),
        }
        let valid = space.survey(VISITS_MAX).valid;
        let holds =
            |found: &Configuration| choice.configuration.iter().all(|(name, value)| found.get(name) == Some(value));
        for configuration in valid.iter().map(|values| space.configuration(values)).filter(holds) {
            if let Ok(plan) = space.plan(&configuration) {
                return Ok(Chosen { inputs, configuration, plan });
            }
        }
    }
    Err(nothing_valid(context, choice, &why))
}

/// The sizes to try: what was named, the rest as it is timed.
fn sizes(context: &KernelContext, named: &Inputs) -> Result<Vec<Inputs>> {
    let timed = timed_sizes(&context.kernel, &IndexMap::new());
    let known: Vec<&str> = timed.iter().flat_map(Inputs::keys).map(String::as_str).collect();
    if let Some(name) = named.keys().find(|name| !known.contains(&name.as_str())) {
        return Err(unknown("scalar input", name, &known, &context.kernel.name));
    }
    let with = |mut inputs: Inputs| {
        inputs.extend(named.iter().map(|(name, value)| (name.clone(), *value)));
        inputs
    };
    let mut sizes: Vec<Inputs> = timed.into_iter().map(with).collect();
    sizes.dedup();
    Ok(sizes)
}

fn unknown(kind: &'static str, name: &str, known: &[&str], kernel: &str) -> Error {
    let mut all: Vec<&str> = known.to_vec();
    all.sort_unstable();
    all.dedup();
    let help = match all.is_empty() {
        true => format!("{kernel} has none"),
        false => format!("{kernel} has: {}", all.join(", ")),
    };
    SessionError::UnknownName { kind, name: name.to_owned(), help }.into()
}

fn nothing_valid(context: &KernelContext, choice: &Choice, why: &str) -> Error {
    if choice.configuration.is_empty() && choice.inputs.is_empty() {
        let message = format!("no configuration of {} is valid", context.kernel.name);
        let help = format!("widen a tuning parameter's range, or relax a requirement; {why}");
        return Error::plain(Class::Input, "peak::nothing-valid", message, help);
    }
    let ranges: Vec<String> =
        context.tuning.iter().map(|parameter| format!("{} in {}", parameter.name, parameter.values)).collect();
    let message = format!("no valid configuration of {} has these values; {why}", context.kernel.name);
    let help = format!("its tuning parameters: {}", ranges.join("; "));
    Error::plain(Class::Input, "peak::nothing-valid", message, help)
}

/// `BLOCK_X = 16, BLOCK_Y = 16`.
fn words(configuration: &Configuration) -> String {
    configuration.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}
