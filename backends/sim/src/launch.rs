//! What a launch may ask for, and its parameters as bytes.

use crate::facts::{
    MAX_BLOCK, MAX_CLUSTER, MAX_GRID, MAX_PARAMETER_BYTES, MAX_SHARED, MAX_STATIC_SHARED, MAX_THREADS, resident_blocks,
};
use crate::machine::MAX_COOPERATIVE_THREADS;
use crate::program::CompiledEntry;
use peak_backend_api::{ArgumentValue, LaunchArgument, RuntimeError};

/// Local memory of a thread, at most.
const MAX_LOCAL_BYTES: u64 = 1 << 20;

/// Limits that an entry itself must keep.
///
/// # Errors
/// In words, as `ptxas` would refuse it.
pub(crate) fn check_entry(entry: &CompiledEntry) -> Result<(), String> {
    let limits = [
        ("static shared memory", entry.static_shared, MAX_STATIC_SHARED),
        ("parameters", entry.parameter_bytes, MAX_PARAMETER_BYTES),
        ("local memory a thread", entry.local_bytes, MAX_LOCAL_BYTES),
    ];
    match limits.iter().find(|(_, used, limit)| used > limit) {
        Some((what, used, limit)) => Err(format!("{used} bytes of {what}; {limit} are allowed")),
        None => Ok(()),
    }
}

/// The numbers of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Dynamic.
    pub shared_bytes: u32,
    pub cluster: Option<[u32; 3]>,
    pub cooperative: bool,
}

fn product(sides: [u32; 3]) -> u64 {
    sides.iter().map(|it| u64::from(*it)).fold(1, u64::saturating_mul)
}

/// Limits of a launch. Gives the blocks of a cluster, 1 where there is none.
///
/// # Errors
/// [`RuntimeError::Launch`], as the driver would refuse it.
pub(crate) fn check(entry: &CompiledEntry, shape: Shape) -> Result<[u32; 3], RuntimeError> {
    let Shape { grid, block, shared_bytes, .. } = shape;
    let refuse = |problem: String| Err(RuntimeError::Launch(format!("`{}`: {problem}", entry.name)));
    let within =
        |sizes: [u32; 3], limits: [u32; 3]| sizes.iter().zip(limits).all(|(it, limit)| (1..=limit).contains(it));
    if !within(grid, MAX_GRID) {
        return refuse(format!("a grid of {grid:?} blocks; 1 to {MAX_GRID:?} are allowed"));
    }
    let threads = product(block);
    if !within(block, MAX_BLOCK) || threads > u64::from(MAX_THREADS) {
        return refuse(format!("a block of {block:?} threads; {MAX_THREADS} are allowed, up to {MAX_BLOCK:?}"));
    }
    match entry.threads {
        Some((exact, true)) if exact != block => return refuse(format!("blocks of {block:?}; it requires {exact:?}")),
        Some((most, false)) if threads > product(most) => {
            return refuse(format!("blocks of {block:?}; it was compiled for at most {most:?}"));
        }
        _ => {}
    }
    let shared = entry.static_shared + u64::from(shared_bytes);
    if shared > MAX_SHARED {
        return refuse(format!("{shared} bytes of shared memory; {MAX_SHARED} are allowed"));
    }
    check_cooperative(shape, shared).and_then(|()| check_cluster(entry, shape)).or_else(refuse)
}

/// The blocks of a cluster, or what is wrong with them.
fn check_cluster(entry: &CompiledEntry, shape: Shape) -> Result<[u32; 3], String> {
    if let (Some(asked), Some(required)) = (shape.cluster, entry.cluster)
        && asked != required
    {
        return Err(format!("clusters of {asked:?} blocks; it requires {required:?}"));
    }
    let cluster = shape.cluster.or(entry.cluster).unwrap_or([1; 3]);
    let blocks = product(cluster);
    if !(1..=MAX_CLUSTER).contains(&blocks) {
        return Err(format!("clusters of {blocks} blocks; 1 to {MAX_CLUSTER} are allowed"));
    }
    match shape.grid.iter().zip(cluster).all(|(grid, side)| grid % side == 0) {
        true => Ok(cluster),
        false => Err(format!("a grid of {:?} blocks can't be cut into clusters of {cluster:?}", shape.grid)),
    }
}

/// Whether all blocks of a cooperative launch can be there at once.
fn check_cooperative(shape: Shape, shared_bytes: u64) -> Result<(), String> {
    let (blocks, threads) = (product(shape.grid), product(shape.block));
    if !shape.cooperative {
        return Ok(());
    }
    let (device, host) = (resident_blocks(threads, shared_bytes), MAX_COOPERATIVE_THREADS / threads);
    match (blocks > device, blocks > host) {
        (false, false) => Ok(()),
        (true, _) => Err(format!("a cooperative launch of {blocks} blocks, and {device} fit on the device at once")),
        (false, true) => Err(format!(
            "a cooperative launch of {blocks} blocks of {threads} threads, and the simulator holds {host} of them at once: \
             it has room for {MAX_COOPERATIVE_THREADS} threads"
        )),
    }
}

/// Lays the arguments out as the entry's parameters.
///
/// # Errors
/// An unknown buffer, or arguments whose number or size differs from the parameters'.
pub(crate) fn parameters(
    entry: &CompiledEntry,
    arguments: &[LaunchArgument],
    address: &dyn Fn(&str) -> Result<u64, RuntimeError>,
) -> Result<Vec<u8>, RuntimeError> {
    if arguments.len() != entry.parameters.len() {
        let (given, taken) = (arguments.len(), entry.parameters.len());
        return Err(RuntimeError::Launch(format!("`{}` takes {taken} arguments, {given} are given", entry.name)));
    }
    let mut bytes = vec![0; usize::try_from(entry.parameter_bytes).unwrap_or(0)];
    for (parameter, argument) in entry.parameters.iter().zip(arguments) {
        let value = match &argument.value {
            ArgumentValue::Buffer(name) => address(name)?.to_le_bytes().to_vec(),
            ArgumentValue::Bytes(value) => value.clone(),
            ArgumentValue::TensorMap(_) => {
                return Err(RuntimeError::Launch(format!(
                    "`{}`: argument `{}` is a tensor map, and the simulator has no bulk copies of tensors \
                     (`cp.async.bulk.tensor`): run it on a GPU",
                    entry.name, argument.name
                )));
            }
        };
        if value.len() as u64 != parameter.bytes {
            let (given, taken) = (value.len(), parameter.bytes);
            let name = &argument.name;
            return Err(RuntimeError::Launch(format!("argument `{name}` has {given} bytes, its parameter {taken}")));
        }
        let offset = usize::try_from(parameter.offset).unwrap_or(0);
        bytes[offset..offset + value.len()].copy_from_slice(&value);
    }
    Ok(bytes)
}
