//! What a configuration executes, as the device of a run counts it where it can. Counts decide nothing: they are words in a
//! row, and facts for a model where a person asks for them.

use super::environment::Environment;
use super::judge::{compile, inputs_words};
use crate::context::{Configuration, Inputs, KernelContext};
use crate::evaluate::work::bytes;
use crate::inspect::{Executed, METRICS, executed, findings};
use crate::report::units;
use crate::runner::{Distribution, Fill, Job};
use crate::tune::space::Space;
use peak_backend_api::DeviceInfo;
use std::time::Duration;

/// Blocks of a launch that are counted where nobody says how many: seconds at the usual sizes.
pub const COUNTED_BLOCKS: u64 = 32;

/// Blocks of a launch that are counted on the way of a run: for ratios, and not to be waited for.
const PASSING_BLOCKS: u64 = 8;

/// How long a count may take.
pub const COUNT_DEADLINE: Duration = Duration::from_secs(120);

/// Findings that a model is told, at most.
const FACTS_MAX: usize = 4;

/// What a device that counts what it executes says of itself.
const COUNTS: &str = "simulated";

/// Whether a device counts what it executes.
#[must_use]
pub fn counts(info: &DeviceInfo) -> bool {
    info.features.iter().any(|feature| feature == COUNTS)
}

/// What every entry of a configuration executes; `None` where the device does not count, or could not run it.
pub(super) fn count(
    context: &KernelContext,
    configuration: &Configuration,
    inputs: &Inputs,
    environment: &mut Environment<'_>,
) -> Option<Vec<Executed>> {
    if !counts(environment.info) {
        return None;
    }
    let (plan, artifact) = compile(context, configuration, inputs, environment).ok()?;
    let fill = Fill { seed: environment.options.seed, distribution: Distribution::Declared };
    let job = Job { artifact, plan, fill, deadline: COUNT_DEADLINE };
    environment.execute.count(&job, Some(PASSING_BLOCKS)).ok().map(|launches| executed(&launches))
}

/// Whether a name is one of a metric.
pub(super) fn is_metric(name: &str) -> bool {
    METRICS.iter().any(|metric| metric.name == name)
}

/// Facts for a model of a context in the configuration that it starts with.
#[must_use]
pub fn counted_facts(context: &KernelContext, inputs: &Inputs, environment: &mut Environment<'_>) -> Vec<String> {
    let start = Space::new(context, inputs, environment.facts).adapt(&context.start());
    facts(context, &start, inputs, environment)
}

/// Facts for a model: what was moved and computed, and what stands out. The same on every run with the same device.
pub(super) fn facts(
    context: &KernelContext,
    configuration: &Configuration,
    inputs: &Inputs,
    environment: &mut Environment<'_>,
) -> Vec<String> {
    let at = inputs_words(inputs);
    let held = bytes(&context.kernel, inputs);
    let counted = count(context, configuration, inputs, environment).unwrap_or_default();
    counted.iter().flat_map(|entry| words(entry, held, &at)).collect()
}

fn words(entry: &Executed, held: Option<f64>, at: &str) -> Vec<String> {
    #[allow(clippy::cast_precision_loss, reason = "shown with three digits")]
    let sum = |name: &str| entry.named(name).unwrap_or(0) as f64;
    let name = &entry.entry;
    let mut lines = vec![format!(
        "Counted at {at}, `{name}`: {} loaded from and {} stored to global memory, {} passes over shared memory's banks, {} \
         fused multiply-adds.",
        units::bytes(sum("global_load_bytes")),
        units::bytes(sum("global_store_bytes")),
        units::count(sum("shared_load_wavefronts") + sum("shared_store_wavefronts")),
        units::count(sum("fma_f16") + sum("fma_f32") + sum("fma_f64"))
    )];
    lines.extend(findings(entry, held).into_iter().take(FACTS_MAX).map(|finding| match finding.at {
        Some(at) => format!("`{name}`, {} line {}: {}", at.piece, at.line, finding.words),
        None => format!("`{name}`: {}", finding.words),
    }));
    lines
}
