//! Moves, selections, comparisons.

use super::values::{integer_of, natural};
use super::{Emitted, Generator, Lack, lack};
use crate::ir::{Inst, Operand, Type};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, I16, I32};
use cranelift_codegen::ir::{InstBuilder, Value};

/// `mov`, which also packs and unpacks vectors.
pub(super) fn mov(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let Some(ty) = inst.types.first().copied() else { return lack("no type") };
    let (to, from) = (this.operand(inst, 0)?, this.operand(inst, 1)?);
    match (to, from) {
        (Operand::Vector(items), _) => {
            let value = this.value(from, ty)?;
            let bits = this.bits(value);
            let part = part_of(ty, items.len())?;
            for (at, item) in (0_i64..).zip(items) {
                let shifted = this.b.ins().ushr_imm_u(bits, at * i64::from(part.bits()));
                let low = this.b.ins().ireduce(integer_of(part.bytes()), shifted);
                this.set(item, part, low)?;
            }
            Ok(())
        }
        (_, Operand::Vector(items)) => {
            let part = part_of(ty, items.len())?;
            let mut whole = this.int(integer_of(ty.bytes()), 0);
            for (at, item) in (0_i64..).zip(items) {
                let value = this.value(item, part)?;
                let wide = this.extend(value, integer_of(ty.bytes()), false);
                let placed = this.b.ins().ishl_imm_u(wide, at * i64::from(part.bits()));
                whole = this.b.ins().bor(whole, placed);
            }
            let whole = this.retype(whole, natural(ty));
            this.set(to, ty, whole)
        }
        _ => {
            let value = this.value(from, ty)?;
            this.set(to, ty, value)
        }
    }
}

/// The type of each part of a vector in a register.
fn part_of(ty: Type, parts: usize) -> Result<Type, Lack> {
    match ty.bits() as usize / parts.max(1) {
        8 => Ok(Type::B8),
        16 => Ok(Type::B16),
        32 if parts > 1 => Ok(Type::B32),
        _ => lack("a vector of this length"),
    }
}

/// `selp`.
pub(super) fn select(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let Some(ty) = inst.types.first().copied() else { return lack("no type") };
    let (a, b) = (this.input(inst, 1, ty)?, this.input(inst, 2, ty)?);
    let flag = this.input(inst, 3, Type::Pred)?;
    let value = this.b.ins().select(flag, a, b);
    this.set(this.operand(inst, 0)?, ty, value)
}

/// `slct`: by the sign of the third operand.
pub(super) fn select_by_sign(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let [ty, by] = inst.types.as_slice() else { return lack("types of this number") };
    let (a, b, c) = (this.input(inst, 1, *ty)?, this.input(inst, 2, *ty)?, this.input(inst, 3, *by)?);
    let flag = match by {
        Type::S32 => this.compare_imm(IntCC::SignedGreaterThanOrEqual, c, 0),
        Type::F32 => {
            let c = if inst.has("ftz") { this.flush(c) } else { c };
            let zero = this.b.ins().f32const(0.0_f32);
            this.b.ins().fcmp(FloatCC::GreaterThanOrEqual, c, zero)
        }
        _ => return lack("this selector"),
    };
    let value = this.b.ins().select(flag, a, b);
    this.set(this.operand(inst, 0)?, *ty, value)
}

