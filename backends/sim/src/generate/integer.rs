//! Integer arithmetic and bits.

use super::values::{integer_of, natural};
use super::{Emitted, Generator, Lack, lack};
use crate::host::bits;
use crate::ir::{Inst, Operand, Type};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};

/// The only type of an instruction.
pub(super) fn single_type(inst: &Inst) -> Result<Type, Lack> {
    inst.types.first().copied().ok_or_else(|| Lack("no type".to_owned()))
}

/// `add` and `sub`, with carries.
pub(super) fn add(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    if !ty.is_integer() {
        return super::float::binary(this, inst);
    }
    let (a, b) = (this.input(inst, 1, ty)?, this.input(inst, 2, ty)?);
    let subtract = matches!(inst.name.as_str(), "sub" | "subc");
    let value = if inst.has("sat") {
        if ty != Type::S32 {
            return lack("saturation of this type");
        }
        let (wide_a, wide_b) = (this.extend(a, I64, true), this.extend(b, I64, true));
        let sum = if subtract { this.b.ins().isub(wide_a, wide_b) } else { this.b.ins().iadd(wide_a, wide_b) };
        let clamped = this.clamp_signed(sum, i64::from(i32::MIN), i64::from(i32::MAX));
        this.b.ins().ireduce(I32, clamped)
    } else {
        this.add_with_carry(inst, a, b, subtract)
    };
    this.set(this.operand(inst, 0)?, ty, value)
}

/// `mul` and `mad`, their low, high and wide results.
pub(super) fn multiply(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    if !ty.is_integer() {
        return if inst.name == "mul" { super::float::binary(this, inst) } else { super::float::fused(this, inst) };
    }
    let (a, b) = (this.input(inst, 1, ty)?, this.input(inst, 2, ty)?);
    let (mut value, result) = match inst.one_of(&["lo", "hi", "wide"]) {
        Some("lo") => (this.b.ins().imul(a, b), ty),
        Some("hi") if ty.bits() == 64 && ty.is_signed() => (this.b.ins().smulhi(a, b), ty),
        Some("hi") if ty.bits() == 64 => (this.b.ins().umulhi(a, b), ty),
        Some(which) => {
            let wide = match ty {
                Type::S16 => Type::S32,
                Type::U16 => Type::U32,
                Type::S32 => Type::S64,
                Type::U32 => Type::U64,
                _ => return lack("this width"),
            };
            let (a, b) = (this.extend(a, natural(wide), ty.is_signed()), this.extend(b, natural(wide), ty.is_signed()));
            let product = this.b.ins().imul(a, b);
            if which == "wide" {
                (product, wide)
            } else {
                let high = this.b.ins().ushr_imm_u(product, i64::from(ty.bits()));
                (this.b.ins().ireduce(natural(ty), high), ty)
            }
        }
        None => return lack("this form"),
    };
    if inst.name != "mul" {
        if inst.has("sat") {
            return lack("saturation");
        }
        let c = this.input(inst, 3, result)?;
        value = this.add_with_carry(inst, value, c, false);
    }
    this.set(this.operand(inst, 0)?, result, value)
}

/// `mul24` and `mad24`: the low 24 bits of each factor.
pub(super) fn multiply24(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    let mut factor = |at: usize| -> Result<Value, Lack> {
        let value = this.input(inst, at, ty)?;
        let shifted = this.b.ins().ishl_imm_u(value, 8);
        let low =
            if ty.is_signed() { this.b.ins().sshr_imm_u(shifted, 8) } else { this.b.ins().ushr_imm_u(shifted, 8) };
        Ok(this.extend(low, I64, ty.is_signed()))
    };
    let (a, b) = (factor(1)?, factor(2)?);
    let product = this.b.ins().imul(a, b);
    let shifted = if inst.has("hi") { this.b.ins().ushr_imm_u(product, 16) } else { product };
    let mut value = this.b.ins().ireduce(I32, shifted);
    if inst.name == "mad24" {
        let c = this.input(inst, 3, ty)?;
        value = this.b.ins().iadd(value, c);
    }
    this.set(this.operand(inst, 0)?, ty, value)
}

