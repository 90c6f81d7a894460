//! Barriers and warp-wide operations: calls of the host, which lets other threads run.

use super::{Emitted, Generator, Lack, lack};
use crate::ir::{Inst, Operand, Type};
use crate::machine::barrier::BarrierKind;
use crate::machine::warp::WarpOp;
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};

/// `bar` and `barrier`.
pub(super) fn barrier(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    if inst.has("warp") {
        let mask = this.input(inst, 0, Type::U32)?;
        this.warp(WarpOp::Sync, mask, None, None, None)?;
        return Ok(());
    }
    if inst.has("cluster") {
        return super::cluster::barrier(this, inst);
    }
    if inst.one_of(&["wait", "acquire", "release", "relaxed"]).is_some() {
        return lack("this form");
    }
    if inst.has("red") {
        return reduction(this, inst);
    }
    let kind = match inst.one_of(&["sync", "arrive"]) {
        Some("sync") => BarrierKind::Sync,
        Some(_) if inst.operands.len() == 2 => BarrierKind::Arrive,
        _ => return lack("this form"),
    };
    let number = this.input(inst, 0, Type::U32)?;
    let expected = if inst.operands.len() > 1 { this.input(inst, 1, Type::U32)? } else { this.int(I32, 0) };
    let vote = this.int(I32, 0);
    this.barrier(number, expected, kind, vote)?;
    Ok(())
}

fn reduction(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let kind = match inst.one_of(&["popc", "and", "or"]) {
        Some("popc") => BarrierKind::Popc,
        Some("and") => BarrierKind::And,
        Some(_) => BarrierKind::Or,
        None => return lack("this form"),
    };
    let number = this.input(inst, 1, Type::U32)?;
    let last = inst.operands.len() - 1;
    let expected = if last > 2 { this.input(inst, 2, Type::U32)? } else { this.int(I32, 0) };
    let vote = this.input(inst, last, Type::Pred)?;
    let vote = this.extend(vote, I32, false);
    let result = this.barrier(number, expected, kind, vote)?;
    if kind == BarrierKind::Popc {
        return this.set(this.operand(inst, 0)?, Type::U32, result);
    }
    let flag = this.b.ins().ireduce(I8, result);
    this.set(this.operand(inst, 0)?, Type::Pred, flag)
}

/// `shfl.sync`.
pub(super) fn shuffle(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let op = match inst.one_of(&["up", "down", "bfly", "idx"]) {
        Some("up") => WarpOp::ShflUp,
        Some("down") => WarpOp::ShflDown,
        Some("bfly") => WarpOp::ShflBfly,
        Some(_) => WarpOp::ShflIdx,
        None => return lack("this form"),
    };
    let value = this.input(inst, 1, Type::B32)?;
    let (b, c, mask) =
        (this.input(inst, 2, Type::U32)?, this.input(inst, 3, Type::U32)?, this.input(inst, 4, Type::U32)?);
    let result = this.warp(op, mask, Some(value), Some(b), Some(c))?;
    let result = this.b.ins().ireduce(I32, result);
    this.set_pair(inst, Type::B32, result)
}

/// `vote.sync`.
pub(super) fn vote(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let value = this.input(inst, 1, Type::Pred)?;
    let mask = this.input(inst, 2, Type::U32)?;
    let op = match inst.one_of(&["all", "any", "uni", "ballot"]) {
        Some("all") => WarpOp::VoteAll,
        Some("any") => WarpOp::VoteAny,
        Some("uni") => WarpOp::VoteUni,
        Some(_) => WarpOp::Ballot,
        None => return lack("this form"),
    };
    let result = this.warp(op, mask, Some(value), None, None)?;
    if op == WarpOp::Ballot {
        let result = this.b.ins().ireduce(I32, result);
        return this.set(this.operand(inst, 0)?, Type::B32, result);
    }
    let flag = this.b.ins().ireduce(I8, result);
    this.set(this.operand(inst, 0)?, Type::Pred, flag)
}

