//! A loaded module: its variables in the address space, and its entries as functions of the host.
//!
//! Entries are translated apart from each other: one that can't be had is an error where it is launched, and the others
//! run.

use crate::count::CountPlan;
use crate::generate::{Callees, Shared, generate, opcodes};
use crate::host::{self, HostFunction};
use crate::ir::{Function, Inst, Module, Operand, SourcePlace, Space, VariableId, resolve};
use crate::launch::check_entry;
use crate::machine::memory::{Bytes, Region, next_base};
use crate::machine::thread::Thread;
use crate::machine::{LOCAL_BYTES, MAX_FRAME_BYTES};
use crate::ptx::{PtxError, read};
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, Signature};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module as _, default_libcall_names};
use peak_backend_api::ReflectedEntry;
use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

/// An entry's code: executes one thread, and gives 0, or 1 where the thread ended early.
pub(crate) type EntryCode = unsafe extern "C" fn(*const Thread) -> i32;

/// Instructions of a module, at most: what a compilation of a minute allows.
const MAX_INSTRUCTIONS: usize = 200_000;

/// Bytes of variables of a module, at most.
const MAX_VARIABLE_BYTES: u64 = 1 << 30;

/// Where an access is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessSpace {
    Generic,
    Shared,
    Local,
}

/// An instruction that touches memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub space: AccessSpace,
    /// Of the whole access, all lanes of a vector together.
    pub bytes: u32,
    pub writes: bool,
    pub point: u32,
}

/// An instruction that messages may name.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub line: u32,
    pub place: Option<SourcePlace>,
    pub spelled: String,
}

/// A parameter in the entry's block of them.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub offset: u64,
    pub bytes: u64,
}

/// An entry, ready to launch.
#[derive(Debug)]
pub(crate) struct CompiledEntry {
    pub name: String,
    pub code: EntryCode,
    pub parameters: Vec<Parameter>,
    pub parameter_bytes: u64,
    pub static_shared: u64,
    pub local_bytes: u64,
    /// `.maxntid` or `.reqntid`.
    pub threads: Option<([u32; 3], bool)>,
    /// `.reqnctapercluster`.
    pub cluster: Option<[u32; 3]>,
    /// Whether a thread may wait for others, so that each is a coroutine.
    pub suspends: bool,
    /// Whether a thread may wait by looking again and again.
    pub spins: bool,
    pub sites: Vec<Site>,
    pub points: Vec<Point>,
    /// What its code tells while it runs; `None` in fast mode.
    pub count: Option<CountPlan>,
}

/// A loaded module.
pub(crate) struct Program {
    pub entries: Vec<CompiledEntry>,
    /// Entries that can't be launched, and why.
    pub lacking: Vec<(String, String)>,
    /// Its `.global` and `.const` variables.
    pub variables: Vec<Arc<Region>>,
    /// What launches were compiled in: an entry may have several, which differ in their blocks.
    pub reflected: Vec<ReflectedEntry>,
    // The code that `entries` point to.
    _code: Vec<Jit>,
}

/// Code of the host, freed with its program, or where its translation ends early.
struct Jit(Option<JITModule>);

impl Jit {
    fn module(&mut self) -> Result<&mut JITModule, PtxError> {
        self.0.as_mut().ok_or_else(|| host_error("no code"))
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        if let Some(jit) = self.0.take() {
            // SAFETY: code pointers live in a program's `entries`, which launches, the callers of the code, borrow.
            unsafe { jit.free_memory() }
        }
    }
}

