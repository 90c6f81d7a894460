//! The front end of Peak: text to a resolved, typed IR.
//!
//! Pure: no files, no network, no clock (`clippy.toml` enforces it). Text comes in with a name, declarations and
//! diagnostics go out.
//!
//! The way of a file: bytes -> [`syntax`] (layout, then each clause by the rules of `peak.pest`: an AST with spans) ->
//! [`load`] (names resolved, units and types checked: the [`ir::Library`]) -> for one kernel and one device,
//! [`specialize`] (packs applied) and [`matching`] (a pattern's names bound to the kernel's own). The way back, from a
//! tree of clauses to text, is [`format`](mod@format); [`author`] puts declarations together in a program.

pub mod author;
pub mod diagnostics;
pub mod format;
pub mod ir;
pub mod limits;
pub mod matching;
pub mod metavariables;
mod resolve;
pub mod specialize;
pub mod syntax;

pub use diagnostics::{Diagnostic, Severity, Sources};
pub use ir::print_launch_plan;
pub use resolve::{LANGUAGES, PlanNames};

/// A file as the caller read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The name that diagnostics show and origins hold, as the caller likes it.
    pub name: String,
    /// What is in it; it need not be text.
    pub bytes: Vec<u8>,
}

impl SourceFile {
    /// A file from text.
    #[must_use]
    pub fn new(name: &str, text: &str) -> SourceFile {
        SourceFile { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
    }
}

/// Reads one file. Every error of the file is among the diagnostics; what could be read is in the AST.
#[must_use]
pub fn parse(file: &SourceFile) -> (syntax::File, Vec<Diagnostic>) {
    syntax::parse(file)
}

/// Reads and resolves files together: a library's and a user's. Diagnostics come in the order of the files; where
/// there is an error among them, the declaration that it points at is incomplete and may not be used.
#[must_use]
pub fn load(files: &[SourceFile]) -> (ir::Library, Vec<Diagnostic>) {
    resolve::load(files)
}

/// Reads a host region's text, as it stands in a kernel's `host code` without its indentation.
///
/// # Errors
/// Everything that is wrong with it, names included that `known` does not hold.
pub fn parse_launch_plan(name: &str, text: &str, known: &PlanNames) -> Result<ir::LaunchPlan, Vec<Diagnostic>> {
    resolve::parse_launch_plan(name, text, known)
}
