//! The numbers of a launch against the device's limits and the entry's own. Asks no driver: what fits on the device at
//! once is `resident`'s.

use super::context::Context;
use peak_backend_api::{LaunchStep, ReflectedEntry, RuntimeError};

/// Shared memory that a block gets without being asked for, in bytes.
pub(super) const SHARED_DEFAULT: u64 = 48 << 10;
/// Blocks of a cluster that every device with clusters can hold.
pub(super) const CLUSTER_PORTABLE: u64 = 8;

/// What the device takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub grid: [u64; 3],
    pub block: [u64; 3],
    pub threads: u64,
    pub shared_bytes: u64,
    pub clusters: bool,
    pub cooperative: bool,
}

/// The numbers of one launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared_bytes: u32,
    pub cluster: Option<[u32; 3]>,
    pub cooperative: bool,
}

impl Shape {
    /// The numbers of a step; `None` where it launches nothing.
    pub fn of(step: &LaunchStep) -> Option<Shape> {
        match step {
            LaunchStep::Launch { grid, block, shared_bytes, cluster, cooperative, .. } => Some(Shape {
                grid: *grid,
                block: *block,
                shared_bytes: *shared_bytes,
                cluster: *cluster,
                cooperative: *cooperative,
            }),
            LaunchStep::Fill { .. } => None,
        }
    }

    /// Blocks in all.
    pub fn blocks(&self) -> u64 {
        product(self.grid)
    }

    /// Threads a block.
    pub fn threads(&self) -> u64 {
        product(self.block)
    }

    /// Blocks a cluster, where the launch has clusters.
    pub fn cluster_blocks(&self) -> Option<u64> {
        self.cluster.map(product)
    }
}

fn product(sides: [u32; 3]) -> u64 {
    sides.iter().fold(1, |product: u64, side| product.saturating_mul(u64::from(*side)))
}

/// A launch that is refused.
pub(super) fn refused<T>(problem: impl Into<String>) -> Result<T, RuntimeError> {
    Err(RuntimeError::Launch(problem.into()))
}

/// The device's limits, as its driver told them.
pub(super) fn limits(context: &Context) -> Limits {
    let grid = |axis: &str, default| context.fact(&format!("max_grid_{axis}"), default);
    let block = |axis: &str, default| context.fact(&format!("max_block_{axis}"), default);
    let has = |name: &str| context.info.features.iter().any(|feature| feature == name);
    let shared = context.fact("shared_memory_per_block", SHARED_DEFAULT);
    Limits {
        grid: [grid("x", (1 << 31) - 1), grid("y", 65535), grid("z", 65535)],
        block: [block("x", 1024), block("y", 1024), block("z", 64)],
        threads: context.fact("max_threads_per_block", 1024),
        shared_bytes: context.fact("shared_memory_per_block_optin", shared),
        clusters: has("clusters"),
        cooperative: has("cooperative_launch"),
    }
}

/// Compares a launch with the device's limits and the entry's own: most threads of a block, static shared memory.
pub(super) fn check_shape(
    entry: &ReflectedEntry,
    shape: Shape,
    limits: Limits,
    (threads_max, static_bytes): (u64, u64),
) -> Result<(), RuntimeError> {
    let (name, grid, block) = (&entry.name, shape.grid, shape.block);
    let beyond = |sides: [u32; 3], most: [u64; 3]| sides.iter().zip(most).any(|(side, most)| u64::from(*side) > most);
    if grid.contains(&0) || block.contains(&0) {
        return refused(format!("a grid of {grid:?} blocks of {block:?} threads is empty"));
    }
    if beyond(grid, limits.grid) {
        return refused(format!("a grid of {grid:?} blocks, and the device takes {:?}", limits.grid));
    }
    if beyond(block, limits.block) {
        return refused(format!("blocks of {block:?} threads, and the device takes {:?}", limits.block));
    }
    if let Some(compiled) = entry.block.filter(|compiled| *compiled != block) {
        return refused(format!("blocks of {block:?} threads, and `{name}` was compiled for {compiled:?}"));
    }
    let (threads, most) = (shape.threads(), limits.threads.min(threads_max));
    if threads > most {
        return refused(format!("blocks of {threads} threads, and `{name}` can have {most} on this device"));
    }
    let shared = u64::from(shape.shared_bytes) + static_bytes;
    if shared > limits.shared_bytes {
        return refused(format!(
            "{shared} bytes of shared memory ({static_bytes} of them static), and the device has {} a block",
            limits.shared_bytes
        ));
    }
    if shape.cooperative && !limits.cooperative {
        return refused("a cooperative launch, which the device does not have");
    }
    check_cluster(shape, limits)
}

