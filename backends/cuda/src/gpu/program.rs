//! A module on a GPU, with its entry points.

use super::context::Context;
use crate::error::check;
use cudarc::driver::sys::{self, CUfunction, CUfunction_attribute as Attribute, CUjit_option, CUmodule, CUresult};
use peak_backend_api::{Artifact, ArtifactKind, ReflectedEntry, RuntimeError};
use std::cell::Cell;
use std::ffi::{CString, c_int, c_void};
use std::rc::Rc;

/// Room for what the driver's own compiler says, in bytes.
const LOG_BYTES: usize = 4096;

/// A loaded module, unloaded with this.
pub(super) struct Program {
    /// In the artifact's order.
    pub entries: Vec<Entry>,
    module: CUmodule,
    // Goes after the module.
    _context: Rc<Context>,
}

/// An entry point that can be launched.
pub(super) struct Entry {
    pub reflected: ReflectedEntry,
    pub function: CUfunction,
    /// Static shared memory, in bytes.
    pub static_bytes: u64,
    /// The most threads of a block that its registers allow.
    pub threads_max: u64,
    /// Dynamic shared memory that was allowed so far, in bytes.
    shared_allowed: Cell<u32>,
}

impl Program {
    /// Loads a cubin, or PTX, which the driver compiles.
    ///
    /// # Errors
    /// An artifact of another kind or architecture, or one that the driver can't read.
    pub fn new(context: &Rc<Context>, artifact: &Artifact) -> Result<Program, RuntimeError> {
        if !matches!(artifact.kind, ArtifactKind::Cubin | ArtifactKind::Ptx) {
            return Err(RuntimeError::Artifact(format!("a GPU takes cubin and PTX, not {:?}", artifact.kind)));
        }
        let module = load(&artifact.bytes)?;
        let mut program = Program { entries: Vec::new(), module, _context: Rc::clone(context) };
        for reflected in &artifact.entries {
            program.entries.push(Entry::new(module, reflected)?);
        }
        Ok(program)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: no launch is in flight: each was waited for (or the context is lost, and the call fails).
        let _ = unsafe { sys::cuModuleUnload(self.module) };
    }
}

fn load(bytes: &[u8]) -> Result<CUmodule, RuntimeError> {
    // PTX is text that ends in a NUL; one more byte after a cubin is not read.
    let image: Vec<u8> = bytes.iter().copied().chain([0]).collect();
    let mut log = vec![0u8; LOG_BYTES];
    let mut options = [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // The size is passed in the pointer's own bits.
    let mut values = [log.as_mut_ptr().cast::<c_void>(), std::ptr::without_provenance_mut::<c_void>(LOG_BYTES)];
    let mut module = std::ptr::null_mut();
    // SAFETY: the context is current; image and log outlive the call; there are two options with a value each.
    let code = unsafe {
        sys::cuModuleLoadDataEx(&mut module, image.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr())
    };
    if code == CUresult::CUDA_SUCCESS {
        return Ok(module);
    }
    let said = String::from_utf8_lossy(&log);
    let said = said.trim_end_matches('\0').trim();
    match check("cuModuleLoadDataEx", code) {
        Err(RuntimeError::Artifact(words)) if !said.is_empty() => {
            Err(RuntimeError::Artifact(format!("{words}: {said}")))
        }
        Err(RuntimeError::Driver { code, .. }) => Err(RuntimeError::Artifact(format!("{code}: {said}"))),
        result => result.map(|()| module),
    }
}

impl Entry {
    fn new(module: CUmodule, reflected: &ReflectedEntry) -> Result<Entry, RuntimeError> {
        let name = &reflected.name;
        let unknown = || RuntimeError::Artifact(format!("the module has no entry `{}`", name.escape_debug()));
        let text = CString::new(name.as_str()).map_err(|_| unknown())?;
        let mut function = std::ptr::null_mut();
        // SAFETY: the module is live and the name terminated.
        match unsafe { sys::cuModuleGetFunction(&mut function, module, text.as_ptr()) } {
            CUresult::CUDA_ERROR_NOT_FOUND => return Err(unknown()),
            code => check("cuModuleGetFunction", code)?,
        }
        let get = |attribute| attribute_of(function, attribute);
        Ok(Entry {
            reflected: reflected.clone(),
            function,
            static_bytes: get(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            threads_max: get(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            shared_allowed: Cell::new(0),
        })
    }

    /// Allows that much dynamic shared memory, which above 48 KB must be asked for. What was allowed before stays: an
    /// earlier launch of a sequence may need more than a later one.
    pub fn allow_shared(&self, bytes: u32) -> Result<(), RuntimeError> {
        if bytes <= self.shared_allowed.get() {
            return Ok(());
        }
        self.set(
            Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            c_int::try_from(bytes).unwrap_or(c_int::MAX),
        )?;
        self.shared_allowed.set(bytes);
        Ok(())
    }

    /// Allows clusters that not every device of the architecture can hold.
    pub fn allow_large_clusters(&self) -> Result<(), RuntimeError> {
        self.set(Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
    }

    fn set(&self, attribute: Attribute, value: c_int) -> Result<(), RuntimeError> {
        // SAFETY: the function belongs to a live module.
        check("cuFuncSetAttribute", unsafe { sys::cuFuncSetAttribute(self.function, attribute, value) })
    }
}

fn attribute_of(function: CUfunction, attribute: Attribute) -> Result<u64, RuntimeError> {
    let mut value = 0;
    // SAFETY: a live integer and a function of a live module.
    check("cuFuncGetAttribute", unsafe { sys::cuFuncGetAttribute(&mut value, attribute, function) })?;
    Ok(u64::try_from(value).unwrap_or(0))
}
