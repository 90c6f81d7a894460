//! What went wrong, in words that name the block, the thread, the place and the buffer.

use super::launch::Launch;
use super::memory::{CLUSTER_STRIDE, LOCAL_BASE, PARAM_BASE, SHARED_BASE};
use super::thread::Thread;
use crate::program::{AccessSpace, Point, Site};

/// How far beside a buffer an address still is "past its end" or "before it".
const NEAR_BYTES: u64 = 1 << 32;

/// A thread's place: `block (1, 0, 0), thread (17, 0, 0)`.
pub(crate) fn who(block: [u32; 3], thread: [u32; 3]) -> String {
    let [x, y, z] = block;
    let [a, b, c] = thread;
    format!("block ({x}, {y}, {z}), thread ({a}, {b}, {c})")
}

/// Where an instruction stands: its source line, else its PTX line.
pub(crate) fn place(point: &Point) -> String {
    match &point.place {
        Some(place) => format!("{place} (`{}`)", point.spelled),
        None => format!("PTX line {} (`{}`)", point.line, point.spelled),
    }
}

/// Text for an access that the check refused.
pub(crate) fn access(launch: &Launch<'_>, thread: &Thread, site: &Site, address: u64) -> String {
    let bytes = u64::from(site.bytes);
    let what = format!("a {}-byte {}", bytes, if site.writes { "write" } else { "read" });
    let at = match site.space {
        AccessSpace::Shared => within(address, bytes, thread.shared_bytes.get(), "the block's shared memory"),
        AccessSpace::Local => within(address, bytes, launch.entry.local_bytes, "the thread's local memory"),
        AccessSpace::Generic => generic(launch, thread, site, address),
    };
    format!("{what} {at}")
}

fn generic(launch: &Launch<'_>, thread: &Thread, site: &Site, address: u64) -> String {
    let bytes = u64::from(site.bytes);
    let shared = address.wrapping_sub(SHARED_BASE);
    if shared < NEAR_BYTES {
        let (length, count) = (thread.shared_bytes.get(), u64::from(launch.cluster_blocks()));
        let of_peer = |rank: u64| format!("the shared memory of block {rank} of the cluster");
        return match (shared / CLUSTER_STRIDE).checked_sub(1) {
            None => within(shared, bytes, length, "the block's shared memory"),
            Some(rank) if rank < count => within(shared % CLUSTER_STRIDE, bytes, length, &of_peer(rank)),
            Some(rank) => format!("of {}, which has {count}", of_peer(rank)),
        };
    }
    let local = address.wrapping_sub(thread.local_base.get());
    if local < launch.entry.local_bytes {
        return within(local, bytes, launch.entry.local_bytes, "the thread's local memory");
    }
    if (LOCAL_BASE..PARAM_BASE).contains(&address) {
        return "of another thread's local memory".to_owned();
    }
    let parameter = address.wrapping_sub(PARAM_BASE);
    if parameter < NEAR_BYTES {
        return within(parameter, bytes, launch.parameters.len() as u64, "the kernel's parameters");
    }
    if let Some(region) = launch.space.before(address)
        && address - region.base < region.bytes.length().saturating_add(NEAR_BYTES)
    {
        if site.writes && !region.writable && region.contains(address, bytes) {
            return format!("to {}, which is constant", region.name);
        }
        return within(address - region.base, bytes, region.bytes.length(), &region.name);
    }
    match launch.space.after(address) {
        Some(region) if region.base - address < NEAR_BYTES => {
            let before = region.base - address;
            format!("{before} bytes before {} (element -{})", region.name, before.div_ceil(bytes))
        }
        _ => format!("at address {address:#x}, which is in no buffer"),
    }
}

/// An offset that does not fit, or is not aligned, in `length` bytes.
fn within(offset: u64, bytes: u64, length: u64, name: &str) -> String {
    let (element, count) = (offset / bytes, length / bytes);
    if offset.saturating_add(bytes) > length {
        format!("out of bounds: element {element} of {name}, which has {count} (byte {offset} of {length})")
    } else {
        format!("that is misaligned: byte {offset} of {name} is no multiple of {bytes}")
    }
}
