//! Sizes that are too large for the oracle to compute in full: every element against the reference context's run, all
//! of a product by Freivalds' check, and some elements against the oracle, so that a wrong reference is caught too.

use super::compare::{Comparison, Truth, compare, root_mean_square};
use super::freivalds::Freivalds;
use super::plan::Check;
use super::report::numbers;
use super::runs::{Bench, Subject, given_arrays, outputs};
use super::tolerance::{Bound, wrapped};
use super::truths::{Case, bound, no_oracle};
use crate::context::launch::{BufferSpec, ConcretePlan};
use crate::data::{decode, mix};
use crate::oracle::{Arrays, Judged, Oracle, OracleError};
use crate::runner::{Failure, FailureClass, RunOutcome};
use indexmap::IndexMap;
use peak_grammar::ir::Kernel;
use std::sync::Arc;

/// Bytes of references that are kept; the oldest go first.
const MAX_KEPT_BYTES: usize = 1 << 30;
/// Elements that are sampled at least, or none.
const MIN_POINTS: usize = 4;
/// Sampled scales vary; the largest of all elements is taken to be at most this many times the largest sampled one.
const SCALE_MARGIN: f64 = 2.0;

/// What one large check should give.
#[derive(Debug, Default)]
pub(super) struct LargeCase {
    /// Bytes of the reference's outputs; none where the reference is invalid at this size.
    reference: IndexMap<String, Vec<u8>>,
    /// Elements that the oracle computed; none without one.
    samples: IndexMap<String, Samples>,
    /// Outputs that are products; none where that is too much work.
    products: IndexMap<String, Freivalds>,
    /// How far each output may be off, and the scale of its elements.
    bounds: IndexMap<String, (Bound, f64)>,
    /// What was not asked of the oracle, and why.
    notes: Vec<String>,
}

/// What a large case is compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judges {
    /// Every element of a run of the reference.
    pub reference: bool,
    /// Some elements by the oracle.
    pub samples: bool,
    /// Every element by Freivalds' check.
    pub product: bool,
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

impl Samples {
    /// Compares these elements of an output; places are those in the output.
    fn compare(&self, buffer: &BufferSpec, bound: &Bound, bytes: &[u8]) -> Comparison {
        let Samples { points, judged } = self;
        let width = buffer.element.bytes();
        let sampled = points.iter().flat_map(|point| &bytes[point * width..(point + 1) * width]).copied();
        let actual = decode(buffer.element, &sampled.collect::<Vec<u8>>());
        let wraps = |value: &f64| if bound.keeps_integers { wrapped(buffer.element, *value) } else { *value };
        let expected: Vec<f64> = judged.values.iter().map(wraps).collect();
        let allowed = |index: usize| bound.allowed(expected[index], judged.scales[index]);
        let mut comparison = compare(buffer.element, &actual, &expected, allowed);
        comparison.wrong.iter_mut().for_each(|index| *index = points[*index]);
        comparison.worst.iter_mut().for_each(|worst| worst.index = points[worst.index]);
        comparison
    }
}

