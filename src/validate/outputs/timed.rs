//! Sizes that are too large for the oracle to compute in full: every element against the reference context's run, and
//! some elements against the oracle, so that a wrong reference is caught too.

use super::compare::{Comparison, Truth, compare, root_mean_square};
use super::plan::Check;
use super::report::numbers;
use super::runs::{Bench, Subject, given_arrays, outputs};
use super::tolerance::Bound;
use super::truths::{Case, bound, no_oracle};
use crate::context::launch::{BufferSpec, ConcretePlan};
use crate::data::{decode, mix};
use crate::oracle::{Judged, Oracle};
use crate::runner::{Failure, FailureClass, RunOutcome};
use indexmap::IndexMap;
use peak_grammar::ir::Kernel;
use std::sync::Arc;

/// Bytes of references that are kept; the oldest go first.
const MAX_KEPT_BYTES: usize = 1 << 30;
/// Sampled scales vary; the largest of all elements is taken to be at most this many times the largest sampled one.
const SCALE_MARGIN: f64 = 2.0;

/// What one large check should give.
#[derive(Debug, Default)]
pub(super) struct LargeCase {
    /// Bytes of the reference's outputs; none where the reference is invalid at this size.
    reference: IndexMap<String, Vec<u8>>,
    /// Elements that the oracle computed; none without one.
    samples: IndexMap<String, Samples>,
    /// How far each output may be off, and the scale of its elements.
    bounds: IndexMap<String, (Bound, f64)>,
}

/// An output that is wrong.
#[derive(Debug)]
pub(super) struct Differs {
    /// Which.
    pub output: String,
    shape: Vec<usize>,
    comparison: Comparison,
}

impl Differs {
    fn new(buffer: &BufferSpec, comparison: Comparison) -> Differs {
        Differs { output: buffer.name.clone(), shape: buffer.shape.clone(), comparison }
    }

    /// How many, how far and where, in one line.
    pub fn numbers(&self) -> String {
        numbers(&self.output, &self.shape, &self.comparison)
    }
}

/// Elements of one output that the oracle computed.
#[derive(Debug)]
struct Samples {
    points: Vec<usize>,
    judged: Judged<Vec<f64>>,
}

/// Large cases by check.
#[derive(Debug, Default)]
pub(super) struct LargeCases {
    kept: IndexMap<Check, Arc<LargeCase>>,
}

impl LargeCases {
    pub fn get(
        &mut self,
        check: &Check,
        make: impl FnOnce() -> Result<LargeCase, Failure>,
    ) -> Result<Arc<LargeCase>, Failure> {
        if let Some(case) = self.kept.get(check) {
            return Ok(Arc::clone(case));
        }
        let case = Arc::new(make()?);
        self.kept.insert(check.clone(), Arc::clone(&case));
        let size = |case: &LargeCase| case.reference.values().map(Vec::len).sum::<usize>();
        let mut bytes: usize = self.kept.values().map(|case| size(case)).sum();
        while bytes > MAX_KEPT_BYTES && self.kept.len() > 1 {
            bytes -= self.kept.shift_remove_index(0).map_or(0, |(_, case)| size(&case));
        }
        Ok(case)
    }
}

impl LargeCase {
    /// Runs the reference and asks the oracle; a reference that the oracle contradicts is a failure of its own.
    pub fn new(
        kernel: &Kernel,
        oracle: Option<&Oracle>,
        points: usize,
        reference: &mut Subject<'_>,
        plan: &ConcretePlan,
        check: &Check,
        bench: &mut Bench<'_>,
    ) -> Result<LargeCase, Failure> {
        let mut case = LargeCase::default();
        if let Ok(reference_plan) = reference.plan(check, bench.candidate) {
            case.reference = reference.run(&reference_plan, check.fill, bench)?.outputs;
        }
        if let Some(oracle) = oracle {
            let arrays = given_arrays(plan, check.fill);
            for buffer in outputs(plan).filter(|buffer| oracle.indices(&buffer.name).is_some()) {
                let points = choose_points(buffer.elements(), points, check.fill.seed);
                let judged =
                    oracle.sample_judged(&check.inputs(), &arrays, &buffer.name, &points).map_err(no_oracle)?;
                case.samples.insert(buffer.name.clone(), Samples { points, judged });
            }
        }
        for buffer in outputs(plan) {
            let bound = case.bound_of(kernel, oracle, buffer, check)?;
            case.bounds.insert(buffer.name.clone(), bound);
        }
        match case.against_oracle(plan, &case.reference) {
            Some(differs) => Err(Failure::new(
                FailureClass::Results,
                "nothing can be verified: the reference itself is wrong by the oracle",
            )
            .with_fact(differs.numbers())),
            None => Ok(case),
        }
    }