/// Reads, places and translates a module whose variables begin after `end`; `counts` to code that counts.
///
/// # Errors
/// What is no module, with the line.
pub(crate) fn compile(text: &str, end: u64, counts: bool) -> Result<Program, PtxError> {
    let module = read(text, |tree| resolve(tree, opcodes::is_opcode))?;
    let entries = || module.functions.iter().filter(|function| function.is_entry);
    // A function is translated once for each entry that reaches it.
    let all = entries().filter_map(|entry| reachable(&module, entry).ok()).flatten();
    let instructions: usize = all.map(|function| function.code.len() + 1).sum();
    if instructions > MAX_INSTRUCTIONS {
        return Err(PtxError::new(
            1,
            format!("{instructions} instructions; at most {MAX_INSTRUCTIONS} are translated"),
        ));
    }
    let (variables, placements) = place_variables(&module, end)?;
    let (made, lacking, reflected) = (Vec::new(), Vec::new(), Vec::new());
    let mut program = Program { entries: made, lacking, variables, reflected, _code: Vec::new() };
    let lacking = module.lacking.iter().filter(|lacking| lacking.is_entry);
    program.lacking = lacking.map(|it| (it.name.clone(), it.error.to_string())).collect();
    for entry in entries() {
        match compile_entry(&module, &placements, entry, counts) {
            Ok((code, entry)) => match check_entry(&entry) {
                Ok(()) => {
                    program.entries.push(entry);
                    program._code.push(code);
                }
                Err(problem) => program.lacking.push((entry.name, problem)),
            },
            Err(error) => program.lacking.push((entry.name.clone(), error.to_string())),
        }
    }
    Ok(program)
}

type Placed = (Vec<Arc<Region>>, HashMap<VariableId, u64>);

/// Allocates `.global` and `.const` variables, and writes their first values.
fn place_variables(module: &Module, mut end: u64) -> Result<Placed, PtxError> {
    let mut placements = HashMap::new();
    let is_placed = |space: Space| matches!(space, Space::Global | Space::Const);
    let placed: Vec<_> = (0..).zip(&module.variables).filter(|(_, it)| is_placed(it.space)).collect();
    let total = placed.iter().fold(0_u64, |sum, (_, variable)| sum.saturating_add(variable.bytes));
    if total > MAX_VARIABLE_BYTES {
        return Err(PtxError::new(1, format!("variables of {total} bytes; at most {MAX_VARIABLE_BYTES} are placed")));
    }
    for (id, variable) in &placed {
        let base = next_base(end);
        end = base + variable.bytes;
        placements.insert(VariableId(*id), base);
    }
    let mut regions = Vec::new();
    for (id, variable) in &placed {
        let no_memory = || PtxError::new(1, format!("the host has no memory for `{}`", variable.name));
        let mut bytes = Bytes::new(variable.bytes).ok_or_else(no_memory)?;
        let slice = bytes.as_mut_slice();
        slice[..variable.initial.len()].copy_from_slice(&variable.initial);
        for (at, target, offset) in &variable.relocations {
            let Some(address) = placements.get(target) else { continue };
            let address = address.wrapping_add_signed(*offset);
            slice[*at..at + 8].copy_from_slice(&address.to_le_bytes());
        }
        let name = format!("variable `{}`", variable.name);
        let base = placements.get(&VariableId(*id)).copied().unwrap_or(0);
        regions.push(Arc::new(Region { name, base, writable: variable.space == Space::Global, bytes }));
    }
    Ok((regions, placements))
}

fn compile_entry(
    module: &Module,
    globals: &HashMap<VariableId, u64>,
    entry: &Function,
    counts: bool,
) -> Result<(Jit, CompiledEntry), PtxError> {
    let functions = reachable(module, entry)?;
    let mut code = Jit(Some(new_jit().map_err(host_error)?));
    let jit = code.module()?;
    let host = declare_host(jit)?;
    let mut placements = globals.clone();
    let static_shared = place_shared(module, &functions, &mut placements);
    let (parameters, parameter_bytes) = place_parameters(module, entry, &mut placements);
    let spins = functions.iter().any(|function| may_spin(function));
    let suspends = spins || functions.len() > 1 || functions.iter().any(|function| function.code.iter().any(waits));
    let local_bytes = local_bytes(module, &functions);
    let mut shared = Shared {
        module,
        placements,
        local_bytes,
        sites: Vec::new(),
        points: Vec::new(),
        count: counts.then(CountPlan::default),
    };
    let mut ids = HashMap::new();
    for function in &functions {
        let signature = signature(jit, function);
        // No name of PTX's is one of the host's.
        let name = format!("ptx_{}", function.name);
        let id = jit.declare_function(&name, Linkage::Local, &signature).map_err(host_error)?;
        ids.insert(function.name.clone(), id);
    }
    for function in &functions {
        define(jit, &host, &ids, &mut shared, function)?;
    }
    jit.finalize_definitions().map_err(host_error)?;
    let pointer = jit.get_finalized_function(ids[&entry.name]);
    let compiled = CompiledEntry {
        name: entry.name.clone(),
        // SAFETY: the function was declared with this signature in the host's C calling convention.
        code: unsafe { mem::transmute::<*const u8, EntryCode>(pointer) },
        parameters,
        parameter_bytes,
        static_shared,
        local_bytes,
        threads: entry.threads,
        cluster: entry.cluster,
        // Lanes that are counted wait for each other.
        suspends: suspends || counts,
        spins,
        sites: shared.sites,
        points: shared.points,
        count: shared.count,
    };
    Ok((code, compiled))
}

