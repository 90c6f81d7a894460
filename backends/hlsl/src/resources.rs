//! What a compiled kernel uses, and whether the device has it.

use crate::reflect::Reflection;
use peak_backend_api::{CompileError, CompileRequest, Resources};

/// Resources of an artifact: the most shared memory of an entry, the instructions of all.
pub(crate) fn of(entries: &[Reflection]) -> Resources {
    Resources {
        shared_bytes: entries.iter().map(|entry| entry.shared_bytes).max(),
        // SPIR-V is compiled once more by the driver: registers and spills are decided there.
        registers: None,
        spill_bytes: None,
        instructions: Some(entries.iter().map(|entry| entry.instructions).sum()),
    }
}

/// Compares every entry with the limits that the request names.
///
/// # Errors
/// [`CompileError::OverLimit`] for the first that exceeds one.
pub(crate) fn check_limits(request: &CompileRequest, entries: &[Reflection]) -> Result<(), CompileError> {
    for found in entries {
        let threads = found.entry.block.map_or(0, |block| block.iter().map(|side| u64::from(*side)).product());
        within("threads per block", threads, request.threads_limit.map(u64::from))?;
        within("bytes of shared memory per block", found.shared_bytes, request.shared_bytes_limit)?;
    }
    Ok(())
}

fn within(resource: &str, used: u64, limit: Option<u64>) -> Result<(), CompileError> {
    match limit {
        Some(limit) if used > limit => Err(CompileError::OverLimit { resource: resource.to_owned(), used, limit }),
        _ => Ok(()),
    }
}
