//! A file as it is laid out: clauses with their depth, text that is kept, and the comments and blank lines between.

use super::spacing;
use crate::limits::MAX_LINE_BYTES;
use crate::syntax::{Node, RawLine, Report, Span, Written, layout};

/// A file as it is laid out.
pub(super) struct Page<'a> {
    /// How its lines end.
    pub(super) line_end: &'static str,
    /// Every line as it was.
    pub(super) lines: Vec<RawLine<'a>>,
    /// What stands on them, in order; lines that none of it covers are blank or a comment.
    pub(super) pieces: Vec<Piece<'a>>,
}

/// A clause, or lines that are kept.
pub(super) struct Piece<'a> {
    /// Its first and last line.
    pub(super) lines: (usize, usize),
    /// How many levels it is in.
    pub(super) depth: usize,
    /// What it is.
    pub(super) content: Content<'a>,
}

/// What stands on a piece's lines.
pub(super) enum Content<'a> {
    /// A clause, its blanks put right.
    Clause {
        /// Its text.
        text: String,
        /// What stands behind it, with its `#`.
        comment: Option<&'a str>,
        /// Whether nothing stands below it.
        leaf: bool,
    },
    /// Prose, code or a host region, without the indentation that all of it shares.
    Kept(Vec<String>),
}

/// Lays a file out. It has been read without an error.
pub(super) fn page<'a>(text: &'a str, written: &Written) -> Page<'a> {
    // What is wrong was reported when the file was read.
    let tree = layout(text, &mut Report::new(""));
    let mut layer = Layer { text, written, lines: raw_lines(text), pieces: Vec::new() };
    tree.iter().for_each(|node| layer.node(node, 0));
    layer.pieces.sort_by_key(|piece| piece.lines);
    let line_end = if text.lines().next().is_some_and(|_| first_end(text)) { "\r\n" } else { "\n" };
    Page { line_end, lines: layer.lines, pieces: layer.pieces }
}

/// Whether the first line ends as on Windows.
fn first_end(text: &str) -> bool {
    text.find('\n').is_some_and(|at| text[..at].ends_with('\r'))
}

fn raw_lines(text: &str) -> Vec<RawLine<'_>> {
    let mut start = 0;
    let mut lines = Vec::new();
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end_matches(['\n', '\r']);
        let mark = if start == 0 && line.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        lines.push(RawLine::new(&line[mark..], start + mark));
        start += whole.len();
    }
    lines
}

struct Layer<'a, 'w> {
    text: &'a str,
    written: &'w Written,
    lines: Vec<RawLine<'a>>,
    pieces: Vec<Piece<'a>>,
}

impl<'a> Layer<'a, '_> {
    fn node(&mut self, node: &Node<'a>, depth: usize) {
        let line = self.line_of(node.span.start);
        let text = match self.written.clauses.get(&node.span.start) {
            Some(tokens) => spacing::clause(self.text, tokens),
            None => node.text.to_owned(),
        };
        // A clause that would only fit without blanks stays as it is.
        let text = if text.len() + 2 * depth > MAX_LINE_BYTES { node.text.to_owned() } else { text };
        let leaf = node.children.is_empty() && node.fences.is_empty() && node.prose.is_none();
        let content = Content::Clause { text, comment: self.comment_after(node.span.end, line), leaf };
        self.pieces.push(Piece { lines: (line, line), depth, content });
        if let Some(prose) = &node.prose {
            self.prose(prose, depth + 1);
        }
        for fence in &node.fences {
            self.fence(fence.span, depth + 1);
        }
        match node.below.filter(|below| self.written.kept.contains(below)) {
            Some(below) => self.kept(below, depth + 1),
            None => node.children.iter().for_each(|child| self.node(child, depth + 1)),
        }
    }

    fn prose(&mut self, prose: &[RawLine<'a>], depth: usize) {
        let indent = prose.iter().filter(|line| !line.is_blank()).map(|line| line.indent).min();
        let first = prose.iter().find(|line| !line.is_blank());
        let last = prose.iter().rfind(|line| !line.is_blank());
        let (Some(indent), Some(first), Some(last)) = (indent, first, last) else { return };
        self.keep(self.line_of(first.start), self.line_of(last.start), indent, depth);
    }

    fn fence(&mut self, span: Span, depth: usize) {
        let first = self.line_of(span.start);
        self.keep(first, self.line_of(span.end), self.lines[first].indent, depth);
    }

    /// A region whose text is data: from its first clause to its last.
    fn kept(&mut self, span: Span, depth: usize) {
        let (first, last) = (self.line_of(span.start), self.line_of(span.end));
        self.keep(first, last, self.lines[first].indent, depth);
        // What stands behind the last clause is no part of the region.
        let comment = self.comment_after(span.end, last);
        if let Some(Piece { content: Content::Kept(lines), .. }) = self.pieces.last_mut()
            && let (Some(comment), Some(line)) = (comment, lines.last_mut())
        {
            line.truncate(line.len() - comment.len());
            line.truncate(line.trim_end().len());
            line.push_str("  ");
            line.push_str(comment);
        }
    }

    fn keep(&mut self, first: usize, last: usize, indent: usize, depth: usize) {
        let lines = self.lines[first..=last].iter().map(|line| line.dedented(indent).0.trim_end().to_owned());
        self.pieces.push(Piece { lines: (first, last), depth, content: Content::Kept(lines.collect()) });
    }

    /// What stands behind a clause, with its `#`.
    fn comment_after(&self, end: usize, line: usize) -> Option<&'a str> {
        let line = &self.lines[line];
        let comment = line.text.get(end - line.start..)?.trim();
        (!comment.is_empty()).then_some(comment)
    }

    fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|line| line.start <= offset).saturating_sub(1)
    }
}
