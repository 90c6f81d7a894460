//! Floats of 16 bits: arithmetic by the host, conversions with a single inline.

use super::integer::single_type;
use super::{Emitted, Generator, lack};
use crate::host::half::{BF16, FTZ, HalfOp, NAN, PACKED, RELU, SAT};
use crate::ir::{Inst, Type};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, I16, I32};
use cranelift_codegen::ir::{InstBuilder, Value};

/// Arithmetic of `f16`, `bf16` and their packed forms.
pub(super) fn arithmetic(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    if super::float::directed(inst).is_some() {
        return lack("this rounding mode of 16 bits");
    }
    let operation = match inst.name.as_str() {
        "add" => HalfOp::Add,
        "sub" => HalfOp::Sub,
        "mul" => HalfOp::Mul,
        "fma" => HalfOp::Fma,
        "min" => HalfOp::Min,
        "max" => HalfOp::Max,
        "ex2" => HalfOp::Ex2,
        "tanh" => HalfOp::Tanh,
        _ => return lack("this operation of 16 bits"),
    };
    let mut flags = operation as u32;
    for (modifier, flag) in [("sat", SAT), ("relu", RELU), ("ftz", FTZ), ("NaN", NAN)] {
        flags |= if inst.has(modifier) { flag } else { 0 };
    }
    flags |= if matches!(ty, Type::Bf16 | Type::Bf16x2) { BF16 } else { 0 };
    flags |= if ty.bits() == 32 { PACKED } else { 0 };
    let mut arguments = vec![this.int(I32, u64::from(flags))];
    for at in 1..4 {
        let value = if at < inst.operands.len() { this.input(inst, at, ty)? } else { this.int(I32, 0) };
        arguments.push(this.extend(value, I32, false));
    }
    let bits = this.host("half", &arguments)?;
    let bits = this.extend(bits, super::integer::bits_of(ty), false);
    this.set(this.operand(inst, 0)?, ty, bits)
}

impl Generator<'_, '_, '_> {
    /// 16 bits as a single, exactly.
    pub(super) fn half_to_single(&mut self, half: Value, brain: bool) -> Value {
        let wide = self.b.ins().uextend(I32, half);
        if brain {
            let bits = self.b.ins().ishl_imm_u(wide, 16);
            return self.retype(bits, F32);
        }
        let sign = self.b.ins().band_imm_u(wide, 0x8000);
        let sign = self.b.ins().ishl_imm_u(sign, 16);
        let magnitude = self.b.ins().band_imm_u(wide, 0x7FFF);
        let magnitude = self.b.ins().ishl_imm_u(magnitude, 13);
        // A single's exponent is 112 more for the same number; multiplying mends subnormals too.
        let scale = self.b.ins().f32const(f32::from_bits(0x7780_0000));
        let tiny = self.retype(magnitude, F32);
        let scaled = self.b.ins().fmul(tiny, scale);
        let scaled = self.retype(scaled, I32);
        let special = self.compare_imm(IntCC::UnsignedGreaterThanOrEqual, magnitude, 0x7C00 << 13);
        let infinite = self.b.ins().bor_imm_u(magnitude, 0x7F80_0000);
        let bits = self.b.ins().select(special, infinite, scaled);
        let bits = self.b.ins().bor(bits, sign);
        self.retype(bits, F32)
    }

    /// A single as 16 bits, to nearest even.
    pub(super) fn single_to_half(&mut self, single: Value, brain: bool) -> Value {
        let bits = self.retype(single, I32);
        let magnitude = self.b.ins().band_imm_u(bits, 0x7FFF_FFFF);
        let is_nan = self.compare_imm(IntCC::UnsignedGreaterThan, magnitude, 0x7F80_0000);
        let nan = self.int(I32, 0x7FFF);
        let drop = if brain { 16 } else { 13 };
        let last = self.b.ins().ushr_imm_u(magnitude, drop);
        let last = self.b.ins().band_imm_u(last, 1);
        let sign = self.b.ins().ushr_imm_u(bits, 16);
        let sign = self.b.ins().band_imm_u(sign, 0x8000);
        let half_unit = (1_i64 << (drop - 1)) - 1;
        let rebias = if brain { 0 } else { 112 << 23 };
        let rounded = self.b.ins().iadd_imm_s(magnitude, half_unit - rebias);
        let rounded = self.b.ins().iadd(rounded, last);
        let mut result = self.b.ins().ushr_imm_u(rounded, drop);
        if !brain {
            // Adding a half puts a subnormal's bits, rounded, at the end of the sum.
            let base = self.b.ins().f32const(0.5_f32);
            let value = self.retype(magnitude, F32);
            let sum = self.b.ins().fadd(value, base);
            let sum = self.retype(sum, I32);
            let subnormal = self.b.ins().iadd_imm_s(sum, -0x3F00_0000);
            let is_small = self.compare_imm(IntCC::UnsignedLessThan, magnitude, 113 << 23);
            result = self.b.ins().select(is_small, subnormal, result);
            let infinity = self.int(I32, 0x7C00);
            let is_big = self.compare_imm(IntCC::UnsignedGreaterThanOrEqual, magnitude, 143 << 23);
            result = self.b.ins().select(is_big, infinity, result);
        }
        result = self.b.ins().bor(result, sign);
        result = self.b.ins().select(is_nan, nan, result);
        self.b.ins().ireduce(I16, result)
    }
}
