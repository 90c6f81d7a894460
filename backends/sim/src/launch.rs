//! What a launch may ask for, and its parameters as bytes.

use crate::facts::{MAX_BLOCK, MAX_GRID, MAX_PARAMETER_BYTES, MAX_SHARED, MAX_STATIC_SHARED, MAX_THREADS};
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

/// Limits of a launch.
///
/// # Errors
/// [`RuntimeError::Launch`], as the driver would refuse it.
pub(crate) fn check(
    entry: &CompiledEntry,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    cluster: Option<[u32; 3]>,
) -> Result<(), RuntimeError> {
    let refuse = |problem: String| Err(RuntimeError::Launch(format!("`{}`: {problem}", entry.name)));
    let within =
        |sizes: [u32; 3], limits: [u32; 3]| sizes.iter().zip(limits).all(|(it, limit)| (1..=limit).contains(it));
    if !within(grid, MAX_GRID) {
        return refuse(format!("a grid of {grid:?} blocks; 1 to {MAX_GRID:?} are allowed"));
    }
    let threads: u64 = block.iter().map(|it| u64::from(*it)).fold(1, u64::saturating_mul);
    if !within(block, MAX_BLOCK) || threads > u64::from(MAX_THREADS) {
        return refuse(format!("a block of {block:?} threads; {MAX_THREADS} are allowed, up to {MAX_BLOCK:?}"));
    }
    match entry.threads {
        Some((exact, true)) if exact != block => return refuse(format!("blocks of {block:?}; it requires {exact:?}")),
        Some((most, false)) if threads > most.iter().map(|it| u64::from(*it)).fold(1, u64::saturating_mul) => {
            return refuse(format!("blocks of {block:?}; it was compiled for at most {most:?}"));
        }
        _ => {}
    }
    let shared = entry.static_shared + u64::from(shared_bytes);
    if shared > MAX_SHARED {
        return refuse(format!("{shared} bytes of shared memory; {MAX_SHARED} are allowed"));
    }
    match cluster {
        Some(size) if size != [1, 1, 1] => refuse(format!("clusters of {size:?} blocks are not modelled")),
        _ => Ok(()),
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
