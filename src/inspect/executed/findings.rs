//! What stands out in what was executed, in plain words with a way out, the heaviest first. Says nothing of small things.

use super::busy::{Busy, busy, issue_cycles, sector_cycles};
use super::{Executed, accesses, float, ratio};
use crate::report::units;
use peak_backend_api::{AccessKind, InstructionKind, MemoryCounts, MemorySpace, SECTOR_BYTES, SiteCounts, SourcePlace};
use std::collections::BTreeMap;

/// Findings that are shown, at most.
const FINDINGS_MAX: usize = 8;
/// Waste below this share of the busiest unit's cycles is not worth a word.
const SHARE_MIN: f64 = 0.02;
/// Sectors or passes above this many times the best are too many.
const EXCESS_MIN: f64 = 1.25;
/// Loads of this many times the arguments' bytes read the same data again and again.
const REREAD_MIN: f64 = 4.0;
/// Warps with fewer than this share of their threads have parted.
const ACTIVE_MIN: f64 = 0.75;
/// Threads of a request on one address that are better brought together first.
const CONTENTION_MIN: f64 = 4.0;
/// How much busier than arithmetic shared memory may be.
const SHARED_MIN: f64 = 1.5;
/// Below this share of all instructions arithmetic, memory and exchanges are crowded out by the rest.
const USEFUL_MIN: f64 = 0.4;

/// Something that stands out.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The line, where it is one.
    pub at: Option<SourcePlace>,
    /// Cycles of a multiprocessor that it wastes, as a share of the busiest unit's.
    pub share: f64,
    /// What is, and what to do.
    pub words: String,
}

/// What stands out, the heaviest first. `bytes` is what the kernel's arguments hold, where that is known.
#[must_use]
pub fn findings(executed: &Executed, bytes: Option<f64>) -> Vec<Finding> {
    let busy = busy(executed);
    let most = busy.most();
    let mut found: Vec<Finding> = Vec::new();
    let mut add = |at: Option<&SourcePlace>, cycles: f64, words: String| {
        let share = if most > 0.0 { cycles / most } else { 0.0 };
        if share >= SHARE_MIN {
            found.push(Finding { at: at.cloned(), share, words });
        }
    };
    for (at, sites) in &executed.lines() {
        for (cycles, words) in of_line(sites, executed) {
            add(Some(at), cycles, words);
        }
    }
    for (cycles, words) in of_all(executed, &busy, bytes) {
        add(None, cycles, words);
    }
    found.sort_by(|a, b| b.share.total_cmp(&a.share));
    found.truncate(FINDINGS_MAX);
    found
}

/// Cycles and words.
type Weighed = (f64, String);

fn of_line(sites: &[&SiteCounts], executed: &Executed) -> Vec<Weighed> {
    let loads = &[AccessKind::Load][..];
    let stores = &[AccessKind::Store][..];
    let of = |space, kinds: &[AccessKind]| accesses(sites, space, kinds);
    let global = [("load", of(MemorySpace::Global, loads)), ("store", of(MemorySpace::Global, stores))];
    let shared = [("load", of(MemorySpace::Shared, loads)), ("store", of(MemorySpace::Shared, stores))];
    let mut found: Vec<Weighed> = Vec::new();
    found.extend(global.iter().filter_map(|(what, it)| uncoalesced(what, it.as_ref()?)));
    found.extend(shared.iter().filter_map(|(what, it)| conflicts(what, it.as_ref()?)));
    let atomics = [AccessKind::Atomic, AccessKind::Reduction];
    for space in [MemorySpace::Global, MemorySpace::Shared] {
        found.extend(of(space, &atomics).as_ref().and_then(contention));
    }
    found.extend(parted(sites, executed.warp_threads()));
    found
}

