//! What a block has counted so far: rounds of its threads, and what its warps are at.

use super::access::{Lanes, PASS_BYTES, ideal};
use super::gather::{Gather, Gathered, mix};
use super::{Access, CountPlan, Counting, Requests, Totals};
use crate::machine::WARP;
use crate::machine::memory::{CLUSTER_STRIDE, LOCAL_BASE, PARAM_BASE, SHARED_BASE};
use crate::program::AccessSpace;
use peak_backend_api::{AccessKind, MemorySpace, SECTOR_BYTES};

/// Counts of a block that is under way.
#[derive(Debug)]
pub(crate) struct BlockCounts {
    /// Whether the block is one of those that are counted.
    active: bool,
    /// By thread, then by counter.
    rounds: Vec<u32>,
    /// The rounds that each thread is in, as one number.
    keys: Vec<u64>,
    warps: Vec<WarpCounts>,
    totals: Totals,
}

#[derive(Debug)]
struct WarpCounts {
    flows: Gather<Arrived>,
    accesses: Gather<Asked>,
}

/// Lanes that have entered a flow.
#[derive(Debug, Default)]
struct Arrived(u32);

impl Gathered for Arrived {
    fn mask(&self) -> u32 {
        self.0
    }
}

/// Lanes that have asked for memory, each with its address. Shared memory's begin at 0.
#[derive(Debug, Default)]
struct Asked {
    mask: u32,
    shared: u32,
    addresses: Box<[u64; WARP]>,
}

impl Gathered for Asked {
    fn mask(&self) -> u32 {
        self.mask
    }
}

impl BlockCounts {
    /// For blocks of so many threads.
    pub fn new(plan: &CountPlan, threads: u32) -> BlockCounts {
        let threads = threads as usize;
        let warp = |warp: usize| {
            let lanes = (threads - warp * WARP).min(WARP);
            let full = if lanes == WARP { u32::MAX } else { (1 << lanes) - 1 };
            WarpCounts { flows: Gather::new(full), accesses: Gather::new(full) }
        };
        BlockCounts {
            active: false,
            rounds: vec![0; threads * plan.rounds as usize],
            keys: vec![0; threads],
            warps: (0..threads.div_ceil(WARP)).map(warp).collect(),
            totals: Totals::default(),
        }
    }

    /// All threads are at their start.
    pub fn start(&mut self, active: bool) {
        self.active = active;
        self.rounds.fill(0);
        self.keys.fill(0);
    }

    /// All threads are done.
    pub fn finish(&mut self, plan: &CountPlan, counting: &Counting) {
        let totals = &mut self.totals;
        for warp in &mut self.warps {
            warp.flows.finish(|(flow, _), arrived| totals.flow(flow, arrived.0));
            warp.accesses.finish(|(access, _), asked| judge(totals, plan, access, &asked));
        }
        counting.add(totals);
    }

    /// A thread enters a flow. Whether others had better run first.
    pub fn visit(&mut self, plan: &CountPlan, slot: usize, number: u32) -> bool {
        let Some(flow) = plan.flows.get(number as usize).filter(|_| self.active) else { return false };
        let width = plan.rounds as usize;
        let Some(rounds) = self.rounds.get_mut(slot * width..(slot + 1) * width) else { return false };
        if let Some(counter) = flow.begins {
            rounds[counter as usize] = rounds[counter as usize].wrapping_add(1);
            flow.resets.iter().for_each(|inner| rounds[*inner as usize] = 0);
        }
        let key = flow.chain.iter().fold(0, |key, counter| mix(key, u64::from(rounds[*counter as usize]) + 1));
        self.keys[slot] = key;
        let (warp, lane, totals) = (&mut self.warps[slot / WARP], slot % WARP, &mut self.totals);
        let done = |(flow, _), arrived: Arrived| totals.flow(flow, arrived.0);
        warp.flows.add((number, key), lane, |arrived| arrived.0 |= 1 << lane, done)
    }

    /// A thread asks for memory. Whether others had better run first.
    pub fn access(&mut self, plan: &CountPlan, slot: usize, number: u32, address: u64) -> bool {
        let Some(access) = plan.accesses.get(number as usize).filter(|_| self.active) else { return false };
        let Some((space, address)) = place(access.space, address) else { return false };
        let key = (number, self.keys[slot]);
        let (warp, lane, totals) = (&mut self.warps[slot / WARP], slot % WARP, &mut self.totals);
        let add = |asked: &mut Asked| {
            asked.mask |= 1 << lane;
            asked.shared |= u32::from(space == MemorySpace::Shared) << lane;
            asked.addresses[lane] = address;
        };
        warp.accesses.add(key, lane, add, |(access, _), asked| judge(totals, plan, access, &asked))
    }
}

/// The memory of an address, where it is one that is counted. Shared memory of another block of a cluster is its own.
fn place(space: AccessSpace, address: u64) -> Option<(MemorySpace, u64)> {
    match (space, address) {
        (AccessSpace::Shared, address) => Some((MemorySpace::Shared, address)),
        (AccessSpace::Local, _) => None,
        (AccessSpace::Generic, SHARED_BASE..LOCAL_BASE) => Some((MemorySpace::Shared, address % CLUSTER_STRIDE)),
        (AccessSpace::Generic, LOCAL_BASE..PARAM_BASE) => None,
        (AccessSpace::Generic, address) if address < crate::machine::memory::GLOBAL_BASE => None,
        (AccessSpace::Generic, address) => Some((MemorySpace::Global, address)),
    }
}

fn judge(totals: &mut Totals, plan: &CountPlan, number: u32, asked: &Asked) {
    let Some(access) = plan.accesses.get(number as usize) else { return };
    for (space, mask) in
        [(MemorySpace::Global, asked.mask & !asked.shared), (MemorySpace::Shared, asked.mask & asked.shared)]
    {
        if mask != 0 {
            let lanes = Lanes { mask, addresses: *asked.addresses };
            totals.accesses.entry((number, space)).or_default().judge(access, space, &lanes);
        }
    }
}

impl Requests {
    /// One more request.
    fn judge(&mut self, access: &Access, space: MemorySpace, lanes: &Lanes) {
        let threads = u64::from(lanes.mask.count_ones());
        let atomic = matches!(access.kind, AccessKind::Atomic | AccessKind::Reduction);
        self.requests += 1;
        self.threads += threads;
        self.addresses += lanes.addresses();
        if let Some((stride, times)) = lanes.stride() {
            self.stride(stride, times);
        }
        match space {
            MemorySpace::Global => {
                let sectors = lanes.sectors();
                self.sectors += sectors;
                self.sectors_ideal += sectors.min(ideal(threads, access.bytes, SECTOR_BYTES));
            }
            MemorySpace::Shared => {
                let loads = access.kind == AccessKind::Load;
                let passes = if atomic { lanes.atomic_passes() } else { lanes.passes(access.bytes, loads) };
                self.wavefronts += passes.wavefronts;
                self.conflicts += passes.conflicts;
                self.wavefronts_ideal += passes.wavefronts.min(ideal(threads, access.bytes, PASS_BYTES));
            }
        }
    }
}
