//! The simulated device: memory, threads, blocks, launches.
//!
//! `memory` is the address space, `thread` what generated code sees, `block` runs one block's threads as coroutines or
//! as plain calls, `warp` and `barrier` hold what threads wait for, `cluster` what blocks share, `gang` runs the blocks
//! of a cluster together, `launch` spreads them over the cores, `fault` says what went wrong. Nothing here knows PTX.

pub(crate) mod barrier;
pub(crate) mod block;
pub(crate) mod cluster;
pub(crate) mod fault;
pub(crate) mod gang;
pub(crate) mod launch;
pub(crate) mod memory;
pub(crate) mod thread;
pub(crate) mod warp;

/// Lanes of a warp.
pub(crate) const WARP: usize = 32;

/// Threads of a cooperative launch, all of which are under way at once: each has a stack, and a host maps so many.
pub(crate) const MAX_COOPERATIVE_THREADS: u64 = 24 << 10;

/// Instructions of one thread after which it is taken to loop for ever: about five seconds of a core.
pub(crate) const MAX_THREAD_INSTRUCTIONS: u64 = 1 << 32;

/// How long all threads of a launch may spin while none gets on: shorter than what a validation waits for a run.
pub(crate) const MAX_SPIN: std::time::Duration = std::time::Duration::from_secs(10);

/// Instructions between two yields of a thread that may spin.
pub(crate) const SLICE_INSTRUCTIONS: u64 = 4096;

/// Calls within each other; more is taken for recursion without end.
pub(crate) const MAX_CALL_DEPTH: u32 = 128;

/// Bytes of host stack of a thread.
pub(crate) const STACK_BYTES: usize = 256 << 10;

/// Bytes of the host's stack that must be free where a call begins.
pub(crate) const STACK_MARGIN_BYTES: usize = 64 << 10;

/// Bytes of a frame of generated code, at most: a call and what it calls of the host fit the margin.
pub(crate) const MAX_FRAME_BYTES: u32 = 32 << 10;

/// Bytes of `.local` memory of a thread.
pub(crate) const LOCAL_BYTES: u64 = 512 << 10;
