//! From a step of a sequence to a launch: everything is checked before the driver sees it.

use super::context::Context;
use super::memory::Buffer;
use super::program::{Entry, Program};
use crate::error::{buffer, check};
use cudarc::driver::sys::{self, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue, CUlaunchConfig};
use peak_backend_api::{ArgumentValue, LaunchArgument, LaunchSequence, LaunchStep, ReflectedEntry, RuntimeError};
use std::collections::BTreeMap;
use std::ffi::c_void;

/// Buffers by name.
pub(super) type Buffers = BTreeMap<String, Buffer>;

/// Shared memory that a block gets without being asked for, in bytes.
const SHARED_DEFAULT: u64 = 48 << 10;
/// Blocks of a cluster that every device with clusters can hold.
const CLUSTER_PORTABLE: u64 = 8;

/// What the device takes.
#[derive(Clone, Copy, Debug)]
struct Limits {
    grid: [u64; 3],
    threads: u64,
    shared_bytes: u64,
    clusters: bool,
}

/// The numbers of one launch.
#[derive(Clone, Copy, Debug)]
struct Shape {
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    cluster: Option<[u32; 3]>,
}

/// Queues every step; each sees the writes of those before it, since a stream keeps its order.
///
/// # Errors
/// A launch outside the device's limits, an argument that does not fit, an unknown entry or buffer.
pub(super) fn queue(
    context: &Context,
    sequence: &LaunchSequence,
    program: &Program,
    buffers: &Buffers,
) -> Result<(), RuntimeError> {
    let limits = limits(context);
    for step in &sequence.steps {
        match step {
            LaunchStep::Fill { buffer, pattern } => known(buffers, buffer)?.queue_fill(*pattern)?,
            LaunchStep::Launch { entry, grid, block, shared_bytes, cluster, arguments } => {
                let shape = Shape { grid: *grid, block: *block, shared_bytes: *shared_bytes, cluster: *cluster };
                let entry = find(program, entry, *block)?;
                check_shape(&entry.reflected, shape, limits, (entry.threads_max, entry.static_bytes))?;
                let values = values(&entry.reflected, arguments, |name| known(buffers, name).map(|it| it.address))?;
                launch(context, entry, shape, values)?;
            }
        }
    }
    Ok(())
}

/// A buffer by name.
pub(super) fn known<'a>(buffers: &'a Buffers, name: &str) -> Result<&'a Buffer, RuntimeError> {
    buffers.get(name).ok_or_else(|| buffer(name, "it was never allocated"))
}

fn refused<T>(problem: impl Into<String>) -> Result<T, RuntimeError> {
    Err(RuntimeError::Launch(problem.into()))
}

fn limits(context: &Context) -> Limits {
    let side = |axis: &str, default| context.fact(&format!("max_grid_{axis}"), default);
    let shared = context.fact("shared_memory_per_block", SHARED_DEFAULT);
    Limits {
        grid: [side("x", (1 << 31) - 1), side("y", 65535), side("z", 65535)],
        threads: context.fact("max_threads_per_block", 1024),
        shared_bytes: context.fact("shared_memory_per_block_optin", shared),
        clusters: context.info.features.iter().any(|feature| feature == "clusters"),
    }
}

/// Several entries of one name differ in their blocks.
fn find<'a>(program: &'a Program, name: &str, block: [u32; 3]) -> Result<&'a Entry, RuntimeError> {
    let of_name = || program.entries.iter().filter(|entry| entry.reflected.name == name);
    match of_name().find(|entry| entry.reflected.block == Some(block)).or_else(|| of_name().next()) {
        Some(entry) => Ok(entry),
        None => refused(format!("the program has no entry `{name}`")),
    }
}

