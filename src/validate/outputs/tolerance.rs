//! How far an output may lie from its oracle.
//!
//! For a sum of `n` terms in a type of unit roundoff `u`, computed in any order,
//! `|computed - exact| <= gamma * S`, where `S` is the sum of the magnitudes of the terms (the oracle's scale) and gamma
//! is the smaller of
//! - `n u / (1 - n u)`, certain (Higham, *Accuracy and Stability of Numerical Algorithms*, 2002, eq. 3.5);
//! - `exp(l sqrt(n) u + n u^2 / (1 - u)) - 1`, which fails with a probability of at most `2 exp(-l^2 (1 - u)^2 / 2)` for
//!   one output if rounding errors are independent with mean zero (Higham and Mary, *A new approach to probabilistic
//!   rounding error analysis*, SIAM J. Sci. Comput. 41(5), 2019, theorem 2.4). With `l = 9` that is 5e-18: one false
//!   alarm in ten billion arrays of 4096 x 4096.
//!
//! `S` is much larger than a sum of random signs, so a kernel that computes with fewer bits can stay below gamma. The
//! errors of all outputs together can not: independent errors give a root mean square of `error / S` of at most
//! `sqrt(n) u` (the variance of a sum of `n` independent errors of at most `u S`), and that is checked as well
//! ([`Bound::rms_limit`]): it catches an f32 kernel that went through tf32 or f16.
//!
//! `n` counts the roundings in a row: the additions of sums (sums of sums, also through local arrays, are one sum in any
//! order), and the other operations on the longest way to the output ([`crate::oracle::Oracle::roundings`]). Scales carry
//! how much each error is magnified. A kernel may keep each local array in its element type: where that is narrower
//! than the accumulator, each array on the way adds `u_element S`.
//!
//! Whole numbers whose sums stay below `2^p` are exact in a type of `p` bits in any order: then nothing is allowed.

use peak_grammar::ir::{ElementType, Tolerance};

/// Deviations of one output's error that are allowed.
pub(super) const LAMBDA: f64 = 9.0;

/// Roundings of an output besides those counted: the start of the sum, and the store.
const EXTRA_ROUNDINGS: f64 = 2.0;

/// What an output of one kernel at one size may deviate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The kernel's declaration.
    pub tolerance: Tolerance,
    /// The output's element type.
    pub element: ElementType,
    /// The type that sums are computed in.
    pub accumulator: ElementType,
    /// Roundings in a row: the terms of a sum, and other operations.
    pub length: f64,
    /// Local arrays on the way to the output.
    pub stores: f64,
    /// The kernel's element type: with a narrower one than the accumulator's, matrix units may truncate as they add.
    pub inputs: ElementType,
    /// Whether all inputs are whole numbers and the oracle keeps them whole.
    pub whole: bool,
    /// Whether `computes` has nothing but sums, products and the like: then whole numbers stay whole.
    pub keeps_integers: bool,
    /// The root mean square of the expected output: what `relative X` is relative to, at least.
    pub output_scale: f64,
}

impl Bound {
    /// The largest allowed error of an element with this expected value and scale.
    #[must_use]
    pub fn allowed(&self, expected: f64, scale: f64) -> f64 {
        if !self.element.is_float() {
            // A quotient or a root may be rounded either way; sums and products are exact.
            return if self.keeps_integers { 0.0 } else { 1.0 };
        }
        match self.tolerance {
            Tolerance::Exact => (nearest(self.element, expected) - expected).abs(),
            Tolerance::Absolute(absolute) => self.rounding(expected, scale).max(absolute),
            Tolerance::Relative(relative) => {
                self.rounding(expected, scale).max(relative * expected.abs().max(self.output_scale))
            }
            Tolerance::SumLength => self.rounding(expected, scale),
        }
    }

    /// What rounding alone can do: no declared tolerance asks for more precision than the types have.
    fn rounding(&self, expected: f64, scale: f64) -> f64 {
        match self.exact(scale) {
            true => self.store(expected),
            false => (self.gamma() + self.kept()) * scale + self.store(expected) + self.floor(),
        }
    }

    /// What local arrays lose, in units of the scale, where a kernel keeps them in its element type.
    #[must_use]
    pub fn kept(&self) -> f64 {
        let narrower = self.inputs.is_float() && self.inputs.epsilon() > self.accumulator.epsilon();
        if narrower { self.stores * roundoff(self.inputs) } else { 0.0 }
    }

