//! Branches, calls and the end of a thread.

use super::{Emitted, Generator, lack};
use crate::host::sync::Stop;
use crate::ir::{Inst, Operand, Space, Type, VariableId};
use crate::machine::MAX_CALL_DEPTH;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, Value};
use cranelift_frontend::Switch;

/// `bra`.
pub(super) fn branch(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let Operand::Label(label) = this.operand(inst, 0)? else { return lack("a target that is no label") };
    let (target, back) = (this.labels[*label], this.function.labels[*label] <= this.at);
    this.flush_count();
    let Some((register, negated)) = inst.guard else {
        this.go(target, back)?;
        this.unreachable();
        return Ok(());
    };
    let guard = this.guard(register, negated)?;
    let next = this.b.create_block();
    if !back {
        this.b.ins().brif(guard, target, &[], next, &[]);
    } else {
        let taken = this.b.create_block();
        this.b.ins().brif(guard, taken, &[], next, &[]);
        this.b.switch_to_block(taken);
        this.go(target, true)?;
    }
    this.b.switch_to_block(next);
    Ok(())
}

/// `brx.idx`: to the label at an index of a list; beyond the list is undefined, and here a fault.
pub(super) fn branch_indexed(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let index = this.input(inst, 0, Type::U32)?;
    let Operand::Label(list) = this.operand(inst, 1)? else { return lack("a list that is no label") };
    let Some(targets) = this.function.targets.get(list) else { return lack("a label without `.branchtargets`") };
    this.flush_count();
    let mut switch = Switch::new();
    let mut stubs = Vec::new();
    for (at, label) in (0_u128..).zip(targets) {
        let stub = this.b.create_block();
        switch.set_entry(at, stub);
        stubs.push((stub, *label));
    }
    let beyond = this.b.create_block();
    this.b.set_cold_block(beyond);
    switch.emit(&mut this.b, index, beyond);
    for (stub, label) in stubs {
        this.b.switch_to_block(stub);
        this.go(this.labels[label], this.function.labels[label] <= this.at)?;
    }
    this.b.switch_to_block(beyond);
    this.stop(Stop::BranchIndex)?;
    this.b.ins().jump(this.leave, &[]);
    this.unreachable();
    Ok(())
}

/// `ret`.
pub(super) fn ret(this: &mut Generator<'_, '_, '_>, _: &Inst) -> Emitted {
    this.return_();
    this.unreachable();
    Ok(())
}

/// `exit`.
pub(super) fn exit(this: &mut Generator<'_, '_, '_>, _: &Inst) -> Emitted {
    this.flush_count();
    this.b.ins().jump(this.leave, &[]);
    this.unreachable();
    Ok(())
}

/// `trap`.
pub(super) fn trap(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    this.stop(Stop::Trap)?;
    exit(this, inst)
}

/// `nanosleep`: others run.
pub(super) fn sleep(this: &mut Generator<'_, '_, '_>, _: &Inst) -> Emitted {
    this.host("pause", &[this.thread])?;
    Ok(())
}

/// `call`.
pub(super) fn call(this: &mut Generator<'_, '_, '_>, inst: &Inst) -> Emitted {
    let name = inst.operands.iter().find_map(|it| if let Operand::Function(name) = it { Some(name) } else { None });
    let Some(name) = name else { return lack("a call through a register") };
    if name == "__assertfail" {
        this.stop(Stop::Assertion)?;
        return exit(this, inst);
    }
    let Some(callee) = this.callees.device.get(name).copied() else {
        return lack(format!("`{name}` has no body in this module"));
    };
    let mut arguments = vec![this.thread];
    for list in &inst.operands {
        let Operand::List(items) = list else { continue };
        for item in items {
            let is_call = |id: &VariableId| this.shared.module.variables[id.0 as usize].space == Space::Call;
            let Operand::Variable(id, 0) = item else { return lack("an argument that is no `.param`") };
            if !is_call(id) {
                return lack("an argument that is no `.param` of the call");
            }
            // The callee reads all of it.
            if this.shared.module.variables[id.0 as usize].bytes > super::memory::MAX_CALL_BYTES {
                return lack(format!("an argument of over {} bytes", super::memory::MAX_CALL_BYTES));
            }
            arguments.push(this.call_slot(*id));
        }
    }
    let expected = this.b.func.dfg.signatures[this.b.func.dfg.ext_funcs[callee].signature].params.len();
    if expected != arguments.len() {
        return lack(format!("`{name}` takes {} arguments and results", expected - 1));
    }
    let sizes = this.sizes(inst, name);
    if let Some((have, want)) = sizes {
        return lack(format!("an argument of {have} bytes where `{name}` has {want}"));
    }
    this.flush_count();
    let call = this.b.ins().call(callee, &arguments);
    let status = this.b.inst_results(call)[0];
    this.leave_if(status);
    Ok(())
}

