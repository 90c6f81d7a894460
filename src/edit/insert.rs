//! `insert`: whole lines of code at an end of a region, or beside code that is found in it.

use super::code::{Document, Found};
use super::{Edit, EditError};
use peak_grammar::ir::Region;

/// An insertion.
pub(super) fn edit(start: usize, replacement: String) -> Edit {
    Edit { start, expected: String::new(), replacement }
}

/// Code with the line ends of the text that it goes into.
pub(super) fn with_line_ends(code: &str, text: &str) -> String {
    let crlf = text.split_inclusive('\n').next().is_some_and(|line| line.ends_with("\r\n"));
    match crlf {
        true => code.replace("\r\n", "\n").replace('\n', "\r\n"),
        false => code.to_owned(),
    }
}

/// Lines after the last.
pub(super) fn at_the_end(text: &str, code: &str) -> Edit {
    edit(text.len(), after_line(text, code))
}

/// Lines before the statement that a match is, or is in.
///
/// # Errors
/// The statement does not start its line.
pub(super) fn before(document: &Document<'_>, region: Region, code: &str, found: &Found) -> Result<Edit, EditError> {
    let text = document.source;
    let start = line_start(text, found.statement.start);
    let leads = text[start..found.statement.start].trim().is_empty();
    let directive = code.trim_start().starts_with(['#', '[']);
    check(document, region, found, leads, directive)?;
    Ok(edit(start, indented(code, indent(&text[start..]))))
}

/// Lines after the statement that a match is, or is in.
///
/// # Errors
/// The statement does not end its line.
pub(super) fn after(document: &Document<'_>, region: Region, code: &str, found: &Found) -> Result<Edit, EditError> {
    let text = document.source;
    let margin = indent(&text[line_start(text, found.statement.start)..]);
    let (code, end) = (indented(code, margin), found.statement.end);
    // A directive ends with its line.
    if end > found.statement.start && text[..end].ends_with('\n') {
        check(document, region, found, true, false)?;
        return Ok(edit(end, code));
    }
    let (line, next) = match text[end..].find('\n') {
        Some(at) => (&text[end..end + at], Some(end + at + 1)),
        None => (&text[end..], None),
    };
    // The `;` of a struct is no part of it in the tree.
    let line = line.trim().trim_start_matches(';').trim_start();
    let ends = line.is_empty() || line.starts_with("//");
    check(document, region, found, ends, false)?;
    Ok(match next {
        Some(next) => edit(next, code),
        None => edit(text.len(), after_line(text, &code)),
    })
}

/// Whether lines may stand beside a match: not in a macro, not where one statement is all that a loop or branch takes
/// (a directive or an attribute is no statement), not within a line.
fn check(
    document: &Document<'_>,
    region: Region,
    found: &Found,
    at_line: bool,
    directive: bool,
) -> Result<(), EditError> {
    let line = document.line(found.statement.start);
    match () {
        () if found.in_define => Err(EditError::InsertInMacro { region, line }),
        () if found.bare_statement && !directive => Err(EditError::InsertIntoBareBody { region, line }),
        () if !at_line => Err(EditError::InsertWithinLine { region, line }),
        () => Ok(()),
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}

/// The blanks that a line starts with.
fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The code with `margin` before each line, in place of the blanks that all its lines share.
fn indented(code: &str, margin: &str) -> String {
    let filled = code.lines().filter(|line| !line.trim().is_empty());
    let shared = filled.map(|line| indent(line).len()).min().unwrap_or(0);
    let mut deep = String::new();
    for line in code.split_inclusive('\n') {
        let words = line.trim_end_matches(['\r', '\n']);
        if let Some(words) = words.get(shared..).filter(|words| !words.trim().is_empty()) {
            deep.push_str(margin);
            deep.push_str(words);
        }
        deep.push_str(&line[words.len()..]);
    }
    deep
}

fn after_line(text: &str, code: &str) -> String {
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{gap}{code}")
}
