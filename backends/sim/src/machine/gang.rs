//! Blocks that must be under way together: those of a cluster, or one alone.

use super::block::{Block, Resident, Turn};
use super::cluster::Cluster;
use super::launch::Launch;
use corosensei::stack::DefaultStack;
use std::ptr;

/// The blocks of one cluster, on one core. It is used again for the next cluster when it is done.
pub(crate) struct Gang {
    // Dropped before the cluster, which its threads point to.
    residents: Vec<Resident>,
    finished: Vec<bool>,
    cluster: Box<Cluster>,
}

impl Gang {
    /// Blocks at rest.
    ///
    /// # Errors
    /// No memory.
    pub fn new(launch: &Launch<'_>) -> Result<Gang, String> {
        let cluster = Box::<Cluster>::default();
        let count = launch.cluster_blocks();
        let block = |_| Block::new(launch, ptr::from_ref(&*cluster)).map(Resident::new);
        let residents = (0..count).map(block).collect::<Result<Vec<_>, _>>()?;
        cluster.set_blocks(residents.iter().map(|resident| ptr::from_ref(&*resident.block)).collect());
        Ok(Gang { finished: vec![false; residents.len()], residents, cluster })
    }

    /// Starts as the cluster of a linear index; stacks come from the pool while it has some.
    ///
    /// # Errors
    /// The host has no memory for a stack.
    pub fn start(&mut self, linear: u64, stacks: &mut Vec<DefaultStack>) -> Result<(), String> {
        self.finished.fill(false);
        let blocks = self.residents.iter();
        self.cluster.start(blocks.map(|resident| resident.block.launch().threads()).sum());
        for (rank, resident) in (0_u32..).zip(&mut self.residents) {
            resident.start(linear, rank, stacks)?;
        }
        Ok(())
    }

    /// Runs blocks until none can go on.
    pub fn turn(&mut self, stacks: &mut Vec<DefaultStack>) -> Turn {
        loop {
            let phase = self.cluster.phase();
            let (mut ended, mut spinning) = (false, false);
            for (resident, finished) in self.residents.iter_mut().zip(&mut self.finished) {
                if *finished {
                    continue;
                }
                match resident.turn(stacks) {
                    Turn::Finished => (*finished, ended) = (true, true),
                    Turn::Spinning => spinning = true,
                    Turn::Waiting => {}
                    Turn::Stopped => return Turn::Stopped,
                }
            }
            let Some(first) = self.finished.iter().position(|finished| !finished) else { return Turn::Finished };
            if self.cluster.phase() != phase || ended && !spinning && self.residents.len() > 1 {
                continue;
            }
            if spinning {
                return Turn::Spinning;
            }
            // Every block waits for the others, and none of them can come.
            let block = &self.residents[first].block;
            block.launch().fail(block.deadlock());
            return Turn::Stopped;
        }
    }

    /// Its blocks.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.residents.iter().map(|resident| &*resident.block)
    }
}