impl Generator<'_, '_, '_> {
    /// The first argument or result whose size differs from the callee's.
    fn sizes(&self, inst: &Inst, name: &str) -> Option<(u64, u64)> {
        let module = self.shared.module;
        let callee = module.functions.iter().find(|function| function.name == name)?;
        let bytes = |id: &VariableId| module.variables[id.0 as usize].bytes;
        let wanted = callee.returns.iter().chain(&callee.parameters).map(bytes);
        let lists =
            inst.operands.iter().filter_map(|it| if let Operand::List(items) = it { Some(items) } else { None });
        let given =
            lists.flatten().filter_map(|it| if let Operand::Variable(id, _) = it { Some(bytes(id)) } else { None });
        given.zip(wanted).find(|(given, wanted)| given != wanted)
    }

    /// What stands before a function's first instruction: its depth and its frame of local memory.
    pub(super) fn enter(&mut self) -> Emitted {
        let mut bytes = 0_u64;
        for id in &self.function.locals {
            let variable = &self.shared.module.variables[id.0 as usize];
            bytes = bytes.next_multiple_of(variable.align);
            self.locals.insert(*id, bytes);
            bytes = bytes.saturating_add(variable.bytes);
        }
        // Frames stay aligned for any variable of the next.
        let bytes = bytes.next_multiple_of(16);
        // The entry's own frame fits: its size is part of `local_bytes`.
        if !self.function.is_entry {
            let depth = self.field(I32, field!(depth));
            let deeper = self.b.ins().iadd_imm_s(depth, 1);
            self.b.ins().store(MemFlagsData::trusted(), deeper, self.thread, field!(depth));
            let fits = self.compare_imm(IntCC::UnsignedLessThan, depth, u64::from(MAX_CALL_DEPTH));
            let (stack, limit) = (self.b.ins().get_stack_pointer(I64), self.constant_field(I64, field!(stack_limit)));
            let has_room = self.b.ins().icmp(IntCC::UnsignedGreaterThan, stack, limit);
            let fits = self.b.ins().band(fits, has_room);
            self.must(fits, Stop::Recursion)?;
            // Calls alone, without a loop, can be as many as any loop's rounds.
            let body = self.b.create_block();
            self.go(body, true)?;
            self.b.switch_to_block(body);
        }
        if self.function.locals.is_empty() {
            return Ok(());
        }
        let frame = self.field(I64, field!(local_top));
        let top = self.b.ins().iadd_imm_s(frame, bytes.cast_signed());
        let fits = self.compare_imm(IntCC::UnsignedLessThanOrEqual, top, self.shared.local_bytes);
        self.must(fits, Stop::LocalMemory)?;
        self.b.ins().store(MemFlagsData::trusted(), top, self.thread, field!(local_top));
        self.frame = Some(frame);
        Ok(())
    }

    fn must(&mut self, holds: Value, otherwise: Stop) -> Emitted {
        self.require(holds, |this| this.stop(otherwise))
    }

    fn stop(&mut self, why: Stop) -> Emitted {
        let point = self.point();
        let (point, why) = (self.int(I32, u64::from(point)), self.int(I32, why as u64));
        self.host("stop", &[self.thread, point, why])?;
        Ok(())
    }

    /// Returns 0, frame and depth as they were.
    pub(super) fn return_(&mut self) {
        self.flush_count();
        if let Some(frame) = self.frame {
            self.b.ins().store(MemFlagsData::trusted(), frame, self.thread, field!(local_top));
        }
        if !self.function.is_entry {
            let depth = self.field(I32, field!(depth));
            let depth = self.b.ins().iadd_imm_s(depth, -1);
            self.b.ins().store(MemFlagsData::trusted(), depth, self.thread, field!(depth));
        }
        let zero = self.b.ins().iconst(I32, 0);
        self.b.ins().return_(&[zero]);
    }

    /// Jumps; on the way back the thread's instructions are compared with its limit.
    fn go(&mut self, target: ir::Block, back: bool) -> Emitted {
        if !back {
            self.b.ins().jump(target, &[]);
            return Ok(());
        }
        let (executed, limit) = (self.field(I64, field!(executed)), self.field(I64, field!(limit)));
        let over = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, executed, limit);
        let tick = self.b.create_block();
        self.b.set_cold_block(tick);
        self.b.ins().brif(over, tick, &[], target, &[]);
        self.b.switch_to_block(tick);
        let point = self.point();
        let point = self.int(I32, u64::from(point));
        let status = self.host("tick", &[self.thread, point])?;
        self.b.ins().brif(status, self.leave, &[], target, &[]);
        Ok(())
    }
}
