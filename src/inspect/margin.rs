//! Source text with counts in a margin: how many instructions each line became, and the few kinds that matter most.

use super::Counters;
use peak_backend_api::{InstructionKind, SourcePiece, SourcePlace};

/// What has a column of its own, with its head.
pub const MARGIN_KINDS: [(&str, &[InstructionKind]); 5] = [
    ("global", &[InstructionKind::GlobalLoad, InstructionKind::GlobalStore, InstructionKind::AsyncCopy]),
    ("shared", &[InstructionKind::SharedLoad, InstructionKind::SharedStore]),
    (
        "float",
        &[
            InstructionKind::FmaF32,
            InstructionKind::F32,
            InstructionKind::F16,
            InstructionKind::F64,
            InstructionKind::Special,
            InstructionKind::Matrix,
        ],
    ),
    ("integer", &[InstructionKind::Integer, InstructionKind::Conversion]),
    ("sync", &[InstructionKind::Barrier, InstructionKind::Atomic]),
];

/// Width of a column.
const WIDTH: usize = 8;

/// Each piece of the source that became code, every line of it with its counts.
#[must_use]
pub fn margin(counters: &Counters, sources: &[SourcePiece]) -> String {
    let heads = MARGIN_KINDS.iter().map(|(head, _)| format!("{head:>WIDTH$}")).collect::<String>();
    let mut text = format!("{:>WIDTH$}{heads}\n", "all");
    for source in sources.iter().filter(|source| counters.lines.keys().any(|at| at.piece == source.name)) {
        text.push_str(&format!("{}| {}\n", " ".repeat(WIDTH * (MARGIN_KINDS.len() + 1) + 6), source.name));
        for (index, line) in source.text.lines().enumerate() {
            let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
            let at = SourcePlace { piece: source.name.clone(), line: number };
            let shown = format!("{}{number:>5} | {line}", columns(counters, &at));
            text.push_str(shown.trim_end());
            text.push('\n');
        }
    }
    text
}

fn columns(counters: &Counters, at: &SourcePlace) -> String {
    let Some(tally) = counters.lines.get(at) else { return " ".repeat(WIDTH * (MARGIN_KINDS.len() + 1)) };
    let of = |kinds: &[InstructionKind]| kinds.iter().map(|kind| tally.of(*kind)).sum::<u64>();
    let shown = |count: u64| if count == 0 { "-".to_owned() } else { count.to_string() };
    let counts = std::iter::once(tally.total()).chain(MARGIN_KINDS.iter().map(|(_, kinds)| of(kinds)));
    counts.map(|count| format!("{:>WIDTH$}", shown(count))).collect()
}