/// `div` and `rem`. By zero both are all ones, as an H200 has it.
pub(super) fn divide(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    if !ty.is_integer() {
        return super::float::divide(this, inst);
    }
    let (a, b) = (this.input(inst, 1, ty)?, this.input(inst, 2, ty)?);
    let width = natural(ty);
    let (one, ones) = (this.int(width, 1), this.int(width, u64::MAX));
    let zero_divisor = this.compare_imm(IntCC::Equal, b, 0);
    let remainder = inst.name == "rem";
    let value = if ty.is_signed() {
        // The host traps on the least number by -1; by 1 and negated it wraps as PTX does.
        let minus = this.b.ins().icmp(IntCC::Equal, b, ones);
        let odd = this.b.ins().bor(zero_divisor, minus);
        let divisor = this.b.ins().select(odd, one, b);
        let quotient = if remainder { this.b.ins().srem(a, divisor) } else { this.b.ins().sdiv(a, divisor) };
        let negated = this.b.ins().ineg(quotient);
        this.b.ins().select(minus, negated, quotient)
    } else {
        let divisor = this.b.ins().select(zero_divisor, one, b);
        if remainder { this.b.ins().urem(a, divisor) } else { this.b.ins().udiv(a, divisor) }
    };
    let value = this.b.ins().select(zero_divisor, ones, value);
    this.set(this.operand(inst, 0)?, ty, value)
}

/// `min` and `max`.
pub(super) fn extreme(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    if !ty.is_integer() {
        return super::float::extreme(this, inst);
    }
    let (a, b) = (this.input(inst, 1, ty)?, this.input(inst, 2, ty)?);
    let value = match (inst.name.as_str(), ty.is_signed()) {
        ("min", true) => this.b.ins().smin(a, b),
        ("min", false) => this.b.ins().umin(a, b),
        (_, true) => this.b.ins().smax(a, b),
        (_, false) => this.b.ins().umax(a, b),
    };
    let value = if inst.has("relu") {
        let zero = this.int(natural(ty), 0);
        this.b.ins().smax(value, zero)
    } else {
        value
    };
    this.set(this.operand(inst, 0)?, ty, value)
}

/// `abs` and `neg`.
pub(super) fn sign(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    if !ty.is_integer() {
        return super::float::sign(this, inst);
    }
    let a = this.input(inst, 1, ty)?;
    let negated = this.b.ins().ineg(a);
    let value = if inst.name == "neg" {
        negated
    } else {
        let negative = this.compare_imm(IntCC::SignedLessThan, a, 0);
        this.b.ins().select(negative, negated, a)
    };
    this.set(this.operand(inst, 0)?, ty, value)
}

/// `shl` and `shr`: amounts beyond the width shift everything out.
pub(super) fn shift(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    let (a, amount) = (this.input(inst, 1, ty)?, this.input(inst, 2, Type::U32)?);
    let width = u64::from(ty.bits());
    let amount = {
        let most = this.int(I32, if ty.is_signed() && inst.name == "shr" { width - 1 } else { width });
        this.b.ins().umin(amount, most)
    };
    let value = match (inst.name.as_str(), ty.is_signed()) {
        ("shr", true) => this.b.ins().sshr(a, amount),
        (name, _) => {
            let shifted = if name == "shl" { this.b.ins().ishl(a, amount) } else { this.b.ins().ushr(a, amount) };
            let zero = this.int(natural(ty), 0);
            let fits = this.compare_imm(IntCC::UnsignedLessThan, amount, width);
            this.b.ins().select(fits, shifted, zero)
        }
    };
    this.set(this.operand(inst, 0)?, ty, value)
}

/// `shf`: a funnel shift.
pub(super) fn funnel(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let (low, high) = (this.input(inst, 1, Type::B32)?, this.input(inst, 2, Type::B32)?);
    let amount = this.input(inst, 3, Type::U32)?;
    let amount = match inst.one_of(&["wrap", "clamp"]) {
        Some("wrap") => this.b.ins().band_imm_u(amount, 31),
        Some(_) => {
            let most = this.int(I32, 32);
            this.b.ins().umin(amount, most)
        }
        None => return lack("this form"),
    };
    let (low, high) = (this.extend(low, I64, false), this.extend(high, I64, false));
    let high = this.b.ins().ishl_imm_u(high, 32);
    let both = this.b.ins().bor(low, high);
    let value = match inst.one_of(&["l", "r"]) {
        Some("l") => {
            let shifted = this.b.ins().ishl(both, amount);
            this.b.ins().ushr_imm_u(shifted, 32)
        }
        Some(_) => this.b.ins().ushr(both, amount),
        None => return lack("this form"),
    };
    let value = this.b.ins().ireduce(I32, value);
    this.set(this.operand(inst, 0)?, Type::B32, value)
}