fn uncoalesced(what: &str, it: &MemoryCounts) -> Option<Weighed> {
    let (each, best) = (ratio(it.sectors, it.requests), ratio(it.sectors_ideal, it.requests));
    if each < best * EXCESS_MIN {
        return None;
    }
    let apart = match it.stride_bytes {
        Some(0) | None => "the addresses of neighbouring threads lie scattered".to_owned(),
        Some(stride) if stride.unsigned_abs() == u64::from(it.bytes) => {
            "rows of neighbouring threads are short, or begin amid a sector".to_owned()
        }
        Some(stride) => format!("neighbouring threads are {} bytes apart", stride.unsigned_abs()),
    };
    let words = format!(
        "each global {what} touches {} sectors of {SECTOR_BYTES} bytes where {} would do: {apart}. Let neighbouring threads \
         take neighbouring elements, or bring whole rows in through shared memory.",
        units::mean(each),
        units::mean(best)
    );
    Some((sector_cycles(it.sectors - it.sectors_ideal), words))
}

fn conflicts(what: &str, it: &MemoryCounts) -> Option<Weighed> {
    let (each, best) = (ratio(it.wavefronts, it.requests), ratio(it.wavefronts - it.conflicts, it.requests));
    if it.conflicts == 0 || each < best * EXCESS_MIN {
        return None;
    }
    let apart = match it.stride_bytes.filter(|stride| *stride != 0) {
        Some(stride) => format!(": neighbouring threads are {} bytes apart", stride.unsigned_abs()),
        None => String::new(),
    };
    let words = format!(
        "each shared {what} takes {} passes over the banks where {} would do{apart}, so that words fall into the same banks. \
         Pad the rows of the array by one word, or permute its columns.",
        units::mean(each),
        units::mean(best)
    );
    Some((float(it.conflicts), words))
}

fn contention(it: &MemoryCounts) -> Option<Weighed> {
    let each = ratio(it.threads, it.addresses);
    if each < CONTENTION_MIN {
        return None;
    }
    let words = format!(
        "{} threads of a warp change one address at once, one after the other. Bring them together first: within the warp by \
         shuffles, within the block in shared memory.",
        units::mean(each)
    );
    Some((float(it.threads - it.addresses), words))
}

fn parted(sites: &[&SiteCounts], whole: f64) -> Option<Weighed> {
    let (warps, threads) = sites.iter().fold((0, 0), |sum, site| (sum.0 + site.warps, sum.1 + site.threads));
    let share = ratio(threads, warps) / whole;
    if share >= ACTIVE_MIN {
        return None;
    }
    let words = format!(
        "{} of the {} threads of a warp take part on average, while the others wait: they branch apart, or leave a loop at \
         different times. Give the threads of a warp the same way, or make the branch a selection.",
        units::mean(ratio(threads, warps)),
        units::mean(whole)
    );
    Some((issue_cycles(float(warps) * (1.0 - share)), words))
}

fn of_all(executed: &Executed, busy: &Busy, bytes: Option<f64>) -> Vec<Weighed> {
    let sites: Vec<&SiteCounts> = executed.sites.iter().collect();
    let mut found = Vec::new();
    found.extend(short_blocks(executed, busy));
    found.extend(bytes.and_then(|bytes| reread(&sites, busy, bytes)));
    found.extend(shared_bound(&sites, busy));
    found.extend(overhead(&sites, busy));
    found
}

fn short_blocks(executed: &Executed, busy: &Busy) -> Option<Weighed> {
    let whole = executed.warp_threads();
    let idle = 1.0 - whole / float(super::WARP);
    (whole < ACTIVE_MIN * float(super::WARP)).then(|| {
        let words = format!(
            "blocks of {} threads leave {} of the 32 threads of each warp unused. Make blocks a multiple of 32 threads.",
            executed.threads,
            units::mean(float(super::WARP) - whole)
        );
        (busy.most() * idle, words)
    })
}

