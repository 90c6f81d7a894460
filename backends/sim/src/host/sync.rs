//! Memory windows, faults, barriers and warp-wide operations: what needs the thread.

use crate::machine::memory::{CLUSTER_STRIDE, PARAM_BASE, SHARED_BASE};
use crate::machine::thread::{State, Thread, Window};
use crate::machine::warp::{self, Arrival, WarpOp};
use crate::machine::{SLICE_INSTRUCTIONS, barrier, block::Block, fault};
use crate::program::{AccessSpace, Site};
use std::borrow::Cow;

/// Why a thread is stopped; the numbers are part of generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Stop {
    Trap,
    Recursion,
    LocalMemory,
    Assertion,
    BranchIndex,
}

fn block(thread: &Thread) -> Option<&Block> {
    // SAFETY: set by `Block::new` to the block that owns the thread.
    unsafe { thread.block.get().as_ref() }
}

fn fail(thread: &Thread, point: u32, what: &str) {
    let Some(block) = block(thread) else { return };
    let launch = block.launch();
    let place = launch.entry.points.get(point as usize).map_or(Cow::Borrowed("?"), |it| fault::place(it).into());
    launch.fail(format!("{}: {what}, at {place}", fault::who(block.index.get(), thread.index())));
}

/// Suspends for good after a fault where there is a coroutine, so that no further code of the thread runs.
fn leave(thread: &Thread) {
    // SAFETY: called on the thread's own coroutine, by host functions that hold nothing to drop.
    unsafe { thread.suspend() }
}

/// Finds the region of an access and puts it into the site's window. 1 where there is none: the launch has failed.
pub(crate) extern "C" fn window(thread: &Thread, number: u32, address: u64) -> u32 {
    let Some(block) = block(thread) else { return 1 };
    let Some(site) = block.launch().entry.sites.get(number as usize) else { return 1 };
    let Some(window) = find(block, thread, site, address) else {
        refuse(thread, number, address);
        return 1;
    };
    // SAFETY: the block's table has a window for each site of the entry, and `number` is one. Threads of a block share
    // a core, so nothing else writes it now.
    unsafe { thread.sites.get().add(number as usize).write(window) };
    0
}

fn find(block: &Block, thread: &Thread, site: &Site, address: u64) -> Option<Window> {
    let bytes = u64::from(site.bytes);
    let launch = block.launch();
    let window = |base: u64, length: u64, pointer: *const u8| {
        let fits = address >= base && address - base < length && (address - base).checked_add(bytes)? <= length;
        let delta = (pointer as u64).wrapping_sub(base);
        (fits && address.is_multiple_of(bytes)).then_some(Window { base, count: length / bytes, delta })
    };
    let of_peer = || {
        let rank = (address.checked_sub(SHARED_BASE)? / CLUSTER_STRIDE).checked_sub(1)?;
        let shared = block.cluster()?.block(usize::try_from(rank).ok()?)?.shared();
        window(SHARED_BASE + (rank + 1) * CLUSTER_STRIDE, shared.length(), shared.pointer())
    };
    let local = launch.entry.local_bytes;
    window(SHARED_BASE, thread.shared_bytes.get(), thread.shared.get())
        .or_else(|| window(thread.local_base.get(), local, thread.local.get()))
        .or_else(of_peer)
        .or_else(|| {
            let length = launch.parameters.len() as u64;
            if site.writes { None } else { window(PARAM_BASE, length, thread.parameters.get()) }
        })
        .or_else(|| {
            let region = launch.space.find(address, bytes).filter(|it| it.writable || !site.writes)?;
            window(region.base, region.bytes.length(), region.bytes.pointer())
        })
}

/// Fails the launch for an access that its check refused.
pub(crate) extern "C" fn refuse(thread: &Thread, number: u32, address: u64) {
    let Some(block) = block(thread) else { return };
    let launch = block.launch();
    let Some(site) = launch.entry.sites.get(number as usize) else { return };
    debug_assert!(site.space != AccessSpace::Generic || find(block, thread, site, address).is_none());
    let what = fault::access(launch, thread, site, address);
    fail(thread, site.point, &what);
}