/// `and`, `or`, `xor`.
pub(super) fn logic(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    let (a, b) = (this.input(inst, 1, ty)?, this.input(inst, 2, ty)?);
    let value = match inst.name.as_str() {
        "and" => this.b.ins().band(a, b),
        "or" => this.b.ins().bor(a, b),
        _ => this.b.ins().bxor(a, b),
    };
    this.set(this.operand(inst, 0)?, ty, value)
}

/// `not` and `cnot`.
pub(super) fn invert(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    let a = this.input(inst, 1, ty)?;
    let value = match (inst.name.as_str(), ty) {
        ("not", Type::Pred) => this.b.ins().bxor_imm_u(a, 1),
        ("not", _) => this.b.ins().bnot(a),
        _ => {
            let zero = this.compare_imm(IntCC::Equal, a, 0);
            this.extend(zero, natural(ty), false)
        }
    };
    this.set(this.operand(inst, 0)?, ty, value)
}

/// `lop3`: any function of three bits, by its truth table.
pub(super) fn lop3(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let inputs = [1, 2, 3].map(|at| this.input(inst, at, Type::B32));
    let [a, b, c] = inputs;
    let inputs = [a?, b?, c?];
    let Operand::Integer(table) = this.operand(inst, 4)? else { return lack("a table that is no number") };
    let mut value = this.int(I32, 0);
    for row in 0..8 {
        if table >> row & 1 == 0 {
            continue;
        }
        let mut term = this.int(I32, u64::from(u32::MAX));
        for (at, input) in inputs.iter().enumerate() {
            // Row 7 has all bits set; the first operand is the highest of the row.
            let holds = row >> (2 - at) & 1 == 1;
            term = if holds { this.b.ins().band(term, *input) } else { this.b.ins().band_not(term, *input) };
        }
        value = this.b.ins().bor(value, term);
    }
    this.set(this.operand(inst, 0)?, Type::B32, value)
}

/// `bfe`.
pub(super) fn extract_field(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    let a = this.input(inst, 1, ty)?;
    let a = this.extend(a, I64, false);
    let (position, length) = (this.input(inst, 2, Type::U32)?, this.input(inst, 3, Type::U32)?);
    let width = this.int(I32, u64::from(ty.bits() | if ty.is_signed() { bits::SIGNED } else { 0 }));
    let value = this.host("bfe", &[a, position, length, width])?;
    let value = this.extend(value, natural(ty), false);
    this.set(this.operand(inst, 0)?, ty, value)
}

/// `bfi`.
pub(super) fn insert_field(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    let (a, b) = (this.input(inst, 1, ty)?, this.input(inst, 2, ty)?);
    let (a, b) = (this.extend(a, I64, false), this.extend(b, I64, false));
    let (position, length) = (this.input(inst, 3, Type::U32)?, this.input(inst, 4, Type::U32)?);
    let width = this.int(I32, u64::from(ty.bits()));
    let value = this.host("bfi", &[a, b, position, length, width])?;
    let value = this.extend(value, natural(ty), false);
    this.set(this.operand(inst, 0)?, ty, value)
}

/// `brev`, `popc`, `clz`.
pub(super) fn count(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    let a = this.input(inst, 1, ty)?;
    if inst.name == "brev" {
        let value = this.b.ins().bitrev(a);
        return this.set(this.operand(inst, 0)?, ty, value);
    }
    let value = if inst.name == "clz" { this.b.ins().clz(a) } else { this.b.ins().popcnt(a) };
    let value = this.extend(value, I32, false);
    this.set(this.operand(inst, 0)?, Type::U32, value)
}

/// `bfind`.
pub(super) fn find_bit(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    let a = this.input(inst, 1, ty)?;
    let a = this.extend(a, I64, false);
    let signed = if ty.is_signed() { bits::SIGNED } else { 0 };
    let code = this.int(I32, u64::from(ty.bits() | signed | u32::from(inst.has("shiftamt")) << 9));
    let value = this.host("bfind", &[a, code])?;
    this.set(this.operand(inst, 0)?, Type::U32, value)
}

