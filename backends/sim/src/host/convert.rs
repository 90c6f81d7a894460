//! Conversions that the host's instructions do not give.

use super::rounding::{BRAIN, HALF, Mode, SINGLE, narrow, odd};

/// In the code of [`narrow16`]: the format is `bf16`.
pub(crate) const TO_BF16: u32 = 1 << 8;
/// In the code of [`integer_to_float`]: the integer is signed.
pub(crate) const SIGNED: u32 = 1 << 8;

/// A double to a single in a rounding mode.
pub(crate) extern "C" fn narrow32(mode: u32, value: f64) -> f32 {
    f32::from_bits(narrow(value, SINGLE, Mode::numbered(mode)))
}

/// A double to the bits of a half in a rounding mode.
pub(crate) extern "C" fn narrow16(code: u32, value: f64) -> u32 {
    narrow(value, if code & TO_BF16 == 0 { HALF } else { BRAIN }, Mode::numbered(code))
}

/// A 64-bit integer to a double that, narrowed in any mode, gives the integer rounded once.
pub(crate) extern "C" fn integer_to_float(code: u32, value: u64) -> f64 {
    let exact = if code & SIGNED == 0 { i128::from(value) } else { i128::from(value.cast_signed()) };
    let near = exact as f64;
    // 64-bit integers convert to doubles below 2^65, which convert back exactly.
    let lost = exact - near as i128;
    odd(near, lost as f64)
}
