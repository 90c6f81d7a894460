//! What a kernel executed, as a device counted it: sums by metric, by kind and by source line, what stands out in plain
//! words, the source with it in a margin. Runs nothing.

mod busy;
mod findings;
mod margin;
mod metrics;

pub use busy::{Busy, busy};
pub use findings::{Finding, findings};
pub use margin::executed_margin;
pub use metrics::{METRICS, Metric, Standing, metric};

use super::CounterSource;
use peak_backend_api::{AccessKind, InstructionKind, LaunchCounts, MemoryCounts, MemorySpace, SiteCounts, SourcePlace};
use std::collections::BTreeMap;

/// Threads of a warp.
pub const WARP: u64 = 32;

/// All launches of one entry point.
#[derive(Clone, Debug, PartialEq)]
pub struct Executed {
    /// Where the counts come from.
    pub source: CounterSource,
    /// The entry point.
    pub entry: String,
    /// Threads a block, of the first launch.
    pub threads: u64,
    /// Launches.
    pub launches: usize,
    /// Blocks of all launches.
    pub blocks: u64,
    /// Blocks that were counted. Where that is fewer, every sum is taken up to all blocks.
    pub blocks_counted: u64,
    /// Each instruction, in the order of the code.
    pub sites: Vec<SiteCounts>,
}

/// What each entry executed, in the order of their first launches.
#[must_use]
pub fn executed(launches: &[LaunchCounts]) -> Vec<Executed> {
    let mut all: Vec<Executed> = Vec::new();
    for launch in launches {
        let sites = launch.sites.iter().map(|site| scaled(site, launch.blocks, launch.blocks_counted));
        let Some(known) = all.iter_mut().find(|known| known.entry == launch.entry) else {
            all.push(Executed {
                source: CounterSource::Simulated,
                entry: launch.entry.clone(),
                threads: launch.block.iter().map(|side| u64::from(*side)).product(),
                launches: 1,
                blocks: launch.blocks,
                blocks_counted: launch.blocks_counted,
                sites: sites.collect(),
            });
            continue;
        };
        known.launches += 1;
        known.blocks += launch.blocks;
        known.blocks_counted += launch.blocks_counted;
        // Launches of one entry have the same code.
        known.sites.iter_mut().zip(sites).for_each(|(sum, site)| add(sum, site));
    }
    all
}

impl Executed {
    /// The sum of a metric.
    #[must_use]
    pub fn sum(&self, metric: &Metric) -> u64 {
        self.sites.iter().map(metric.of).sum()
    }

    /// The sum of a metric by its name; `None` where there is none of that name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<u64> {
        metric(name).map(|metric| self.sum(metric))
    }

    /// Instructions by source line, of those that name one.
    #[must_use]
    pub fn lines(&self) -> BTreeMap<SourcePlace, Vec<&SiteCounts>> {
        let mut lines: BTreeMap<SourcePlace, Vec<&SiteCounts>> = BTreeMap::new();
        for site in &self.sites {
            if let Some(at) = site.at.as_ref().filter(|_| site.warps > 0) {
                lines.entry(at.clone()).or_default().push(site);
            }
        }
        lines
    }

    /// Warps and threads by kind of instruction.
    #[must_use]
    pub fn kinds(&self) -> BTreeMap<InstructionKind, (u64, u64)> {
        let mut kinds = BTreeMap::new();
        for site in self.sites.iter().filter(|site| site.warps > 0) {
            let sum: &mut (u64, u64) = kinds.entry(site.kind).or_default();
            *sum = (sum.0 + site.warps, sum.1 + site.threads);
        }
        kinds
    }

    /// Threads that a warp of these blocks has, on average.
    #[must_use]
    pub fn warp_threads(&self) -> f64 {
        float(self.threads) / float(self.threads.div_ceil(WARP).max(1))
    }
}

/// Accesses of some instructions to a space, of some kinds, added up.
#[must_use]
pub fn accesses(sites: &[&SiteCounts], space: MemorySpace, kinds: &[AccessKind]) -> Option<MemoryCounts> {
    let all = sites.iter().flat_map(|site| &site.memory);
    let mut wanted = all.filter(|it| it.space == space && kinds.contains(&it.access));
    let mut sum = wanted.next()?.clone();
    let mut most = sum.requests;
    for more in wanted {
        // The distance is that of most requests.
        if more.requests > most {
            (most, sum.stride_bytes) = (more.requests, more.stride_bytes);
        }
        add_memory(&mut sum, more);
    }
    Some(sum)
}

fn add(sum: &mut SiteCounts, site: SiteCounts) {
    sum.warps += site.warps;
    sum.threads += site.threads;
    for more in site.memory {
        let same = |it: &&mut MemoryCounts| (it.space, it.access, it.bytes) == (more.space, more.access, more.bytes);
        match sum.memory.iter_mut().find(same) {
            Some(known) => add_memory(known, &more),
            None => sum.memory.push(more),
        }
    }
}

fn add_memory(sum: &mut MemoryCounts, more: &MemoryCounts) {
    sum.requests += more.requests;
    sum.threads += more.threads;
    sum.sectors += more.sectors;
    sum.sectors_ideal += more.sectors_ideal;
    sum.wavefronts += more.wavefronts;
    sum.wavefronts_ideal += more.wavefronts_ideal;
    sum.conflicts += more.conflicts;
    sum.addresses += more.addresses;
}

/// An instruction as if all blocks had done what the counted ones did.
fn scaled(site: &SiteCounts, blocks: u64, counted: u64) -> SiteCounts {
    let up = |count: u64| {
        if blocks == counted || counted == 0 {
            return count;
        }
        let (count, counted) = (u128::from(count), u128::from(counted));
        u64::try_from((count * u128::from(blocks) + counted / 2) / counted).unwrap_or(u64::MAX)
    };
    let memory = site.memory.iter().map(|it| MemoryCounts {
        requests: up(it.requests),
        threads: up(it.threads),
        sectors: up(it.sectors),
        sectors_ideal: up(it.sectors_ideal),
        wavefronts: up(it.wavefronts),
        wavefronts_ideal: up(it.wavefronts_ideal),
        conflicts: up(it.conflicts),
        addresses: up(it.addresses),
        ..it.clone()
    });
    SiteCounts { warps: up(site.warps), threads: up(site.threads), memory: memory.collect(), ..site.clone() }
}

/// A share or a mean of counts; 0 of nothing.
#[must_use]
pub fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { float(part) / float(whole) }
}

fn float(count: u64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "ratios are shown with three digits")]
    {
        count as f64
    }
}