/// Elements by the oracle: fewer where many would be too much work, or why there is none.
fn sampled(
    oracle: &Oracle,
    buffer: &BufferSpec,
    arrays: &Arrays,
    check: &Check,
    mut count: usize,
) -> Result<Result<Samples, String>, Failure> {
    loop {
        let points = choose_points(buffer.elements(), count, check.fill.seed);
        match oracle.sample_judged(&check.inputs(), arrays, &buffer.name, &points) {
            Ok(judged) => return Ok(Ok(Samples { points, judged })),
            Err(OracleError::Limit { .. }) if count / 4 >= MIN_POINTS => count /= 4,
            Err(error @ OracleError::Limit { .. }) => return Ok(Err(error.to_string())),
            Err(error) => return Err(no_oracle(error)),
        }
    }
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
                match sampled(oracle, buffer, &arrays, check, points)? {
                    Ok(samples) => drop(case.samples.insert(buffer.name.clone(), samples)),
                    Err(why) => case.notes.push(format!("{} is not sampled: {why}", buffer.name)),
                }
            }
        }
        for buffer in outputs(plan) {
            let bound = case.bound_of(kernel, oracle, buffer, check)?;
            case.bounds.insert(buffer.name.clone(), bound);
        }
        if let Some(oracle) = oracle {
            case.add_products(oracle, plan, check)?;
        }
        let found = case.against_oracle(plan, &case.reference);
        let found = match found {
            Some(differs) => Some(differs),
            None => case.against_products(oracle, plan, check, &case.reference)?,
        };
        match found {
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
        let bound = Bound { output_scale, ..bound(kernel, oracle, buffer, check, longest)? };
        let sampled = samples.and_then(|judged| judged.scales.iter().copied().reduce(f64::max));
        Ok((bound, sampled.map_or(longest.sqrt() * output_scale, |scale| SCALE_MARGIN * scale)))
    }

    /// What the outputs are compared with.
    pub fn judges(&self) -> Judges {
        Judges {
            reference: !self.reference.is_empty(),
            samples: !self.samples.is_empty(),
            product: !self.products.is_empty(),
        }
    }

    /// What was not asked of the oracle, in words.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The largest share of the allowed error, or what differs.
    ///
    /// # Errors
    /// The oracle's own, where it looks closer at what Freivalds' check found.
    pub fn judge(
        &self,
        oracle: Option<&Oracle>,
        plan: &ConcretePlan,
        check: &Check,
        outcome: &RunOutcome,
    ) -> Result<Result<f64, Box<Differs>>, Failure> {
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
                return Ok(Err(Box::new(Differs::new(buffer, comparison))));
            }
            share = share.max(comparison.share);
        }
        if let Some(differs) = self.against_oracle(plan, &outcome.outputs) {
            return Ok(Err(Box::new(differs)));
        }
        // The reference's own outputs were checked when the case was made.
        let differs = match outcome.outputs == self.reference {
            true => None,
            false => self.against_products(oracle, plan, check, &outcome.outputs)?,
        };
        Ok(differs.map_or(Ok(share), |differs| Err(Box::new(differs))))
    }

    fn add_products(&mut self, oracle: &Oracle, plan: &ConcretePlan, check: &Check) -> Result<(), Failure> {
        let arrays = given_arrays(plan, check.fill);
        for buffer in outputs(plan).filter(|buffer| oracle.indices(&buffer.name).is_some()) {
            let product = oracle.product(&buffer.name, &check.inputs()).map_err(no_oracle)?;
            let (Some(product), Some((bound, _))) = (product, self.bounds.get(&buffer.name)) else { continue };
            match Freivalds::new(product, *bound, &arrays, check.fill.seed) {
                Some(freivalds) => drop(self.products.insert(buffer.name.clone(), freivalds)),
                None => self.notes.push(format!("{} is too large for Freivalds' check", buffer.name)),
            }
        }
        Ok(())
    }

    /// The first output that Freivalds' check contradicts, with the elements of one suspicious row looked at closely.
    fn against_products(
        &self,
        oracle: Option<&Oracle>,
        plan: &ConcretePlan,
        check: &Check,
        found: &IndexMap<String, Vec<u8>>,
    ) -> Result<Option<Differs>, Failure> {
        let Some(oracle) = oracle else { return Ok(None) };
        for buffer in outputs(plan) {
            let (Some(freivalds), Some(bytes)) = (self.products.get(&buffer.name), found.get(&buffer.name)) else {
                continue;
            };
            let actual = decode(buffer.element, bytes);
            for suspect in freivalds.suspects(&actual) {
                let arrays = given_arrays(plan, check.fill);
                let points = &suspect.elements;
                let judged = oracle.sample_judged(&check.inputs(), &arrays, &buffer.name, points).map_err(no_oracle)?;
                let samples = Samples { points: points.clone(), judged };
                let (bound, _) = &self.bounds[&buffer.name];
                let comparison = samples.compare(buffer, bound, bytes);
                // Each may be as far off as it is allowed, and all of them together not.
                if !comparison.right() || suspect.finite {
                    return Ok(Some(Differs::new(buffer, comparison)));
                }
            }
        }
        Ok(None)
    }

    /// The first output that contradicts the oracle's samples.
    fn against_oracle(&self, plan: &ConcretePlan, found: &IndexMap<String, Vec<u8>>) -> Option<Differs> {
        outputs(plan).find_map(|buffer| {
            let samples = self.samples.get(&buffer.name)?;
            let (bound, _) = self.bounds.get(&buffer.name)?;
            let comparison = samples.compare(buffer, bound, found.get(&buffer.name)?);
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
