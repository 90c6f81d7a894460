//! The device that is simulated: an H100's numbers, but for its memory, which is the host's.

use peak_backend_api::{DeviceInfo, DeviceKind};

/// Threads of a block.
pub(crate) const MAX_THREADS: u32 = 1024;
/// Threads of a block in x, y, z.
pub(crate) const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// Blocks in x, y, z.
pub(crate) const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];
/// Static shared memory of a block.
pub(crate) const MAX_STATIC_SHARED: u64 = 48 << 10;
/// Static and dynamic shared memory of a block.
pub(crate) const MAX_SHARED: u64 = 227 << 10;
/// Bytes of an entry's parameters.
pub(crate) const MAX_PARAMETER_BYTES: u64 = 32764;
/// Shared memory of a multiprocessor, and what each block takes of it beside its own.
const MULTIPROCESSOR_SHARED: u64 = 228 << 10;
const BLOCK_SHARED_RESERVED: u64 = 1 << 10;
/// Threads and blocks of a multiprocessor.
const MULTIPROCESSOR_THREADS: u64 = 2048;
const MULTIPROCESSOR_BLOCKS: u64 = 32;
/// Multiprocessors.
const MULTIPROCESSORS: u64 = 132;
/// Blocks of a cluster.
pub(crate) const MAX_CLUSTER: u64 = 16;
/// Memory, where the host does not say how much it has.
const DEFAULT_MEMORY_BYTES: u64 = 4 << 30;
/// Memory that the simulated device has at most.
const MAX_MEMORY_BYTES: u64 = 80 << 30;

/// The device's description. `memory_bytes` is what buffers may take together.
pub(crate) fn info(memory_bytes: u64) -> DeviceInfo {
    let bytes = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let facts = [
        ("l2", 50 << 20),
        ("max_block_x", i64::from(MAX_BLOCK[0])),
        ("max_block_y", i64::from(MAX_BLOCK[1])),
        ("max_block_z", i64::from(MAX_BLOCK[2])),
        ("max_blocks_per_multiprocessor", bytes(MULTIPROCESSOR_BLOCKS)),
        ("max_grid_x", i64::from(MAX_GRID[0])),
        ("max_grid_y", i64::from(MAX_GRID[1])),
        ("max_grid_z", i64::from(MAX_GRID[2])),
        ("max_threads_per_block", i64::from(MAX_THREADS)),
        ("max_threads_per_multiprocessor", bytes(MULTIPROCESSOR_THREADS)),
        ("memory", bytes(memory_bytes)),
        ("multiprocessors", bytes(MULTIPROCESSORS)),
        ("registers_per_multiprocessor", 65536),
        ("shared_memory_per_block", bytes(MAX_STATIC_SHARED)),
        ("shared_memory_per_block_optin", bytes(MAX_SHARED)),
        ("shared_memory_per_multiprocessor", bytes(MULTIPROCESSOR_SHARED)),
        ("shared_memory_reserved_per_block", bytes(BLOCK_SHARED_RESERVED)),
        ("warp", 32),
    ];
    DeviceInfo {
        index: 0,
        name: "Peak CUDA simulator (sm_90)".to_owned(),
        backend: "cuda".to_owned(),
        runtime: "sim".to_owned(),
        driver: format!("peak-backend-sim {}", env!("CARGO_PKG_VERSION")),
        kind: DeviceKind::Software,
        facts: facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        features: ["bf16", "clusters", "cooperative_launch", "f16", "f64", "simulated"].map(str::to_owned).to_vec(),
        target: Some("compute_90".to_owned()),
    }
}

/// Blocks of `threads` threads and `shared_bytes` bytes of shared memory that the device holds at once. Registers are not
/// limited.
pub(crate) fn resident_blocks(threads: u64, shared_bytes: u64) -> u64 {
    let by_threads = MULTIPROCESSOR_THREADS / threads.next_multiple_of(32).max(32);
    let by_shared = MULTIPROCESSOR_SHARED / (shared_bytes + BLOCK_SHARED_RESERVED);
    MULTIPROCESSORS * by_threads.min(by_shared).min(MULTIPROCESSOR_BLOCKS)
}

/// Half of what the host has free, at most an H100's memory. Reads `/proc/meminfo` where there is one.
pub(crate) fn memory_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = text.lines().find_map(|line| {
        let rest = line.strip_prefix("MemAvailable:")?.trim().strip_suffix("kB")?;
        rest.trim().parse::<u64>().ok()
    });
    available.map_or(DEFAULT_MEMORY_BYTES, |kib| kib * 1024 / 2).min(MAX_MEMORY_BYTES)
}
