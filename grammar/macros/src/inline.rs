//! The text of a string literal: without the program's indentation, on the lines where it stands in the program.

use peak_grammar::syntax::Span;
use proc_macro2::Span as Place;
use syn::LitStr;

/// The text of a literal, and how its places are found again in the program.
pub struct Inline {
    /// The program's file, and the line where the literal begins.
    pub name: String,
    /// What the front end reads. Empty lines before it make its lines those of the program.
    pub text: String,
    /// The program's file.
    pub file: String,
    /// As the text stands in the program: what is shown.
    pub shown: String,
    /// The literal.
    pub place: Place,
    indent: usize,
}

impl Inline {
    /// Reads a literal.
    pub fn of(literal: &LitStr) -> Inline {
        let place = literal.span();
        let unwrapped = place.unwrap();
        let file = unwrapped.file();
        let value = literal.value();
        // Escapes may hold lines that the program does not have.
        let before = if has_escapes(literal) { 0 } else { unwrapped.line().saturating_sub(1) };
        let shown = "\n".repeat(before) + &value;
        let indent = indent(&value);
        let text = shown.split('\n').map(|line| dedented(line, indent)).collect::<Vec<_>>().join("\n");
        let name = format!("{file}:{}", unwrapped.line());
        Inline { name, text, file, shown, place, indent }
    }

    /// The place in [`Inline::shown`] of one in [`Inline::text`].
    pub fn shown_at(&self, span: Span) -> Span {
        Span::new(self.moved(span.start), self.moved(span.end))
    }

    fn moved(&self, offset: usize) -> usize {
        let lines = self.text.get(..offset).unwrap_or(&self.text).matches('\n').count();
        let removed = |line: &str| line.len() - dedented(line, self.indent).len();
        offset + self.shown.split('\n').take(lines + 1).map(removed).sum::<usize>()
    }
}

fn has_escapes(literal: &LitStr) -> bool {
    let written = literal.token().to_string();
    !written.starts_with('r') && written.contains('\\')
}

/// The spaces that all lines begin with, blank ones aside.
fn indent(text: &str) -> usize {
    let lines = text.split('\n').filter(|line| !line.trim().is_empty());
    lines.map(|line| line.len() - line.trim_start_matches(' ').len()).min().unwrap_or(0)
}

fn dedented(line: &str, indent: usize) -> &str {
    let spaces = line.len() - line.trim_start_matches(' ').len();
    &line[spaces.min(indent)..]
}
