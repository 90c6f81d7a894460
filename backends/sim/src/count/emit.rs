//! The calls that code which counts makes. In code that does not count none of these emits anything.

use super::flow::{Graph, Loop};
use super::{Access, CountPlan, CountSite, Flow};
use crate::generate::{Emitted, Generator};
use crate::ir::{Base, Function, Inst, Operand, Reg};
use crate::program::AccessSpace;
use cranelift_codegen::ir::Value;
use cranelift_codegen::ir::types::I32;
use peak_backend_api::{AccessKind, SourcePlace, ptx_kind};

/// What is known of the function that is being translated.
#[derive(Debug)]
pub(super) struct Current {
    /// The first instruction of each flow, with the flow's number.
    starts: Vec<(usize, u32)>,
    /// The flow of a call of the function.
    entry: Option<u32>,
    /// The flow at hand.
    flow: u32,
    /// How often each register is named.
    named: Vec<u32>,
}

impl CountPlan {
    /// Adds a function's flows.
    fn begin(&mut self, function: &Function) {
        let graph = Graph::new(function);
        let own = self.rounds;
        let counter = |at: usize| own + 1 + u32::try_from(at).unwrap_or(u32::MAX);
        self.rounds += 1 + u32::try_from(graph.loops.len()).unwrap_or(0);
        let mut flows: Vec<Flow> = graph.starts.iter().map(|_| Flow { chain: vec![own], ..Flow::default() }).collect();
        for (at, it) in graph.loops.iter().enumerate() {
            it.body.iter().for_each(|flow| flows[*flow].chain.push(counter(at)));
            flows[it.head].begins = Some(counter(at));
            flows[it.head].resets = inner(&graph.loops, at).map(counter).collect();
        }
        let first = u32::try_from(self.flows.len()).unwrap_or(u32::MAX);
        self.flows.extend(flows);
        let starts = graph.starts.iter().copied().zip(first..).collect();
        let entry = (!function.is_entry).then(|| {
            let resets = (0..graph.loops.len()).map(counter).collect();
            self.flow(Flow { chain: vec![own], begins: Some(own), resets })
        });
        self.function = Some(Current { starts, entry, flow: first, named: named(function) });
    }

    fn flow(&mut self, flow: Flow) -> u32 {
        self.flows.push(flow);
        u32::try_from(self.flows.len() - 1).unwrap_or(u32::MAX)
    }

    fn site(&mut self, function: &Function, inst: &Inst, threads: u32) {
        let opcode = inst.spelled();
        let place = inst.place.as_ref();
        let at = place.map(|place| SourcePlace { piece: place.file.to_string(), line: place.line });
        let (kind, _) = ptx_kind(&opcode, "");
        let flow = self.function.as_ref().map_or(threads, |current| current.flow);
        let (function, text_line) = (function.name.clone(), inst.line);
        self.sites.push(CountSite { function, text_line, at, opcode, kind, flow, threads });
    }

    /// Whether nobody reads an instruction's result.
    fn is_unread(&self, inst: &Inst) -> bool {
        match (inst.operands.first(), &self.function) {
            (Some(Operand::Sink), _) => true,
            (Some(Operand::Reg(Reg(register))), Some(current)) => {
                current.named.get(*register as usize).is_some_and(|times| *times == 1)
            }
            _ => false,
        }
    }
}

/// Loops within a loop; loops are in the order of their size.
fn inner(loops: &[Loop], at: usize) -> impl Iterator<Item = usize> {
    let within = move |other: &usize| loops[at].body.binary_search(&loops[*other].head).is_ok();
    (at + 1..loops.len()).filter(within)
}

fn named(function: &Function) -> Vec<u32> {
    fn registers(operand: &Operand, found: &mut Vec<u32>) {
        match operand {
            Operand::Reg(Reg(register)) | Operand::Not(Reg(register)) => found.push(*register),
            Operand::Address(Base::Reg(Reg(register)), _) => found.push(*register),
            Operand::Pair(first, second) => found.extend(first.iter().chain(second).map(|it| it.0)),
            Operand::Vector(items) | Operand::List(items) => items.iter().for_each(|it| registers(it, found)),
            _ => {}
        }
    }
    let mut named = vec![0; function.registers.len()];
    for inst in &function.code {
        let mut found: Vec<u32> = inst.guard.iter().map(|(register, _)| register.0).collect();
        inst.operands.iter().for_each(|operand| registers(operand, &mut found));
        found.into_iter().for_each(|register| named[register as usize] += 1);
    }
    named
}

impl Generator<'_, '_, '_> {
    /// Before a function's first instruction.
    pub(crate) fn count_function(&mut self) -> Emitted {
        let function = self.function;
        let Some(plan) = &mut self.shared.count else { return Ok(()) };
        plan.begin(function);
        match plan.function.as_ref().and_then(|current| current.entry) {
            Some(flow) => self.visit(flow),
            None => Ok(()),
        }
    }

    /// Before each instruction: a flow may begin here.
    pub(crate) fn count_instruction(&mut self, inst: &Inst) -> Emitted {
        let (function, at) = (self.function, self.at);
        let Some(plan) = &mut self.shared.count else { return Ok(()) };
        let Some(current) = &mut plan.function else { return Ok(()) };
        let begins = current.starts.binary_search_by_key(&at, |(start, _)| *start).ok();
        if let Some(found) = begins {
            current.flow = current.starts[found].1;
        }
        let flow = current.flow;
        let guarded = inst.guard.is_some() && inst.name != "bra";
        let chain = plan.flows[flow as usize].chain.clone();
        let threads = if guarded { plan.flow(Flow { chain, ..Flow::default() }) } else { flow };
        plan.site(function, inst, threads);
        if begins.is_some() { self.visit(flow) } else { Ok(()) }
    }

    /// Where a guard holds.
    pub(crate) fn count_guarded(&mut self) -> Emitted {
        let site = self.shared.count.as_ref().and_then(|plan| plan.sites.last());
        match site.map(|site| site.threads) {
            Some(flow) => self.visit(flow),
            None => Ok(()),
        }
    }

    /// Before an access to memory that is no parameter.
    pub(crate) fn count_access(&mut self, inst: &Inst, space: AccessSpace, bytes: u32, address: Value) -> Emitted {
        let Some(plan) = &mut self.shared.count else { return Ok(()) };
        let kind = match inst.name.as_str() {
            "ld" | "ldu" => AccessKind::Load,
            "st" => AccessKind::Store,
            "atom" if !plan.is_unread(inst) => AccessKind::Atomic,
            _ => AccessKind::Reduction,
        };
        if inst.has("const") || space == AccessSpace::Local {
            return Ok(());
        }
        let site = u32::try_from(plan.sites.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let number = u32::try_from(plan.accesses.len()).unwrap_or(u32::MAX);
        plan.accesses.push(Access { site, space, kind, bytes });
        let number = self.int(I32, u64::from(number));
        let thread = self.thread;
        self.host("count_access", &[thread, number, address])?;
        Ok(())
    }

    fn visit(&mut self, flow: u32) -> Emitted {
        let flow = self.int(I32, u64::from(flow));
        let thread = self.thread;
        self.host("count_visit", &[thread, flow])?;
        Ok(())
    }
}