/// Compares a launch with the device's limits and the entry's own: most threads of a block, static shared memory.
fn check_shape(
    entry: &ReflectedEntry,
    shape: Shape,
    limits: Limits,
    (threads_max, static_bytes): (u64, u64),
) -> Result<(), RuntimeError> {
    let (name, grid, block) = (&entry.name, shape.grid, shape.block);
    if grid.contains(&0) || block.contains(&0) {
        return refused(format!("a grid of {grid:?} blocks of {block:?} threads is empty"));
    }
    if grid.iter().zip(limits.grid).any(|(side, most)| u64::from(*side) > most) {
        return refused(format!("a grid of {grid:?} blocks, and the device takes {:?}", limits.grid));
    }
    if let Some(compiled) = entry.block.filter(|compiled| *compiled != block) {
        return refused(format!("blocks of {block:?} threads, and `{name}` was compiled for {compiled:?}"));
    }
    let threads = block.iter().fold(1, |product: u64, side| product.saturating_mul(u64::from(*side)));
    let most = limits.threads.min(threads_max);
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

/// The arguments' bytes, by place: addresses of buffers, and numbers.
fn values(
    entry: &ReflectedEntry,
    arguments: &[LaunchArgument],
    address: impl Fn(&str) -> Result<u64, RuntimeError>,
) -> Result<Vec<Vec<u8>>, RuntimeError> {
    let name = &entry.name;
    let expected = entry.buffers.len() + entry.scalars.len();
    if arguments.len() != expected {
        return refused(format!("`{name}` takes {expected} arguments, and the launch passes {}", arguments.len()));
    }
    let mut places = arguments.iter().enumerate();
    places.try_fold(Vec::new(), |mut values, (place, argument)| {
        let is_buffer = entry
            .buffers
            .iter()
            .any(|buffer| usize::try_from(buffer.binding) == Ok(place) && buffer.name == argument.name);
        let scalar = entry.scalars.iter().find(|scalar| scalar.name == argument.name);
        values.push(match (&argument.value, is_buffer, scalar) {
            (ArgumentValue::Buffer(buffer), true, _) => address(buffer)?.to_le_bytes().to_vec(),
            (ArgumentValue::Bytes(bytes), false, Some(scalar)) if bytes.len() == scalar.bytes as usize => bytes.clone(),
            _ => {
                return refused(format!(
                    "argument {place} of `{name}` is not `{}` of this kind and size",
                    argument.name
                ));
            }
        });
        Ok(values)
    })
}

fn launch(context: &Context, entry: &Entry, shape: Shape, mut values: Vec<Vec<u8>>) -> Result<(), RuntimeError> {
    if u64::from(shape.shared_bytes) + entry.static_bytes > SHARED_DEFAULT {
        entry.allow_shared(shape.shared_bytes)?;
    }
    let blocks = |cluster: [u32; 3]| cluster.iter().map(|side| u64::from(*side)).product::<u64>();
    if shape.cluster.is_some_and(|cluster| blocks(cluster) > CLUSTER_PORTABLE) {
        entry.allow_large_clusters()?;
    }
    let mut attributes: Vec<CUlaunchAttribute> = shape.cluster.map(cluster_attribute).into_iter().collect();
    let config = CUlaunchConfig {
        gridDimX: shape.grid[0],
        gridDimY: shape.grid[1],
        gridDimZ: shape.grid[2],
        blockDimX: shape.block[0],
        blockDimY: shape.block[1],
        blockDimZ: shape.block[2],
        sharedMemBytes: shape.shared_bytes,
        hStream: context.stream,
        attrs: attributes.as_mut_ptr(),
        numAttrs: u32::try_from(attributes.len()).unwrap_or(0),
    };
    let mut pointers: Vec<*mut c_void> = values.iter_mut().map(|value| value.as_mut_ptr().cast()).collect();
    // SAFETY: the function is of a live module; the values are as many and as wide as its parameters, which were compared
    // when it was compiled, and the driver copies them before it returns.
    let code = unsafe { sys::cuLaunchKernelEx(&config, entry.function, pointers.as_mut_ptr(), std::ptr::null_mut()) };
    check("cuLaunchKernelEx", code).map_err(|error| match error {
        RuntimeError::Driver { call, code } if code.contains("INVALID_VALUE") => RuntimeError::Launch(format!(
            "{code} at {call}: the driver refuses the numbers of `{}`",
            entry.reflected.name
        )),
        other => other,
    })
}

fn cluster_attribute(cluster: [u32; 3]) -> CUlaunchAttribute {
    let [x, y, z] = cluster;
    // SAFETY: all bits zero are a value of the union, which is plain data.
    let mut value: CUlaunchAttributeValue = unsafe { std::mem::zeroed() };
    value.clusterDim = sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z };
    CUlaunchAttribute { id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, pad: [0; 4], value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use peak_backend_api::{ReflectedBuffer, ReflectedScalar};

    fn entry() -> ReflectedEntry {
        ReflectedEntry {
            name: "f".to_owned(),
            block: Some([32, 1, 1]),
            buffers: vec![ReflectedBuffer { name: "A".to_owned(), set: 0, binding: 0, writable: true, stride: None }],
            scalars: vec![ReflectedScalar { name: "n".to_owned(), offset: 8, bytes: 4 }],
            scalar_bytes: 12,
        }
    }

    const LIMITS: Limits = Limits { grid: [100, 10, 10], threads: 1024, shared_bytes: 227 << 10, clusters: true };
    const SHAPE: Shape = Shape { grid: [8, 1, 1], block: [32, 1, 1], shared_bytes: 0, cluster: None };

    #[test]
    fn shapes_are_compared_with_the_limits() {
        let check = |shape| check_shape(&entry(), shape, LIMITS, (1024, 1024));
        assert_eq!(check(SHAPE), Ok(()));
        assert_eq!(check(Shape { shared_bytes: 226 << 10, cluster: Some([2, 1, 1]), ..SHAPE }), Ok(()));
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
        let small = check_shape(&entry(), SHAPE, LIMITS, (16, 0));
        assert!(matches!(small, Err(RuntimeError::Launch(_))), "{small:?}");
    }

    #[test]
    fn arguments_bind_by_place_and_name() {
        let argument = |name: &str, value| LaunchArgument { name: name.to_owned(), value };
        let address = |name: &str| if name == "a" { Ok(7) } else { Err(buffer(name, "it was never allocated")) };
        let a = argument("A", ArgumentValue::Buffer("a".to_owned()));
        let n = argument("n", ArgumentValue::Bytes(vec![1, 0, 0, 0]));
        let bytes = values(&entry(), &[a.clone(), n.clone()], address);
        assert_eq!(bytes, Ok(vec![7u64.to_le_bytes().to_vec(), vec![1, 0, 0, 0]]));
        let wide = argument("n", ArgumentValue::Bytes(vec![0; 8]));
        let other = argument("Z", ArgumentValue::Buffer("a".to_owned()));
        for wrong in [vec![a.clone()], vec![n.clone(), a.clone()], vec![a, wide], vec![other, n.clone()]] {
            assert!(matches!(values(&entry(), &wrong, address), Err(RuntimeError::Launch(_))), "{wrong:?}");
        }
        let unknown = values(&entry(), &[argument("A", ArgumentValue::Buffer("b".to_owned())), n], address);
        assert!(matches!(unknown, Err(RuntimeError::Buffer { .. })), "{unknown:?}");
    }
}
