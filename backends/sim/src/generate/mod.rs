//! One function of the IR to one host function of Cranelift's, which executes one thread.
//!
//! `fn(thread: *const Thread, passed: *mut u8...) -> i32`: 0 where it returned, 1 where the thread has ended (it
//! exited, or the launch failed). The opcodes are a table (`opcodes.rs`); a modifier or type that an opcode's line does
//! not list is an error, so nothing is translated by half. Every access is checked before it is made (`memory.rs`).

/// The offset of a field of `Thread`.
macro_rules! field {
    ($name:ident) => {
        std::mem::offset_of!($crate::machine::thread::Thread, $name) as i32
    };
}

mod cluster;
mod control;
mod convert;
mod float;
mod halves;
mod integer;
mod memory;
mod moves;
pub(crate) mod opcodes;
mod values;
mod warps;

use crate::count::CountPlan;
use crate::ir::{Function, Inst, Module, Reg, Type, VariableId};
use crate::program::{Point, Site};
use crate::ptx::PtxError;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{self, FuncRef, InstBuilder, MemFlagsData, StackSlot, Value};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, Variable};
use std::collections::HashMap;

/// Why an instruction is not translated: words that follow its spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lack(pub String);

/// What an emitter gives.
pub(crate) type Emitted = Result<(), Lack>;

/// A lack in words.
pub(crate) fn lack<T>(what: impl Into<String>) -> Result<T, Lack> {
    Err(Lack(what.into()))
}

/// What an entry's functions have in common.
pub(crate) struct Shared<'m> {
    pub module: &'m Module,
    /// Simulated address of a global or constant; offset of a shared variable or a parameter.
    pub placements: HashMap<VariableId, u64>,
    /// Bytes of `.local` memory a thread.
    pub local_bytes: u64,
    pub sites: Vec<Site>,
    pub points: Vec<Point>,
    /// What code that counts has told of itself.
    pub count: Option<CountPlan>,
}

/// Functions declared in the one that is built.
pub(crate) struct Callees {
    pub host: HashMap<&'static str, FuncRef>,
    pub device: HashMap<String, FuncRef>,
}

/// The state of translating one function.
pub(crate) struct Generator<'g, 'f, 'm> {
    b: FunctionBuilder<'f>,
    pub(crate) shared: &'g mut Shared<'m>,
    callees: &'g Callees,
    pub(crate) function: &'m Function,
    pub(crate) thread: Value,
    passed: Vec<Value>,
    /// Cranelift's type of each register, and the variable once it is used.
    classes: Vec<ir::Type>,
    registers: Vec<Option<Variable>>,
    carry: Variable,
    labels: Vec<ir::Block>,
    /// Returns 1.
    leave: ir::Block,
    /// Instructions since `executed` was last written.
    pending: i64,
    slots: HashMap<VariableId, StackSlot>,
    /// Offsets of `.local` variables in the frame, and where the frame begins.
    locals: HashMap<VariableId, u64>,
    frame: Option<Value>,
    /// The instruction at hand, and its point once it has one.
    pub(crate) at: usize,
    point: Option<u32>,
}

/// Fills a function's body.
///
/// # Errors
/// The first instruction that is not modelled, with its line.
pub(crate) fn generate<'m>(
    mut builder: FunctionBuilder<'_>,
    config: TargetFrontendConfig,
    shared: &mut Shared<'m>,
    callees: &Callees,
    function: &'m Function,
) -> Result<(), PtxError> {
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let parameters = builder.block_params(entry).to_vec();
    let leave = builder.create_block();
    builder.set_cold_block(leave);
    let labels = function.labels.iter().map(|_| builder.create_block()).collect();
    let carry = builder.declare_var(I8);
    let mut generator = Generator {
        b: builder,
        shared,
        callees,
        function,
        thread: parameters[0],
        passed: parameters[1..].to_vec(),
        classes: values::classes(function),
        registers: vec![None; function.registers.len()],
        carry,
        labels,
        leave,
        pending: 0,
        slots: HashMap::new(),
        locals: HashMap::new(),
        frame: None,
        at: 0,
        point: None,
    };
    generator.body()?;
    let mut builder = generator.b;
    builder.seal_all_blocks();
    builder.finalize(config);
    Ok(())
}