/// Where most loads of a memory are: `, mostly on line 7 of the device code`.
fn mostly(sites: &[&SiteCounts], space: MemorySpace) -> String {
    let mut lines: BTreeMap<&SourcePlace, u64> = BTreeMap::new();
    for site in sites {
        let loads = site.memory.iter().filter(|it| (it.space, it.access) == (space, AccessKind::Load));
        if let Some(at) = &site.at {
            *lines.entry(at).or_default() += loads.map(|it| it.requests).sum::<u64>();
        }
    }
    let most = lines.into_iter().max_by_key(|(_, requests)| *requests);
    most.map_or_else(String::new, |(at, _)| format!(", mostly on line {} of the {}", at.line, at.piece))
}

/// The same data again and again from global memory.
fn reread(sites: &[&SiteCounts], busy: &Busy, bytes: f64) -> Option<Weighed> {
    let loads = accesses(sites, MemorySpace::Global, &[AccessKind::Load])?;
    let mostly = mostly(sites, MemorySpace::Global);
    let moved = float(loads.sectors * SECTOR_BYTES);
    let times = moved / bytes;
    if times < REREAD_MIN || busy.global < busy.most() / 2.0 {
        return None;
    }
    let words = format!(
        "loads ask global memory for {}, {} times the {} that the arguments hold{mostly}: the same data is read again and again, at \
         best from a cache. Keep a tile of it in shared memory or in registers, and use it many times from there.",
        units::bytes(moved),
        units::mean(times),
        units::bytes(bytes)
    );
    Some((busy.global * (1.0 - 1.0 / times), words))
}

/// Values from shared memory that feed too little arithmetic.
fn shared_bound(sites: &[&SiteCounts], busy: &Busy) -> Option<Weighed> {
    let loads = accesses(sites, MemorySpace::Shared, &[AccessKind::Load])?;
    let mostly = mostly(sites, MemorySpace::Shared);
    if busy.shared < busy.most() * 0.99 || busy.shared < busy.float * SHARED_MIN || busy.float == 0.0 {
        return None;
    }
    let arithmetic = [InstructionKind::FmaF32, InstructionKind::F32, InstructionKind::F16, InstructionKind::F64];
    let threads = sites.iter().filter(|site| arithmetic.contains(&site.kind)).map(|site| site.threads).sum();
    let words = format!(
        "shared memory is {} times as busy as the arithmetic that it feeds: {} operations for each load from it{mostly}. \
         Let each thread compute several results, so that a value that was loaded is used from a register more than once; load 8 or 16 \
         bytes at once.",
        units::mean(busy.shared / busy.float),
        units::mean(ratio(threads, loads.threads))
    );
    Some((busy.shared - busy.float, words))
}

/// Instructions that neither compute nor move data.
fn overhead(sites: &[&SiteCounts], busy: &Busy) -> Option<Weighed> {
    let kinds = [
        InstructionKind::Integer,
        InstructionKind::Control,
        InstructionKind::Move,
        InstructionKind::Conversion,
        InstructionKind::ConstantLoad,
    ];
    let float_kinds = [InstructionKind::FmaF32, InstructionKind::F32, InstructionKind::F16, InstructionKind::F64];
    let warps =
        |of: &dyn Fn(&SiteCounts) -> bool| -> u64 { sites.iter().filter(|site| of(site)).map(|site| site.warps).sum() };
    let (rest, all) = (warps(&|site| kinds.contains(&site.kind)), warps(&|_| true));
    let useful = 1.0 - ratio(rest, all);
    let computes = warps(&|site| float_kinds.contains(&site.kind)) > 0;
    if !computes || useful > USEFUL_MIN || busy.issue < busy.most() / 2.0 {
        return None;
    }
    let words = format!(
        "{} of the instructions are addresses, comparisons, jumps and moves ({} are arithmetic). Unroll the inner loop, and \
         take what does not change out of it.",
        units::percent(1.0 - useful),
        units::percent(ratio(warps(&|site| float_kinds.contains(&site.kind)), all))
    );
    Some((issue_cycles(float(rest)) - issue_cycles(float(all)) * (1.0 - USEFUL_MIN), words))
}
