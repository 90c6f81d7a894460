//! A launch against what its entry was compiled for: block and names of arguments. Reads no PTX.

use peak_backend_api::{LaunchArgument, ReflectedEntry, RuntimeError};

/// Compares a launch with the entry of its name and block; an artifact that reflects nothing takes any.
///
/// # Errors
/// [`RuntimeError::Launch`]: other blocks than tuning parameters were compiled in for, or an argument of another name.
pub(crate) fn check_interface(
    reflected: &[ReflectedEntry],
    entry: &str,
    block: [u32; 3],
    arguments: &[LaunchArgument],
) -> Result<(), RuntimeError> {
    let of_name = || reflected.iter().filter(|known| known.name == entry);
    let Some(first) = of_name().next() else { return Ok(()) };
    let Some(found) = of_name().find(|known| known.block.is_none_or(|compiled| compiled == block)) else {
        let compiled = first.block.unwrap_or_default();
        let problem = format!("blocks of {block:?} threads, and `{entry}` was compiled for {compiled:?}");
        return Err(RuntimeError::Launch(problem));
    };
    match arguments.iter().enumerate().find(|(place, argument)| !takes(found, *place, &argument.name)) {
        Some((place, argument)) => {
            let problem = format!("argument {place} of `{entry}` is not `{}`", argument.name);
            Err(RuntimeError::Launch(problem))
        }
        None => Ok(()),
    }
}

/// Buffers are known by their place, scalars by their names.
fn takes(entry: &ReflectedEntry, place: usize, name: &str) -> bool {
    let buffer_at = |place: usize| {
        entry.buffers.iter().find(|buffer| usize::try_from(buffer.binding) == Ok(place)).map(|buffer| &buffer.name)
    };
    match buffer_at(place) {
        Some(buffer) => buffer == name,
        None => entry.scalars.is_empty() || entry.scalars.iter().any(|scalar| scalar.name == name),
    }
}
