//! What `peak profile` says of what a kernel executed: sums, units, lines, what stands out. Counts come from a device that
//! counts; none of them is a time.

use super::super::kernel::Shown;
use crate::inspect::{Executed, Finding, METRICS, Metric, accesses, busy, executed_margin, findings, ratio};
use crate::report::units;
use peak_backend_api::{AccessKind, MemorySpace, SiteCounts};
use serde_json::{Map, Value, json};

/// What is said of one entry.
pub(super) fn text(executed: &Executed, bytes: Option<f64>, annotated: Option<&Shown>) -> String {
    let mut text = format!("entry {}: {}\n", executed.entry, extent(executed));
    text.push_str(&instructions(executed));
    for (name, space, kinds) in GROUPS {
        text.push_str(&memory(executed, name, space, kinds));
    }
    text.push_str(&unit_words(executed));
    text.push('\n');
    if let Some(shown) = annotated {
        text.push_str(&executed_margin(executed, &shown.compiled.request.pieces));
        text.push('\n');
    }
    text.push_str(&finding_words(&findings(executed, bytes)));
    text
}

/// Memory and what is done with it, as it is shown.
const GROUPS: [(&str, MemorySpace, &[AccessKind]); 6] = [
    ("global loads", MemorySpace::Global, &[AccessKind::Load]),
    ("global stores", MemorySpace::Global, &[AccessKind::Store]),
    ("global atomics", MemorySpace::Global, &[AccessKind::Atomic, AccessKind::Reduction]),
    ("shared loads", MemorySpace::Shared, &[AccessKind::Load]),
    ("shared stores", MemorySpace::Shared, &[AccessKind::Store]),
    ("shared atomics", MemorySpace::Shared, &[AccessKind::Atomic, AccessKind::Reduction]),
];

fn extent(executed: &Executed) -> String {
    let Executed { blocks, blocks_counted, launches, .. } = executed;
    let times = if *launches == 1 { String::new() } else { format!(" in {launches} launches") };
    match blocks == blocks_counted {
        true => format!("counted on the simulator, all {blocks} blocks{times}"),
        false => {
            format!("counted on the simulator, {blocks_counted} of {blocks} blocks{times}; sums are taken up to all")
        }
    }
}

fn line(name: &str, words: &str) -> String {
    format!("  {name:<24}{words}\n")
}

fn sum(executed: &Executed, name: &str) -> u64 {
    executed.named(name).unwrap_or(0)
}

fn instructions(executed: &Executed) -> String {
    let (warps, threads) = (sum(executed, "warp_instructions"), sum(executed, "thread_instructions"));
    let active = units::mean(ratio(threads, warps));
    let mut text = line("instructions of warps", &format!("{}, {active} threads each", count(warps)));
    for (kind, (warps_of, _)) in executed.kinds() {
        let share = units::share(ratio(warps_of, warps));
        text.push_str(&format!("    {:<22}{share:>7}\n", kind.name()));
    }
    text
}

fn memory(executed: &Executed, name: &str, space: MemorySpace, kinds: &[AccessKind]) -> String {
    let sites: Vec<&SiteCounts> = executed.sites.iter().collect();
    let Some(it) = accesses(&sites, space, kinds).filter(|it| it.requests > 0) else { return String::new() };
    let each = |count: u64| units::mean(ratio(count, it.requests));
    let met = match space {
        MemorySpace::Global => {
            let (sectors, ideal) = (each(it.sectors), each(it.sectors_ideal));
            let bytes = units::bytes(ratio(it.sectors * peak_backend_api::SECTOR_BYTES, 1));
            format!("{sectors} sectors each ({ideal} would do), {bytes}")
        }
        MemorySpace::Shared => {
            let (passes, best) = (each(it.wavefronts), each(it.wavefronts - it.conflicts));
            format!("{passes} passes over the banks each ({best} would do)")
        }
    };
    let contended = match kinds.contains(&AccessKind::Atomic) {
        true => format!(", {} threads an address", units::mean(ratio(it.threads, it.addresses))),
        false => String::new(),
    };
    line(name, &format!("{} requests, {met}{contended}", count(it.requests)))
}

fn unit_words(executed: &Executed) -> String {
    let busy = busy(executed);
    let most = busy.most();
    if most <= 0.0 {
        return String::new();
    }
    let mut units_of = busy.units().to_vec();
    units_of.sort_by(|a, b| b.1.total_cmp(&a.1));
    let words: Vec<String> =
        units_of.iter().map(|(name, cycles)| format!("{name} {}", units::share(cycles / most))).collect();
    line("busy, by throughput", &words.join(", "))
}

fn finding_words(found: &[Finding]) -> String {
    if found.is_empty() {
        return "nothing stands out\n".to_owned();
    }
    let mut text = "what stands out, the heaviest first:\n".to_owned();
    for (number, finding) in found.iter().enumerate() {
        let place = finding.at.as_ref().map_or_else(String::new, |at| format!("{}, line {}: ", at.piece, at.line));
        text.push_str(&format!("  {}. {place}{}\n", number + 1, finding.words));
    }
    text
}

/// `1.05 million`.
fn count(count: u64) -> String {
    units::count(ratio(count, 1))
}

/// The same for programs.
pub(super) fn fields(executed: &Executed, bytes: Option<f64>) -> Value {
    let all: Map<String, Value> = METRICS.iter().map(|it| (it.name.to_owned(), json!(executed.sum(it)))).collect();
    let lines = executed.lines().into_iter().map(|(at, sites)| {
        let of = |metric: &Metric| sites.iter().map(|site| (metric.of)(site)).sum::<u64>();
        let counted: Map<String, Value> = METRICS
            .iter()
            .map(|metric| (metric.name.to_owned(), of(metric)))
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| (name, json!(count)))
            .collect();
        json!({"piece": at.piece, "line": at.line, "metrics": counted})
    });
    let found = findings(executed, bytes).into_iter().map(|finding| {
        let at = finding.at.as_ref();
        json!({
            "piece": at.map(|at| &at.piece),
            "line": at.map(|at| at.line),
            "share": finding.share,
            "words": finding.words,
        })
    });
    let busy: Map<String, Value> =
        busy(executed).units().into_iter().map(|(name, cycles)| (name.replace(' ', "_"), json!(cycles))).collect();
    json!({
        "source": executed.source,
        "blocks": executed.blocks,
        "blocks_counted": executed.blocks_counted,
        "metrics": all,
        "busy": busy,
        "lines": lines.collect::<Vec<_>>(),
        "findings": found.collect::<Vec<_>>(),
    })
}
