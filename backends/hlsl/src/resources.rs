//! What a compiled kernel uses, and whether the device has it.

use crate::reflect::Reflection;
use peak_backend_api::{CompileError, CompileRequest, Resources};

/// Resources of one entry.
pub(crate) fn of_entry(entry: &Reflection) -> Resources {
    Resources {
        shared_bytes: Some(entry.shared_bytes),
        // SPIR-V is compiled once more by the driver: registers and spills are decided there.
        registers: None,
        spill_bytes: None,
        instructions: Some(entry.instructions),
    }
}

/// Resources of an artifact: the most shared memory of an entry, the instructions of all.
pub(crate) fn of(entries: &[Reflection]) -> Resources {
    Resources {
        shared_bytes: entries.iter().map(|entry| entry.shared_bytes).max(),
        registers: None,
        spill_bytes: None,
        instructions: Some(entries.iter().map(|entry| entry.instructions).sum()),
    }
}

/// The most threads of a block in HLSL itself, whatever the device.
const LANGUAGE_THREADS_MAX: u64 = 1024;

/// Compares the launches' blocks with the limits, before DXC says it in words about an attribute.
///
/// # Errors
/// [`CompileError::OverLimit`] for the first block that is too large.
pub(crate) fn check_blocks(request: &CompileRequest) -> Result<(), CompileError> {
    let limit = request.threads_limit.map_or(LANGUAGE_THREADS_MAX, |limit| LANGUAGE_THREADS_MAX.min(u64::from(limit)));
    request.entries.iter().try_for_each(|entry| {
        let threads = entry.block.iter().fold(1, |product: u64, side| product.saturating_mul(u64::from(*side)));
        within("threads per block", threads, Some(limit))
    })
}

/// Compares the shared memory of every entry with the limit that the request names.
///
/// # Errors
/// [`CompileError::OverLimit`] for the first that exceeds it.
pub(crate) fn check_shared(request: &CompileRequest, entries: &[Reflection]) -> Result<(), CompileError> {
    let limit = request.shared_bytes_limit;
    entries.iter().try_for_each(|found| within("bytes of shared memory per block", found.shared_bytes, limit))
}

fn within(resource: &str, used: u64, limit: Option<u64>) -> Result<(), CompileError> {
    match limit {
        Some(limit) if used > limit => Err(CompileError::OverLimit { resource: resource.to_owned(), used, limit }),
        _ => Ok(()),
    }
}