/// Comparisons of PTX: name, of signed integers, of unsigned ones, of floats.
type Comparison = (&'static str, Option<IntCC>, Option<IntCC>, Option<FloatCC>);

use IntCC as I;

/// Every comparison.
const COMPARISONS: [Comparison; 18] = [
    ("eq", Some(I::Equal), Some(I::Equal), Some(FloatCC::Equal)),
    ("ne", Some(I::NotEqual), Some(I::NotEqual), Some(FloatCC::OrderedNotEqual)),
    ("lt", Some(I::SignedLessThan), Some(I::UnsignedLessThan), Some(FloatCC::LessThan)),
    ("le", Some(I::SignedLessThanOrEqual), Some(I::UnsignedLessThanOrEqual), Some(FloatCC::LessThanOrEqual)),
    ("gt", Some(I::SignedGreaterThan), Some(I::UnsignedGreaterThan), Some(FloatCC::GreaterThan)),
    ("ge", Some(I::SignedGreaterThanOrEqual), Some(I::UnsignedGreaterThanOrEqual), Some(FloatCC::GreaterThanOrEqual)),
    ("lo", None, Some(I::UnsignedLessThan), None),
    ("ls", None, Some(I::UnsignedLessThanOrEqual), None),
    ("hi", None, Some(I::UnsignedGreaterThan), None),
    ("hs", None, Some(I::UnsignedGreaterThanOrEqual), None),
    ("equ", None, None, Some(FloatCC::UnorderedOrEqual)),
    ("neu", None, None, Some(FloatCC::NotEqual)),
    ("ltu", None, None, Some(FloatCC::UnorderedOrLessThan)),
    ("leu", None, None, Some(FloatCC::UnorderedOrLessThanOrEqual)),
    ("gtu", None, None, Some(FloatCC::UnorderedOrGreaterThan)),
    ("geu", None, None, Some(FloatCC::UnorderedOrGreaterThanOrEqual)),
    ("num", None, None, Some(FloatCC::Ordered)),
    ("nan", None, None, Some(FloatCC::Unordered)),
];

/// `setp`.
pub(super) fn set_predicate(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let [ty] = inst.types.as_slice() else { return lack("types of this number") };
    let (first, second) = match this.operand(inst, 0)? {
        Operand::Pair(first, second) => (*first, *second),
        Operand::Reg(register) => (Some(*register), None),
        _ => return lack("a destination that is no register"),
    };
    let combined = match inst.operands.len() {
        3 => None,
        _ => Some(this.input(inst, 3, Type::Pred)?),
    };
    let flags = this.compare(inst, *ty)?;
    let (flag, other) = match flags.as_slice() {
        [low, high] => (*low, *high),
        [flag, ..] => (*flag, this.b.ins().bxor_imm_u(*flag, 1)),
        [] => return lack("this comparison"),
    };
    for (register, flag) in [(first, flag), (second, other)] {
        let Some(register) = register else { continue };
        let flag = match (combined, inst.one_of(&["and", "or", "xor"])) {
            (None, None) => flag,
            (Some(with), Some("and")) => this.b.ins().band(flag, with),
            (Some(with), Some("or")) => this.b.ins().bor(flag, with),
            (Some(with), Some(_)) => this.b.ins().bxor(flag, with),
            _ => return lack("this combination"),
        };
        this.set_register(register, Type::Pred, flag)?;
    }
    Ok(())
}

/// `set`: as a number.
pub(super) fn set_number(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let [to, from] = inst.types.as_slice() else { return lack("types of this number") };
    if inst.operands.len() != 3 {
        return lack("a combination with a predicate");
    }
    let flags = this.compare(inst, *from)?;
    let (one, width) = match to {
        Type::U32 | Type::S32 => (u64::from(u32::MAX), I32),
        Type::U16 | Type::S16 => (u64::from(u16::MAX), I16),
        Type::F32 => (u64::from(1.0_f32.to_bits()), I32),
        Type::F16 | Type::F16x2 => (0x3C00, I16),
        Type::Bf16 | Type::Bf16x2 => (0x3F80, I16),
        _ => return lack("this result"),
    };
    let mut parts = Vec::new();
    for flag in &flags {
        let (one, zero) = (this.int(width, one), this.int(width, 0));
        parts.push(this.b.ins().select(*flag, one, zero));
    }
    let bits = match (parts.as_slice(), to.bits()) {
        ([part], _) => *part,
        ([low, high], 32) if matches!(to, Type::F16x2 | Type::Bf16x2) => this.pack(*low, *high),
        // An integer result of a packed comparison: all ones in each half.
        ([_, _], 32) => {
            let halves: Vec<Value> = flags
                .iter()
                .map(|flag| {
                    let (ones, zero) = (this.int(I16, 0xFFFF), this.int(I16, 0));
                    this.b.ins().select(*flag, ones, zero)
                })
                .collect();
            this.pack(halves[0], halves[1])
        }
        _ => return lack("this result"),
    };
    let bits = this.retype(bits, natural(*to));
    this.set(this.operand(inst, 0)?, *to, bits)
}

impl Generator<'_, '_, '_> {
    /// Compares the operands 1 and 2; two flags for packed types.
    fn compare(&mut self, inst: &Inst, ty: Type) -> Result<Vec<Value>, Lack> {
        let found = COMPARISONS.iter().find(|(name, ..)| inst.has(name));
        let Some((_, signed, unsigned, float)) = found else { return lack("this comparison") };
        let (a, b) = (self.input(inst, 1, ty)?, self.input(inst, 2, ty)?);
        if ty.is_integer() {
            let condition = if ty.is_signed() { signed } else { unsigned };
            let Some(condition) = condition else { return lack("this comparison of integers") };
            return Ok(vec![self.b.ins().icmp(*condition, a, b)]);
        }
        let Some(condition) = *float else { return lack("this comparison of floats") };
        let (left, right) = (self.floats(a, ty)?, self.floats(b, ty)?);
        let mut flags = Vec::new();
        for (mut left, mut right) in left.into_iter().zip(right) {
            if inst.has("ftz") && ty == Type::F32 {
                (left, right) = (self.flush(left), self.flush(right));
            }
            let flag = self.b.ins().fcmp(condition, left, right);
            flags.push(self.flag(flag));
        }
        Ok(flags)
    }

    /// A number, or both of a packed one, as floats that hold it exactly.
    fn floats(&mut self, value: Value, ty: Type) -> Result<Vec<Value>, Lack> {
        Ok(match ty {
            Type::F32 | Type::F64 => vec![value],
            Type::F16 | Type::Bf16 => vec![self.half_to_single(value, ty == Type::Bf16)],
            Type::F16x2 | Type::Bf16x2 => {
                let (low, high) = self.unpack(value);
                [low, high].map(|half| self.half_to_single(half, ty == Type::Bf16x2)).to_vec()
            }
            _ => return lack("this type"),
        })
    }

    /// Two halves in a word.
    pub(super) fn pack(&mut self, low: Value, high: Value) -> Value {
        let (low, high) = (self.b.ins().uextend(I32, low), self.b.ins().uextend(I32, high));
        let high = self.b.ins().ishl_imm_u(high, 16);
        self.b.ins().bor(low, high)
    }

    /// The halves of a word.
    pub(super) fn unpack(&mut self, word: Value) -> (Value, Value) {
        let high = self.b.ins().ushr_imm_u(word, 16);
        (self.b.ins().ireduce(I16, word), self.b.ins().ireduce(I16, high))
    }

    /// A single with subnormals as zeros of their sign: `.ftz`.
    pub(super) fn flush(&mut self, value: Value) -> Value {
        let bits = self.retype(value, I32);
        let exponent = self.b.ins().band_imm_u(bits, 0x7F80_0000);
        let sign = self.b.ins().band_imm_u(bits, 0x8000_0000);
        let normal = self.compare_imm(IntCC::NotEqual, exponent, 0);
        let bits = self.b.ins().select(normal, bits, sign);
        self.retype(bits, F32)
    }
}
