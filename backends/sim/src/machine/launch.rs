//! A launch: its blocks are spread over the cores.

use super::block::{Block, Turn};
use super::gang::Gang;
use super::memory::AddressSpace;
use crate::count::Counting;
use crate::program::CompiledEntry;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Threads of all blocks that are under way at once on one core; one block is always.
const MAX_RESIDENT_THREADS: usize = 8192;

/// Launches of fewer threads run on the calling thread.
const SMALL_THREADS: u64 = 1024;

/// A launch under way. Shared by the cores.
pub(crate) struct Launch<'l> {
    pub entry: &'l CompiledEntry,
    pub space: AddressSpace,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Blocks a cluster, of which the grid is a multiple.
    pub cluster: [u32; 3],
    /// Address of the grid's workspace in a cooperative launch, all of whose blocks are under way at once; else 0.
    pub workspace: u64,
    /// Static and dynamic.
    pub shared_bytes: u64,
    pub dynamic_bytes: u32,
    pub parameters: Vec<u8>,
    /// Instructions of one thread after which it is taken to loop for ever.
    pub instruction_limit: u64,
    /// What is counted of it, where its entry is one that counts.
    pub counting: Option<Counting>,
    pub state: LaunchState,
}

/// What changes.
#[derive(Debug, Default)]
pub(crate) struct LaunchState {
    next: AtomicU64,
    stopped: AtomicBool,
    fault: Mutex<Option<String>>,
    executed: AtomicU64,
    /// A thread got on since `still_since` was last looked at.
    progressed: AtomicBool,
    /// Since when none got on, as far as known.
    still_since: Mutex<Option<Instant>>,
}

impl LaunchState {
    /// A thread got on.
    pub fn progress(&self) {
        // Mostly it is set already, and cores need not fight for the line.
        if !self.progressed.load(Ordering::Relaxed) {
            self.progressed.store(true, Ordering::Relaxed);
        }
    }

    /// Whether every thread has spun for [`MAX_SPIN`](super::MAX_SPIN). Asked by threads that spin, now and then.
    pub fn spins_in_vain(&self) -> bool {
        let Ok(mut since) = self.still_since.lock() else { return false };
        if self.progressed.swap(false, Ordering::Relaxed) {
            *since = None;
        }
        since.get_or_insert_with(Instant::now).elapsed() >= super::MAX_SPIN
    }
}

impl Launch<'_> {
    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Blocks of a cluster.
    pub fn cluster_blocks(&self) -> u32 {
        self.cluster.iter().product()
    }

    /// Clusters in x, y, z.
    pub fn clusters(&self) -> [u32; 3] {
        std::array::from_fn(|axis| self.grid[axis] / self.cluster[axis])
    }

    /// Whether it has failed.
    pub fn is_stopped(&self) -> bool {
        self.state.stopped.load(Ordering::Relaxed)
    }

    /// Ends it; the first fault is kept.
    pub fn fail(&self, message: String) {
        if let Ok(mut fault) = self.state.fault.lock() {
            fault.get_or_insert(message);
        }
        self.state.stopped.store(true, Ordering::Relaxed);
    }

    fn next(&self) -> Option<u64> {
        let clusters: u64 = self.clusters().iter().map(|it| u64::from(*it)).product();
        let next = self.state.next.fetch_add(1, Ordering::Relaxed);
        let next = self.counting.as_ref().map_or(Some(next), |counting| counting.cluster(next))?;
        (next < clusters && !self.is_stopped()).then_some(next)
    }

    /// A block begins as part of a cluster.
    pub fn start_counting(&self, block: &Block, cluster: u64) {
        if let (Some(counts), Some(counting)) = (&block.counts, &self.counting) {
            counts.borrow_mut().start(counting.counts(cluster));
        }
    }

    fn count(&self, block: &Block) {
        let executed = block.threads().iter().map(|thread| thread.executed.replace(0)).sum();
        self.state.executed.fetch_add(executed, Ordering::Relaxed);
        if let (Some(counts), Some(plan), Some(counting)) = (&block.counts, &self.entry.count, &self.counting) {
            counts.borrow_mut().finish(plan, counting);
        }
    }
}

/// Runs a launch to its end, and gives the instructions that all threads executed.
///
/// # Errors
/// The first fault, in words.
pub(crate) fn run(launch: &Launch<'_>, cores: usize) -> Result<u64, String> {
    let blocks: u64 = launch.grid.iter().map(|it| u64::from(*it)).product();
    let small = blocks.saturating_mul(u64::from(launch.threads())) <= SMALL_THREADS;
    let workers = if small { 1 } else { u64::try_from(cores).unwrap_or(1).min(blocks) };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(|| work(launch));
        }
        work(launch);
    });
    let fault = launch.state.fault.lock().ok().and_then(|mut fault| fault.take());
    match fault {
        Some(message) => Err(message),
        None => Ok(launch.state.executed.load(Ordering::Relaxed)),
    }
}

fn work(launch: &Launch<'_>) {
    let together = launch.entry.suspends || launch.cluster_blocks() > 1;
    let done = if together { work_suspending(launch) } else { work_plain(launch) };
    if let Err(message) = done {
        launch.fail(message);
    }
}

fn work_plain(launch: &Launch<'_>) -> Result<(), String> {
    let block = Block::new(launch, std::ptr::null())?;
    while let Some(linear) = launch.next() {
        block.start(linear, 0);
        block.run_plain(launch.entry.code);
        launch.count(&block);
    }
    Ok(())
}

/// Runs clusters; one that only spins makes room for the next, so that all get on.
fn work_suspending(launch: &Launch<'_>) -> Result<(), String> {
    let threads = (launch.threads() * launch.cluster_blocks()).max(1) as usize;
    let max_gangs = if launch.workspace == 0 { (MAX_RESIDENT_THREADS / threads).max(1) } else { usize::MAX };
    let (mut stacks, mut resting) = (Vec::new(), Vec::new());
    let mut gangs: VecDeque<Gang> = VecDeque::new();
    loop {
        let admits = gangs.len() < max_gangs;
        let spinning = gangs.front().is_some();
        if admits && let Some(linear) = launch.next() {
            let mut gang = match resting.pop() {
                Some(gang) => gang,
                None => Gang::new(launch)?,
            };
            gang.start(linear, &mut stacks)?;
            gangs.push_front(gang);
        } else if spinning {
            gangs.rotate_left(1);
        }
        let Some(gang) = gangs.front_mut() else { return Ok(()) };
        match gang.turn(&mut stacks) {
            Turn::Spinning | Turn::Waiting => {}
            Turn::Stopped => return Ok(()),
            Turn::Finished => {
                gang.blocks().for_each(|block| launch.count(block));
                resting.extend(gangs.pop_front());
                // Those that spin get a turn before another cluster starts.
                if let Some(Turn::Stopped) = turn_gangs(launch, &mut gangs, &mut resting, &mut stacks) {
                    return Ok(());
                }
            }
        }
    }
}

/// One turn for every cluster under way.
fn turn_gangs(
    launch: &Launch<'_>,
    gangs: &mut VecDeque<Gang>,
    resting: &mut Vec<Gang>,
    stacks: &mut Vec<corosensei::stack::DefaultStack>,
) -> Option<Turn> {
    for _ in 0..gangs.len() {
        let mut gang = gangs.pop_front()?;
        match gang.turn(stacks) {
            Turn::Finished => {
                gang.blocks().for_each(|block| launch.count(block));
                resting.push(gang);
            }
            Turn::Spinning | Turn::Waiting => gangs.push_back(gang),
            Turn::Stopped => return Some(Turn::Stopped),
        }
    }
    None
}
