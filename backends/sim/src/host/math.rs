//! Single precision that the host's instructions do not give: directed rounding, and the approximate functions.

use super::rounding::{Mode, SINGLE, narrow, odd, two_sum};
use std::time::Instant;

/// Operations of [`round32`]; the numbers are part of generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the instruction of its name")]
pub(crate) enum Rounded {
    Add = 0,
    Sub = 1,
    Mul = 2,
    Fma = 3,
    Div = 4,
    Sqrt = 5,
}

/// Functions of [`unary32`]; the numbers are part of generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the instruction of its name")]
pub(crate) enum Approximate {
    Ex2 = 0,
    Lg2 = 1,
    Sin = 2,
    Cos = 3,
    Tanh = 4,
}

/// An operation in a rounding mode: `operation | mode << 8`.
pub(crate) extern "C" fn round32(code: u32, a: f32, b: f32, c: f32) -> f32 {
    let mode = Mode::numbered(code >> 8);
    let (x, y, z) = (f64::from(a), f64::from(b), f64::from(c));
    let (value, lost) = match code & 0xFF {
        0 => sum(x, y, mode),
        1 => sum(x, -y, mode),
        // The product of two singles is exact in a double.
        2 => (x * y, 0.0),
        3 => sum(x * y, z, mode),
        4 => {
            let quotient = x / y;
            (quotient, (-quotient).mul_add(y, x) * y.signum())
        }
        _ => {
            let root = x.sqrt();
            (root, (-root).mul_add(root, x))
        }
    };
    f32::from_bits(narrow(odd(value, lost), SINGLE, mode))
}

/// A sum with what it lost; opposites give a negative zero when rounding down.
fn sum(a: f64, b: f64, mode: Mode) -> (f64, f64) {
    let (sum, lost) = two_sum(a, b);
    if sum == 0.0 && mode == Mode::Down && (a.is_sign_negative() || b.is_sign_negative()) {
        return (-0.0, 0.0);
    }
    (sum, lost)
}

/// An approximate function: here computed in double precision and rounded once, so within the architecture's error.
pub(crate) extern "C" fn unary32(code: u32, x: f32) -> f32 {
    let x = f64::from(x);
    let y = match code {
        0 => x.exp2(),
        1 => x.log2(),
        2 => x.sin(),
        3 => x.cos(),
        _ => x.tanh(),
    };
    y as f32
}

/// Nanoseconds since the first call: a counter that only grows.
pub(crate) extern "C" fn clock() -> u64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}