fn check_cluster(shape: Shape, limits: Limits) -> Result<(), RuntimeError> {
    match shape.cluster {
        None => Ok(()),
        Some(_) if !limits.clusters => refused("clusters need compute capability 9.0"),
        Some(cluster) if cluster.iter().zip(shape.grid).any(|(side, grid)| *side == 0 || grid % side != 0) => {
            refused(format!("a grid of {:?} blocks can't be cut into clusters of {cluster:?}", shape.grid))
        }
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        grid: [100, 10, 10],
        block: [1024, 1024, 64],
        threads: 1024,
        shared_bytes: 227 << 10,
        clusters: true,
        cooperative: true,
    };
    const SHAPE: Shape =
        Shape { grid: [8, 1, 1], block: [32, 1, 1], shared_bytes: 0, cluster: None, cooperative: false };

    fn entry(block: Option<[u32; 3]>) -> ReflectedEntry {
        let resources = peak_backend_api::Resources::default();
        ReflectedEntry {
            name: "f".to_owned(),
            block,
            buffers: Vec::new(),
            scalars: Vec::new(),
            scalar_bytes: 0,
            resources,
        }
    }

    #[test]
    fn shapes_are_compared_with_the_limits() {
        let check = |shape| check_shape(&entry(Some([32, 1, 1])), shape, LIMITS, (1024, 1024));
        assert_eq!(check(SHAPE), Ok(()));
        assert_eq!(
            check(Shape { shared_bytes: 226 << 10, cluster: Some([2, 1, 1]), cooperative: true, ..SHAPE }),
            Ok(())
        );
        for shape in [
            Shape { grid: [0, 1, 1], ..SHAPE },
            Shape { grid: [101, 1, 1], ..SHAPE },
            Shape { block: [64, 1, 1], ..SHAPE },
            Shape { shared_bytes: 227 << 10, ..SHAPE },
            Shape { cluster: Some([3, 1, 1]), ..SHAPE },
            Shape { cluster: Some([0, 1, 1]), ..SHAPE },
        ] {
            assert!(matches!(check(shape), Err(RuntimeError::Launch(_))), "{shape:?}");
        }
        let small = check_shape(&entry(None), SHAPE, LIMITS, (16, 0));
        assert!(matches!(small, Err(RuntimeError::Launch(_))), "{small:?}");
        let deep = check_shape(&entry(None), Shape { block: [1, 1, 65], ..SHAPE }, LIMITS, (1024, 0));
        assert!(matches!(deep, Err(RuntimeError::Launch(_))), "{deep:?}");
    }

    #[test]
    fn what_the_device_lacks_is_said() {
        let old = Limits { clusters: false, cooperative: false, ..LIMITS };
        let words = |shape| check_shape(&entry(None), shape, old, (1024, 0)).expect_err("it lacks that").to_string();
        assert!(words(Shape { cluster: Some([2, 1, 1]), ..SHAPE }).contains("clusters need compute capability 9.0"));
        assert!(words(Shape { cooperative: true, ..SHAPE }).contains("a cooperative launch, which the device"));
    }
}
