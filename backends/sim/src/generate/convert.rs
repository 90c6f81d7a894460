//! `cvt`: between all number types, in all rounding modes.

use super::float::directed;
use super::values::natural;
use super::{Emitted, Generator, Lack, lack};
use crate::host::convert::{SIGNED, TO_BF16};
use crate::ir::{Inst, Type};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::types::{F32, F64, I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};

/// `cvt`.
pub(super) fn convert(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let [to, from] = inst.types.as_slice() else { return lack("types of this number") };
    let (to, from) = (*to, *from);
    if matches!(to, Type::F16x2 | Type::Bf16x2) {
        return pack(this, inst, to, from);
    }
    let value = this.input(inst, 1, from)?;
    let value = match (to.is_integer(), from.is_integer()) {
        (true, true) => this.integer_to_integer(inst, value, from, to),
        (false, true) => this.integer_to_float(inst, value, from, to)?,
        (true, false) => this.float_to_integer(inst, value, from, to)?,
        (false, false) => this.float_to_float(inst, value, from, to)?,
    };
    this.set(this.operand(inst, 0)?, to, value)
}

/// Two singles to a packed pair: the first is the upper half.
fn pack(this: &mut Generator<'_, '_, '_>, inst: &Inst, to: Type, from: Type) -> Emitted {
    if from != Type::F32 || inst.operands.len() != 3 || inst.has("satfinite") {
        return lack("this form");
    }
    let part = if to == Type::F16x2 { Type::F16 } else { Type::Bf16 };
    let (high, low) = (this.input(inst, 1, from)?, this.input(inst, 2, from)?);
    let high = this.float_to_float(inst, high, from, part)?;
    let low = this.float_to_float(inst, low, from, part)?;
    let word = this.pack(low, high);
    this.set(this.operand(inst, 0)?, to, word)
}

