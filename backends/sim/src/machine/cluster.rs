//! A cluster: blocks that are under way together on one core, read each other's shared memory, and have a barrier.
//!
//! As on hardware, a thread that has exited counts as arrived. A launch without clusters has clusters of one block.

use super::block::Block;
use super::thread::{State, Thread};
use std::cell::{Cell, OnceCell};

/// What the blocks of a cluster share.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    /// By rank. Each is boxed, and lives as long as the cluster does.
    blocks: OnceCell<Vec<*const Block>>,
    /// Threads that have not exited.
    live: Cell<u32>,
    /// Threads that have come to the barrier in this phase.
    arrived: Cell<u32>,
    /// How often the barrier has let its threads go.
    phase: Cell<u64>,
}

impl Cluster {
    /// Takes its blocks, once.
    pub fn set_blocks(&self, blocks: Vec<*const Block>) {
        // A second call would change what threads already rely on, and is ignored.
        let _ = self.blocks.set(blocks);
    }

    /// All threads are at their start.
    pub fn start(&self, threads: u32) {
        self.live.set(threads);
        self.arrived.set(0);
        self.phase.set(0);
    }

    /// How often its barrier has let threads go.
    pub fn phase(&self) -> u64 {
        self.phase.get()
    }

    /// The block of a rank.
    pub fn block(&self, rank: usize) -> Option<&Block> {
        let block = self.blocks.get()?.get(rank)?;
        // SAFETY: the blocks are those of the gang that owns the cluster; both are dropped together, and all of them are
        // used by one core.
        unsafe { block.as_ref() }
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        (0..self.blocks.get().map_or(0, Vec::len)).filter_map(|rank| self.block(rank))
    }

    /// A thread comes to the barrier, and goes on.
    ///
    /// # Errors
    /// It has come already, and not waited since.
    pub fn arrive(&self, thread: &Thread) -> Result<(), String> {
        if thread.cluster_phase.get().is_some() {
            return Err("the thread comes to the cluster's barrier twice without waiting".to_owned());
        }
        thread.cluster_phase.set(Some(self.phase.get()));
        self.arrived.set(self.arrived.get() + 1);
        self.complete();
        Ok(())
    }

    /// A thread waits for the phase that it came in. Whether it must wait.
    ///
    /// # Errors
    /// It has not come.
    pub fn wait(&self, thread: &Thread, point: u32) -> Result<bool, String> {
        let Some(phase) = thread.cluster_phase.get() else {
            return Err("the thread waits at the cluster's barrier, to which it has not come".to_owned());
        };
        if phase < self.phase.get() {
            thread.cluster_phase.set(None);
            return Ok(false);
        }
        thread.state.set(State::Cluster(point));
        Ok(true)
    }

    /// A thread has ended.
    pub fn exited(&self, thread: &Thread) {
        self.live.set(self.live.get().saturating_sub(1));
        if thread.cluster_phase.take() == Some(self.phase.get()) {
            self.arrived.set(self.arrived.get().saturating_sub(1));
        }
        self.complete();
    }

    /// Lets the threads of the barrier go if all have come.
    fn complete(&self) {
        let arrived = self.arrived.get();
        if arrived == 0 || arrived < self.live.get() {
            return;
        }
        self.arrived.set(0);
        self.phase.set(self.phase.get() + 1);
        for block in self.blocks() {
            for thread in block.threads().iter().filter(|it| matches!(it.state.get(), State::Cluster(_))) {
                thread.cluster_phase.set(None);
                thread.state.set(State::Ready);
            }
            block.progress();
        }
    }
}
