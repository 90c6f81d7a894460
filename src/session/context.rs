//! The context that a kernel's declaration starts from.

use super::error::SessionError;
use crate::context::{CONTEXT_VERSION, KernelContext, Regions};
use crate::error::Result;
use crate::library::Loaded;
use peak_grammar::ir::Region;

/// A kernel in one language, before any transformation.
///
/// # Errors
/// An unknown kernel, one without code for the backend, a source file that cannot be read.
pub fn start_context(loaded: &Loaded, kernel: &str, backend: &str) -> Result<KernelContext> {
    let known = loaded.ir.kernels.keys().map(String::as_str);
    let kernel = loaded.ir.kernels.get(kernel).ok_or_else(|| SessionError::unknown("kernel", kernel, known))?;
    let has_code = kernel.code.get(backend).is_some_and(|regions| regions.contains_key(&Region::DeviceCode));
    if !has_code {
        let known: Vec<&str> = kernel.code.keys().map(String::as_str).collect();
        return Err(SessionError::NoDeviceCode {
            kernel: kernel.name.clone(),
            backend: backend.to_owned(),
            known: known.join(", "),
        }
        .into());
    }
    Ok(KernelContext {
        version: CONTEXT_VERSION,
        kernel: kernel.clone(),
        backend: backend.to_owned(),
        regions: Regions {
            macros: loaded.code(kernel, backend, Region::Macros)?,
            device_code: loaded.code(kernel, backend, Region::DeviceCode)?,
            host_code: kernel.host_code.clone(),
        },
        plan: kernel.launch.clone(),
        tuning: kernel.tuning.clone(),
        requirements: kernel.requirements.clone(),
        applied: Vec::new(),
    })
}
