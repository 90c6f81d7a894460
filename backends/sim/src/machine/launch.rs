//! A launch: its blocks are spread over the cores.

use super::block::{Block, Resident, Turn};
use super::memory::AddressSpace;
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
    /// Static and dynamic.
    pub shared_bytes: u64,
    pub dynamic_bytes: u32,
    pub parameters: Vec<u8>,
    /// Instructions of one thread after which it is taken to loop for ever.
    pub instruction_limit: u64,
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
        let blocks: u64 = self.grid.iter().map(|it| u64::from(*it)).product();
        let next = self.state.next.fetch_add(1, Ordering::Relaxed);
        (next < blocks && !self.is_stopped()).then_some(next)
    }

    fn count(&self, block: &Block) {
        let executed = block.threads().iter().map(|thread| thread.executed.replace(0)).sum();
        self.state.executed.fetch_add(executed, Ordering::Relaxed);
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
    let done = if launch.entry.suspends { work_suspending(launch) } else { work_plain(launch) };
    if let Err(message) = done {
        launch.fail(message);
    }
}

fn work_plain(launch: &Launch<'_>) -> Result<(), String> {
    let block = Block::new(launch)?;
    while let Some(linear) = launch.next() {
        block.start(linear);
        block.run_plain(launch.entry.code);
        launch.count(&block);
    }
    Ok(())
}

/// Runs blocks; one that only spins makes room for the next, so that all get on.
fn work_suspending(launch: &Launch<'_>) -> Result<(), String> {
    let max_residents = (MAX_RESIDENT_THREADS / launch.threads().max(1) as usize).max(1);
    let (mut stacks, mut resting) = (Vec::new(), Vec::new());
    let mut residents: VecDeque<Resident> = VecDeque::new();
    loop {
        let admits = residents.len() < max_residents;
        let spinning = residents.front().is_some();
        if admits && let Some(linear) = launch.next() {
            let mut resident = match resting.pop() {
                Some(resident) => resident,
                None => Resident::new(Block::new(launch)?),
            };
            resident.start(linear, &mut stacks)?;
            residents.push_front(resident);
        } else if spinning {
            residents.rotate_left(1);
        }
        let Some(resident) = residents.front_mut() else { return Ok(()) };
        match resident.turn(&mut stacks) {
            Turn::Spinning => {}
            Turn::Stopped => return Ok(()),
            Turn::Finished => {
                launch.count(&resident.block);
                resting.extend(residents.pop_front());
                // Those that spin get a turn before another block starts.
                if let Some(Turn::Stopped) = turn_residents(launch, &mut residents, &mut resting, &mut stacks) {
                    return Ok(());
                }
            }
        }
    }
}

/// One turn for every block under way.
fn turn_residents(
    launch: &Launch<'_>,
    residents: &mut VecDeque<Resident>,
    resting: &mut Vec<Resident>,
    stacks: &mut Vec<corosensei::stack::DefaultStack>,
) -> Option<Turn> {
    for _ in 0..residents.len() {
        let mut resident = residents.pop_front()?;
        match resident.turn(stacks) {
            Turn::Finished => {
                launch.count(&resident.block);
                resting.push(resident);
            }
            Turn::Spinning => residents.push_back(resident),
            Turn::Stopped => return Some(Turn::Stopped),
        }
    }
    None
}
