//! The cluster's barrier, and addresses in the shared memory of its blocks.
//!
//! An address of shared memory says whose it is: below [`CLUSTER_STRIDE`] the block's own, after it that of each block by
//! its rank. Generic addresses are the same, from [`SHARED_BASE`] on.

use super::{Emitted, Generator, lack};
use crate::ir::{Inst, Type};
use crate::machine::memory::{CLUSTER_STRIDE, SHARED_BASE};
use crate::machine::thread::{CLUSTER_SPECIALS, Thread};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};

/// Where `%cluster_ctarank` stands among the stored special registers.
const RANK: usize = CLUSTER_SPECIALS + 10;

/// Above every rank.
const RANKS_END: u64 = 0xFF;

/// `barrier.cluster`.
pub(super) fn barrier(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let name = match inst.one_of(&["arrive", "wait"]) {
        Some("arrive") => "cluster_arrive",
        Some(_) => "cluster_wait",
        None => return lack("this form"),
    };
    if inst.one_of(&["sync", "red"]).is_some() || !inst.operands.is_empty() {
        return lack("this form");
    }
    this.flush_count();
    let point = this.point();
    let point = this.int(I32, u64::from(point));
    this.host(name, &[this.thread, point])?;
    Ok(())
}

/// `mapa`: the address of the same byte in the shared memory of another block.
pub(super) fn map_address(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let [ty] = inst.types.as_slice() else { return lack("types of this number") };
    let address = this.input(inst, 1, *ty)?;
    let address = this.extend(address, I64, false);
    let wanted = this.input(inst, 2, Type::U32)?;
    let own = rank(this);
    let (base, is_own) = (base(inst), this.b.ins().icmp(IntCC::Equal, wanted, own));
    let offset = this.b.ins().iadd_imm_s(address, base.cast_signed().wrapping_neg());
    let offset = this.b.ins().band_imm_u(offset, (CLUSTER_STRIDE - 1).cast_signed());
    // A rank that no cluster has must stay one: its address is in no other memory.
    let none_has = this.int(I32, RANKS_END);
    let wanted = this.b.ins().umin(wanted, none_has);
    let wanted = this.extend(wanted, I64, false);
    let next = this.b.ins().iadd_imm_s(wanted, 1);
    let none = this.int(I64, 0);
    let index = this.b.ins().select(is_own, none, next);
    let start = this.b.ins().imul_imm_s(index, CLUSTER_STRIDE.cast_signed());
    let mapped = this.b.ins().iadd(start, offset);
    let mapped = this.b.ins().iadd_imm_s(mapped, base.cast_signed());
    let mapped = this.extend(mapped, super::values::integer_of(ty.bytes()), false);
    this.set(this.operand(inst, 0)?, *ty, mapped)
}

/// `getctarank`: whose shared memory an address is in.
pub(super) fn rank_of(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let [ty] = inst.types.as_slice() else { return lack("types of this number") };
    let address = this.input(inst, 1, *ty)?;
    let address = this.extend(address, I64, false);
    let offset = this.b.ins().iadd_imm_s(address, base(inst).cast_signed().wrapping_neg());
    let index = this.b.ins().ushr_imm_u(offset, i64::from(CLUSTER_STRIDE.trailing_zeros()));
    let index = this.b.ins().ireduce(I32, index);
    let own = rank(this);
    let other = this.b.ins().iadd_imm_s(index, -1);
    let is_own = this.compare_imm(IntCC::Equal, index, 0);
    let found = this.b.ins().select(is_own, own, other);
    this.set(this.operand(inst, 0)?, Type::U32, found)
}

/// What addresses of an instruction count from.
fn base(inst: &Inst) -> u64 {
    if inst.has("shared::cluster") { 0 } else { SHARED_BASE }
}

fn rank(this: &mut Generator<'_, '_, '_>) -> Value {
    let offset = std::mem::offset_of!(Thread, special) + 4 * RANK;
    this.constant_field(I32, offset as i32)
}
