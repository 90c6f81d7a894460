//! Loads, stores and atomics. An address is checked for bounds and alignment at once: the offset in the site's window,
//! rotated right by the width's bits, is below the count of whole accesses only if its low bits are zero.

use super::values::{integer_of, natural};
use super::{Emitted, Generator, Lack, lack};
use crate::host::atomics::Atomic;
use crate::ir::{Base, Inst, Operand, Space, Type, VariableId};
use crate::machine::memory::{CLUSTER_STRIDE, LOCAL_BASE, PARAM_BASE, SHARED_BASE};
use crate::machine::thread::Window;
use crate::program::{AccessSpace, Site};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{AtomicRmwOp, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Value};
use std::mem::offset_of;

/// State spaces in an instruction.
const SPACES: [&str; 8] =
    ["global", "shared", "local", "const", "param", "shared::cta", "shared::cluster", "param::entry"];

/// What makes a load or store one that other threads may wait for.
const STRONG: [&str; 5] = ["volatile", "relaxed", "acquire", "release", "mmio"];

/// Bytes of one `.param` of a call: what PTX allows.
pub(super) const MAX_CALL_BYTES: u64 = 4096;

/// `ld`.
pub(super) fn load(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let (ty, lanes) = access(inst)?;
    let Operand::Address(base, offset) = this.operand(inst, 1)? else { return lack("an address that is none") };
    let bytes = ty.bytes() * lanes;
    let pointer = this.pointer(inst, *base, *offset, bytes, false)?;
    let strong = inst.one_of(&STRONG).is_some() && lanes == 1;
    let mut values = Vec::new();
    for lane in 0..lanes {
        let value = if strong {
            let bits = this.b.ins().atomic_load(integer_of(ty.bytes()), MemFlagsData::trusted(), pointer);
            this.retype(bits, natural(ty))
        } else {
            this.b.ins().load(natural(ty), MemFlagsData::trusted(), pointer, (lane * ty.bytes()) as i32)
        };
        values.push(value);
    }
    match (this.operand(inst, 0)?, lanes) {
        (Operand::Vector(items), lanes) if items.len() == lanes as usize => {
            items.iter().zip(values).try_for_each(|(item, value)| this.set(item, ty, value))
        }
        (operand, 1) => this.set(operand, ty, values[0]),
        _ => lack("a destination of another length"),
    }
}

/// `st`.
pub(super) fn store(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let (ty, lanes) = access(inst)?;
    let Operand::Address(base, offset) = this.operand(inst, 0)? else { return lack("an address that is none") };
    let values = match (this.operand(inst, 1)?, lanes) {
        (Operand::Vector(items), lanes) if items.len() == lanes as usize => {
            items.iter().map(|item| this.value(item, ty)).collect::<Result<Vec<_>, _>>()?
        }
        (operand, 1) => vec![this.value(operand, ty)?],
        _ => return lack("a source of another length"),
    };
    let pointer = this.pointer(inst, *base, *offset, ty.bytes() * lanes, true)?;
    let strong = inst.one_of(&STRONG).is_some() && lanes == 1;
    for (lane, value) in (0_u32..).zip(values) {
        if strong {
            let bits = this.bits(value);
            this.b.ins().atomic_store(MemFlagsData::trusted(), bits, pointer);
        } else {
            this.b.ins().store(MemFlagsData::trusted(), value, pointer, (lane * ty.bytes()) as i32);
        }
    }
    Ok(())
}

/// The type of an access, and how many.
fn access(inst: &Inst) -> Result<(Type, u32), Lack> {
    let [ty] = inst.types.as_slice() else { return lack("types of this number") };
    let lanes = match inst.one_of(&["v2", "v4", "v8"]) {
        Some("v2") => 2,
        Some("v4") => 4,
        Some(_) => 8,
        None => 1,
    };
    if *ty == Type::Pred || ty.bytes() * lanes > 32 {
        return lack("an access of this width");
    }
    Ok((*ty, lanes))
}

