//! Machine code for a kernel's assignments, and the memory that it lives in.

use super::OracleError;
use super::generate::{Frame, Mode, generate};
use super::names::Names;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{self, AbiParam};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};
use indexmap::IndexMap;
use peak_grammar::ir::{Assignment, Computes, Function};
use std::{mem, ptr};

/// The generated function's type; see `generate`.
type Entry = extern "C" fn(*const Frame, *mut f64, i64, i64) -> i64;

/// An assignment's function.
#[derive(Debug)]
pub(super) struct Compiled {
    /// Null only before the module is finalized.
    entry: Entry,
    /// What each site checks, from site 1.
    pub sites: Vec<String>,
}

impl Compiled {
    /// Computes the elements `first..last` of the target into `out`, `mode.width()` doubles each; the result is 0 or a
    /// site, as in `generate`. Not of the mode [`Mode::Reads`].
    ///
    /// # Safety
    /// The frame's tables must have an entry for every slot of the module's names, each array as many elements as its
    /// extents multiply to, all extents must be positive, and `first..last` must lie within the target.
    pub unsafe fn call(&self, frame: &Frame, out: &mut [f64], first: i64, last: i64) -> i64 {
        (self.entry)(frame, out.as_mut_ptr(), first, last)
    }

    /// Marks what the elements `first..last` of the target read of arrays that statements define. Only of the mode
    /// [`Mode::Reads`].
    ///
    /// # Safety
    /// As [`Compiled::call`].
    pub unsafe fn mark(&self, frame: &Frame, marks: &mut Marks, first: i64, last: i64) {
        (self.entry)(frame, ptr::from_mut(marks).cast(), first, last);
    }
}

/// Elements of arrays that are needed, by slot.
#[derive(Debug, Default)]
pub(super) struct Marks {
    seen: Vec<Vec<u64>>,
    /// Flat indices in the order in which they were met, each once.
    pub needed: Vec<Vec<usize>>,
}

impl Marks {
    /// Of arrays with so many elements.
    pub fn new(elements: impl IntoIterator<Item = usize>) -> Marks {
        // Zeroed memory that is not touched takes no room.
        let seen: Vec<Vec<u64>> = elements.into_iter().map(|elements| vec![0; elements.div_ceil(64)]).collect();
        let needed = vec![Vec::new(); seen.len()];
        Marks { seen, needed }
    }

    pub fn add(&mut self, slot: usize, flat: usize) {
        let Some(word) = self.seen.get_mut(slot).and_then(|words| words.get_mut(flat / 64)) else { return };
        let bit = 1u64 << (flat % 64);
        if *word & bit == 0 {
            *word |= bit;
            self.needed[slot].push(flat);
        }
    }
}

/// All assignments, in every mode.
pub(super) struct CompiledModule {
    /// In the order of the statements, then by [`Mode::index`].
    pub statements: Vec<[Compiled; 3]>,
    module: Option<JITModule>,
}

// SAFETY: after finalization the module is only held to free its memory on drop; shared references never reach into it.
// The generated functions write to nothing but what their second argument points to.
unsafe impl Sync for CompiledModule {}

impl Drop for CompiledModule {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: the function pointers live in `statements` of this value and are called only through references
            // to it, so none is called now or afterwards.
            unsafe { module.free_memory() }
        }
    }
}

extern "C" fn exp(x: f64) -> f64 {
    x.exp()
}
extern "C" fn log(x: f64) -> f64 {
    x.ln()
}
extern "C" fn tanh(x: f64) -> f64 {
    x.tanh()
}
extern "C" fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
extern "C" fn sin(x: f64) -> f64 {
    x.sin()
}
extern "C" fn cos(x: f64) -> f64 {
    x.cos()
}
extern "C" fn erf(x: f64) -> f64 {
    libm::erf(x)
}
extern "C" fn pow(x: f64, y: f64) -> f64 {
    x.powf(y)
}
/// What code of the mode [`Mode::Reads`] calls for each element that it would read.
extern "C" fn mark(marks: *mut Marks, slot: i64, flat: i64) {
    // SAFETY: the only caller is generated code, which passes on the pointer that `Compiled::mark` made of its `&mut`.
    let marks = unsafe { &mut *marks };
    if let (Ok(slot), Ok(flat)) = (usize::try_from(slot), usize::try_from(flat)) {
        marks.add(slot, flat);
    }
}

/// A function that the code calls in the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Import {
    /// A function of the oracle, of doubles.
    Function(Function),
    /// [`mark`].
    Mark,
}