/// Ends the launch on a thread's behalf.
pub(crate) extern "C" fn stop(thread: &Thread, point: u32, why: u32) {
    let what = match why {
        _ if why == Stop::Trap as u32 => "the kernel trapped",
        _ if why == Stop::Recursion as u32 => "calls nest too deep: recursion without end?",
        _ if why == Stop::Assertion as u32 => "an assertion of the kernel failed",
        _ if why == Stop::BranchIndex as u32 => "a branch beyond its list of targets",
        _ => "local memory is used up: recursion without end?",
    };
    fail(thread, point, what);
}

/// A thread has used up its slice. 1 where the launch has failed.
pub(crate) extern "C" fn tick(thread: &Thread, point: u32) -> u32 {
    let Some(block) = block(thread) else { return 1 };
    let launch = block.launch();
    if thread.executed.get() >= thread.bound.get() {
        let limit = launch.instruction_limit;
        fail(thread, point, &format!("over {limit} instructions in one thread: a loop without end?"));
        return 1;
    }
    if launch.entry.spins {
        block.idle.set(block.idle.get() + SLICE_INSTRUCTIONS);
        if block.idle.get() >= launch.instruction_limit {
            let limit = launch.instruction_limit;
            fail(thread, point, &format!("spins: no thread of the block got on in {limit} instructions"));
            return 1;
        }
        if launch.state.spins_in_vain() {
            let seconds = crate::machine::MAX_SPIN.as_secs();
            fail(thread, point, &format!("spins: no thread of the launch got on in {seconds} s; who ends the wait?"));
            return 1;
        }
        thread.limit.set(thread.executed.get() + SLICE_INSTRUCTIONS);
        leave(thread);
    }
    u32::from(launch.is_stopped())
}

/// Lets other threads run.
pub(crate) extern "C" fn pause(thread: &Thread) {
    leave(thread);
}

/// What came of an arrival: others have to come first (`true`), the thread goes on, or the launch ends with these words.
fn settle(thread: &Thread, point: u32, arrived: Result<bool, String>) {
    match arrived {
        Ok(true) => leave(thread),
        Ok(false) => {}
        Err(what) => {
            fail(thread, point, &what);
            // A thread that is left may never come back to free it.
            drop(what);
            leave(thread);
        }
    }
}

/// Comes to a barrier and waits. The result of a reduction.
pub(crate) extern "C" fn barrier(thread: &Thread, point: u32, number: u32, expected: u32, kind: u32, vote: u32) -> u32 {
    let Some(block) = block(thread) else { return 0 };
    settle(thread, point, barrier::arrive(block, thread, point, number, expected, kind, vote != 0));
    thread.result.get() as u32
}

/// Takes part in a warp-wide operation. Its second result is in [`Thread::second`].
pub(crate) extern "C" fn warp(thread: &Thread, point: u32, op: u32, mask: u32, a: u64, b: u32, c: u32) -> u64 {
    let Some(block) = block(thread) else { return 0 };
    let Some(op) = WarpOp::numbered(op) else { return 0 };
    let arrived = warp::arrive(block, thread, Arrival { op, mask, point, a, b, c });
    if arrived.is_err() {
        thread.state.set(State::Ready);
    }
    settle(thread, point, arrived);
    thread.result.get()
}

/// Comes to the cluster's barrier, and goes on.
pub(crate) extern "C" fn cluster_arrive(thread: &Thread, point: u32) {
    let Some(cluster) = block(thread).and_then(Block::cluster) else { return };
    settle(thread, point, cluster.arrive(thread).map(|()| false));
}

/// Waits at the cluster's barrier.
pub(crate) extern "C" fn cluster_wait(thread: &Thread, point: u32) {
    let Some(cluster) = block(thread).and_then(Block::cluster) else { return };
    settle(thread, point, cluster.wait(thread, point));
}