/// `atom` and `red`.
pub(super) fn atomic(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let [ty] = inst.types.as_slice() else { return lack("types of this number") };
    let ty = *ty;
    let shift = usize::from(inst.name == "atom");
    let Operand::Address(base, offset) = this.operand(inst, shift)? else { return lack("an address that is none") };
    let operation = inst.one_of(&["add", "min", "max", "exch", "cas", "and", "or", "xor", "inc", "dec"]);
    let operation = operation.ok_or_else(|| Lack("its operation".to_owned()))?;
    let pointer = this.pointer(inst, *base, *offset, ty.bytes(), true)?;
    let value = this.input(inst, shift + 1, ty)?;
    let bits = this.bits(value);
    let old = match (operation, ty) {
        ("add", Type::F32) => this.host_atomic(Atomic::AddF32, pointer, bits, ty)?,
        ("add", Type::F64) => this.host_atomic(Atomic::AddF64, pointer, bits, ty)?,
        ("add", Type::F16) => this.host_atomic(Atomic::AddF16, pointer, bits, ty)?,
        ("add", Type::Bf16) => this.host_atomic(Atomic::AddBf16, pointer, bits, ty)?,
        ("add", Type::F16x2) => this.host_atomic(Atomic::AddF16x2, pointer, bits, ty)?,
        ("add", Type::Bf16x2) => this.host_atomic(Atomic::AddBf16x2, pointer, bits, ty)?,
        ("inc", Type::U32) => this.host_atomic(Atomic::Inc, pointer, bits, ty)?,
        ("dec", Type::U32) => this.host_atomic(Atomic::Dec, pointer, bits, ty)?,
        _ if !ty.is_integer() || ty.bytes() < 2 => return lack("this operation on this type"),
        ("cas", _) => {
            let new = this.input(inst, shift + 2, ty)?;
            this.b.ins().atomic_cas(MemFlagsData::trusted(), pointer, bits, new)
        }
        _ => {
            let operation = match operation {
                "add" => AtomicRmwOp::Add,
                "exch" => AtomicRmwOp::Xchg,
                "and" => AtomicRmwOp::And,
                "or" => AtomicRmwOp::Or,
                "xor" => AtomicRmwOp::Xor,
                "min" if ty.is_signed() => AtomicRmwOp::Smin,
                "min" => AtomicRmwOp::Umin,
                "max" if ty.is_signed() => AtomicRmwOp::Smax,
                "max" => AtomicRmwOp::Umax,
                _ => return lack("this operation on this type"),
            };
            this.b.ins().atomic_rmw(integer_of(ty.bytes()), MemFlagsData::trusted(), operation, pointer, bits)
        }
    };
    if shift == 0 {
        return Ok(());
    }
    let old = this.retype(old, natural(ty));
    this.set(this.operand(inst, 0)?, ty, old)
}

/// `cvta` between generic addresses and those of a space.
pub(super) fn convert_address(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let address = match this.operand(inst, 1)? {
        Operand::Variable(id, offset) => this.variable_address(*id, *offset)?,
        operand => this.value(operand, Type::U64)?,
    };
    let local = |this: &mut Generator<'_, '_, '_>| this.constant_field(I64, field!(local_base));
    let base = match inst.one_of(&SPACES) {
        Some("shared" | "shared::cta" | "shared::cluster") => this.int(I64, SHARED_BASE),
        Some("local") => local(this),
        // Addresses of these are generic as they are.
        _ => this.int(I64, 0),
    };
    let result = match inst.has("to") {
        true => this.b.ins().isub(address, base),
        false => this.b.ins().iadd(address, base),
    };
    this.set(this.operand(inst, 0)?, Type::U64, result)
}

