//! Cuts a module into braces, labels and statements, each with its line; comments are dropped.
//!
//! It knows just enough to tell a scope's brace from a vector's, and lines that end a statement without a semicolon.

use super::{MAX_STATEMENT_BYTES, PtxError};
use std::borrow::Cow;

/// A stretch of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'t> {
    pub line: u32,
    pub kind: PieceKind,
    pub text: &'t str,
}

/// What it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceKind {
    Open,
    Close,
    /// A name, the colon left out.
    Label,
    /// Ended by the line's end: `.version`, `.loc`, ...
    Line,
    /// Ended by a semicolon.
    Statement,
    /// What stands before the brace of a body.
    Header,
}

/// Directives that end with their line.
const LINES: [&str; 5] = [".version", ".target", ".address_size", ".file", ".loc"];

/// The text without comments, its line ends kept so that lines count as before.
pub(super) fn without_comments(text: &str) -> Cow<'_, str> {
    if !text.contains("//") && !text.contains("/*") {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"']) {
        let (before, from) = rest.split_at(at);
        kept.push_str(before);
        let length = if from.starts_with("//") {
            from.find('\n').unwrap_or(from.len())
        } else if let Some(inside) = from.strip_prefix("/*") {
            let end = inside.find("*/").map_or(from.len(), |end| end + 4);
            kept.extend(from[..end].chars().filter(|it| *it == '\n'));
            kept.push(' ');
            end
        } else if let Some(inside) = from.strip_prefix('"') {
            let end = inside.find(['"', '\n']).map_or(from.len(), |end| end + 2);
            kept.push_str(&from[..end]);
            end
        } else {
            kept.push('/');
            1
        };
        rest = &from[length..];
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// Cuts a text without comments.
///
/// # Errors
/// A statement that does not end, or is too long.
pub(super) fn cut(text: &str) -> Result<Vec<Piece<'_>>, PtxError> {
    let mut cutter = Cutter { text, at: 0, line: 1 };
    let mut pieces = Vec::new();
    while let Some(piece) = cutter.next()? {
        pieces.extend((!piece.text.is_empty()).then_some(piece));
    }
    Ok(pieces)
}

struct Cutter<'t> {
    text: &'t str,
    at: usize,
    line: u32,
}

impl<'t> Cutter<'t> {
    fn next(&mut self) -> Result<Option<Piece<'t>>, PtxError> {
        self.skip_space();
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let one = |kind| (kind, 1, 1);
        let (kind, length, taken) = match first {
            '{' => one(PieceKind::Open),
            '}' => one(PieceKind::Close),
            _ if rest.starts_with(".section") => {
                let end = rest.find('}').map_or(rest.len(), |end| end + 1);
                (PieceKind::Line, 0, end)
            }
            _ if is_line(rest) => {
                let end = rest.find('\n').unwrap_or(rest.len());
                (PieceKind::Line, end, end)
            }
            _ => match label(rest) {
                Some(length) => (PieceKind::Label, length, length + 1),
                None => self.statement(rest)?,
            },
        };
        let line = self.line;
        self.advance(taken);
        Ok(Some(Piece { line, kind, text: rest[..length].trim_end() }))
    }

    fn statement(&self, rest: &str) -> Result<(PieceKind, usize, usize), PtxError> {
        let mut in_text = false;
        let mut depth = 0_u32;
        let mut saw_function = None;
        for (at, byte) in rest.bytes().enumerate() {
            match byte {
                _ if at > MAX_STATEMENT_BYTES => break,
                b'"' => in_text = !in_text,
                _ if in_text => {}
                b';' => return Ok((PieceKind::Statement, at, at + 1)),
                b'{' if depth == 0 && *saw_function.get_or_insert_with(|| is_header(&rest[..at])) => {
                    return Ok((PieceKind::Header, at, at));
                }
                b'{' => depth += 1,
                b'}' if depth == 0 => break,
                b'}' => depth -= 1,
                _ => {}
            }
        }
        Err(PtxError::new(self.line, format!("a statement that does not end: `{}`", quote(rest))))
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        let space = rest.len() - rest.trim_start().len();
        self.advance(space);
    }

    fn advance(&mut self, bytes: usize) {
        let passed = &self.text.as_bytes()[self.at..self.at + bytes];
        self.line += u32::try_from(passed.iter().filter(|byte| **byte == b'\n').count()).unwrap_or(0);
        self.at += bytes;
    }
}

fn is_line(rest: &str) -> bool {
    LINES.iter().any(|word| rest.strip_prefix(word).is_some_and(|after| after.starts_with(char::is_whitespace)))
}

fn is_header(text: &str) -> bool {
    text.split(|it: char| it.is_whitespace() || it == '(').take(8).any(|word| word == ".entry" || word == ".func")
}

/// The length of the name before a colon.
fn label(rest: &str) -> Option<usize> {
    let end = rest.find(|it: char| !(it.is_ascii_alphanumeric() || matches!(it, '_' | '$' | '%')))?;
    let after = &rest[end..];
    (end > 0 && after.starts_with(':') && !after.starts_with("::")).then_some(end)
}

/// The beginning of a statement, for an error.
pub(crate) fn quote(text: &str) -> String {
    const CHARS: usize = 80;
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}
