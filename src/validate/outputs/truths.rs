//! What outputs should hold, computed once for all candidates and kept in bounded memory.

use super::compare::{Truth, root_mean_square};
use super::plan::Check;
use super::runs::{Bench, Subject, given_arrays, outputs};
use super::tolerance::Bound;
use super::vacuous;
use crate::context::launch::{BufferSpec, ConcretePlan};
use crate::context::{Configuration, KernelContext};
use crate::data::decode;
use crate::oracle::{Arrays, Oracle, OracleError};
use crate::runner::{Distribution, Failure, FailureClass};
use indexmap::IndexMap;
use peak_grammar::ir::Kernel;
use std::sync::Arc;

/// Bytes of truths that are kept; the oldest go first.
const MAX_KEPT_BYTES: usize = 512 << 20;

/// What one check should give.
#[derive(Debug)]
pub(super) struct Case {
    /// What the kernel reads.
    pub arrays: Arrays,
    /// What its outputs should hold.
    pub truths: IndexMap<String, Truth>,
    /// Why the check proves nothing, if a kernel that does no work would pass.
    pub vacuous: Option<String>,
}

impl Case {
    fn bytes(&self) -> usize {
        let arrays: usize = self.arrays.values().map(|values| values.len() * size_of::<f64>()).sum();
        arrays + self.truths.values().map(Truth::bytes).sum::<usize>()
    }
}

/// Cases by check.
#[derive(Debug, Default)]
pub(super) struct Cases {
    kept: IndexMap<Check, Arc<Case>>,
}

impl Cases {
    /// The case of a check, computed if it is not kept.
    pub fn get(&mut self, check: &Check, make: impl FnOnce() -> Result<Case, Failure>) -> Result<Arc<Case>, Failure> {
        if let Some(case) = self.kept.get(check) {
            return Ok(Arc::clone(case));
        }
        let case = Arc::new(make()?);
        self.kept.insert(check.clone(), Arc::clone(&case));
        let mut bytes: usize = self.kept.values().map(|case| case.bytes()).sum();
        while bytes > MAX_KEPT_BYTES && self.kept.len() > 1 {
            bytes -= self.kept.shift_remove_index(0).map_or(0, |(_, case)| case.bytes());
        }
        Ok(case)
    }
}

/// The case by the oracle, in full.
pub(super) fn by_oracle(kernel: &Kernel, oracle: &Oracle, plan: &ConcretePlan, check: &Check) -> Result<Case, Failure> {
    let arrays = given_arrays(plan, check.fill);
    let judged = oracle.judge(&check.inputs(), &arrays).map_err(no_oracle)?;
    let mut truths = IndexMap::new();
    let mut scales = judged.scales;
    for (name, expected) in judged.values {
        let Some(buffer) = outputs(plan).find(|buffer| buffer.name == name) else { continue };
        let bound = bound(kernel, Some(oracle), buffer, check, 0.0)?;
        let scale = scales.swap_remove(&name).unwrap_or_default();
        truths.insert(name, Truth::new(buffer.element, buffer.shape.clone(), expected, scale, bound));
    }
    let vacuous = vacuous::why(Some(oracle), &arrays, &truths);
    Ok(Case { arrays, truths, vacuous })
}

/// The case by a run of the reference context: all that there is without an oracle.
pub(super) fn by_reference(
    reference: (&KernelContext, &Configuration),
    check: &Check,
    bench: &mut Bench<'_>,
) -> Result<Case, Failure> {
    let mut subject = Subject::new(reference.0, reference.1);
    let plan = subject.plan(check, bench.candidate).map_err(|invalid| invalid_reference(&invalid.to_string()))?;
    let outcome = subject.run(&plan, check.fill, bench)?;
    let arrays = given_arrays(&plan, check.fill);
    let longest = plan.buffers.iter().flat_map(|buffer| buffer.shape.iter().copied()).max().unwrap_or(1) as f64;
    let mut truths = IndexMap::new();
    for buffer in outputs(&plan) {
        let expected = decode(buffer.element, &outcome.outputs[&buffer.name]);
        let bound = bound(&reference.0.kernel, None, buffer, check, longest)?;
        let scales = scales_of(&expected, longest);
        truths.insert(buffer.name.clone(), Truth::new(buffer.element, buffer.shape.clone(), expected, scales, bound));
    }
    let vacuous = vacuous::why(None, &arrays, &truths);
    Ok(Case { arrays, truths, vacuous })
}

/// Scales where nobody knows the terms: what a sum of `length` terms of random sign has, given its size.
fn scales_of(expected: &[f64], length: f64) -> Vec<f64> {
    let typical = root_mean_square(expected);
    expected.iter().map(|value| length.sqrt() * value.abs().max(typical)).collect()
}

/// The bound of an output; `length` is used where there is no oracle to ask.
pub(super) fn bound(
    kernel: &Kernel,
    oracle: Option<&Oracle>,
    buffer: &BufferSpec,
    check: &Check,
    length: f64,
) -> Result<Bound, Failure> {
    let keeps_integers = oracle.is_some_and(Oracle::keeps_integers);
    let (length, stores) = match oracle {
        Some(oracle) => oracle.roundings(&buffer.name, &check.inputs()).map_err(no_oracle)?,
        None => (length, 0.0),
    };
    let element = buffer.element;
    Ok(Bound {
        tolerance: kernel.tolerance,
        element,
        accumulator: kernel.accumulator,
        inputs: kernel.element,
        length,
        stores,
        whole: keeps_integers && check.fill.distribution == Distribution::ExactIntegers,
        keeps_integers: keeps_integers || (oracle.is_none() && !element.is_float()),
        output_scale: 0.0,
    })
}

/// The kernel's `computes` is at fault, not the candidate.
pub(super) fn no_oracle(error: OracleError) -> Failure {
    let help = miette::Diagnostic::help(&error).map(|help| help.to_string());
    let failure = Failure::new(FailureClass::Results, format!("nothing can be verified: {error}"));
    help.into_iter().fold(failure, Failure::with_fact)
}

fn invalid_reference(why: &str) -> Failure {
    Failure::new(FailureClass::Results, format!("nothing can be verified: the reference is invalid here: {why}"))
}