/// `isspacep`.
pub(super) fn is_space(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let address = this.input(inst, 1, Type::U64)?;
    let (first, end) = match inst.one_of(&SPACES) {
        Some("shared" | "shared::cta") => (SHARED_BASE, SHARED_BASE + CLUSTER_STRIDE),
        Some("shared::cluster") => (SHARED_BASE, LOCAL_BASE),
        Some("local") => (LOCAL_BASE, PARAM_BASE),
        Some("param" | "param::entry") => (PARAM_BASE, crate::machine::memory::GLOBAL_BASE),
        Some("global") => (crate::machine::memory::GLOBAL_BASE, u64::MAX),
        _ => return lack("this space"),
    };
    let offset = this.b.ins().iadd_imm_s(address, first.cast_signed().wrapping_neg());
    let inside = this.compare_imm(IntCC::UnsignedLessThan, offset, end - first);
    this.set(this.operand(inst, 0)?, Type::Pred, inside)
}

/// What changes nothing here: hints, and fences beside the host's own.
pub(super) fn nothing(_: &mut Generator<'_, '_, '_>, _: &Inst) -> Emitted {
    Ok(())
}

/// `membar` and `fence`.
pub(super) fn fence(this: &mut Generator<'_, '_, '_>, _: &Inst) -> Emitted {
    this.b.ins().fence();
    Ok(())
}

