//! Floats of 32 and 64 bits. `.rn` is the host's own arithmetic; other modes of `f32` are the host functions'.
//!
//! Approximate instructions give the correctly rounded result, which is within their stated error. NaN results are
//! some quiet NaN: PTX promises no more for `f32`.

use super::integer::single_type;
use super::values::natural;
use super::{Emitted, Generator, Lack, lack};
use crate::host::math::{Approximate, Rounded};
use crate::ir::{Inst, Type};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};

/// A rounding mode other than the nearest: its number, as in `crate::host::rounding::Mode`.
pub(super) fn directed(inst: &Inst) -> Option<u64> {
    match inst.one_of(&["rz", "rm", "rp"]) {
        Some("rz") => Some(1),
        Some("rm") => Some(2),
        Some(_) => Some(3),
        None => None,
    }
}

/// `add`, `sub` and `mul`.
pub(super) fn binary(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    if ty.is_half() {
        return super::halves::arithmetic(this, inst);
    }
    let [a, b] = this.float_inputs(inst, ty, [1, 2])?;
    let value = match inst.name.as_str() {
        "add" => this.rounded(inst, ty, Rounded::Add, [a, b, b], |this| this.b.ins().fadd(a, b))?,
        "sub" => this.rounded(inst, ty, Rounded::Sub, [a, b, b], |this| this.b.ins().fsub(a, b))?,
        _ => this.rounded(inst, ty, Rounded::Mul, [a, b, b], |this| this.b.ins().fmul(a, b))?,
    };
    this.set_float(inst, ty, value)
}

/// `fma`, and `mad` of floats.
pub(super) fn fused(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    if ty.is_half() {
        return super::halves::arithmetic(this, inst);
    }
    let [a, b, c] = this.float_inputs(inst, ty, [1, 2, 3])?;
    let value = this.rounded(inst, ty, Rounded::Fma, [a, b, c], |this| this.b.ins().fma(a, b, c))?;
    this.set_float(inst, ty, value)
}

/// `div` of floats.
pub(super) fn divide(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    let [a, b] = this.float_inputs(inst, ty, [1, 2])?;
    let mut value = this.rounded(inst, ty, Rounded::Div, [a, b, b], |this| this.b.ins().fdiv(a, b))?;
    if inst.has("approx") && ty == Type::F32 {
        value = this.beyond_reciprocal(a, b, value);
    }
    this.set_float(inst, ty, value)
}

/// `sqrt`, `rsqrt` and `rcp`.
pub(super) fn root(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    let [a] = this.float_inputs(inst, ty, [1])?;
    let one = match ty {
        Type::F32 => this.b.ins().f32const(1.0_f32),
        _ => this.b.ins().f64const(1.0),
    };
    let value = match inst.name.as_str() {
        "sqrt" => this.rounded(inst, ty, Rounded::Sqrt, [a, a, a], |this| this.b.ins().sqrt(a))?,
        "rcp" => this.rounded(inst, ty, Rounded::Div, [one, a, a], |this| this.b.ins().fdiv(one, a))?,
        _ if ty == Type::F32 => {
            let wide = this.b.ins().fpromote(cranelift_codegen::ir::types::F64, a);
            let root = this.b.ins().sqrt(wide);
            let one = this.b.ins().f64const(1.0);
            let inverse = this.b.ins().fdiv(one, root);
            this.b.ins().fdemote(F32, inverse)
        }
        _ => {
            let root = this.b.ins().sqrt(a);
            this.b.ins().fdiv(one, root)
        }
    };
    // The approximate instructions of `f64` give only the upper half.
    let value = if ty == Type::F64 && inst.has("approx") {
        let bits = this.retype(value, I64);
        let upper = this.b.ins().band_imm_s(bits, -1_i64 << 32);
        this.retype(upper, natural(ty))
    } else {
        value
    };
    this.set_float(inst, ty, value)
}

