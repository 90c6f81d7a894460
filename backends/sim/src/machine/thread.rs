//! What generated code knows of its thread.

use super::block::Block;
use super::warp::Arrival;
use corosensei::Yielder;
use std::cell::Cell;
use std::ptr;

/// The last region that an access touched: the next one is checked against it alone.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    /// Where the region begins, simulated.
    pub base: u64,
    /// Whole accesses that fit it.
    pub count: u64,
    /// What turns a simulated address into the host's.
    pub delta: u64,
}

/// What a thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Ready,
    /// At the barrier of that number, since the point.
    Barrier(u32, u32),
    /// At the cluster's barrier, since the point.
    Cluster(u32),
    /// At a warp-wide operation.
    Warp(Arrival),
    Done,
}

/// Special registers that are stored, in the order of [`crate::ir::SPECIALS`].
pub(crate) const STORED_SPECIALS: usize = 28;
/// Where the block's index stands among them.
pub(crate) const BLOCK_SPECIALS: usize = 6;
/// Where the cluster's numbers begin: those of the launch, then those of the block.
pub(crate) const CLUSTER_SPECIALS: usize = 14;

/// A thread. Generated code reads the fields up to `special`; all are cells because host functions, which generated
/// code calls, reach the threads of a block through shared references.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Thread {
    /// Instructions so far.
    pub executed: Cell<u64>,
    /// Where the next back-edge calls `tick`.
    pub limit: Cell<u64>,
    pub sites: Cell<*mut Window>,
    pub parameters: Cell<*const u8>,
    pub shared: Cell<*mut u8>,
    pub shared_bytes: Cell<u64>,
    /// This thread's local memory.
    pub local: Cell<*mut u8>,
    /// Bytes of it that frames have taken.
    pub local_top: Cell<u64>,
    /// Its generic address.
    pub local_base: Cell<u64>,
    /// The second result of a host function.
    pub second: Cell<u64>,
    pub special: [Cell<u32>; STORED_SPECIALS],
    pub depth: Cell<u32>,
    pub dynamic_bytes: Cell<u32>,
    /// Address of the grid's workspace in a cooperative launch, else 0.
    pub workspace: Cell<u64>,
    /// Where the host's stack is too full for another call.
    pub stack_limit: Cell<u64>,
    /// The rest is for the host.
    pub slot: Cell<u32>,
    /// `executed` at which the thread is taken to loop for ever.
    pub bound: Cell<u64>,
    pub state: Cell<State>,
    /// Whether it has arrived at the cluster's barrier and not yet waited, and in which phase.
    pub cluster_phase: Cell<Option<u64>>,
    /// What a warp-wide operation or barrier gave.
    pub result: Cell<u64>,
    pub yielder: Cell<*const Yielder<(), ()>>,
    pub block: Cell<*const Block>,
}

impl Default for Thread {
    fn default() -> Thread {
        Thread {
            executed: Cell::new(0),
            limit: Cell::new(0),
            sites: Cell::new(ptr::null_mut()),
            parameters: Cell::new(ptr::null()),
            shared: Cell::new(ptr::null_mut()),
            shared_bytes: Cell::new(0),
            local: Cell::new(ptr::null_mut()),
            local_top: Cell::new(0),
            local_base: Cell::new(0),
            second: Cell::new(0),
            special: Default::default(),
            depth: Cell::new(0),
            dynamic_bytes: Cell::new(0),
            workspace: Cell::new(0),
            stack_limit: Cell::new(0),
            slot: Cell::new(0),
            bound: Cell::new(0),
            state: Cell::new(State::Done),
            cluster_phase: Cell::new(None),
            result: Cell::new(0),
            yielder: Cell::new(ptr::null()),
            block: Cell::new(ptr::null()),
        }
    }
}

impl Thread {
    /// Its lane in its warp.
    pub fn lane(&self) -> usize {
        self.slot.get() as usize % super::WARP
    }

    /// Its index in the block, in x, y, z.
    pub fn index(&self) -> [u32; 3] {
        [self.special[0].get(), self.special[1].get(), self.special[2].get()]
    }

    /// Lets other threads run until the state is ready again.
    ///
    /// # Safety
    /// Must be called on this thread's own coroutine, with nothing on its stack that has to be dropped: a faulted
    /// launch never resumes it.
    pub unsafe fn suspend(&self) {
        let yielder = self.yielder.get();
        // SAFETY: the pointer is set when the coroutine starts and is valid for as long as it runs, which is now.
        if let Some(yielder) = unsafe { yielder.as_ref() } {
            yielder.suspend(());
        }
    }
}