impl Generator<'_, '_, '_> {
    fn host_atomic(&mut self, kind: Atomic, pointer: Value, bits: Value, ty: Type) -> Result<Value, Lack> {
        let wide = self.extend(bits, I64, false);
        let kind = self.int(I32, kind as u64);
        let old = self.host("atomic", &[kind, pointer, wide])?;
        Ok(self.extend(old, integer_of(ty.bytes()), false))
    }

    /// The host's address of an access, checked.
    fn pointer(&mut self, inst: &Inst, base: Base, offset: i64, bytes: u32, writes: bool) -> Result<Value, Lack> {
        let named = inst.one_of(&SPACES);
        if let Base::Variable(id) = base
            && let Some(pointer) = self.parameter(id, offset, bytes, writes)?
        {
            return Ok(pointer);
        }
        let mut address = self.address(base, offset)?;
        if named == Some("shared::cluster") {
            // Of whatever block: found as a generic address.
            address = self.b.ins().iadd_imm_s(address, SHARED_BASE.cast_signed());
        }
        let space = match named {
            Some("shared" | "shared::cta") => AccessSpace::Shared,
            Some("local") => AccessSpace::Local,
            _ => AccessSpace::Generic,
        };
        let site = u32::try_from(self.shared.sites.len()).unwrap_or(u32::MAX);
        let point = self.point();
        self.shared.sites.push(Site { space, bytes, writes, point });
        self.count_access(inst, space, bytes, address)?;
        match space {
            AccessSpace::Shared => {
                let (length, start) =
                    (self.constant_field(I64, field!(shared_bytes)), self.constant_field(I64, field!(shared)));
                self.linear(site, address, bytes, length, start)
            }
            AccessSpace::Local => {
                let length = self.int(I64, self.shared.local_bytes);
                let start = self.constant_field(I64, field!(local));
                self.linear(site, address, bytes, length, start)
            }
            _ => self.windowed(site, address, bytes),
        }
    }

    /// Bytes from `base`, simulated.
    fn address(&mut self, base: Base, offset: i64) -> Result<Value, Lack> {
        match base {
            Base::Absolute => Ok(self.int(I64, offset.cast_unsigned())),
            Base::Variable(id) => self.variable_address(id, offset),
            Base::Reg(register) => {
                let narrow = self.function.registers[register.0 as usize].bits() == 32;
                let value = self.register(register, if narrow { Type::U32 } else { Type::U64 })?;
                let value = self.extend(value, I64, false);
                Ok(if offset == 0 { value } else { self.b.ins().iadd_imm_s(value, offset) })
            }
        }
    }

    /// A parameter or result at a fixed offset: checked now, so that no code has to.
    fn parameter(&mut self, id: VariableId, offset: i64, bytes: u32, writes: bool) -> Result<Option<Value>, Lack> {
        let variable = &self.shared.module.variables[id.0 as usize];
        let (space, length, name) = (variable.space, variable.bytes, &variable.name);
        if !matches!(space, Space::EntryParam | Space::Passed(_) | Space::Call) {
            return Ok(None);
        }
        let end = u64::try_from(offset).ok().and_then(|offset| offset.checked_add(u64::from(bytes)));
        if space == Space::Call && length > MAX_CALL_BYTES {
            return lack(format!("`{name}` with over {MAX_CALL_BYTES} bytes"));
        }
        if end.is_none_or(|end| end > length) || offset % i64::from(bytes) != 0 {
            return lack(format!("byte {offset} of `{name}`, which has {length} bytes"));
        }
        let start = match space {
            Space::EntryParam if writes => return lack("a write to a kernel's parameter"),
            Space::EntryParam => {
                let start = self.constant_field(I64, field!(parameters));
                let place = self.shared.placements.get(&id).copied().unwrap_or(0);
                self.b.ins().iadd_imm_s(start, place.cast_signed())
            }
            Space::Passed(position) => self.passed.get(position).copied().ok_or_else(|| Lack("its position".into()))?,
            _ => self.call_slot(id),
        };
        Ok(Some(self.b.ins().iadd_imm_s(start, offset)))
    }

    /// Where the host's stack holds a `.param` of a call.
    pub(super) fn call_slot(&mut self, id: VariableId) -> Value {
        // Larger ones are refused where they are written, and a frame's size is limited as a whole.
        let bytes = self.shared.module.variables[id.0 as usize].bytes.clamp(1, MAX_CALL_BYTES) as u32;
        let slot = match self.slots.get(&id) {
            Some(slot) => *slot,
            None => {
                let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4);
                let slot = self.b.create_sized_stack_slot(slot);
                self.slots.insert(id, slot);
                slot
            }
        };
        self.b.ins().stack_addr(I64, slot, 0)
    }

    /// `address / bytes` where it is aligned, else a huge number.
    fn whole(&mut self, offset: Value, bytes: u32) -> Value {
        match bytes.trailing_zeros() {
            0 => offset,
            shift => self.b.ins().rotr_imm_u(offset, i64::from(shift)),
        }
    }

    /// An access to memory that begins at address 0 and has `length` bytes.
    fn linear(&mut self, site: u32, address: Value, bytes: u32, length: Value, start: Value) -> Result<Value, Lack> {
        let index = self.whole(address, bytes);
        let count = self.b.ins().ushr_imm_u(length, i64::from(bytes.trailing_zeros()));
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, index, count);
        self.require(inside, |this| {
            let site = this.int(I32, u64::from(site));
            this.host("refuse", &[this.thread, site, address])?;
            Ok(())
        })?;
        Ok(self.b.ins().iadd(start, address))
    }

    /// An access to wherever the address is: in the site's window, or in one that the host finds.
    fn windowed(&mut self, site: u32, address: Value, bytes: u32) -> Result<Value, Lack> {
        let table = self.constant_field(I64, field!(sites));
        let at = |offset: usize| (site as usize * size_of::<Window>() + offset) as i32;
        let flags = MemFlagsData::trusted();
        let base = self.b.ins().load(I64, flags, table, at(offset_of!(Window, base)));
        let count = self.b.ins().load(I64, flags, table, at(offset_of!(Window, count)));
        let offset = self.b.ins().isub(address, base);
        let index = self.whole(offset, bytes);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, index, count);
        let (found, missed) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(missed);
        self.b.ins().brif(inside, found, &[], missed, &[]);
        self.b.switch_to_block(missed);
        let number = self.int(I32, u64::from(site));
        let status = self.host("window", &[self.thread, number, address])?;
        self.b.ins().brif(status, self.leave, &[], found, &[]);
        self.b.switch_to_block(found);
        let delta = self.b.ins().load(I64, flags, table, at(offset_of!(Window, delta)));
        Ok(self.b.ins().iadd(address, delta))
    }

    /// The low byte of a condition, for a register of predicates.
    pub(super) fn flag(&mut self, condition: Value) -> Value {
        self.extend(condition, I8, false)
    }
}
