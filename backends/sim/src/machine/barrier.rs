//! Barriers of a block.
//!
//! As on hardware, a thread that has exited counts as arrived at a barrier of the whole block.

use super::block::Block;
use super::thread::{State, Thread};

/// Barriers that a block has.
pub(crate) const BARRIERS: usize = 16;

/// One barrier.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Barrier {
    /// Threads that have come.
    pub arrived: u32,
    /// Threads it waits for; 0 is the whole block.
    pub expected: u32,
    /// Threads that came with a true predicate.
    pub votes: u32,
}

/// What a barrier gives its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum BarrierKind {
    Sync,
    /// Does not wait.
    Arrive,
    Popc,
    And,
    Or,
}

/// A thread comes to a barrier. Whether it must wait; else its result is set.
///
/// # Errors
/// A barrier number or a count that hardware refuses.
pub(crate) fn arrive(
    block: &Block,
    thread: &Thread,
    point: u32,
    number: u32,
    expected: u32,
    kind: u32,
    vote: bool,
) -> Result<bool, String> {
    let Some(cell) = block.barriers.get(number as usize) else {
        return Err(format!("there is no barrier {number}: a block has {BARRIERS}"));
    };
    if !expected.is_multiple_of(super::WARP as u32) {
        return Err(format!("barrier {number} waits for {expected} threads, which is no multiple of the warp"));
    }
    let mut barrier = cell.get();
    if barrier.arrived > 0 && barrier.expected != expected {
        return Err(format!("barrier {number} is used with {} and with {expected} threads", barrier.expected));
    }
    barrier.expected = expected;
    barrier.arrived += 1;
    barrier.votes += u32::from(vote);
    cell.set(barrier);
    // The code of the kind stays with the thread, so that each gets what it asked for.
    thread.second.set(u64::from(kind));
    let waits = kind != BarrierKind::Arrive as u32;
    if waits {
        thread.state.set(State::Barrier(number, point));
    }
    complete(block, number as usize);
    Ok(waits && thread.state.get() != State::Ready)
}

/// Lets the threads of a barrier go if all have come.
pub(crate) fn complete(block: &Block, number: usize) {
    let barrier = block.barriers[number].get();
    let needed = match barrier.expected {
        0 => block.live.get(),
        count => count,
    };
    if barrier.arrived == 0 || barrier.arrived < needed {
        return;
    }
    let waiting = |thread: &&Thread| matches!(thread.state.get(), State::Barrier(at, _) if at as usize == number);
    for thread in block.threads().iter().filter(waiting) {
        let kind = thread.second.get();
        let result = match kind {
            _ if kind == BarrierKind::Popc as u64 => barrier.votes,
            _ if kind == BarrierKind::And as u64 => u32::from(barrier.votes == barrier.arrived),
            _ => u32::from(barrier.votes > 0),
        };
        thread.result.set(u64::from(result));
        thread.state.set(State::Ready);
    }
    block.barriers[number].set(Barrier::default());
    block.progress();
}
