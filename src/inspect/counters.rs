//! What a kernel's code holds, by kind of instruction, loop and source line. Counted, never timed.

use super::loops;
use peak_backend_api::{CodeLanguage, CodeLine, Disassembly, InstructionKind, SourcePlace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where counts come from. A count is worth what its source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterSource {
    /// Read off compiled code: each instruction once, however often it is executed. Nothing ran.
    Static,
    /// Counted by a simulated device while the code ran.
    Simulated,
}

impl CounterSource {
    /// The name for people and programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CounterSource::Static => "static",
            CounterSource::Simulated => "simulated",
        }
    }
}

/// Counts of one entry point, or of a function that entries call.
#[derive(Clone, Debug, PartialEq)]
pub struct Counters {
    /// Where they come from.
    pub source: CounterSource,
    /// What the code is written in.
    pub language: CodeLanguage,
    /// The entry point, or the function.
    pub function: String,
    /// All of it.
    pub all: Tally,
    /// By source line, of the instructions that name one.
    pub lines: BTreeMap<SourcePlace, Tally>,
    /// Loops around the innermost instruction; `None` where that was not told.
    pub loop_depth: Option<u32>,
}

/// Instructions by kind, by the bytes that a thread moves with each, and by the loops around them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    cells: BTreeMap<(InstructionKind, Option<u32>, u32), u64>,
}

impl Tally {
    fn add(&mut self, kind: InstructionKind, bytes: Option<u32>, depth: u32) {
        *self.cells.entry((kind, bytes, depth)).or_default() += 1;
    }

    /// All instructions.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.cells.values().sum()
    }

    /// Those of a kind.
    #[must_use]
    pub fn of(&self, kind: InstructionKind) -> u64 {
        self.cells.iter().filter(|((of, ..), _)| *of == kind).map(|(_, count)| count).sum()
    }

    /// Those of a kind with exactly so many loops around them.
    #[must_use]
    pub fn at_depth(&self, kind: InstructionKind, depth: u32) -> u64 {
        self.cells.iter().filter(|((of, _, at), _)| (*of, *at) == (kind, depth)).map(|(_, count)| count).sum()
    }

    /// Those of a kind, by the bytes that a thread moves with one.
    #[must_use]
    pub fn widths(&self, kind: InstructionKind) -> BTreeMap<Option<u32>, u64> {
        let mut widths = BTreeMap::new();
        for ((_, bytes, _), count) in self.cells.iter().filter(|((of, ..), _)| *of == kind) {
            *widths.entry(*bytes).or_default() += count;
        }
        widths
    }
}

/// The counters of each function with instructions, in the order of the code.
#[must_use]
pub fn counters(code: &Disassembly) -> Vec<Counters> {
    let mut functions: Vec<(&str, Vec<&CodeLine>)> = Vec::new();
    for line in &code.lines {
        let Some(name) = line.function.as_deref() else { continue };
        match functions.iter_mut().find(|(known, _)| *known == name) {
            Some((_, lines)) => lines.push(line),
            None => functions.push((name, vec![line])),
        }
    }
    let counted = functions.iter().map(|(name, lines)| function(code.language, name, lines));
    counted.filter(|counters| counters.all.total() > 0).collect()
}

fn function(language: CodeLanguage, name: &str, lines: &[&CodeLine]) -> Counters {
    let depths = loops::depths(lines);
    let mut counters = Counters {
        source: CounterSource::Static,
        language,
        function: name.to_owned(),
        all: Tally::default(),
        lines: BTreeMap::new(),
        loop_depth: depths.as_ref().map(|depths| depths.iter().copied().max().unwrap_or(0)),
    };
    for (index, line) in lines.iter().enumerate() {
        let Some(found) = &line.instruction else { continue };
        let depth = depths.as_ref().map_or(0, |depths| depths[index]);
        counters.all.add(found.kind, found.bytes, depth);
        if let Some(at) = &line.at {
            counters.lines.entry(at.clone()).or_default().add(found.kind, found.bytes, depth);
        }
    }
    counters
}
