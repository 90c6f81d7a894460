//! Text to the tree of what was written: layout, then one clause at a time.
//!
//! Resolves nothing and rejects nothing that only names could show wrong; a bad clause costs only itself.

pub mod ast;
mod clean;
mod layout;
mod prose;
mod read;
mod report;
mod span;
mod written;

pub use ast::File;
pub use clean::{Defect, clean};
pub use prose::{Prose, ProseSegment};
pub use span::{Name, Span, Spanned};

pub(crate) use layout::{Node, RawLine, layout};
pub(crate) use report::{Report, words_of};
pub(crate) use written::{Token, TokenKind, Written};

use crate::SourceFile;
use crate::diagnostics::Diagnostic;
use crate::limits::MAX_FILE_BYTES;

/// What a whole number may be, in words.
pub(crate) const WHOLE_NUMBERS: &str = "whole numbers go up to 9223372036854775807";

/// Reads a file.
pub(crate) fn parse(file: &SourceFile) -> (File, Vec<Diagnostic>) {
    let (parsed, _, diagnostics) = parse_with(file, Report::new(&file.name));
    (parsed, diagnostics)
}

/// Reads a file, and keeps how it was written.
pub(crate) fn parse_written(file: &SourceFile) -> (File, Written, Vec<Diagnostic>) {
    parse_with(file, Report::recording(&file.name))
}

fn parse_with<'f>(file: &'f SourceFile, mut out: Report<'f>) -> (File, Written, Vec<Diagnostic>) {
    if file.bytes.len() > MAX_FILE_BYTES {
        let message = format!("the file has {} bytes; the limit is {MAX_FILE_BYTES}", file.bytes.len());
        out.push(out.error("peak::file-too-large", Span::new(0, 1), message).help("it was not read; split it"));
        return (File { name: file.name.clone(), ..File::default() }, Written::default(), out.finish());
    }
    let (text, defects) = clean(&file.bytes);
    clean::report(&defects, &mut out);
    let tree = layout(&text, &mut out);
    let mut parsed = read::file(&file.name, &tree, &text, &mut out);
    parsed.unread = out.take_unread();
    let written = out.take_written();
    let mut found = out.finish();
    if !defects.is_empty() {
        found.retain(|one| one.code == "peak::nul" || one.code == "peak::utf8" || is_text(&file.bytes, one.span.start));
    }
    told_once(&text, &mut found);
    (parsed, written, found)
}

/// A block whose lines are all too deep is not told of as empty.
fn told_once(text: &str, found: &mut Vec<Diagnostic>) {
    let Some(deep) = found.iter().find(|one| one.code == "peak::too-deep").map(|one| one.span.start) else { return };
    let follows = |end: usize| text.get(end..deep).is_some_and(|between| between.trim().is_empty());
    found.retain(|one| one.code != "peak::missing-block" || !follows(one.span.end));
}

/// Whether the line at an offset is text. What else is wrong with one that is not, comes of that.
fn is_text(bytes: &[u8], at: usize) -> bool {
    let (before, after) = bytes.split_at(at.min(bytes.len()));
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let end = after.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| before.len() + length);
    let line = &bytes[start..end];
    !line.contains(&0) && std::str::from_utf8(line).is_ok()
}

/// Reads a launch plan that stands alone.
pub(crate) fn parse_plan(name: &str, text: &str) -> (Plan, Vec<Diagnostic>) {
    let mut out = Report::new(name);
    if text.len() > MAX_FILE_BYTES {
        out.push(out.error("peak::file-too-large", Span::new(0, 1), "the launch plan is too large"));
        return (Plan::default(), out.finish());
    }
    let (text, defects) = clean(text.as_bytes());
    clean::report(&defects, &mut out);
    let tree = layout(&text, &mut out);
    let statements = read::plan(&tree, &mut out);
    let unread = out.take_unread();
    (Plan { statements, unread }, out.finish())
}

/// A launch plan that stands alone, as it was written.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The statements.
    pub(crate) statements: Vec<Spanned<ast::PlanStatement>>,
    /// Statements that could not be read.
    pub(crate) unread: Vec<Spanned<String>>,
}
