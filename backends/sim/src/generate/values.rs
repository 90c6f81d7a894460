//! Operands as values, results into registers.
//!
//! A register's width is its declaration's. Whether 32 or 64 bits live in an integer or in a float register of the host
//! is chosen by what the code does with them; PTX may read them as either.

use super::{Emitted, Generator, Lack, lack};
use crate::ir::{Function, Inst, Operand, Reg, SPECIALS, Space, Type};
use crate::machine::memory::PARAM_BASE;
use crate::machine::thread::{STORED_SPECIALS, Thread};
use cranelift_codegen::ir::types::{F32, F64, I8, I16, I32, I64};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, Value};

/// Cranelift's type for a type of PTX.
pub(super) fn natural(ty: Type) -> ir::Type {
    match ty {
        Type::F32 => F32,
        Type::F64 => F64,
        _ => integer_of(ty.bytes()),
    }
}

/// The integer of a width in bytes.
pub(super) fn integer_of(bytes: u32) -> ir::Type {
    match bytes {
        1 => I8,
        2 => I16,
        4 => I32,
        _ => I64,
    }
}

/// Cranelift's type of every register of a function.
pub(super) fn classes(function: &Function) -> Vec<ir::Type> {
    let mut votes = vec![0_i32; function.registers.len()];
    for inst in &function.code {
        // Moves, loads and stores of bits say nothing.
        let vote = match inst.types.first() {
            Some(ty) if ty.is_float() => 1,
            Some(_) if matches!(inst.name.as_str(), "mov" | "ld" | "st" | "selp" | "shfl" | "cvt") => 0,
            _ => -1,
        };
        for operand in &inst.operands {
            if let Operand::Reg(Reg(register)) = operand {
                votes[*register as usize] += vote;
            }
        }
    }
    let class = |(ty, vote): (&Type, i32)| match ty {
        Type::F32 => F32,
        Type::F64 => F64,
        Type::B32 if vote > 0 => F32,
        Type::B64 if vote > 0 => F64,
        _ => natural(*ty),
    };
    function.registers.iter().zip(votes).map(class).collect()
}