impl Generator<'_, '_, '_> {
    fn integer_to_integer(&mut self, inst: &Inst, value: Value, from: Type, to: Type) -> Value {
        if !inst.has("sat") {
            return self.extend(value, natural(to), from.is_signed());
        }
        let wide = self.extend(value, I64, from.is_signed());
        let top = match (to.is_signed(), to.bits()) {
            (true, bits) => (1_u64 << (bits - 1)) - 1,
            (false, 64) => u64::MAX,
            (false, bits) => (1 << bits) - 1,
        };
        let most = self.int(I64, top);
        let clamped = if !from.is_signed() {
            self.b.ins().umin(wide, most)
        } else {
            let least = if to.is_signed() { -1_i64 << (to.bits() - 1) } else { 0 };
            let least = self.int(I64, least.cast_unsigned());
            let above = self.b.ins().smax(wide, least);
            // An unsigned 64-bit result holds every positive number.
            if top == u64::MAX { above } else { self.b.ins().smin(above, most) }
        };
        self.extend(clamped, natural(to), false)
    }

    fn integer_to_float(&mut self, inst: &Inst, value: Value, from: Type, to: Type) -> Result<Value, Lack> {
        let mode = directed(inst).unwrap_or(0);
        if mode == 0 && to.is_float() && !inst.has("sat") {
            let width = if from.bits() == 64 { I64 } else { I32 };
            let value = self.extend(value, width, from.is_signed());
            return Ok(match from.is_signed() {
                true => self.b.ins().fcvt_from_sint(natural(to), value),
                false => self.b.ins().fcvt_from_uint(natural(to), value),
            });
        }
        if to == Type::F64 {
            return lack("this rounding mode to `f64`");
        }
        let wide = self.extend(value, I64, from.is_signed());
        let code = self.int(I32, if from.is_signed() { u64::from(SIGNED) } else { 0 });
        let exact = self.host("integer_to_float", &[code, wide])?;
        self.narrow(inst, exact, mode, to)
    }

    /// A double that is exact, or rounded to odd, to a narrower type.
    fn narrow(&mut self, inst: &Inst, value: Value, mode: u64, to: Type) -> Result<Value, Lack> {
        let mut value = value;
        if inst.has("sat") {
            value = self.saturate(value);
        }
        if inst.has("relu") {
            value = self.relu(value);
        }
        match to {
            Type::F32 => {
                let mode = self.int(I32, mode);
                let single = self.host("narrow32", &[mode, value])?;
                Ok(if inst.has("ftz") { self.flush(single) } else { single })
            }
            Type::F16 | Type::Bf16 => {
                let code = self.int(I32, mode | if to == Type::Bf16 { u64::from(TO_BF16) } else { 0 });
                let bits = self.host("narrow16", &[code, value])?;
                Ok(self.extend(bits, natural(to), false))
            }
            _ => lack("this result"),
        }
    }

    /// 0 where it is negative; NaN stays.
    fn relu(&mut self, value: Value) -> Value {
        let zero = match self.b.func.dfg.value_type(value) {
            F32 => self.b.ins().f32const(0.0_f32),
            _ => self.b.ins().f64const(0.0),
        };
        let negative = self.b.ins().fcmp(FloatCC::LessThanOrEqual, value, zero);
        self.b.ins().select(negative, zero, value)
    }

    /// Rounded to a whole number, as the instruction says.
    fn whole_number(&mut self, inst: &Inst, value: Value) -> Option<Value> {
        Some(match inst.one_of(&["rni", "rzi", "rmi", "rpi"])? {
            "rni" => self.b.ins().nearest(value),
            "rzi" => self.b.ins().trunc(value),
            "rmi" => self.b.ins().floor(value),
            _ => self.b.ins().ceil(value),
        })
    }

    fn float_to_integer(&mut self, inst: &Inst, value: Value, from: Type, to: Type) -> Result<Value, Lack> {
        let value = self.widened(inst, value, from)?;
        let Some(whole) = self.whole_number(inst, value) else { return lack("a conversion without a rounding mode") };
        let width = if to.bits() == 64 { I64 } else { I32 };
        let mut result = match to.is_signed() {
            true => self.b.ins().fcvt_to_sint_sat(width, whole),
            false => self.b.ins().fcvt_to_uint_sat(width, whole),
        };
        if to.bits() < 32 {
            let top = 1_i64 << (to.bits() - u32::from(to.is_signed()));
            result = match to.is_signed() {
                true => self.clamp_signed(result, -top, top - 1),
                false => {
                    let most = self.int(I32, top.cast_unsigned() - 1);
                    self.b.ins().umin(result, most)
                }
            };
        }
        // NaN is 0, but where 64 bits take part it is the sign bit alone.
        if from == Type::F64 || to.bits() == 64 {
            let is_nan = self.b.ins().fcmp(FloatCC::Unordered, value, value);
            let sign = self.int(width, 1 << (to.bits() - 1));
            result = self.b.ins().select(is_nan, sign, result);
        }
        Ok(self.extend(result, natural(to), false))
    }

    /// A float of any width as a single or a double.
    fn widened(&mut self, inst: &Inst, value: Value, from: Type) -> Result<Value, Lack> {
        Ok(match from {
            Type::F32 if inst.has("ftz") => self.flush(value),
            Type::F32 | Type::F64 => value,
            Type::F16 | Type::Bf16 => self.half_to_single(value, from == Type::Bf16),
            _ => return lack("this source"),
        })
    }

    fn float_to_float(&mut self, inst: &Inst, value: Value, from: Type, to: Type) -> Result<Value, Lack> {
        let mut value = self.widened(inst, value, from)?;
        if let Some(whole) = self.whole_number(inst, value) {
            value = whole;
        }
        let have = self.b.func.dfg.value_type(value);
        let mode = directed(inst).unwrap_or(0);
        match to {
            Type::F16 | Type::Bf16 if have == F32 && mode == 0 => {
                if inst.has("sat") {
                    value = self.saturate(value);
                }
                if inst.has("relu") {
                    value = self.relu(value);
                }
                Ok(self.single_to_half(value, to == Type::Bf16))
            }
            Type::F16 | Type::Bf16 => {
                let wide = if have == F32 { self.b.ins().fpromote(F64, value) } else { value };
                self.narrow(inst, wide, mode, to)
            }
            Type::F32 if have == F64 && mode != 0 => self.narrow(inst, value, mode, to),
            Type::F32 | Type::F64 => {
                value = match (have, natural(to)) {
                    (F64, F32) => self.b.ins().fdemote(F32, value),
                    (F32, F64) => self.b.ins().fpromote(F64, value),
                    _ => value,
                };
                if inst.has("ftz") && to == Type::F32 {
                    value = self.flush(value);
                }
                Ok(if inst.has("sat") { self.saturate(value) } else { value })
            }
            _ => lack("this result"),
        }
    }
}
