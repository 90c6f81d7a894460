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
use std::mem;

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
    /// site, as in `generate`.
    ///
    /// # Safety
    /// The frame's tables must have an entry for every slot of the module's names, each array as many elements as its
    /// extents multiply to, all extents must be positive, and `first..last` must lie within the target.
    pub unsafe fn call(&self, frame: &Frame, out: &mut [f64], first: i64, last: i64) -> i64 {
        (self.entry)(frame, out.as_mut_ptr(), first, last)
    }
}

/// All assignments, in both modes.
pub(super) struct CompiledModule {
    /// In the order of the statements: values, then values and scales.
    pub statements: Vec<[Compiled; 2]>,
    module: Option<JITModule>,
}

// SAFETY: after finalization the module is only held to free its memory on drop; shared references never reach into it.
// The generated functions write to nothing but their `out`.
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
extern "C" fn pow(x: f64, y: f64) -> f64 {
    x.powf(y)
}

/// Functions that the code calls in the host, with how many numbers each takes.
const IMPORTS: [(Function, &str, usize); 4] = [
    (Function::Exp, "peak_exp", 1),
    (Function::Log, "peak_log", 1),
    (Function::Tanh, "peak_tanh", 1),
    (Function::Pow, "peak_pow", 2),
];

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
        declared.push([one(Mode::Values)?, one(Mode::ValuesAndScales)?]);
    }
    module.finalize_definitions().map_err(host)?;
    let finish = |(id, sites): (FuncId, Vec<String>)| {
        let code = module.get_finalized_function(id);
        // SAFETY: the function was declared with exactly this signature in the host's C calling convention.
        Compiled { entry: unsafe { mem::transmute::<*const u8, Entry>(code) }, sites }
    };
    let statements = declared.into_iter().map(|pair| pair.map(finish)).collect();
    Ok(CompiledModule { statements, module: Some(module) })
}

fn new_module() -> Result<JITModule, OracleError> {
    let mut flags = settings::builder();
    for (name, value) in [("use_colocated_libcalls", "false"), ("is_pic", "false"), ("opt_level", "speed")] {
        flags.set(name, value).map_err(host)?;
    }
    let isa = cranelift_native::builder().map_err(host)?.finish(settings::Flags::new(flags)).map_err(host)?;
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    for (function, name, _) in IMPORTS {
        let address = match function {
            Function::Exp => exp as *const u8,
            Function::Log => log as *const u8,
            Function::Tanh => tanh as *const u8,
            _ => pow as *const u8,
        };
        builder.symbol(name, address);
    }
    Ok(JITModule::new(builder))
}

fn declare_imports(module: &mut JITModule) -> Result<IndexMap<&'static str, FuncId>, OracleError> {
    let mut imports = IndexMap::new();
    for (_, name, count) in IMPORTS {
        let mut signature = module.make_signature();
        signature.params.extend(vec![AbiParam::new(F64); count]);
        signature.returns.push(AbiParam::new(F64));
        imports.insert(name, module.declare_function(name, Linkage::Import, &signature).map_err(host)?);
    }
    Ok(imports)
}

fn define(
    module: &mut JITModule,
    imports: &IndexMap<&'static str, FuncId>,
    assignment: &Assignment,
    names: &Names,
    mode: Mode,
    number: usize,
) -> Result<(FuncId, Vec<String>), OracleError> {
    let mut context = module.make_context();
    context.func.signature.params.extend([AbiParam::new(I64); 4]);
    context.func.signature.returns.push(AbiParam::new(I64));
    let name = format!("statement_{number}_{}", mode.width());
    let id = module.declare_function(&name, Linkage::Local, &context.func.signature).map_err(host)?;
    let config = module.target_config();
    // Imports are declared in the function before it is built: the generator holds no module.
    let declared: Vec<(Function, ir::FuncRef)> = IMPORTS
        .iter()
        .filter_map(|(function, name, _)| {
            Some((*function, module.declare_func_in_func(*imports.get(name)?, &mut context.func)))
        })
        .collect();
    let find = |function: Function| declared.iter().find(|(known, _)| *known == function).map(|(_, import)| *import);
    let mut scratch = FunctionBuilderContext::new();
    let builder = FunctionBuilder::new(&mut context.func, &mut scratch);
    let sites = generate(builder, config, assignment, names, mode, &find)?;
    module.define_function(id, &mut context).map_err(host)?;
    Ok((id, sites))
}

fn host(error: impl std::fmt::Display) -> OracleError {
    OracleError::Host(error.to_string())
}