impl Generator<'_, '_, '_> {
    fn variable(&mut self, Reg(register): Reg) -> Result<(cranelift_frontend::Variable, ir::Type), Lack> {
        let (Some(class), Some(slot)) =
            (self.classes.get(register as usize), self.registers.get_mut(register as usize))
        else {
            return lack("a register that is not there");
        };
        let variable = match *slot {
            Some(variable) => variable,
            None => {
                let variable = self.b.declare_var(*class);
                *slot = Some(variable);
                variable
            }
        };
        Ok((variable, *class))
    }

    /// A register read as a type; a wider register gives its low bits.
    pub(super) fn register(&mut self, register: Reg, ty: Type) -> Result<Value, Lack> {
        let declared = self.function.registers[register.0 as usize];
        if (declared == Type::Pred) != (ty == Type::Pred) {
            return lack(format!("a `.{}` register as `.{}`", declared.name(), ty.name()));
        }
        let (variable, _) = self.variable(register)?;
        let value = self.b.use_var(variable);
        let bits = self.bits(value);
        let (have, want) = (declared.bits(), ty.bits());
        match have.cmp(&want) {
            std::cmp::Ordering::Equal => Ok(self.retype(value, natural(ty))),
            std::cmp::Ordering::Greater => {
                let low = self.b.ins().ireduce(integer_of(ty.bytes()), bits);
                Ok(self.retype(low, natural(ty)))
            }
            std::cmp::Ordering::Less => {
                lack(format!("a register of {have} bits as `.{}`, which has {want}", ty.name()))
            }
        }
    }

    /// Writes a value of a type; a wider register is filled by the type's sign.
    pub(super) fn set_register(&mut self, register: Reg, ty: Type, value: Value) -> Emitted {
        let declared = self.function.registers[register.0 as usize];
        if (declared == Type::Pred) != (ty == Type::Pred) {
            return lack(format!("a `.{}` register as `.{}`", declared.name(), ty.name()));
        }
        let (variable, class) = self.variable(register)?;
        let (have, want) = (ty.bits(), declared.bits());
        if have > want {
            return lack(format!("a register of {want} bits as `.{}`, which has {have}", ty.name()));
        }
        let value = if have < want {
            let bits = self.bits(value);
            let wide = self.extend(bits, integer_of(declared.bytes()), ty.is_signed());
            self.retype(wide, class)
        } else {
            self.retype(value, class)
        };
        self.b.def_var(variable, value);
        Ok(())
    }

    /// Writes a result to an operand.
    pub(super) fn set(&mut self, operand: &Operand, ty: Type, value: Value) -> Emitted {
        match operand {
            Operand::Reg(register) => self.set_register(*register, ty, value),
            Operand::Sink => Ok(()),
            _ => lack("a destination that is no register"),
        }
    }

    /// The same bits as an integer.
    pub(super) fn bits(&mut self, value: Value) -> Value {
        let ty = self.b.func.dfg.value_type(value);
        if ty.is_int() { value } else { self.retype(value, integer_of(ty.bytes())) }
    }

    /// The same bits as another type of the same width.
    pub(super) fn retype(&mut self, value: Value, ty: ir::Type) -> Value {
        if self.b.func.dfg.value_type(value) == ty {
            return value;
        }
        self.b.ins().bitcast(ty, MemFlagsData::new(), value)
    }

    /// An integer of at least as many bits.
    pub(super) fn extend(&mut self, value: Value, ty: ir::Type, signed: bool) -> Value {
        let have = self.b.func.dfg.value_type(value);
        match have.bits().cmp(&ty.bits()) {
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.b.ins().ireduce(ty, value),
            std::cmp::Ordering::Less if signed => self.b.ins().sextend(ty, value),
            std::cmp::Ordering::Less => self.b.ins().uextend(ty, value),
        }
    }

    /// The operand at a position.
    pub(super) fn operand<'i>(&self, inst: &'i Inst, at: usize) -> Result<&'i Operand, Lack> {
        inst.operands.get(at).ok_or_else(|| Lack(format!("it has {} operands", inst.operands.len())))
    }

    /// The operand at a position, read as a type.
    pub(super) fn input(&mut self, inst: &Inst, at: usize, ty: Type) -> Result<Value, Lack> {
        let operand = self.operand(inst, at)?;
        self.value(operand, ty)
    }

    /// An operand read as a type.
    pub(super) fn value(&mut self, operand: &Operand, ty: Type) -> Result<Value, Lack> {
        match operand {
            Operand::Reg(register) => self.register(*register, ty),
            Operand::Not(register) => self.guard(*register, true),
            Operand::Integer(value) if !ty.is_float() => Ok(self.int(natural(ty), value.cast_unsigned())),
            Operand::Single(bits) => self.single(*bits, ty),
            Operand::Double(bits) => self.double(*bits, ty),
            Operand::Special(name) => self.special(name, ty),
            Operand::Variable(id, offset) => {
                let address = self.variable_address(*id, *offset)?;
                match ty.bits() {
                    64 => Ok(address),
                    32 => Ok(self.b.ins().ireduce(I32, address)),
                    _ => lack("an address in fewer than 32 bits"),
                }
            }
            _ => lack(format!("an operand of this kind as `.{}`", ty.name())),
        }
    }

    fn single(&mut self, bits: u32, ty: Type) -> Result<Value, Lack> {
        let value = self.int(I32, u64::from(bits));
        match ty {
            Type::F64 => Ok(self.b.ins().f64const(f64::from(f32::from_bits(bits)))),
            _ if ty.bits() == 32 => Ok(self.retype(value, natural(ty))),
            _ => lack(format!("a single as `.{}`", ty.name())),
        }
    }

    fn double(&mut self, bits: u64, ty: Type) -> Result<Value, Lack> {
        let value = self.int(I64, bits);
        match ty {
            Type::F32 => Ok(self.b.ins().f32const(f64::from_bits(bits) as f32)),
            _ if ty.bits() == 64 => Ok(self.retype(value, natural(ty))),
            _ => lack(format!("a double as `.{}`", ty.name())),
        }
    }

    /// The address of a variable in its own space.
    pub(super) fn variable_address(&mut self, id: crate::ir::VariableId, offset: i64) -> Result<Value, Lack> {
        let variable = &self.shared.module.variables[id.0 as usize];
        if variable.space == Space::Local {
            let (Some(at), Some(frame)) = (self.locals.get(&id).copied(), self.frame) else {
                return lack(format!("`{}` of another function", variable.name));
            };
            return Ok(self.b.ins().iadd_imm_s(frame, offset.wrapping_add_unsigned(at)));
        }
        let Some(place) = self.shared.placements.get(&id).copied() else {
            return lack(format!("the address of `{}`", variable.name));
        };
        let base = if variable.space == Space::EntryParam { PARAM_BASE } else { 0 };
        Ok(self.int(I64, (base + place).wrapping_add_signed(offset)))
    }

    fn special(&mut self, name: &str, ty: Type) -> Result<Value, Lack> {
        let value = match SPECIALS.iter().position(|it| *it == name) {
            Some(at) if at < STORED_SPECIALS => {
                let offset = std::mem::offset_of!(Thread, special) + 4 * at;
                self.constant_field(I32, offset as i32)
            }
            _ => self.computed_special(name)?,
        };
        let value = self.extend(value, integer_of(ty.bytes()), false);
        Ok(self.retype(value, natural(ty)))
    }

    fn computed_special(&mut self, name: &str) -> Result<Value, Lack> {
        let lane_mask = |this: &mut Self, own: bool, above: bool| -> Result<Value, Lack> {
            let lane = this.special("%laneid", Type::U32)?;
            let one = this.int(I32, 1);
            let bit = this.b.ins().ishl(one, lane);
            let below = this.b.ins().iadd_imm_s(bit, -1);
            let upto = this.b.ins().bor(below, bit);
            Ok(match (own, above) {
                (true, false) => upto,
                (false, false) => below,
                (true, true) => this.b.ins().bnot(below),
                (false, true) => this.b.ins().bnot(upto),
            })
        };
        Ok(match name {
            "%lanemask_eq" => {
                let lane = self.special("%laneid", Type::U32)?;
                let one = self.int(I32, 1);
                self.b.ins().ishl(one, lane)
            }
            "%lanemask_lt" => lane_mask(self, false, false)?,
            "%lanemask_le" => lane_mask(self, true, false)?,
            "%lanemask_gt" => lane_mask(self, false, true)?,
            "%lanemask_ge" => lane_mask(self, true, true)?,
            "%clock" | "%clock64" => self.field(I64, field!(executed)),
            "%globaltimer" => self.host("clock", &[])?,
            "%dynamic_smem_size" => self.constant_field(I32, field!(dynamic_bytes)),
            "%envreg1" | "%envreg2" => {
                let workspace = self.constant_field(I64, field!(workspace));
                let half = if name == "%envreg1" { self.b.ins().ushr_imm_u(workspace, 32) } else { workspace };
                self.b.ins().ireduce(I32, half)
            }
            "WARP_SZ" => self.int(I32, crate::machine::WARP as u64),
            _ => return lack(format!("`{name}`")),
        })
    }
}
