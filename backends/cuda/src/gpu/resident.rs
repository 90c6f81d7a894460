//! What fits on the device at once: clusters, and the blocks of a cooperative launch. The driver's own count, asked
//! before a launch, so that a refusal says the number that fits.

use super::context::Context;
use super::launch::{Attributes, config};
use super::program::Entry;
use super::shape::{Shape, refused};
use crate::error::check;
use cudarc::driver::sys;
use peak_backend_api::RuntimeError;
use std::ffi::c_int;

/// Refuses clusters that the device can't hold, and a cooperative launch whose blocks can't all be there at once. The
/// entry must have been allowed its shared memory and its clusters before.
///
/// # Errors
/// [`RuntimeError::Launch`] with the number that fits.
pub(super) fn check_resident(context: &Context, entry: &Entry, shape: Shape) -> Result<(), RuntimeError> {
    let clusters = match shape.cluster_blocks() {
        Some(blocks) => Some((clusters(context, entry, shape, blocks)?, blocks)),
        None => None,
    };
    if !shape.cooperative {
        return Ok(());
    }
    let (fits, how) = match clusters {
        Some((clusters, blocks)) => (clusters.saturating_mul(blocks), format!("{clusters} clusters of {blocks}")),
        None => {
            let each = blocks_each(entry, shape)?;
            let count = context.fact("multiprocessors", 1);
            (each.saturating_mul(count), format!("{each} on each of {count} multiprocessors"))
        }
    };
    too_many(&entry.reflected.name, shape.blocks(), fits, &how)
}

/// Compares a cooperative launch's blocks with those that fit.
fn too_many(name: &str, blocks: u64, fits: u64, how: &str) -> Result<(), RuntimeError> {
    if blocks <= fits {
        return Ok(());
    }
    refused(format!(
        "a cooperative launch of `{name}` with {blocks} blocks, and {fits} fit on the device at once ({how}): make the grid \
         smaller, and let each block do more"
    ))
}

/// Clusters of the launch's size that the device holds at once; at least one.
fn clusters(context: &Context, entry: &Entry, shape: Shape, blocks: u64) -> Result<u64, RuntimeError> {
    let name = &entry.reflected.name;
    let mut largest = 0;
    let mut none = Attributes::default();
    let plain = config(context, Shape { cluster: None, ..shape }, &mut none);
    // SAFETY: a live integer, a function of a live module, and a configuration whose attributes outlive the call.
    let code = unsafe { sys::cuOccupancyMaxPotentialClusterSize(&mut largest, entry.function, &plain) };
    check("cuOccupancyMaxPotentialClusterSize", code)?;
    if blocks > count(largest) {
        return refused(format!("clusters of {blocks} blocks, and `{name}` can have at most {largest} on this device"));
    }
    let mut found = 0;
    let mut attributes = Attributes::of(Shape { cooperative: false, ..shape });
    let whole = config(context, shape, &mut attributes);
    // SAFETY: as above.
    let code = unsafe { sys::cuOccupancyMaxActiveClusters(&mut found, entry.function, &whole) };
    check("cuOccupancyMaxActiveClusters", code)?;
    if found <= 0 {
        return refused(format!(
            "the device has no room for one cluster of {blocks} blocks of `{name}`, each with {} threads and {} bytes of \
             shared memory",
            shape.threads(),
            u64::from(shape.shared_bytes) + entry.static_bytes
        ));
    }
    Ok(count(found))
}

/// Blocks that a multiprocessor holds at once.
fn blocks_each(entry: &Entry, shape: Shape) -> Result<u64, RuntimeError> {
    let mut found = 0;
    let threads = c_int::try_from(shape.threads()).unwrap_or(c_int::MAX);
    let shared = usize::try_from(shape.shared_bytes).unwrap_or(usize::MAX);
    // SAFETY: a live integer and a function of a live module.
    let code = unsafe { sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut found, entry.function, threads, shared) };
    check("cuOccupancyMaxActiveBlocksPerMultiprocessor", code)?;
    Ok(count(found))
}

fn count(found: c_int) -> u64 {
    u64::try_from(found).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_that_does_not_fit_is_told_what_does() {
        assert_eq!(too_many("f", 264, 264, "2 on each of 132 multiprocessors"), Ok(()));
        let refused = too_many("f", 265, 264, "2 on each of 132 multiprocessors");
        let Err(RuntimeError::Launch(words)) = refused else { panic!("{refused:?}") };
        assert!(words.contains("with 265 blocks, and 264 fit") && words.contains("132 multiprocessors"), "{words}");
    }
}