/// `prmt`.
pub(super) fn permute(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let modes = ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"];
    let mode = modes.iter().position(|mode| inst.has(mode)).map_or(0, |at| at as u64 + 1);
    let mode = this.int(I32, mode);
    let (a, b) = (this.input(inst, 1, Type::B32)?, this.input(inst, 2, Type::B32)?);
    let selector = this.input(inst, 3, Type::B32)?;
    let value = this.host("prmt", &[a, b, selector, mode])?;
    this.set(this.operand(inst, 0)?, Type::B32, value)
}

/// `sad`: `c + |a - b|`.
pub(super) fn absolute_difference(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let ty = single_type(inst)?;
    let (a, b, c) = (this.input(inst, 1, ty)?, this.input(inst, 2, ty)?, this.input(inst, 3, ty)?);
    let less = if ty.is_signed() { IntCC::SignedLessThan } else { IntCC::UnsignedLessThan };
    let below = this.b.ins().icmp(less, a, b);
    let (down, up) = (this.b.ins().isub(a, b), this.b.ins().isub(b, a));
    let difference = this.b.ins().select(below, up, down);
    let value = this.b.ins().iadd(c, difference);
    this.set(this.operand(inst, 0)?, ty, value)
}

/// `dp4a`: four products of bytes, added.
pub(super) fn dot_bytes(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let [left, right] = inst.types.as_slice() else { return lack("types of this number") };
    let (a, b) = (this.input(inst, 1, *left)?, this.input(inst, 2, *right)?);
    let result = if left.is_signed() || right.is_signed() { Type::S32 } else { Type::U32 };
    let mut sum = this.input(inst, 3, result)?;
    for at in 0..4 {
        let mut byte = |value: Value, signed: bool| {
            let shifted = this.b.ins().ushr_imm_u(value, 8 * at);
            let byte = this.b.ins().ireduce(I8, shifted);
            this.extend(byte, I32, signed)
        };
        let (a, b) = (byte(a, left.is_signed()), byte(b, right.is_signed()));
        let product = this.b.ins().imul(a, b);
        sum = this.b.ins().iadd(sum, product);
    }
    this.set(this.operand(inst, 0)?, result, sum)
}

impl Generator<'_, '_, '_> {
    /// A sum or difference; `addc` and its like add the carry, `.cc` leaves one.
    fn add_with_carry(&mut self, inst: &Inst, a: Value, b: Value, subtract: bool) -> Value {
        let uses = matches!(inst.name.as_str(), "addc" | "subc" | "madc");
        let ty = self.b.func.dfg.value_type(a);
        let first = if subtract { self.b.ins().isub(a, b) } else { self.b.ins().iadd(a, b) };
        let (value, second) = if uses {
            let carry = self.b.use_var(self.carry);
            let carry = self.extend(carry, ty, false);
            let value = if subtract { self.b.ins().isub(first, carry) } else { self.b.ins().iadd(first, carry) };
            let wrapped = if subtract {
                self.b.ins().icmp(IntCC::UnsignedLessThan, first, carry)
            } else {
                self.b.ins().icmp(IntCC::UnsignedLessThan, value, carry)
            };
            (value, Some(wrapped))
        } else {
            (first, None)
        };
        if inst.has("cc") {
            let wrapped = if subtract {
                self.b.ins().icmp(IntCC::UnsignedLessThan, a, b)
            } else {
                self.b.ins().icmp(IntCC::UnsignedLessThan, first, a)
            };
            let carry = second.map_or(wrapped, |second| self.b.ins().bor(wrapped, second));
            self.b.def_var(self.carry, carry);
        }
        value
    }

    /// A signed number between two bounds.
    pub(super) fn clamp_signed(&mut self, value: Value, low: i64, high: i64) -> Value {
        let ty = self.b.func.dfg.value_type(value);
        let (low, high) = (self.int(ty, low.cast_unsigned()), self.int(ty, high.cast_unsigned()));
        let value = self.b.ins().smax(value, low);
        self.b.ins().smin(value, high)
    }
}

/// The integer of a type's width.
pub(super) fn bits_of(ty: Type) -> cranelift_codegen::ir::Type {
    integer_of(ty.bytes())
}
