//! One block: its threads, and what they share. A block is used again for the next index when it is done.

use super::barrier::{self, BARRIERS, Barrier};
use super::cluster::Cluster;
use super::launch::Launch;
use super::memory::{Bytes, LOCAL_BASE};
use super::thread::{BLOCK_SPECIALS, CLUSTER_SPECIALS, State, Thread, Window};
use super::{STACK_BYTES, STACK_MARGIN_BYTES, WARP, fault, warp};
use crate::count::BlockCounts;
use crate::program::EntryCode;
use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult};
use std::cell::{Cell, RefCell};
use std::ptr;

type Fiber = Coroutine<(), (), (), DefaultStack>;

/// What a block's turn came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Every thread has exited.
    Finished,
    /// No thread got on: another block may have to run first.
    Spinning,
    /// No thread can get on before another block of the cluster does.
    Waiting,
    /// The launch has failed.
    Stopped,
}

/// A block's state. Generated code reaches it through [`Thread::block`].
#[derive(Debug)]
pub(crate) struct Block {
    /// The launch, which outlives every block.
    launch: *const Launch<'static>,
    pub index: Cell<[u32; 3]>,
    threads: Box<[Thread]>,
    pub barriers: [Cell<Barrier>; BARRIERS],
    /// Threads that have not exited.
    pub live: Cell<u32>,
    /// Instructions since a thread last got on.
    pub idle: Cell<u64>,
    progressed: Cell<bool>,
    /// What it shares with other blocks; null where its threads run one after the other.
    cluster: *const Cluster,
    /// Its place in the cluster.
    pub rank: Cell<u32>,
    shared: Bytes,
    /// What it counts, in a launch that is counted.
    pub counts: Option<RefCell<BlockCounts>>,
    // Held for the pointers in the threads.
    _local: Bytes,
    sites: *mut [Window],
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: made by `Box::into_raw` in `new`; threads, which point to it, run only while the block is there.
        drop(unsafe { Box::from_raw(self.sites) });
    }
}

impl Block {
    /// A block of a launch, not yet at an index. The cluster is null, or outlives the block.
    ///
    /// # Errors
    /// No memory.
    pub fn new(launch: &Launch<'_>, cluster: *const Cluster) -> Result<Box<Block>, String> {
        let no_memory = || "the host has no memory for a block".to_owned();
        let count = launch.threads();
        let local_bytes = launch.entry.local_bytes;
        let shared = Bytes::new(launch.shared_bytes).ok_or_else(no_memory)?;
        let local = Bytes::new(local_bytes * u64::from(count)).ok_or_else(no_memory)?;
        let sites = Box::into_raw(vec![Window::default(); launch.entry.sites.len()].into_boxed_slice());
        let threads: Box<[Thread]> = (0..count).map(|_| Thread::default()).collect();
        let [x, y, _] = launch.block;
        for (slot, thread) in (0_u32..).zip(&threads) {
            thread.slot.set(slot);
            thread.sites.set(sites.cast());
            thread.parameters.set(launch.parameters.as_ptr());
            thread.shared.set(shared.pointer());
            thread.shared_bytes.set(launch.shared_bytes);
            let offset = local_bytes * u64::from(slot);
            // Within the allocation: slot is below the count that it was made for.
            thread.local.set(local.pointer().wrapping_add(offset as usize));
            thread.local_base.set(LOCAL_BASE + offset);
            thread.dynamic_bytes.set(launch.dynamic_bytes);
            thread.workspace.set(launch.workspace);
            let own = [slot % x, slot / x % y, slot / x / y];
            let warp = [slot % WARP as u32, slot / WARP as u32];
            let special = own.iter().chain(&launch.block).chain(&[0; 3]).chain(&launch.grid).chain(&warp);
            for (cell, value) in thread.special.iter().zip(special) {
                cell.set(*value);
            }
            let clusters = launch.clusters();
            let size = [launch.cluster_blocks()];
            for (cell, value) in
                thread.special[CLUSTER_SPECIALS..].iter().zip(launch.cluster.iter().chain(&size).chain(&clusters))
            {
                cell.set(*value);
            }
        }
        let block = Box::new(Block {
            launch: ptr::from_ref(launch).cast(),
            index: Cell::new([0; 3]),
            threads,
            barriers: Default::default(),
            live: Cell::new(0),
            idle: Cell::new(0),
            progressed: Cell::new(false),
            cluster,
            rank: Cell::new(0),
            shared,
            counts: launch.entry.count.as_ref().map(|plan| RefCell::new(BlockCounts::new(plan, count))),
            _local: local,
            sites,
        });
        for thread in &block.threads {
            thread.block.set(ptr::from_ref(&*block));
        }
        Ok(block)
    }