/// `match.sync`.
pub(super) fn matching(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let Some(ty) = inst.types.first().copied() else { return lack("no type") };
    let op = match (inst.has("all"), ty) {
        (false, Type::B32) => WarpOp::MatchAny32,
        (false, _) => WarpOp::MatchAny64,
        (true, Type::B32) => WarpOp::MatchAll32,
        (true, _) => WarpOp::MatchAll64,
    };
    let value = this.input(inst, 1, ty)?;
    let mask = this.input(inst, 2, Type::U32)?;
    let result = this.warp(op, mask, Some(value), None, None)?;
    let result = this.b.ins().ireduce(I32, result);
    this.set_pair(inst, Type::B32, result)
}

/// `redux.sync`.
pub(super) fn redux(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let Some(ty) = inst.types.first().copied() else { return lack("no type") };
    let op = match (inst.one_of(&["add", "min", "max", "and", "or", "xor"]), ty.is_signed()) {
        (Some("add"), _) => WarpOp::ReduxAdd,
        (Some("min"), true) => WarpOp::ReduxMinS,
        (Some("max"), true) => WarpOp::ReduxMaxS,
        (Some("min"), false) => WarpOp::ReduxMinU,
        (Some("max"), false) => WarpOp::ReduxMaxU,
        (Some("and"), _) => WarpOp::ReduxAnd,
        (Some("or"), _) => WarpOp::ReduxOr,
        (Some("xor"), _) => WarpOp::ReduxXor,
        _ => return lack("this form"),
    };
    let value = this.input(inst, 1, ty)?;
    let mask = this.input(inst, 2, Type::U32)?;
    let result = this.warp(op, mask, Some(value), None, None)?;
    let result = this.b.ins().ireduce(I32, result);
    this.set(this.operand(inst, 0)?, ty, result)
}

/// `activemask`.
pub(super) fn active_mask(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let all = this.int(I32, u64::from(u32::MAX));
    let result = this.warp(WarpOp::ActiveMask, all, None, None, None)?;
    let result = this.b.ins().ireduce(I32, result);
    this.set(this.operand(inst, 0)?, Type::B32, result)
}

/// `elect.sync`.
pub(super) fn elect(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let mask = this.input(inst, 1, Type::U32)?;
    let result = this.warp(WarpOp::Elect, mask, None, None, None)?;
    let result = this.b.ins().ireduce(I32, result);
    this.set_pair(inst, Type::B32, result)
}

impl Generator<'_, '_, '_> {
    fn barrier(&mut self, number: Value, expected: Value, kind: BarrierKind, vote: Value) -> Result<Value, Lack> {
        self.flush_count();
        let point = self.point();
        let (point, kind) = (self.int(I32, u64::from(point)), self.int(I32, kind as u64));
        self.host("barrier", &[self.thread, point, number, expected, kind, vote])
    }

    fn warp(
        &mut self,
        op: WarpOp,
        mask: Value,
        a: Option<Value>,
        b: Option<Value>,
        c: Option<Value>,
    ) -> Result<Value, Lack> {
        self.flush_count();
        let point = self.point();
        let (point, op) = (self.int(I32, u64::from(point)), self.int(I32, op as u64));
        let a = match a {
            Some(value) => {
                let bits = self.bits(value);
                self.extend(bits, I64, false)
            }
            None => self.int(I64, 0),
        };
        let [b, c] = [b, c].map(|value| value.unwrap_or_else(|| self.int(I32, 0)));
        self.host("warp", &[self.thread, point, op, mask, a, b, c])
    }

    /// Writes `%r|%p`, or `%r` alone: a result, and the second one that the host left.
    fn set_pair(&mut self, inst: &Inst, ty: Type, result: Value) -> Emitted {
        let Operand::Pair(first, second) = self.operand(inst, 0)? else {
            return self.set(self.operand(inst, 0)?, ty, result);
        };
        let flag = self.field(I8, field!(second));
        if let Some(register) = first {
            self.set_register(*register, ty, result)?;
        }
        match second {
            Some(register) => self.set_register(*register, Type::Pred, flag),
            None => Ok(()),
        }
    }
}
