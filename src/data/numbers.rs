//! From random bits to the numbers of a distribution, as doubles.
//!
//! Every distribution keeps the declaration's promises: `zeros` and `ones` stay (a kernel may count on them), integers
//! stay within the declared bounds (they may be indices), and where the bounds exclude negative numbers or zero, so does
//! every distribution (a square root or a quotient may follow).

use super::bits::Bits;
use crate::runner::Distribution;
use peak_grammar::ir::{ElementType, Initializer};
use std::f64::consts::TAU;

/// `Large` and `Tiny` scale by 2^10, but f16 by 2^4: the product of two such numbers must stay within its range.
const SCALE: f64 = 1024.0;
const SCALE_F16: f64 = 16.0;

/// One in so many values of `Spiky` is a spike.
const SPIKE_EVERY: u32 = 16;

/// Whole numbers of `ExactIntegers` have at most this magnitude.
const EXACT: f64 = 4.0;

/// The numbers of one buffer.
#[derive(Clone, Debug)]
pub struct Numbers {
    bits: Bits,
    kind: Kind,
    /// Extents and their irrational steps, innermost first; used by `Position` only.
    steps: Vec<(usize, f64)>,
}

/// How a number comes from its bits.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Constant(f64),
    Uniform {
        low: f64,
        width: f64,
    },
    /// Whole numbers `low + 0 .. low + count`.
    Whole {
        low: f64,
        count: f64,
    },
    Normal {
        deviation: f64,
        whole: bool,
        positive: bool,
    },
    /// As `Whole`, but zero (where `low` to `low + count` has it) becomes one 7 times in 8.
    Exact {
        low: f64,
        count: f64,
    },
    /// `low` plus a share of `width` that the position decides.
    Position {
        low: f64,
        width: f64,
        whole: bool,
    },
    Spikes {
        rest: f64,
        low: f64,
        width: f64,
        whole: bool,
    },
}

impl Numbers {
    /// The numbers of a declared buffer under a distribution.
    #[must_use]
    pub fn new(
        initializer: &Initializer,
        element: ElementType,
        distribution: Distribution,
        shape: &[usize],
        bits: Bits,
    ) -> Numbers {
        let kind = match initializer {
            Initializer::Zeros => Kind::Constant(0.0),
            Initializer::Ones => Kind::Constant(1.0),
            Initializer::Uniform { low, high } if element.is_float() => {
                floats(Bounds { low: *low, high: *high }, element, distribution)
            }
            Initializer::Uniform { low, high } => {
                integers(low.ceil(), (high.ceil() - low.ceil()).max(1.0), distribution)
            }
            Initializer::Normal => normal(element, distribution),
        };
        Numbers { bits, kind, steps: steps(shape) }
    }

    /// The number at a flat index.
    #[inline]
    #[must_use]
    pub fn at(&self, index: usize) -> f64 {
        let (unit, rest) = self.bits.unit_and_rest(index as u64);
        match self.kind {
            Kind::Constant(value) => value,
            Kind::Uniform { low, width } => low + width * unit,
            Kind::Whole { low, count } => low + (count * unit).floor(),
            Kind::Exact { low, count } => match low + (count * unit).floor() {
                0.0 if rest & 7 != 0 => 1.0,
                value => value,
            },
            Kind::Normal { deviation, whole, positive } => {
                let value = deviation * normal_deviate(unit, rest);
                let value = if positive { value.abs() } else { value };
                if whole { value.round() } else { value }
            }
            Kind::Position { low, width, whole } => {
                let value = width * self.position_share(index);
                low + if whole { value.floor() } else { value }
            }
            Kind::Spikes { rest: other, low, width, whole } => match rest % SPIKE_EVERY {
                0 => low + if whole { (width * unit).floor() } else { width * unit },
                _ => other,
            },
        }
    }

    /// A share in [0, 1) that is smooth along no dimension and different along each: a Kronecker sequence.
    fn position_share(&self, index: usize) -> f64 {
        let (offset, _) = self.bits.unit_and_rest(u64::MAX);
        let mut rest = index;
        let mut share = offset;
        for (extent, step) in &self.steps {
            share += (rest % extent) as f64 * step;
            rest /= extent;
        }
        share.fract()
    }
}

/// Irrational steps: the square roots of the first primes, fractional parts. Beyond eight dimensions they repeat.
fn steps(shape: &[usize]) -> Vec<(usize, f64)> {
    const PRIMES: [f64; 8] = [2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0];
    shape
        .iter()
        .rev()
        .zip(PRIMES.iter().cycle())
        .map(|(extent, prime)| ((*extent).max(1), prime.sqrt().fract()))
        .collect()
}

/// Box and Muller's transform of 32 + 32 bits.
fn normal_deviate(unit: f64, rest: u32) -> f64 {
    let angle = f64::from(rest) * 2f64.powi(-32) * TAU;
    (-2.0 * (1.0 - unit).ln()).sqrt() * angle.cos()
}

/// Declared bounds of floats.
#[derive(Clone, Copy)]
struct Bounds {
    low: f64,
    high: f64,
}

fn floats(bounds: Bounds, element: ElementType, distribution: Distribution) -> Kind {
    let scale = if element == ElementType::F16 { SCALE_F16 } else { SCALE };
    let Bounds { low, high } = bounds;
    let uniform = |scale: f64| Kind::Uniform { low: low * scale, width: (high - low) * scale };
    match distribution {
        Distribution::Declared => uniform(1.0),
        Distribution::Large => uniform(scale),
        Distribution::Tiny => uniform(1.0 / scale),
        Distribution::Structured => Kind::Position { low, width: high - low, whole: false },
        Distribution::ExactIntegers => exact(low, high),
        Distribution::Spiky => {
            let rest = if low > 0.0 { low } else { high.min(0.0) };
            Kind::Spikes { rest, low: low * scale, width: (high - low) * scale, whole: false }
        }
    }
}

/// Whole numbers of magnitude 4 at most on the side of zero that the bounds allow.
fn exact(low: f64, high: f64) -> Kind {
    let least = if low > 0.0 {
        1.0
    } else if low == 0.0 {
        0.0
    } else {
        -EXACT
    };
    let most = if high <= 0.0 { -1.0 } else { EXACT };
    Kind::Exact { low: least, count: most - least + 1.0 }
}

fn integers(low: f64, count: f64, distribution: Distribution) -> Kind {
    match distribution {
        Distribution::Structured => Kind::Position { low, width: count, whole: true },
        Distribution::Spiky => {
            let rest = 0f64.clamp(low, low + count - 1.0);
            Kind::Spikes { rest, low, width: count, whole: true }
        }
        _ => Kind::Whole { low, count },
    }
}

fn normal(element: ElementType, distribution: Distribution) -> Kind {
    let unsigned = matches!(element, ElementType::U8 | ElementType::U32 | ElementType::U64);
    let whole = !element.is_float();
    let scale = if element == ElementType::F16 { SCALE_F16 } else { SCALE };
    let normal = |deviation: f64| Kind::Normal { deviation, whole, positive: unsigned };
    match distribution {
        _ if whole => normal(1.0),
        Distribution::Declared => normal(1.0),
        Distribution::Large => normal(scale),
        Distribution::Tiny => normal(1.0 / scale),
        Distribution::ExactIntegers => exact(-1.0, 1.0),
        Distribution::Structured => Kind::Position { low: -2.0, width: 4.0, whole: false },
        Distribution::Spiky => Kind::Spikes { rest: 0.0, low: -2.0 * scale, width: 4.0 * scale, whole: false },
    }
}