    /// Its threads.
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// Its launch.
    pub fn launch(&self) -> &Launch<'static> {
        // SAFETY: `launch::run` keeps the launch until every block of it is dropped, and launches are shared.
        unsafe { &*self.launch }
    }

    /// What it shares with other blocks.
    pub fn cluster(&self) -> Option<&Cluster> {
        // SAFETY: null, or the cluster of the gang that owns the block, which drops it later.
        unsafe { self.cluster.as_ref() }
    }

    /// Its shared memory, for other blocks of the cluster.
    pub fn shared(&self) -> &Bytes {
        &self.shared
    }

    /// A thread got on.
    pub fn progress(&self) {
        self.idle.set(0);
        self.progressed.set(true);
        self.launch().state.progress();
    }

    /// Makes it the block of a rank in the cluster of a linear index, all threads at their start.
    pub fn start(&self, linear: u64, rank: u32) {
        let launch = self.launch();
        if launch.cluster_blocks() > 1 {
            // Windows of the last cluster's shared memory are of no more use.
            // SAFETY: the table is this block's, and none of its threads runs now.
            unsafe { &mut *self.sites }.fill(Window::default());
        }
        let sizes = launch.cluster;
        let cluster = place(linear, launch.clusters());
        let own = place(u64::from(rank), sizes);
        let index: [u32; 3] = std::array::from_fn(|axis| cluster[axis] * sizes[axis] + own[axis]);
        self.index.set(index);
        self.rank.set(rank);
        self.live.set(launch.threads());
        self.idle.set(0);
        launch.start_counting(self, linear);
        for barrier in &self.barriers {
            barrier.set(Barrier::default());
        }
        for thread in &self.threads {
            for (cell, value) in thread.special[BLOCK_SPECIALS..].iter().zip(index) {
                cell.set(value);
            }
            // What belongs to the block stands after what belongs to the launch.
            let numbers = own.into_iter().chain([rank]).chain(cluster);
            for (cell, value) in thread.special[CLUSTER_SPECIALS + 7..].iter().zip(numbers) {
                cell.set(value);
            }
            thread.cluster_phase.set(None);
            thread.local_top.set(0);
            thread.depth.set(0);
            thread.state.set(State::Ready);
            thread.bound.set(thread.executed.get() + launch.instruction_limit);
            thread.limit.set(thread.bound.get());
            if launch.entry.spins {
                thread.limit.set(thread.executed.get() + super::SLICE_INSTRUCTIONS);
            }
        }
    }

    /// Runs every thread to its end, one after the other: for code that never waits.
    pub fn run_plain(&self, code: EntryCode) {
        for thread in &self.threads {
            // SAFETY: the code was compiled for this layout of `Thread`, checks every access against it, and does not
            // suspend: `Launch` chooses this only for entries that can't.
            unsafe { code(thread) };
            if self.launch().is_stopped() {
                return;
            }
        }
    }

    fn exited(&self, slot: usize) {
        self.threads[slot].state.set(State::Done);
        self.live.set(self.live.get() - 1);
        self.progress();
        if let Some(cluster) = self.cluster() {
            cluster.exited(&self.threads[slot]);
        }
        for number in 0..BARRIERS {
            barrier::complete(self, number);
        }
        warp::complete(self, slot / WARP);
    }

    /// What the threads that can't go on wait for.
    pub fn deadlock(&self) -> String {
        let launch = self.launch();
        let mut lines: Vec<(u32, String)> = Vec::new();
        for thread in &self.threads {
            let (point, what) = match thread.state.get() {
                State::Barrier(number, point) => (point, format!("barrier {number}")),
                State::Warp(arrival) => (arrival.point, format!("the lanes of mask {:#010x}", arrival.mask)),
                State::Cluster(point) => (point, "the other threads of the cluster".to_owned()),
                State::Ready | State::Done => continue,
            };
            let place = fault::place(&launch.entry.points[point as usize]);
            let text = format!("{what} at {place}");
            match lines.iter_mut().find(|(_, known)| known.starts_with(&text)) {
                Some((count, _)) => *count += 1,
                None => {
                    let who = fault::who(self.index.get(), thread.index());
                    lines.push((1, format!("{text}, first {who}")));
                }
            }
        }
        let exited = self.threads.len() - self.live.get() as usize;
        let waits: Vec<_> = lines.iter().map(|(count, text)| format!("{count} threads wait for {text}")).collect();
        let (waits, threads) = (waits.join("; "), self.threads.len());
        let cure = "all of them must come to the same barrier, and all lanes of a mask to the same instruction";
        format!("deadlock: {waits}; {exited} of {threads} threads have exited: {cure}")
    }
}

