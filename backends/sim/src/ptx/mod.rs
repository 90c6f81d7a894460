//! PTX text to a syntax tree: cut into statements, then each read by the grammar in `ptx.pest`.
//!
//! Any text gives a tree or an error with its line. The reader never panics, never recurses on the text, and never
//! looks a name up: that is `crate::ir`.

mod cut;
mod read;
mod syntax;

pub(crate) use cut::quote;
pub(crate) use read::read;
pub(crate) use syntax::*;

/// The longest text that is read, in bytes. NVRTC's largest modules have a few million.
pub(crate) const MAX_TEXT_BYTES: usize = 64 << 20;

/// The longest statement, in bytes: a constant table of 64 KiB is about 400 KB of text.
pub(crate) const MAX_STATEMENT_BYTES: usize = 4 << 20;

/// The deepest nesting of scopes in a function.
pub(crate) const MAX_SCOPES: usize = 64;

/// Why a text is not a module that the simulator runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}{}", place(*.line, .source_line.as_deref()), if *.unmodelled { GPU } else { "" })]
pub(crate) struct PtxError {
    /// The line of the PTX text, from 1.
    pub line: u32,
    /// What is wrong, or what is not modelled.
    pub problem: String,
    /// The place in the kernel's source, where the text says: `device code, line 12`.
    pub source_line: Option<String>,
    /// Whether it is the simulator that lacks something, not the text that is wrong.
    pub unmodelled: bool,
}

/// What to do about what is not modelled.
const GPU: &str = "; a GPU runs what the simulator lacks: choose one with `--device`, or write the step without it";

fn place(line: u32, source: Option<&str>) -> String {
    match source {
        Some(source) => format!("{source} (PTX line {line})"),
        None => format!("PTX line {line}"),
    }
}

impl PtxError {
    /// An error with no place in the source.
    pub(crate) fn new(line: u32, problem: impl Into<String>) -> PtxError {
        PtxError { line, problem: problem.into(), source_line: None, unmodelled: false }
    }
}