/// Functions that the code calls in the host: name and address.
fn imports() -> [(Import, &'static str, *const u8); 9] {
    use Import::{Function as Of, Mark};
    [
        (Of(Function::Exp), "peak_exp", exp as *const u8),
        (Of(Function::Log), "peak_log", log as *const u8),
        (Of(Function::Tanh), "peak_tanh", tanh as *const u8),
        (Of(Function::Sigmoid), "peak_sigmoid", sigmoid as *const u8),
        (Of(Function::Sin), "peak_sin", sin as *const u8),
        (Of(Function::Cos), "peak_cos", cos as *const u8),
        (Of(Function::Erf), "peak_erf", erf as *const u8),
        (Of(Function::Pow), "peak_pow", pow as *const u8),
        (Mark, "peak_mark", mark as *const u8),
    ]
}

/// Compiles every assignment.
///
/// # Errors
/// What is not supported, an unknown name, a host that Cranelift does not know.
pub(super) fn compile(computes: &Computes, names: &Names) -> Result<CompiledModule, OracleError> {
    let mut module = new_module()?;
    let imports = declare_imports(&mut module)?;
    let mut declared = Vec::new();
    for (number, assignment) in computes.statements.iter().enumerate() {
        let mut one = |mode| define(&mut module, &imports, assignment, names, mode, number);
        declared.push([one(Mode::Values)?, one(Mode::ValuesAndScales)?, one(Mode::Reads)?]);
    }
    module.finalize_definitions().map_err(host)?;
    let finish = |(id, sites): (FuncId, Vec<String>)| {
        let code = module.get_finalized_function(id);
        // SAFETY: the function was declared with exactly this signature in the host's C calling convention.
        Compiled { entry: unsafe { mem::transmute::<*const u8, Entry>(code) }, sites }
    };
    let statements = declared.into_iter().map(|modes| modes.map(finish)).collect();
    Ok(CompiledModule { statements, module: Some(module) })
}

fn new_module() -> Result<JITModule, OracleError> {
    let mut flags = settings::builder();
    for (name, value) in [("use_colocated_libcalls", "false"), ("is_pic", "false"), ("opt_level", "speed")] {
        flags.set(name, value).map_err(host)?;
    }
    let isa = cranelift_native::builder().map_err(host)?.finish(settings::Flags::new(flags)).map_err(host)?;
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    for (_, name, address) in imports() {
        builder.symbol(name, address);
    }
    Ok(JITModule::new(builder))
}

fn declare_imports(module: &mut JITModule) -> Result<IndexMap<Import, FuncId>, OracleError> {
    let mut declared = IndexMap::new();
    for (import, name, _) in imports() {
        let mut signature = module.make_signature();
        match import {
            Import::Function(function) => {
                signature.params.extend(vec![AbiParam::new(F64); function.arity()]);
                signature.returns.push(AbiParam::new(F64));
            }
            Import::Mark => signature.params.extend(vec![AbiParam::new(I64); 3]),
        }
        declared.insert(import, module.declare_function(name, Linkage::Import, &signature).map_err(host)?);
    }
    Ok(declared)
}

fn define(
    module: &mut JITModule,
    imports: &IndexMap<Import, FuncId>,
    assignment: &Assignment,
    names: &Names,
    mode: Mode,
    number: usize,
) -> Result<(FuncId, Vec<String>), OracleError> {
    let mut context = module.make_context();
    context.func.signature.params.extend([AbiParam::new(I64); 4]);
    context.func.signature.returns.push(AbiParam::new(I64));
    let name = format!("statement_{number}_{}", mode.index());
    let id = module.declare_function(&name, Linkage::Local, &context.func.signature).map_err(host)?;
    let config = module.target_config();
    // Imports are declared in the function before it is built: the generator holds no module.
    let declare = |(import, id): (&Import, &FuncId)| (*import, module.declare_func_in_func(*id, &mut context.func));
    let declared: IndexMap<Import, ir::FuncRef> = imports.iter().map(declare).collect();
    let find = |import: Import| declared.get(&import).copied();
    let mut scratch = FunctionBuilderContext::new();
    let builder = FunctionBuilder::new(&mut context.func, &mut scratch);
    let sites = generate(builder, config, assignment, names, mode, &find)?;
    module.define_function(id, &mut context).map_err(host)?;
    Ok((id, sites))
}

fn host(error: impl std::fmt::Display) -> OracleError {
    OracleError::Host(error.to_string())
}