/// The place in x, y, z of a linear index.
fn place(linear: u64, [x, y, _]: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(x), u64::from(y));
    [linear % x, linear / x % y, linear / x / y].map(|it| u32::try_from(it).unwrap_or(0))
}

/// A block whose threads are coroutines.
pub(crate) struct Resident {
    pub block: Box<Block>,
    fibers: Vec<Option<Fiber>>,
}

impl Resident {
    /// Of a block that is at rest.
    pub fn new(block: Box<Block>) -> Resident {
        let fibers = block.threads.iter().map(|_| None).collect();
        Resident { block, fibers }
    }

    /// Starts as the block of a rank in the cluster of an index; stacks come from the pool while it has some.
    ///
    /// # Errors
    /// The host has no memory for a stack.
    pub fn start(&mut self, linear: u64, rank: u32, stacks: &mut Vec<DefaultStack>) -> Result<(), String> {
        self.block.start(linear, rank);
        let code = self.block.launch().entry.code;
        for (thread, fiber) in self.block.threads.iter().zip(&mut self.fibers) {
            let stack = match stacks.pop() {
                Some(stack) => stack,
                None => DefaultStack::new(STACK_BYTES).map_err(|error| format!("no stack for a thread: {error}"))?,
            };
            thread.stack_limit.set((stack.limit().get() + STACK_MARGIN_BYTES) as u64);
            let thread = ptr::from_ref(thread);
            *fiber = Some(Fiber::with_stack(stack, move |yielder, ()| {
                // SAFETY: the block, which is boxed, outlives its fibers: both are dropped with `Resident`.
                let thread = unsafe { &*thread };
                thread.yielder.set(yielder);
                // SAFETY: the code was compiled for this layout of `Thread` and checks every access against it.
                unsafe { code(thread) };
            }));
        }
        Ok(())
    }

    /// Runs threads until none can go on.
    pub fn turn(&mut self, stacks: &mut Vec<DefaultStack>) -> Turn {
        loop {
            self.block.progressed.set(false);
            let moved = self.pass(stacks);
            let block = &self.block;
            if block.launch().is_stopped() {
                return Turn::Stopped;
            }
            if block.live.get() == 0 {
                return Turn::Finished;
            }
            if block.progressed.get() {
                continue;
            }
            let warps = block.threads.len().div_ceil(WARP);
            if (0..warps).filter(|warp| warp::release_active_masks(block, *warp)).count() > 0 {
                continue;
            }
            if !moved && block.threads.iter().any(|thread| matches!(thread.state.get(), State::Cluster(_))) {
                return Turn::Waiting;
            }
            if !moved {
                block.launch().fail(block.deadlock());
                return Turn::Stopped;
            }
            if block.launch().entry.spins {
                return Turn::Spinning;
            }
        }
    }

    /// Resumes every thread that is ready, once. Whether there was one.
    fn pass(&mut self, stacks: &mut Vec<DefaultStack>) -> bool {
        let mut moved = false;
        for (slot, entry) in self.fibers.iter_mut().enumerate() {
            if self.block.threads[slot].state.get() != State::Ready {
                continue;
            }
            let Some(fiber) = entry else { continue };
            moved = true;
            if let CoroutineResult::Return(()) = fiber.resume(()) {
                stacks.extend(entry.take().map(Fiber::into_stack));
                self.block.exited(slot);
            }
            if self.block.launch().is_stopped() {
                break;
            }
        }
        moved
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        for fiber in self.fibers.iter_mut().flatten() {
            // SAFETY: a suspended thread's stack holds frames of generated code and of host functions up to
            // `Thread::suspend`, none of which holds anything to drop.
            unsafe { fiber.force_reset() };
        }
    }
}
