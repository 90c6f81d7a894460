//! Compares an output with what it should be, element by element.

use super::tolerance::{Bound, nearest, wrapped};
use peak_grammar::ir::ElementType;

/// What an output should hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    /// Element type of the output.
    pub element: ElementType,
    /// Extents, outermost first.
    pub shape: Vec<usize>,
    /// Expected elements.
    pub expected: Vec<f64>,
    /// Their scales.
    pub scales: Vec<f64>,
    /// How far each may be off.
    pub allowed: Vec<f64>,
    /// The bound behind `allowed`.
    pub bound: Bound,
}

/// How an output differs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Elements compared.
    pub total: usize,
    /// Flat indices of the wrong ones, ascending.
    pub wrong: Vec<usize>,
    /// How many of them are NaN.
    pub nan: usize,
    /// The element with the largest error, if any has one.
    pub worst: Option<Worst>,
    /// The largest error as a share of what is allowed; infinite where nothing is allowed and something is off.
    pub share: f64,
    /// Root mean square of `error / scale`, and its limit, where it is exceeded.
    pub lost_bits: Option<(f64, f64)>,
}

/// The element with the largest error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// Its flat index.
    pub index: usize,
    /// What is there.
    pub actual: f64,
    /// What should be.
    pub expected: f64,
    /// What would be allowed.
    pub allowed: f64,
    /// The magnitude of the difference; infinite if only one of them is a number.
    pub error: f64,
}

/// Outputs shorter than this have no statistics.
const MIN_FOR_RMS: usize = 256;

impl Truth {
    /// The truth, with the tolerance of each element.
    #[must_use]
    pub fn new(element: ElementType, shape: Vec<usize>, expected: Vec<f64>, scales: Vec<f64>, bound: Bound) -> Truth {
        let wraps = !element.is_float() && bound.keeps_integers;
        let expected = if wraps { expected.iter().map(|value| wrapped(element, *value)).collect() } else { expected };
        let bound = Bound { output_scale: root_mean_square(&expected), ..bound };
        let allowed = expected.iter().zip(&scales).map(|(expected, scale)| bound.allowed(*expected, *scale)).collect();
        Truth { element, shape, expected, scales, allowed, bound }
    }

    /// Compares. `actual` has as many elements as the truth.
    #[must_use]
    pub fn compare(&self, actual: &[f64]) -> Comparison {
        let comparison = compare(self.element, actual, &self.expected, |index| self.allowed[index]);
        Comparison { lost_bits: self.lost_bits(actual), ..comparison }
    }

    /// The root mean square of `error / scale` and its limit, where it is exceeded.
    fn lost_bits(&self, actual: &[f64]) -> Option<(f64, f64)> {
        let limit = self.bound.rms_limit()?;
        let (mut squares, mut counted) = (0.0, 0usize);
        for ((actual, expected), scale) in actual.iter().zip(&self.expected).zip(&self.scales) {
            let error = error(self.element, *actual, *expected);
            if *scale > f64::from(f32::MIN_POSITIVE) && error.is_finite() {
                squares += (error / scale).powi(2);
                counted += 1;
            }
        }
        let rms = (squares / counted.max(1) as f64).sqrt();
        (counted >= MIN_FOR_RMS && rms > limit).then_some((rms, limit))
    }

    /// Whether an output that holds `element(index)` everywhere would pass.
    #[must_use]
    pub fn accepts(&self, element: impl Fn(usize) -> f64) -> bool {
        (0..self.expected.len())
            .all(|index| within(error(self.element, element(index), self.expected[index]), self.allowed[index]))
    }

    /// Bytes that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<f64>() * (self.expected.len() + self.scales.len() + self.allowed.len())
    }
}

impl Comparison {
    /// Whether the output is right.
    #[must_use]
    pub fn right(&self) -> bool {
        self.wrong.is_empty() && self.lost_bits.is_none()
    }
}

/// Compares element by element; `allowed` gives the largest error allowed at an index.
#[must_use]
pub fn compare(element: ElementType, actual: &[f64], expected: &[f64], allowed: impl Fn(usize) -> f64) -> Comparison {
    let mut comparison = Comparison { total: actual.len(), ..Comparison::default() };
    for (index, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        if actual == expected {
            continue;
        }
        let (error, allowed) = (error(element, *actual, *expected), allowed(index));
        if !within(error, allowed) {
            comparison.wrong.push(index);
            comparison.nan += usize::from(actual.is_nan());
        }
        if error > 0.0 {
            comparison.share = comparison.share.max(error / allowed);
            if comparison.worst.is_none_or(|worst| error > worst.error) {
                let (actual, expected) = (*actual, *expected);
                comparison.worst = Some(Worst { index, actual, expected, allowed, error });
            }
        }
    }
    comparison
}

/// Whether an error is allowed. An infinite one never is, and nothing is where the bound itself is no number.
fn within(error: f64, allowed: f64) -> bool {
    error == 0.0 || (error.is_finite() && error <= allowed)
}

/// The magnitude of the difference. NaN and infinity on one side only are infinitely wrong; what lies beyond the type's
/// range is expected to be infinite.
fn error(element: ElementType, actual: f64, expected: f64) -> f64 {
    if actual == expected || (actual.is_nan() && expected.is_nan()) {
        return 0.0;
    }
    if actual.is_infinite() && nearest(element, expected) == actual {
        return 0.0;
    }
    let difference = (actual - expected).abs();
    if difference.is_nan() { f64::INFINITY } else { difference }
}

/// The root mean square of the finite numbers.
#[must_use]
pub fn root_mean_square(values: &[f64]) -> f64 {
    let finite = values.iter().filter(|value| value.is_finite());
    let (squares, count) = finite.fold((0.0, 0usize), |(squares, count), value| (squares + value * value, count + 1));
    (squares / count.max(1) as f64).sqrt()
}

/// `[3, 4]` for a flat index.
#[must_use]
pub fn position(mut flat: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (slot, extent) in index.iter_mut().zip(shape).rev() {
        *slot = flat % extent;
        flat /= extent;
    }
    index
}
