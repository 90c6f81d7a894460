//! From what was measured to rows, and the facts about a kernel that need no measuring.

use super::environment::Environment;
use super::judge::inputs_words;
use super::line::Point;
use super::measure::SizeMeasured;
use super::row::{Row, Verdict};
use crate::context::{Configuration, Inputs};
use crate::evaluate::occupancy::Occupancy;
use crate::evaluate::work::work;
use crate::report::units;
use crate::runner::Failure;
use crate::tune::Times;
use indexmap::IndexMap;
use peak_grammar::ir::{ArgumentKind, Device, Kernel, PeakKind};

/// What is said of a step at every size.
#[derive(Clone, Debug)]
pub(super) struct StepFacts<'a> {
    pub index: usize,
    pub name: &'a str,
    pub verdict: Verdict,
    pub reason: Option<String>,
    pub model_calls: usize,
    pub repairs: usize,
}

impl Default for StepFacts<'_> {
    fn default() -> Self {
        StepFacts { index: 0, name: "", verdict: Verdict::Failed, reason: None, model_calls: 0, repairs: 0 }
    }
}

/// One row a size.
pub(super) fn rows(
    facts: &StepFacts<'_>,
    kernel: &Kernel,
    measured: &[SizeMeasured],
    before: Option<&Point>,
    baseline: Option<&Point>,
    environment: &Environment<'_>,
) -> Vec<Row> {
    measured.iter().map(|size| row(facts, kernel, size, before, baseline, environment)).collect()
}

fn row(
    facts: &StepFacts<'_>,
    kernel: &Kernel,
    size: &SizeMeasured,
    before: Option<&Point>,
    baseline: Option<&Point>,
    environment: &Environment<'_>,
) -> Row {
    let inputs = &size.result.inputs;
    let median = size.times.map(|times| times.time_ns_median);
    let than = |point: Option<&Point>| match point {
        // The baseline is measured against itself.
        None => median.map(|_| 1.0),
        Some(point) => Some(point.at(inputs)?.median_ns? / median?),
    };
    let flops = median.and_then(|ns| Some(work(kernel, inputs)?.per_second(ns).0));
    let peak = environment.device.and_then(|device| device.peak(PeakKind::Flops, kernel.element.name()));
    let code = size.code.clone().unwrap_or_default();
    Row {
        registers: code.resources.registers,
        shared_bytes: code.resources.shared_bytes,
        spill_bytes: code.resources.spill_bytes,
        occupancy: code.occupancy.as_ref().map(Occupancy::share),
        occupancy_limiters: code.occupancy.map(|occupancy| occupancy.limiters),
        verdict: facts.verdict,
        verified_by: size.verified_by.clone(),
        configuration: size.result.configuration.clone(),
        time_ns_median: median,
        time_ns_p20: size.times.map(|times| times.time_ns_p20),
        time_ns_p80: size.times.map(|times| times.time_ns_p80),
        flops,
        peak_share: flops.zip(peak).map(|(flops, peak)| flops / peak.value),
        speedup_step: than(before),
        speedup_total: than(baseline),
        configurations_measured: size.measured,
        configurations_valid: size.valid,
        reason: facts.reason.clone(),
        notes: size.notes.iter().cloned().chain(size.times.and_then(noise)).collect(),
        ..empty(facts, inputs, environment)
    }
}

/// What is said of times that vary.
fn noise(times: Times) -> Option<String> {
    times.is_noisy().then(|| {
        let share = units::percent(times.spread());
        format!("its times vary by {share}: something else uses this device")
    })
}

/// Rows of a step that has no valid attempt.
pub(super) fn failed(
    facts: &StepFacts<'_>,
    sizes: &[Inputs],
    failure: &Failure,
    environment: &Environment<'_>,
) -> Vec<Row> {
    let row = |inputs: &Inputs| Row {
        failure_class: Some(failure.class),
        reason: Some(failure.message.clone()),
        ..empty(facts, inputs, environment)
    };
    sizes.iter().map(row).collect()
}

