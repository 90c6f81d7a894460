//! What generated code that counts calls. None panics.

use crate::machine::block::Block;
use crate::machine::thread::Thread;

fn block(thread: &Thread) -> Option<&Block> {
    // SAFETY: set by `Block::new` to the block that owns the thread.
    unsafe { thread.block.get().as_ref() }
}

/// Lets the other threads of the block run, so that lanes stay near each other.
fn wait_for_others(thread: &Thread) {
    // Nobody waits in vain: without this, lanes that look for each other would be taken to have parted for good.
    if let Some(block) = block(thread).filter(|block| !block.launch().entry.spins) {
        block.progress();
    }
    // SAFETY: called on the thread's own coroutine, by functions that hold nothing to drop.
    unsafe { thread.suspend() }
}

/// A thread enters a flow.
pub(crate) extern "C" fn visit(thread: &Thread, flow: u32) {
    if tell(thread, |counts, plan| counts.visit(plan, thread.slot.get() as usize, flow)) {
        wait_for_others(thread);
    }
}

/// A thread accesses memory at a simulated address.
pub(crate) extern "C" fn access(thread: &Thread, access: u32, address: u64) {
    if tell(thread, |counts, plan| counts.access(plan, thread.slot.get() as usize, access, address)) {
        wait_for_others(thread);
    }
}

fn tell(thread: &Thread, tell: impl FnOnce(&mut super::BlockCounts, &super::CountPlan) -> bool) -> bool {
    let Some(block) = block(thread) else { return false };
    let (Some(counts), Some(plan)) = (&block.counts, &block.launch().entry.count) else { return false };
    // Threads of a block share a core, and none is left within this.
    counts.try_borrow_mut().is_ok_and(|mut counts| tell(&mut counts, plan))
}
