//! Counting: what a launch executes, instruction by instruction and warp by warp.
//!
//! Code that counts is compiled apart (`emit`), so that the fast mode has none of it. A *flow* is a run of instructions that
//! a thread executes together (`flow`); generated code tells the host of each flow that a thread enters and of each address
//! that it accesses (`host`). Threads run one after the other, so what a warp does at once comes in pieces: it is gathered
//! under the flow and the rounds of the loops around it, by which lanes that a GPU runs together are known, and is judged
//! when the last lane has come (`block`, `gather`). How a request meets caches and banks is in `access`.
//!
//! It has no clock, no caches and no assembler: what `ptxas` would merge, hoist or leave out is counted as PTX has it.

mod access;
mod block;
mod emit;
mod flow;
mod gather;
pub(crate) mod host;
mod report;
mod sample;

pub(crate) use block::BlockCounts;
pub(crate) use sample::sample;

use crate::program::AccessSpace;
use peak_backend_api::{AccessKind, InstructionKind, MemorySpace};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// What is counted in an entry's code, by the numbers in generated code.
#[derive(Debug, Default)]
pub(crate) struct CountPlan {
    pub flows: Vec<Flow>,
    pub accesses: Vec<Access>,
    /// Instructions, in the order of the code.
    pub sites: Vec<CountSite>,
    /// Counters of rounds that a thread has.
    pub rounds: u32,
    /// The function that is being translated.
    function: Option<emit::Current>,
}

/// Instructions that a thread executes together.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// Counters of the loops around it, the outermost first; the function's own before them.
    pub chain: Vec<u32>,
    /// The counter that a round begins with here.
    pub begins: Option<u32>,
    /// Counters of loops within that one, which begin anew.
    pub resets: Vec<u32>,
}

/// An instruction that touches memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub site: u32,
    pub space: AccessSpace,
    pub kind: AccessKind,
    /// Of one thread, all lanes of a vector together.
    pub bytes: u32,
}

/// An instruction.
#[derive(Debug)]
pub(crate) struct CountSite {
    pub function: String,
    pub text_line: u32,
    pub at: Option<peak_backend_api::SourcePlace>,
    pub opcode: String,
    pub kind: InstructionKind,
    /// The flow whose warps execute it.
    pub flow: u32,
    /// The flow whose threads do: another one where it has a guard.
    pub threads: u32,
}

/// Counts of a launch that is under way. Shared by the cores.
#[derive(Debug)]
pub(crate) struct Counting {
    /// Clusters that are counted, in order; `None` is all.
    pub counted: Option<Vec<u64>>,
    /// Whether the others run.
    pub runs_all: bool,
    totals: Mutex<Totals>,
}

impl Counting {
    /// Of nothing yet.
    pub fn new(counted: Option<Vec<u64>>, runs_all: bool) -> Counting {
        Counting { counted, runs_all, totals: Mutex::default() }
    }

    /// The cluster that is run as the one of a number; `None` after the last.
    pub fn cluster(&self, number: u64) -> Option<u64> {
        match &self.counted {
            Some(counted) if !self.runs_all => counted.get(usize::try_from(number).ok()?).copied(),
            _ => Some(number),
        }
    }

    /// Whether a cluster is counted.
    pub fn counts(&self, cluster: u64) -> bool {
        self.counted.as_ref().is_none_or(|counted| counted.binary_search(&cluster).is_ok())
    }

    fn add(&self, totals: &mut Totals) {
        if let Ok(mut sum) = self.totals.lock() {
            sum.add(totals);
        }
        *totals = Totals::default();
    }
}

/// Sums by number.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    /// Warps and threads of each flow.
    flows: Vec<(u64, u64)>,
    accesses: BTreeMap<(u32, MemorySpace), Requests>,
}

/// What requests of one instruction came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests {
    requests: u64,
    threads: u64,
    sectors: u64,
    sectors_ideal: u64,
    wavefronts: u64,
    wavefronts_ideal: u64,
    conflicts: u64,
    addresses: u64,
    /// How often each distance between neighbouring lanes came, of the first few distances.
    strides: Vec<(i64, u64)>,
}

/// Distances of one instruction that are told apart, at most.
const STRIDES_MAX: usize = 16;

impl Totals {
    fn flow(&mut self, flow: u32, mask: u32) {
        let at = flow as usize;
        if self.flows.len() <= at {
            self.flows.resize(at + 1, (0, 0));
        }
        self.flows[at].0 += 1;
        self.flows[at].1 += u64::from(mask.count_ones());
    }

    fn of_flow(&self, flow: u32) -> (u64, u64) {
        self.flows.get(flow as usize).copied().unwrap_or_default()
    }

    fn add(&mut self, other: &Totals) {
        if self.flows.len() < other.flows.len() {
            self.flows.resize(other.flows.len(), (0, 0));
        }
        for (sum, (warps, threads)) in self.flows.iter_mut().zip(&other.flows) {
            *sum = (sum.0 + warps, sum.1 + threads);
        }
        for (key, requests) in &other.accesses {
            self.accesses.entry(*key).or_default().add(requests);
        }
    }
}

impl Requests {
    fn add(&mut self, other: &Requests) {
        self.requests += other.requests;
        self.threads += other.threads;
        self.sectors += other.sectors;
        self.sectors_ideal += other.sectors_ideal;
        self.wavefronts += other.wavefronts;
        self.wavefronts_ideal += other.wavefronts_ideal;
        self.conflicts += other.conflicts;
        self.addresses += other.addresses;
        for (stride, times) in &other.strides {
            self.stride(*stride, *times);
        }
    }

    fn stride(&mut self, stride: i64, times: u64) {
        if let Some((_, sum)) = self.strides.iter_mut().find(|(known, _)| *known == stride) {
            *sum += times;
        } else if self.strides.len() < STRIDES_MAX {
            self.strides.push((stride, times));
        }
    }
}