/// The entry, then every function that it may call.
///
/// # Errors
/// That of a function whose body is not understood.
fn reachable<'m>(module: &'m Module, entry: &'m Function) -> Result<Vec<&'m Function>, PtxError> {
    let mut found = vec![entry];
    let mut at = 0;
    while at < found.len() {
        let operands = found[at].code.iter().flat_map(|inst| &inst.operands);
        for operand in operands {
            let Operand::Function(name) = operand else { continue };
            if let Some(lacking) = module.lacking.iter().find(|lacking| !lacking.is_entry && lacking.name == *name) {
                return Err(lacking.error.clone());
            }
            let callee = module.functions.iter().find(|function| !function.is_entry && function.name == *name);
            if let Some(callee) = callee.filter(|callee| !found.iter().any(|known| known.name == callee.name)) {
                found.push(callee);
            }
        }
        at += 1;
    }
    Ok(found)
}

/// Offsets of shared variables that some functions name: static ones, then the dynamic ones, which all begin alike.
fn place_shared(module: &Module, functions: &[&Function], placements: &mut HashMap<VariableId, u64>) -> u64 {
    let mut used: Vec<VariableId> = functions
        .iter()
        .flat_map(|function| &function.code)
        .flat_map(|inst| &inst.operands)
        .filter_map(|operand| match operand {
            Operand::Variable(id, _) | Operand::Address(crate::ir::Base::Variable(id), _) => Some(*id),
            _ => None,
        })
        .collect();
    used.sort_unstable();
    used.dedup();
    let in_space = |space: Space| used.iter().filter(move |id| module.variables[id.0 as usize].space == space);
    let mut bytes = 0_u64;
    for id in in_space(Space::Shared) {
        let variable = &module.variables[id.0 as usize];
        bytes = bytes.next_multiple_of(variable.align);
        placements.insert(*id, bytes);
        bytes = bytes.saturating_add(variable.bytes);
    }
    let align = in_space(Space::Dynamic).map(|id| module.variables[id.0 as usize].align).max().unwrap_or(1);
    let bytes = bytes.next_multiple_of(align);
    for id in in_space(Space::Dynamic) {
        placements.insert(*id, bytes);
    }
    bytes
}

fn place_parameters(
    module: &Module,
    entry: &Function,
    placements: &mut HashMap<VariableId, u64>,
) -> (Vec<Parameter>, u64) {
    let mut bytes = 0_u64;
    let mut parameters = Vec::new();
    for id in &entry.parameters {
        let variable = &module.variables[id.0 as usize];
        bytes = bytes.next_multiple_of(variable.align);
        placements.insert(*id, bytes);
        parameters.push(Parameter { offset: bytes, bytes: variable.bytes });
        bytes = bytes.saturating_add(variable.bytes);
    }
    (parameters, bytes)
}

/// Bytes of `.local` memory a thread: what the entry declares, or room for recursion where functions declare some.
fn local_bytes(module: &Module, functions: &[&Function]) -> u64 {
    let declared = |function: &Function| -> u64 {
        let sizes = function.locals.iter().map(|id| &module.variables[id.0 as usize]);
        sizes.fold(0, |sum: u64, it| sum.saturating_add(it.bytes + it.align)).next_multiple_of(16)
    };
    let (entry, rest) = (declared(functions[0]), functions[1..].iter().map(|it| declared(it)).sum::<u64>());
    if rest == 0 { entry } else { entry.saturating_add(LOCAL_BYTES) }
}

