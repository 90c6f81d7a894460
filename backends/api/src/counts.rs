//! What launches executed, instruction by instruction. Plain data; whoever reads it decides what is much.

use crate::{InstructionKind, SourcePlace};
use serde::{Deserialize, Serialize};

/// Bytes of a sector: the least that moves between global memory's caches.
pub const SECTOR_BYTES: u64 = 32;

/// What one launch executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchCounts {
    /// The entry point.
    pub entry: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads a block in x, y, z.
    pub block: [u32; 3],
    /// Blocks of the launch.
    pub blocks: u64,
    /// Blocks that were counted: the numbers of `sites` are theirs alone.
    pub blocks_counted: u64,
    /// Every instruction of the entry and of the functions that it calls, in the order of the code.
    pub sites: Vec<SiteCounts>,
}

/// What one instruction of the code came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteCounts {
    /// The entry or the function in which it stands.
    pub function: String,
    /// Line of the code's text, from 1.
    pub text_line: u32,
    /// The place in the source that it was made from, where the code says.
    pub at: Option<SourcePlace>,
    /// As the text has it.
    pub opcode: String,
    /// What it is counted as.
    pub kind: InstructionKind,
    /// Times that a warp executed it, with however many of its threads.
    pub warps: u64,
    /// Times that a thread executed it; one whose guard was false did not.
    pub threads: u64,
    /// Its accesses, by what they touched.
    pub memory: Vec<MemoryCounts>,
}

/// What an access touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemorySpace {
    /// Memory that all blocks see.
    Global,
    /// A block's own.
    Shared,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessKind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes at once, and gives what was there.
    Atomic,
    /// Reads and writes at once; nobody asks for what was there.
    Reduction,
}

/// Accesses of one instruction to one space. A request is one execution by a warp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryCounts {
    /// Which memory.
    pub space: MemorySpace,
    /// Reads or writes.
    pub access: AccessKind,
    /// Bytes that one thread moves with one access.
    pub bytes: u32,
    /// Warps' accesses.
    pub requests: u64,
    /// Threads' accesses.
    pub threads: u64,
    /// Global: distinct sectors of each request, added up.
    pub sectors: u64,
    /// Global: sectors that as many bytes, side by side, would touch; never more than `sectors`.
    pub sectors_ideal: u64,
    /// Shared: passes over the banks that requests take.
    pub wavefronts: u64,
    /// Shared: passes that as many bytes would take without two words in one bank; never more than `wavefronts`.
    pub wavefronts_ideal: u64,
    /// Shared: passes that words in one bank add.
    pub conflicts: u64,
    /// Distinct addresses of each request, added up.
    pub addresses: u64,
    /// The most frequent distance in bytes from one thread's address to the next one's, where there is one.
    pub stride_bytes: Option<i64>,
}