/// Rows of a step that was left out.
pub(super) fn skipped(facts: &StepFacts<'_>, sizes: &[Inputs], environment: &Environment<'_>) -> Vec<Row> {
    let row = |inputs: &Inputs| Row { reason: facts.reason.clone(), ..empty(facts, inputs, environment) };
    sizes.iter().map(row).collect()
}

/// A row of something that is no kernel of the run, with its time.
pub(super) fn compared(
    facts: &StepFacts<'_>,
    kernel: &Kernel,
    inputs: &Inputs,
    median: Option<f64>,
    environment: &Environment<'_>,
) -> Row {
    let flops = median.and_then(|ns| Some(work(kernel, inputs)?.per_second(ns).0));
    let peak = environment.device.and_then(|device| device.peak(PeakKind::Flops, kernel.element.name()));
    Row {
        time_ns_median: median,
        flops,
        peak_share: flops.zip(peak).map(|(flops, peak)| flops / peak.value),
        reason: facts.reason.clone(),
        ..empty(facts, inputs, environment)
    }
}

fn empty(facts: &StepFacts<'_>, inputs: &Inputs, environment: &Environment<'_>) -> Row {
    Row {
        index: facts.index,
        name: facts.name.to_owned(),
        inputs: inputs.clone(),
        verdict: facts.verdict,
        failure_class: None,
        verified_by: Vec::new(),
        configuration: Configuration::new(),
        time_ns_median: None,
        time_ns_p20: None,
        time_ns_p80: None,
        flops: None,
        peak_share: None,
        registers: None,
        shared_bytes: None,
        spill_bytes: None,
        occupancy: None,
        occupancy_limiters: None,
        speedup_step: None,
        speedup_total: None,
        configurations_measured: 0,
        configurations_valid: None,
        model_calls: facts.model_calls,
        repairs: facts.repairs,
        backend: environment.info.backend.clone(),
        runtime: environment.info.runtime.clone(),
        device: environment.info.name.clone(),
        checkpoint: None,
        reason: None,
        notes: Vec::new(),
    }
}

/// The sizes to time: the workflow's, else the kernel's main values; every combination of several scalars.
#[must_use]
pub fn timed_sizes(kernel: &Kernel, time_at: &IndexMap<String, Vec<i64>>) -> Vec<Inputs> {
    let mut sizes = vec![Inputs::new()];
    for argument in &kernel.arguments {
        let ArgumentKind::Scalar { values, .. } = &argument.kind else { continue };
        let values = time_at.get(&argument.name).unwrap_or(values);
        let with = |inputs: &Inputs, value: &i64| {
            let mut inputs = inputs.clone();
            inputs.insert(argument.name.clone(), *value);
            inputs
        };
        sizes = sizes.iter().flat_map(|inputs| values.iter().map(move |value| with(inputs, value))).collect();
    }
    sizes
}

/// What is known of a kernel before it runs: the same lines on every run, so that a prompt is the same too.
#[must_use]
pub fn known_facts(kernel: &Kernel, sizes: &[Inputs], device: Option<&Device>) -> Vec<String> {
    let line = |inputs: &Inputs| {
        let work = work(kernel, inputs)?;
        let share = work.flops / work.bytes;
        Some(format!(
            "At {}: {}; each array moved once is {}: {share:.0} FLOP a byte.",
            inputs_words(inputs),
            units::flop(work.flops),
            units::bytes(work.bytes)
        ))
    };
    let mut lines: Vec<String> = sizes.iter().filter_map(line).collect();
    let flops = device.and_then(|device| device.peak(PeakKind::Flops, kernel.element.name()));
    let bytes = device.and_then(|device| device.peak(PeakKind::Bytes, "memory"));
    if let (Some(flops), Some(bytes)) = (flops, bytes) {
        let ridge = flops.value / bytes.value;
        lines.push(format!("The device can do {ridge:.0} FLOP in the time that one byte of its memory takes."));
    }
    lines
}
