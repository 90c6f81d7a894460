//! Rounding by hand: from a double, and what it lost, to any narrower format in any mode.
//!
//! A result that a double does not hold exactly is first rounded to odd, which keeps a second rounding from going wrong
//! (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).

/// PTX's rounding modes; the numbers are part of generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// `.rn`
    Nearest = 0,
    /// `.rz`
    Zero = 1,
    /// `.rm`
    Down = 2,
    /// `.rp`
    Up = 3,
}

impl Mode {
    /// The mode of a number in generated code.
    pub fn numbered(number: u32) -> Mode {
        match number & 3 {
            0 => Mode::Nearest,
            1 => Mode::Zero,
            2 => Mode::Down,
            _ => Mode::Up,
        }
    }
}

/// A binary format of IEEE's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    pub exponent_bits: u32,
    pub mantissa_bits: u32,
}

/// `.f32`
pub(crate) const SINGLE: Format = Format { exponent_bits: 8, mantissa_bits: 23 };
/// `.f16`
pub(crate) const HALF: Format = Format { exponent_bits: 5, mantissa_bits: 10 };
/// `.bf16`
pub(crate) const BRAIN: Format = Format { exponent_bits: 8, mantissa_bits: 7 };

/// The sum and what it lost, exactly (Knuth).
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// `value + lost` rounded to odd; only the sign of `lost` counts.
pub(crate) fn odd(value: f64, lost: f64) -> f64 {
    let bits = value.to_bits();
    if !value.is_finite() || lost.is_nan() || lost == 0.0 || bits & 1 == 1 {
        return value;
    }
    if value == 0.0 {
        return f64::from_bits(1).copysign(lost);
    }
    let away = value.is_sign_negative() == lost.is_sign_negative();
    f64::from_bits(if away { bits + 1 } else { bits - 1 })
}

/// Rounds to a format, and gives its bits. NaN becomes the GPU's: all bits but the sign.
pub(crate) fn narrow(value: f64, format: Format, mode: Mode) -> u32 {
    let Format { exponent_bits, mantissa_bits } = format;
    let bias = (1_i32 << (exponent_bits - 1)) - 1;
    let infinity = ((1_u32 << exponent_bits) - 1) << mantissa_bits;
    let sign = u32::from(value.is_sign_negative()) << (exponent_bits + mantissa_bits);
    if value.is_nan() {
        return infinity | ((1 << mantissa_bits) - 1);
    }
    if value.is_infinite() {
        return sign | infinity;
    }
    let bits = value.abs().to_bits();
    let (significand, exponent) = match (bits >> 52) as i32 {
        0 => (bits, -1022),
        biased => (bits & ((1 << 52) - 1) | 1 << 52, biased - 1023),
    };
    let lowest = 1 - bias;
    // At least 29 bits go: every format here is narrower than a double.
    let shift = (52 - mantissa_bits).saturating_add_signed((lowest - exponent).max(0));
    let (mut kept, rest, half) = match shift {
        0..=62 => (significand >> shift, significand & ((1 << shift) - 1), 1 << (shift - 1)),
        _ => (0, significand.min(1), 2),
    };
    let up = match mode {
        Mode::Nearest => rest > half || rest == half && kept & 1 == 1,
        Mode::Zero => false,
        Mode::Down => rest > 0 && sign != 0,
        Mode::Up => rest > 0 && sign == 0,
    };
    kept += u64::from(up);
    let encoded = match exponent {
        _ if exponent < lowest => kept,
        // The leading bit of `kept` adds the one that is left out here; a carry moves on to the exponent.
        _ => kept.saturating_add(u64::from((exponent + bias - 1).unsigned_abs()) << mantissa_bits),
    };
    if encoded < u64::from(infinity) {
        return sign | encoded as u32;
    }
    let to_infinity = match mode {
        Mode::Nearest => true,
        Mode::Zero => false,
        Mode::Down => sign != 0,
        Mode::Up => sign == 0,
    };
    sign | if to_infinity { infinity } else { infinity - 1 }
}

/// Bits of a format as a double, exactly.
pub(crate) fn widen(bits: u32, format: Format) -> f64 {
    let Format { exponent_bits, mantissa_bits } = format;
    let bias = (1_i32 << (exponent_bits - 1)) - 1;
    let sign = if bits >> (exponent_bits + mantissa_bits) & 1 == 1 { -1.0 } else { 1.0 };
    let exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
    let mantissa = f64::from(bits & ((1 << mantissa_bits) - 1));
    let unit = |power: i32| f64::from_bits(u64::from((power + 1023).unsigned_abs()) << 52);
    let magnitude = match exponent {
        0 => mantissa * unit(1 - bias - mantissa_bits as i32),
        _ if exponent == (1 << exponent_bits) - 1 => {
            if mantissa == 0.0 {
                f64::INFINITY
            } else {
                f64::NAN
            }
        }
        _ => (mantissa + unit(mantissa_bits as i32)) * unit(exponent as i32 - bias - mantissa_bits as i32),
    };
    sign * magnitude
}
