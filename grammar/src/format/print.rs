//! A page to text: two spaces a level, at most one blank line, one between declarations.

use super::page::{Content, Page, Piece};

/// The text of a page.
pub(super) fn print(page: &Page<'_>) -> String {
    let mut printer = Printer { page, text: String::new(), path: Vec::new(), blank: false, opened: false };
    let mut at = 0;
    for piece in &page.pieces {
        printer.between(at, piece.lines.0, Some(piece));
        printer.piece(piece);
        at = piece.lines.1 + 1;
    }
    printer.between(at, page.lines.len(), None);
    printer.text
}

struct Printer<'p, 'a> {
    page: &'p Page<'a>,
    text: String,
    /// The clause before and those that hold it, outermost first: the indentation that each had, and whether it is one
    /// that nothing stands below.
    path: Vec<(usize, bool)>,
    /// Whether a blank line is due.
    blank: bool,
    /// Whether the last line is a clause that the next thing is the first below.
    opened: bool,
}

impl Printer<'_, '_> {
    /// Comments and blank lines before a piece, or before the end.
    fn between(&mut self, from: usize, to: usize, next: Option<&Piece<'_>>) {
        let page = self.page;
        let mut part = self.parts_declarations(next);
        self.opened = next.is_some_and(|next| next.depth >= self.path.len() && !self.path.is_empty());
        for line in &page.lines[from..to.max(from)] {
            if line.is_blank() {
                self.blank = true;
                continue;
            }
            let depth = self.comment_depth(line.indent, next);
            self.blank |= depth == 0 && std::mem::take(&mut part);
            self.line(depth, line.text.trim());
        }
        self.blank |= next.is_some() && part;
    }

    /// Whether a blank line stands before the next declaration, or the comments that lead it.
    fn parts_declarations(&self, next: Option<&Piece<'_>>) -> bool {
        let Some((_, leaf_before)) = self.path.first() else { return false };
        let before = self.path.len() == 1 && *leaf_before;
        match next {
            Some(Piece { depth: 0, content: Content::Clause { leaf, .. }, .. }) => !(before && *leaf),
            Some(_) => false,
            None => !before,
        }
    }

    /// How deep a comment stands: with what follows it, unless it is deeper; then with what it was aligned with before.
    fn comment_depth(&self, indent: usize, next: Option<&Piece<'_>>) -> usize {
        let next = next.map_or((0, 0), |next| (self.page.lines[next.lines.0].indent, next.depth));
        if next.1 >= self.path.len() || indent <= next.0 && next.0 > 0 {
            return next.1;
        }
        self.path.iter().rposition(|(level, _)| *level <= indent).unwrap_or(0)
    }

    fn piece(&mut self, piece: &Piece<'_>) {
        match &piece.content {
            Content::Clause { text, comment, leaf } => {
                match comment {
                    Some(comment) => self.line(piece.depth, &format!("{text}  {comment}")),
                    None => self.line(piece.depth, text),
                }
                self.path.truncate(piece.depth);
                self.path.push((self.page.lines[piece.lines.0].indent, *leaf));
            }
            Content::Kept(lines) => {
                // No blank line parts a clause from its own words or code.
                self.blank = false;
                lines.iter().for_each(|line| self.kept(piece.depth, line));
            }
        }
    }

    fn line(&mut self, depth: usize, words: &str) {
        if std::mem::take(&mut self.blank) && !self.opened && !self.text.is_empty() {
            self.text.push_str(self.page.line_end);
        }
        self.opened = false;
        self.kept(depth, words);
    }

    fn kept(&mut self, depth: usize, words: &str) {
        if !words.is_empty() {
            self.text.extend(std::iter::repeat_n("  ", depth));
            self.text.push_str(words);
        }
        self.text.push_str(self.page.line_end);
    }
}
