//! Arithmetic of `f16` and `bf16`, one number or two: in doubles, rounded once.

use super::rounding::{BRAIN, Format, HALF, Mode, narrow, odd, two_sum, widen};

/// Operations; the numbers are part of generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the instruction of its name")]
pub(crate) enum HalfOp {
    Add = 0,
    Sub = 1,
    Mul = 2,
    Fma = 3,
    Min = 4,
    Max = 5,
    Ex2 = 6,
    Tanh = 7,
}

/// The format is `bf16`.
pub(crate) const BF16: u32 = 1 << 8;
/// Two numbers.
pub(crate) const PACKED: u32 = 1 << 9;
/// `.sat`: clamped to [0, 1], NaN to 0.
pub(crate) const SAT: u32 = 1 << 10;
/// `.relu`: clamped below at 0, NaN stays.
pub(crate) const RELU: u32 = 1 << 11;
/// `.ftz`: subnormals are zeros.
pub(crate) const FTZ: u32 = 1 << 12;
/// `.NaN` of `min` and `max`: NaN wins.
pub(crate) const NAN: u32 = 1 << 13;

/// An operation with its flags on bits of halves.
pub(crate) extern "C" fn half(code: u32, a: u32, b: u32, c: u32) -> u32 {
    let low = one(code, a & 0xFFFF, b & 0xFFFF, c & 0xFFFF);
    match code & PACKED {
        0 => low,
        _ => low | one(code, a >> 16, b >> 16, c >> 16) << 16,
    }
}

fn one(code: u32, a: u32, b: u32, c: u32) -> u32 {
    let format = if code & BF16 == 0 { HALF } else { BRAIN };
    let flush = |bits: u32| if code & FTZ == 0 { bits } else { flushed(bits, format) };
    let [x, y, z] = [a, b, c].map(|bits| widen(flush(bits), format));
    let (value, lost) = match code & 0xFF {
        0 => two_sum(x, y),
        1 => two_sum(x, -y),
        2 => (x * y, 0.0),
        3 => two_sum(x * y, z),
        4 => (smaller(x, y, code & NAN != 0), 0.0),
        5 => (-smaller(-x, -y, code & NAN != 0), 0.0),
        6 => (x.exp2(), 0.0),
        _ => (x.tanh(), 0.0),
    };
    let mut value = odd(value, lost);
    if code & SAT != 0 {
        // Zero of either sign, and NaN, become the positive zero.
        value = if value > 0.0 { value.min(1.0) } else { 0.0 };
    }
    if code & RELU != 0 && value <= 0.0 {
        value = 0.0;
    }
    flush(narrow(value, format, Mode::Nearest))
}

/// PTX's minimum: the number where one is NaN (unless NaN wins), and -0 below +0.
fn smaller(x: f64, y: f64, nan_wins: bool) -> f64 {
    match (x.is_nan(), y.is_nan()) {
        (true, true) => f64::NAN,
        (true, false) => {
            if nan_wins {
                f64::NAN
            } else {
                y
            }
        }
        (false, true) => {
            if nan_wins {
                f64::NAN
            } else {
                x
            }
        }
        _ if x < y || x == y && x.is_sign_negative() => x,
        _ => y,
    }
}

fn flushed(bits: u32, format: Format) -> u32 {
    let exponent = ((1 << format.exponent_bits) - 1) << format.mantissa_bits;
    if bits & exponent == 0 { bits & 0x8000 } else { bits }
}