/// `ex2`, `lg2`, `sin`, `cos`, `tanh`.
pub(super) fn transcendental(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    if ty.is_half() {
        return super::halves::arithmetic(this, inst);
    }
    let function = match inst.name.as_str() {
        "ex2" => Approximate::Ex2,
        "lg2" => Approximate::Lg2,
        "sin" => Approximate::Sin,
        "cos" => Approximate::Cos,
        _ => Approximate::Tanh,
    };
    let [a] = this.float_inputs(inst, ty, [1])?;
    let code = this.int(I32, function as u64);
    let value = this.host("unary32", &[code, a])?;
    this.set_float(inst, ty, value)
}

/// `min` and `max` of floats: the number where one is NaN, unless `.NaN` is there.
pub(super) fn extreme(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    if ty.is_half() {
        return super::halves::arithmetic(this, inst);
    }
    let [a, b] = this.float_inputs(inst, ty, [1, 2])?;
    // Cranelift's orders zeros, and gives NaN where one is.
    let mut value = if inst.name == "min" { this.b.ins().fmin(a, b) } else { this.b.ins().fmax(a, b) };
    if !inst.has("NaN") {
        let (a_is_nan, b_is_nan) =
            (this.b.ins().fcmp(FloatCC::Unordered, a, a), this.b.ins().fcmp(FloatCC::Unordered, b, b));
        value = this.b.ins().select(b_is_nan, a, value);
        value = this.b.ins().select(a_is_nan, b, value);
    }
    if ty == Type::F32 {
        // What is NaN all the same is the GPU's own.
        let is_nan = this.b.ins().fcmp(FloatCC::Unordered, value, value);
        let nan = this.b.ins().f32const(f32::from_bits(0x7FFF_FFFF));
        value = this.b.ins().select(is_nan, nan, value);
    }
    this.set_float(inst, ty, value)
}

/// `abs`, `neg` and `copysign` of floats: bits, so that NaN keeps its own.
pub(super) fn sign(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    let value = this.input(inst, 1, ty)?;
    let value = if inst.has("ftz") && ty == Type::F32 { this.flush(value) } else { value };
    let bits = this.bits(value);
    let width = super::integer::bits_of(ty);
    let mask = match ty {
        Type::F64 => 1 << 63,
        Type::F16x2 | Type::Bf16x2 => 0x8000_8000,
        Type::F16 | Type::Bf16 => 0x8000,
        _ => 0x8000_0000,
    };
    let signs = this.int(width, mask);
    let bits = match inst.name.as_str() {
        "neg" => this.b.ins().bxor(bits, signs),
        "abs" => this.b.ins().band_not(bits, signs),
        _ => {
            let other = this.input(inst, 2, ty)?;
            let other = this.bits(other);
            // `copysign d, a, b` is b with the sign of a.
            let (sign, magnitude) = (this.b.ins().band(bits, signs), this.b.ins().band_not(other, signs));
            this.b.ins().bor(sign, magnitude)
        }
    };
    let value = this.retype(bits, natural(ty));
    this.set(this.operand(inst, 0)?, ty, value)
}

/// `testp`.
pub(super) fn test(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    let value = this.input(inst, 1, ty)?;
    let bits = this.bits(value);
    let (infinity, all) = match ty {
        Type::F32 => (0x7F80_0000_u64, 0x7FFF_FFFF_u64),
        _ => (0x7FF0_0000_0000_0000, 0x7FFF_FFFF_FFFF_FFFF),
    };
    let width = super::integer::bits_of(ty);
    let all = this.int(width, all);
    let magnitude = this.b.ins().band(bits, all);
    let lowest = match ty {
        Type::F32 => 0x0080_0000,
        _ => 0x0010_0000_0000_0000,
    };
    let flag = match inst.one_of(&["finite", "infinite", "number", "notanumber", "normal", "subnormal"]) {
        Some("finite") => this.compare_imm(IntCC::UnsignedLessThan, magnitude, infinity),
        Some("infinite") => this.compare_imm(IntCC::Equal, magnitude, infinity),
        Some("number") => this.compare_imm(IntCC::UnsignedLessThanOrEqual, magnitude, infinity),
        Some("notanumber") => this.compare_imm(IntCC::UnsignedGreaterThan, magnitude, infinity),
        Some("normal") => {
            let above = this.compare_imm(IntCC::UnsignedGreaterThanOrEqual, magnitude, lowest);
            let below = this.compare_imm(IntCC::UnsignedLessThan, magnitude, infinity);
            // PTX counts both zeros as normal.
            let zero = this.compare_imm(IntCC::Equal, magnitude, 0);
            let inside = this.b.ins().band(above, below);
            this.b.ins().bor(inside, zero)
        }
        Some(_) => {
            let less = this.b.ins().iadd_imm_s(magnitude, -1);
            this.compare_imm(IntCC::UnsignedLessThan, less, lowest - 1)
        }
        None => return lack("this form"),
    };
    this.set(this.operand(inst, 0)?, Type::Pred, flag)
}