impl Generator<'_, '_, '_> {
    fn body(&mut self) -> Result<(), PtxError> {
        let entered = self.enter().and_then(|()| self.count_function());
        entered.map_err(|Lack(what)| PtxError::new(0, what))?;
        let mut at_label: HashMap<usize, Vec<usize>> = HashMap::new();
        for (label, position) in self.function.labels.iter().enumerate() {
            at_label.entry(*position).or_default().push(label);
        }
        let function = self.function;
        for (at, inst) in function.code.iter().enumerate() {
            for label in at_label.get(&at).into_iter().flatten() {
                self.flow_into(self.labels[*label]);
            }
            (self.at, self.point) = (at, None);
            self.instruction(inst).map_err(|Lack(what)| PtxError {
                line: inst.line,
                problem: format!("`{}` is not modelled: {what}", inst.spelled()),
                source_line: inst.place.as_ref().map(ToString::to_string),
                unmodelled: true,
            })?;
        }
        for label in at_label.get(&function.code.len()).into_iter().flatten() {
            self.flow_into(self.labels[*label]);
        }
        self.return_();
        self.b.switch_to_block(self.leave);
        let one = self.b.ins().iconst(I32, 1);
        self.b.ins().return_(&[one]);
        Ok(())
    }

    /// Ends the current block with a jump to `block`, and goes on there.
    fn flow_into(&mut self, block: ir::Block) {
        self.flush_count();
        self.b.ins().jump(block, &[]);
        self.b.switch_to_block(block);
    }

    /// Goes on in a block that nothing reaches yet.
    fn unreachable(&mut self) {
        let block = self.b.create_block();
        self.b.switch_to_block(block);
    }

    fn instruction(&mut self, inst: &Inst) -> Emitted {
        let opcode = opcodes::find(inst)?;
        self.count_instruction(inst)?;
        self.pending += 1;
        // A guarded branch is a branch of its own; see `control::branch`.
        let Some((register, negated)) = inst.guard.filter(|_| inst.name != "bra") else {
            return (opcode.emit)(self, inst);
        };
        let (then, next) = (self.b.create_block(), self.b.create_block());
        let guard = self.guard(register, negated)?;
        self.flush_count();
        self.b.ins().brif(guard, then, &[], next, &[]);
        self.b.switch_to_block(then);
        self.count_guarded()?;
        (opcode.emit)(self, inst)?;
        self.flow_into(next);
        Ok(())
    }

    fn guard(&mut self, register: Reg, negated: bool) -> Result<Value, Lack> {
        let value = self.register(register, Type::Pred)?;
        Ok(if negated { self.b.ins().bxor_imm_u(value, 1) } else { value })
    }

    /// Writes the instructions since the last time to `Thread::executed`.
    fn flush_count(&mut self) {
        if self.pending > 0 {
            let executed = self.field(I64, field!(executed));
            let executed = self.b.ins().iadd_imm_s(executed, self.pending);
            self.b.ins().store(MemFlagsData::trusted(), executed, self.thread, field!(executed));
            self.pending = 0;
        }
    }

    /// A field of the thread that changes.
    fn field(&mut self, ty: ir::Type, offset: i32) -> Value {
        self.b.ins().load(ty, MemFlagsData::trusted(), self.thread, offset)
    }

    /// A field of the thread that stays the same while the thread runs.
    fn constant_field(&mut self, ty: ir::Type, offset: i32) -> Value {
        self.b.ins().load(ty, MemFlagsData::trusted().with_readonly().with_can_move(), self.thread, offset)
    }

    /// The number by which messages find the instruction at hand.
    fn point(&mut self) -> u32 {
        if let Some(point) = self.point {
            return point;
        }
        let point = u32::try_from(self.shared.points.len()).unwrap_or(u32::MAX);
        if let Some(inst) = self.function.code.get(self.at) {
            let (line, place, spelled) = (inst.line, inst.place.clone(), inst.spelled());
            self.shared.points.push(Point { line, place, spelled });
        }
        self.point = Some(point);
        point
    }

    pub(crate) fn int(&mut self, ty: ir::Type, value: u64) -> Value {
        let bits = ty.bits();
        let masked = if bits >= 64 { value } else { value & ((1 << bits) - 1) };
        self.b.ins().iconst(ty, masked.cast_signed())
    }

    /// Calls a function of the host, by its name in `crate::host`.
    pub(crate) fn host(&mut self, name: &str, arguments: &[Value]) -> Result<Value, Lack> {
        let Some(function) = self.callees.host.get(name) else { return lack(format!("no host function {name}")) };
        let call = self.b.ins().call(*function, arguments);
        // Those without a result give the thread, which nobody looks at.
        Ok(self.b.inst_results(call).first().copied().unwrap_or(self.thread))
    }

    /// Leaves the function for good where `status` is not 0.
    fn leave_if(&mut self, status: Value) {
        let next = self.b.create_block();
        self.b.ins().brif(status, self.leave, &[], next, &[]);
        self.b.switch_to_block(next);
    }

    /// Goes on where a condition holds; else `otherwise` and leaves.
    fn require(&mut self, holds: Value, otherwise: impl FnOnce(&mut Self) -> Emitted) -> Emitted {
        let (next, failed) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(failed);
        self.b.ins().brif(holds, next, &[], failed, &[]);
        self.b.switch_to_block(failed);
        otherwise(self)?;
        self.b.ins().jump(self.leave, &[]);
        self.b.switch_to_block(next);
        Ok(())
    }

    fn compare_imm(&mut self, condition: IntCC, value: Value, with: u64) -> Value {
        let ty = self.b.func.dfg.value_type(value);
        let with = self.int(ty, with);
        self.b.ins().icmp(condition, value, with)
    }
}
