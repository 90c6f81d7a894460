//! Source text with what each line executed in a margin: its share of the instructions, how many threads took part, and how
//! its requests met sectors and banks.

use super::{Executed, accesses, ratio};
use crate::report::units;
use peak_backend_api::{AccessKind, MemorySpace, SiteCounts, SourcePiece, SourcePlace};
use std::collections::BTreeMap;

/// Heads of the columns, with their widths.
const COLUMNS: [(&str, usize); 5] = [("instr", 8), ("threads", 8), ("traffic", 9), ("sectors", 13), ("passes", 13)];

/// What the columns hold.
const LEGEND: &str = "\
instr: share of all instructions; threads: of a warp's 32, those that take part; traffic: share of global memory's sectors;
sectors: of global memory a request, and passes: over shared memory's banks a request, with what would do
";

/// Each piece of the source that was executed, every line of it with its counts.
#[must_use]
pub fn executed_margin(executed: &Executed, sources: &[SourcePiece]) -> String {
    let lines = executed.lines();
    let whole = Whole::of(executed);
    let heads = COLUMNS.map(|(head, width)| format!("{head:>width$}")).concat();
    let empty = " ".repeat(COLUMNS.iter().map(|(_, width)| width).sum());
    let mut text = format!("{LEGEND}{heads}\n");
    for source in sources.iter().filter(|source| lines.keys().any(|at| at.piece == source.name)) {
        text.push_str(&format!("{empty}      | {}\n", source.name));
        for (index, line) in source.text.lines().enumerate() {
            let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
            let at = SourcePlace { piece: source.name.clone(), line: number };
            let columns = lines.get(&at).map_or_else(|| empty.clone(), |sites| whole.columns(sites));
            text.push_str(format!("{columns}{number:>5} | {line}").trim_end());
            text.push('\n');
        }
    }
    text.push_str(&elsewhere(&lines, sources, &whole));
    text
}

struct Whole {
    warps: u64,
    sectors: u64,
}

const ALL: [AccessKind; 4] = [AccessKind::Load, AccessKind::Store, AccessKind::Atomic, AccessKind::Reduction];

impl Whole {
    fn of(executed: &Executed) -> Whole {
        let sites: Vec<&SiteCounts> = executed.sites.iter().collect();
        let sectors = accesses(&sites, MemorySpace::Global, &ALL).map_or(0, |it| it.sectors);
        Whole { warps: sites.iter().map(|site| site.warps).sum(), sectors }
    }

    fn columns(&self, sites: &[&SiteCounts]) -> String {
        let (warps, threads) = sites.iter().fold((0, 0), |sum, site| (sum.0 + site.warps, sum.1 + site.threads));
        let global = accesses(sites, MemorySpace::Global, &ALL);
        let shared = accesses(sites, MemorySpace::Shared, &ALL);
        let pair = |count: u64, best: u64, requests: u64| {
            format!("{} ({})", units::mean(ratio(count, requests)), units::mean(ratio(best, requests)))
        };
        let dash = || "-".to_owned();
        let cells = [
            units::share(ratio(warps, self.warps)),
            units::mean(ratio(threads, warps)),
            global.as_ref().map_or_else(dash, |it| units::share(ratio(it.sectors, self.sectors))),
            global.as_ref().map_or_else(dash, |it| pair(it.sectors, it.sectors_ideal, it.requests)),
            shared.as_ref().map_or_else(dash, |it| pair(it.wavefronts, it.wavefronts - it.conflicts, it.requests)),
        ];
        cells.iter().zip(COLUMNS).map(|(cell, (_, width))| format!("{cell:>width$}")).collect()
    }
}

/// What came from headers, whose text is not shown.
fn elsewhere(lines: &BTreeMap<SourcePlace, Vec<&SiteCounts>>, sources: &[SourcePiece], whole: &Whole) -> String {
    let mut text = String::new();
    let is_shown = |at: &SourcePlace| sources.iter().any(|source| source.name == at.piece);
    for (at, sites) in lines.iter().filter(|(at, _)| !is_shown(at)) {
        text.push_str(&format!("{}      | {}, line {}\n", whole.columns(sites), at.piece, at.line));
    }
    text
}