    fn bound_of(
        &self,
        kernel: &Kernel,
        oracle: Option<&Oracle>,
        buffer: &BufferSpec,
        check: &Check,
    ) -> Result<(Bound, f64), Failure> {
        let longest = buffer.shape.iter().copied().max().unwrap_or(1) as f64;
        let reference = self.reference.get(&buffer.name).map(|bytes| root_mean_square(&decode(buffer.element, bytes)));
        let samples = self.samples.get(&buffer.name).map(|samples| &samples.judged);
        let expected = samples.map(|judged| root_mean_square(&judged.values));
        let output_scale = reference.or(expected).unwrap_or(0.0);
        let bound = Bound { output_scale, ..bound(kernel, oracle, buffer.element, check, longest)? };
        let sampled = samples.and_then(|judged| judged.scales.iter().copied().reduce(f64::max));
        Ok((bound, sampled.map_or(longest.sqrt() * output_scale, |scale| SCALE_MARGIN * scale)))
    }

    /// What the outputs are compared with, in words; empty if there is nothing.
    pub fn compared_with(&self) -> (bool, Option<usize>) {
        (!self.reference.is_empty(), self.samples.values().map(|samples| samples.points.len()).min())
    }

    /// The largest share of the allowed error, or what differs.
    pub fn judge(&self, plan: &ConcretePlan, outcome: &RunOutcome) -> Result<f64, Box<Differs>> {
        let mut share: f64 = 0.0;
        for buffer in outputs(plan) {
            let Some(reference) = self.reference.get(&buffer.name) else { continue };
            let actual = &outcome.outputs[&buffer.name];
            if actual == reference {
                continue;
            }
            let expected = decode(buffer.element, reference);
            let (bound, scale) = self.bounds[&buffer.name];
            let allowed = |index: usize| allowed_between(&bound, expected[index], scale);
            let comparison = compare(buffer.element, &decode(buffer.element, actual), &expected, allowed);
            if !comparison.right() {
                return Err(Box::new(Differs::new(buffer, comparison)));
            }
            share = share.max(comparison.share);
        }
        match self.against_oracle(plan, &outcome.outputs) {
            Some(differs) => Err(Box::new(differs)),
            None => Ok(share),
        }
    }

    /// The first output that contradicts the oracle's samples.
    fn against_oracle(&self, plan: &ConcretePlan, found: &IndexMap<String, Vec<u8>>) -> Option<Differs> {
        outputs(plan).find_map(|buffer| {
            let Samples { points, judged } = self.samples.get(&buffer.name)?;
            let bytes = found.get(&buffer.name)?;
            let width = buffer.element.bytes();
            let sampled = points.iter().flat_map(|point| &bytes[point * width..(point + 1) * width]).copied();
            let actual = decode(buffer.element, &sampled.collect::<Vec<u8>>());
            let (bound, _) = self.bounds.get(&buffer.name)?;
            let allowed = |index: usize| bound.allowed(judged.values[index], judged.scales[index]);
            let mut comparison = compare(buffer.element, &actual, &judged.values, allowed);
            // Home from the sample to the output.
            comparison.wrong.iter_mut().for_each(|index| *index = points[*index]);
            comparison.worst.iter_mut().for_each(|worst| worst.index = points[worst.index]);
            (!comparison.right()).then(|| Differs::new(buffer, comparison))
        })
    }

    /// A case for explaining what differs from the reference; none without a reference.
    pub fn explained(&self, plan: &ConcretePlan, check: &Check) -> Option<Case> {
        let mut truths = IndexMap::new();
        for buffer in outputs(plan) {
            let expected = decode(buffer.element, self.reference.get(&buffer.name)?);
            let (bound, scale) = self.bounds[&buffer.name];
            let mut truth = Truth::new(buffer.element, buffer.shape.clone(), Vec::new(), Vec::new(), bound);
            truth.allowed = expected.iter().map(|expected| allowed_between(&bound, *expected, scale)).collect();
            truth.scales = vec![scale; expected.len()];
            truth.expected = expected;
            // Both sides are rounded: the statistics of one do not apply.
            truth.bound.keeps_integers = false;
            truths.insert(buffer.name.clone(), truth);
        }
        Some(Case { arrays: given_arrays(plan, check.fill), truths, vacuous: None })
    }
}

/// How far two results may lie apart, each as far from the truth as is allowed.
fn allowed_between(bound: &Bound, expected: f64, scale: f64) -> f64 {
    2.0 * bound.allowed(expected, scale)
}

/// Corners, and points anywhere between; ascending.
fn choose_points(elements: usize, count: usize, seed: u64) -> Vec<usize> {
    let anywhere = (0..count as u64).map(|number| (mix(seed ^ mix(number + 1)) % elements.max(1) as u64) as usize);
    let mut points: Vec<usize> = [0, elements.saturating_sub(1)].into_iter().chain(anywhere).take(count).collect();
    points.sort_unstable();
    points.dedup();
    points.retain(|point| *point < elements);
    points
}