    /// The relative error of a sum in units of its scale, of a size that a sum of errors of many outputs keeps to as
    /// well: errors add up at random.
    #[must_use]
    pub fn probable(&self) -> f64 {
        let (n, u) = (self.length + EXTRA_ROUNDINGS, roundoff(self.accumulator));
        (LAMBDA * n.sqrt() * u + n * u * u / (1.0 - u)).exp_m1()
    }

    /// Whether a sum of whole numbers with this scale is exact in the accumulator.
    #[must_use]
    pub fn exact(&self, scale: f64) -> bool {
        self.whole && scale <= largest_whole(self.accumulator)
    }

    /// The largest root mean square of `error / scale` over an output; `None` where the output's own type hides it, or
    /// the kernel declares another tolerance.
    #[must_use]
    pub fn rms_limit(&self) -> Option<f64> {
        let full = matches!(self.element, ElementType::F32 | ElementType::F64)
            && self.element == self.accumulator
            && self.element == self.inputs;
        let applies = full && self.keeps_integers && !self.whole && self.tolerance == Tolerance::SumLength;
        applies.then(|| (self.length + EXTRA_ROUNDINGS).sqrt() * roundoff(self.accumulator))
    }

    /// The relative error of a sum, in units of its scale.
    #[must_use]
    pub fn gamma(&self) -> f64 {
        let (n, u) = (self.length + EXTRA_ROUNDINGS, roundoff(self.accumulator));
        let probable = self.probable();
        match n * u < 1.0 {
            true => probable.min(n * u / (1.0 - n * u)),
            false => probable,
        }
    }

    /// Rounding or truncation to the output's type.
    pub(super) fn store(&self, expected: f64) -> f64 {
        if self.whole && expected.abs() <= largest_whole(self.element) {
            return 0.0;
        }
        self.element.epsilon() * expected.abs()
    }

    /// Numbers below the smallest normal one may become zero on a device.
    pub(super) fn floor(&self) -> f64 {
        smallest_normal(self.element) + self.length * smallest_normal(self.accumulator)
    }
}

/// Half the distance from one to the next number.
fn roundoff(element: ElementType) -> f64 {
    element.epsilon() / 2.0
}

/// Up to here every whole number is exact.
pub(super) fn largest_whole(element: ElementType) -> f64 {
    match element.is_float() {
        true => 2.0 / element.epsilon(),
        // Wider than any array's sums, and still exact in the oracle's doubles.
        false => 2f64.powi(i32::try_from(element.bytes() * 8).unwrap_or(8).min(54) - 1),
    }
}

fn smallest_normal(element: ElementType) -> f64 {
    match element {
        ElementType::F16 => 2f64.powi(-14),
        ElementType::Bf16 | ElementType::F32 => 2f64.powi(-126),
        ElementType::F64 => f64::MIN_POSITIVE,
        _ => 0.0,
    }
}

/// Beyond this a whole number in double precision is not exact: the oracle's own limit.
pub(super) const LARGEST_EXACT: f64 = (1u64 << 53) as f64;

/// A whole number as an integer type holds it: modulo two to its width, as sums and products wrap around on a device.
#[must_use]
pub(super) fn wrapped(element: ElementType, value: f64) -> f64 {
    if element.is_float() || value.is_nan() || value.abs() > LARGEST_EXACT {
        return value;
    }
    #[allow(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
    let whole = value as i64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "wrapping around is asked for")]
    match element {
        ElementType::I8 => f64::from(whole as i8),
        ElementType::U8 => f64::from(whole as u8),
        ElementType::I32 => f64::from(whole as i32),
        ElementType::U32 => f64::from(whole as u32),
        // Negative ones are far beyond 2^53, and a double holds them only nearly.
        ElementType::U64 => whole as u64 as f64,
        _ => value,
    }
}

/// A number rounded to an element type (infinite beyond its range).
#[must_use]
pub fn nearest(element: ElementType, value: f64) -> f64 {
    #[allow(clippy::cast_possible_truncation, reason = "rounding to the type is asked for")]
    match element {
        ElementType::F16 => half::f16::from_f64(value).to_f64(),
        ElementType::Bf16 => half::bf16::from_f64(value).to_f64(),
        ElementType::F32 => f64::from(value as f32),
        _ => value,
    }
}