/// Whether an instruction may wait for other threads.
fn waits(inst: &Inst) -> bool {
    let waiting = ["bar", "barrier", "shfl", "vote", "match", "redux", "activemask", "elect", "nanosleep"];
    waiting.contains(&inst.name.as_str())
}

/// Whether a function may wait by looking again and again: a loop, and something that other threads change.
fn may_spin(function: &Function) -> bool {
    let looks = function.code.iter().any(|inst| {
        inst.name == "atom" || inst.name == "ld" && inst.one_of(&["volatile", "relaxed", "acquire", "mmio"]).is_some()
    });
    looks
        && function.code.iter().enumerate().any(|(at, inst)| match inst.operands.as_slice() {
            [Operand::Label(label)] => function.labels[*label] <= at,
            // Any of its targets may be behind.
            [_, Operand::Label(_)] => true,
            _ => false,
        })
}

fn signature(jit: &JITModule, function: &Function) -> Signature {
    let mut signature = jit.make_signature();
    let passed = if function.is_entry { 0 } else { function.returns.len() + function.parameters.len() };
    signature.params.extend(vec![AbiParam::new(I64); 1 + passed]);
    signature.returns.push(AbiParam::new(I32));
    signature
}

fn define<'m>(
    jit: &mut JITModule,
    host: &HashMap<&'static str, FuncId>,
    ids: &HashMap<String, FuncId>,
    shared: &mut Shared<'m>,
    function: &'m Function,
) -> Result<(), PtxError> {
    let mut context = jit.make_context();
    context.func.signature = signature(jit, function);
    let callees = Callees {
        host: host.iter().map(|(name, id)| (*name, jit.declare_func_in_func(*id, &mut context.func))).collect(),
        device: ids.iter().map(|(name, id)| (name.clone(), jit.declare_func_in_func(*id, &mut context.func))).collect(),
    };
    let config = jit.target_config();
    let mut scratch = FunctionBuilderContext::new();
    let builder = FunctionBuilder::new(&mut context.func, &mut scratch);
    generate(builder, config, shared, &callees, function)?;
    jit.define_function(ids[&function.name], &mut context).map_err(host_error)?;
    let layout = context.compiled_code().and_then(|code| code.buffer.frame_layout());
    match layout.map(|layout| layout.frame_to_fp_offset) {
        Some(bytes) if bytes > MAX_FRAME_BYTES => Err(PtxError::new(
            1,
            format!(
                "`{}` keeps {bytes} bytes of registers alive at once; {MAX_FRAME_BYTES} are modelled",
                function.name
            ),
        )),
        _ => Ok(()),
    }
}

fn new_jit() -> Result<JITModule, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let mut flags = settings::builder();
    for (name, value) in [("use_colocated_libcalls", "false"), ("is_pic", "false"), ("opt_level", "speed")] {
        flags.set(name, value).map_err(|error| text(&error))?;
    }
    let isa = cranelift_native::builder().map_err(|error| text(&error))?;
    let isa = isa.finish(settings::Flags::new(flags)).map_err(|error| text(&error))?;
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    for HostFunction { name, address, .. } in host::functions() {
        builder.symbol(format!("peak_{name}"), address);
    }
    Ok(JITModule::new(builder))
}

fn declare_host(jit: &mut JITModule) -> Result<HashMap<&'static str, FuncId>, PtxError> {
    let mut declared = HashMap::new();
    for function in host::functions() {
        let mut signature = jit.make_signature();
        signature.params.extend(function.parameters.iter().map(|ty| AbiParam::new(*ty)));
        signature.returns.extend(function.result.map(AbiParam::new));
        let name = format!("peak_{}", function.name);
        let id = jit.declare_function(&name, Linkage::Import, &signature).map_err(host_error)?;
        declared.insert(function.name, id);
    }
    Ok(declared)
}

/// Cranelift refused: a host that it does not know, or code that is too large for it.
fn host_error(error: impl std::fmt::Display) -> PtxError {
    PtxError::new(1, format!("Cranelift does not translate it: {error}"))
}