impl Generator<'_, '_, '_> {
    /// Operands as floats, subnormals flushed where the instruction says so.
    fn float_inputs<const N: usize>(&mut self, inst: &Inst, ty: Type, at: [usize; N]) -> Result<[Value; N], Lack> {
        if !ty.is_float() || inst.has("relu") {
            return lack("this form");
        }
        let mut values = [self.thread; N];
        for (value, at) in values.iter_mut().zip(at) {
            *value = self.input(inst, at, ty)?;
            if inst.has("ftz") && ty == Type::F32 {
                *value = self.flush(*value);
            }
        }
        Ok(values)
    }

    /// The host's arithmetic, or the host function's where the mode is another.
    fn rounded(
        &mut self,
        inst: &Inst,
        ty: Type,
        operation: Rounded,
        inputs: [Value; 3],
        nearest: impl FnOnce(&mut Self) -> Value,
    ) -> Result<Value, Lack> {
        let Some(mode) = directed(inst) else { return Ok(nearest(self)) };
        if ty != Type::F32 {
            return lack("this rounding mode of `f64`");
        }
        let code = self.int(I32, operation as u64 | mode << 8);
        let [a, b, c] = inputs;
        self.host("round32", &[code, a, b, c])
    }

    /// `div.approx` by more than 2^126 (the reciprocal would be subnormal): a zero of the quotient's sign, or NaN of an
    /// infinity.
    fn beyond_reciprocal(&mut self, a: Value, b: Value, quotient: Value) -> Value {
        let magnitude = self.b.ins().fabs(b);
        let (most, infinity) =
            (self.b.ins().f32const(f32::from_bits(0x7E80_0000)), self.b.ins().f32const(f32::INFINITY));
        let above = self.b.ins().fcmp(FloatCC::GreaterThan, magnitude, most);
        let finite = self.b.ins().fcmp(FloatCC::LessThan, magnitude, infinity);
        let is_beyond = self.b.ins().band(above, finite);
        let zero = self.b.ins().f32const(0.0_f32);
        let zero = self.b.ins().fcopysign(zero, b);
        let product = self.b.ins().fmul(a, zero);
        self.b.ins().select(is_beyond, product, quotient)
    }

    /// Writes a result, flushed and saturated where the instruction says so.
    fn set_float(&mut self, inst: &Inst, ty: Type, value: Value) -> Emitted {
        let mut value = value;
        if inst.has("ftz") && ty == Type::F32 {
            value = self.flush(value);
        }
        if inst.has("sat") {
            value = self.saturate(value);
        }
        self.set(self.operand(inst, 0)?, ty, value)
    }

    /// Clamped to [0, 1]; NaN becomes 0.
    pub(super) fn saturate(&mut self, value: Value) -> Value {
        let (zero, one) = match self.b.func.dfg.value_type(value) {
            F32 => (self.b.ins().f32const(0.0_f32), self.b.ins().f32const(1.0_f32)),
            _ => (self.b.ins().f64const(0.0), self.b.ins().f64const(1.0)),
        };
        let positive = self.b.ins().fcmp(FloatCC::GreaterThan, value, zero);
        let value = self.b.ins().select(positive, value, zero);
        let below = self.b.ins().fcmp(FloatCC::LessThan, value, one);
        self.b.ins().select(below, value, one)
    }
}
