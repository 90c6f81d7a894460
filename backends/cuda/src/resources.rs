//! What a compiled kernel uses, and whether the device has it.

use peak_backend_api::{CompileError, CompileRequest, ReflectedEntry, Resources};
use std::collections::BTreeMap;

/// Static shared memory of a block at most, in bytes, on every device: more must be dynamic.
const STATIC_SHARED_MAX: u64 = 48 << 10;
/// The most threads of a block in the language, whatever the device.
const LANGUAGE_THREADS_MAX: u64 = 1024;
/// Registers that a block has at most, on every architecture from sm_75 to sm_121.
const BLOCK_REGISTERS_MAX: u64 = 65536;
/// Registers are given to a warp in pieces of this size.
const REGISTER_PIECE: u64 = 256;
/// Threads a warp.
const WARP: u64 = 32;

/// What the assembler says of one entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    /// Registers a thread.
    pub registers: u32,
    /// Static shared memory, in bytes.
    pub shared_bytes: u64,
    /// Bytes that are stored and loaded for want of registers.
    pub spill_bytes: u32,
}

/// Reads the words of the assembler (`ptxas -v`), by entry.
pub(crate) fn read(log: &str) -> BTreeMap<String, Used> {
    let mut found: BTreeMap<String, Used> = BTreeMap::new();
    let mut entry: Option<&mut Used> = None;
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let name = rest.split('\'').next().unwrap_or_default();
            entry = Some(found.entry(name.to_owned()).or_default());
        } else if let Some(used) = &mut entry {
            if line.contains("bytes spill stores") {
                let stored = before(line, " bytes spill stores").unwrap_or(0);
                let loaded = before(line, " bytes spill loads").unwrap_or(0);
                used.spill_bytes = u32::try_from(stored + loaded).unwrap_or(u32::MAX);
            } else if let Some(registers) = before(line, " registers") {
                used.registers = u32::try_from(registers).unwrap_or(u32::MAX);
                used.shared_bytes = before(line, " bytes smem").unwrap_or(0);
                entry = None;
            }
        }
    }
    found
}

/// The number right before some words.
fn before(line: &str, words: &str) -> Option<u64> {
    line[..line.find(words)?].rsplit([' ', ',']).next()?.parse().ok()
}

/// Resources of one entry; nothing is known of one that the assembler did not speak of.
pub(crate) fn of(used: Option<Used>, instructions: Option<u64>) -> Resources {
    Resources {
        shared_bytes: used.map(|used| used.shared_bytes),
        registers: used.map(|used| used.registers),
        spill_bytes: used.map(|used| used.spill_bytes),
        instructions,
    }
}

/// Resources of an artifact: the most that an entry uses of each, where all are known.
pub(crate) fn most(entries: &[ReflectedEntry], instructions: Option<u64>) -> Resources {
    fn largest<T: Ord>(entries: &[ReflectedEntry], of: impl Fn(&Resources) -> Option<T>) -> Option<T> {
        let known: Option<Vec<T>> = entries.iter().map(|entry| of(&entry.resources)).collect();
        known?.into_iter().max()
    }
    Resources {
        shared_bytes: largest(entries, |used| used.shared_bytes),
        registers: largest(entries, |used| used.registers),
        spill_bytes: largest(entries, |used| used.spill_bytes),
        instructions,
    }
}

/// Compares the launches' blocks with the limits, before anything is compiled.
///
/// # Errors
/// [`CompileError::OverLimit`] for the first block that is too large.
pub(crate) fn check_blocks(request: &CompileRequest) -> Result<(), CompileError> {
    let limit = request.threads_limit.map_or(LANGUAGE_THREADS_MAX, |limit| LANGUAGE_THREADS_MAX.min(u64::from(limit)));
    request.entries.iter().try_for_each(|entry| within("threads per block", threads(entry.block), limit))
}

/// Compares what an entry uses with the limits of the request and of all devices.
///
/// # Errors
/// [`CompileError::OverLimit`].
pub(crate) fn check(request: &CompileRequest, block: [u32; 3], used: Used) -> Result<(), CompileError> {
    let limit = request.shared_bytes_limit.map_or(STATIC_SHARED_MAX, |limit| limit.min(STATIC_SHARED_MAX));
    within("bytes of static shared memory per block", used.shared_bytes, limit)?;
    within("registers per block", block_registers(threads(block), used.registers), BLOCK_REGISTERS_MAX)
}

fn threads(block: [u32; 3]) -> u64 {
    block.iter().fold(1, |product: u64, side| product.saturating_mul(u64::from(*side)))
}

/// Registers are given to whole warps, in pieces.
fn block_registers(threads: u64, registers: u32) -> u64 {
    threads.div_ceil(WARP).saturating_mul((u64::from(registers) * WARP).next_multiple_of(REGISTER_PIECE))
}

fn within(resource: &str, used: u64, limit: u64) -> Result<(), CompileError> {
    match used > limit {
        true => Err(CompileError::OverLimit { resource: resource.to_owned(), used, limit }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "ptxas info    : 0 bytes gmem\n\
        ptxas info    : Compiling entry function 'g' for 'sm_90a'\n\
        ptxas info    : Function properties for g\n\
        ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
        ptxas info    : Used 12 registers, used 1 barriers, 4096 bytes smem\n\
        ptxas info    : Compile time = 1.881 ms\n\
        ptxas info    : Compiling entry function 'f' for 'sm_90a'\n\
        ptxas info    : Function properties for f\n\
        ptxas         .     1536 bytes stack frame, 1556 bytes spill stores, 1772 bytes spill loads\n\
        ptxas info    : Used 32 registers, used 1 barriers, 1536 bytes cumulative stack size\n";

    #[test]
    fn the_assemblers_words_are_read() {
        let found = read(LOG);
        assert_eq!(found["g"], Used { registers: 12, shared_bytes: 4096, spill_bytes: 0 });
        assert_eq!(found["f"], Used { registers: 32, shared_bytes: 0, spill_bytes: 3328 });
        assert!(read("Used registers, bytes smem, bytes spill stores").is_empty());
    }

    #[test]
    fn registers_and_shared_memory_have_limits() {
        let request = CompileRequest {
            pieces: Vec::new(),
            entries: Vec::new(),
            target: String::new(),
            shared_bytes_limit: Some(227 << 10),
            threads_limit: None,
        };
        let used = |registers, shared_bytes| Used { registers, shared_bytes, spill_bytes: 0 };
        assert_eq!(check(&request, [1024, 1, 1], used(64, 48 << 10)), Ok(()));
        for (registers, shared) in [(65, 0), (16, (48 << 10) + 1)] {
            let refused = check(&request, [32, 32, 1], used(registers, shared));
            assert!(matches!(refused, Err(CompileError::OverLimit { .. })), "{refused:?}");
        }
    }

    #[test]
    fn what_is_not_told_is_not_none() {
        let entry = |used| ReflectedEntry {
            name: "f".to_owned(),
            block: None,
            buffers: Vec::new(),
            scalars: Vec::new(),
            scalar_bytes: 0,
            resources: of(used, Some(8)),
        };
        let known = entry(Some(Used { registers: 12, shared_bytes: 0, spill_bytes: 4 }));
        assert_eq!(most(std::slice::from_ref(&known), None).registers, Some(12));
        assert_eq!(most(&[known, entry(None)], None), Resources::default());
    }
}
