//! Prose blocks: dedented words with `{name}` references; backticks and fences are kept as text.

use super::{Name, RawLine, Report, Span, Spanned};
use serde::Serialize;

/// A prose block.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Prose {
    /// From the first to the last line.
    pub span: Span,
    /// Text and references, in order.
    pub segments: Vec<ProseSegment>,
}

/// A piece of prose.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProseSegment {
    /// Words.
    Text(String),
    /// `{name}`.
    Reference(Name),
}

/// Reads the lines below a prose opener.
pub(super) fn prose(lines: &[RawLine<'_>], out: &mut Report<'_>) -> Prose {
    let written = lines.iter().filter(|line| !line.is_blank());
    let Some(indent) = written.clone().map(|line| line.indent).min() else { return Prose::default() };
    let first = lines.iter().position(|line| !line.is_blank()).unwrap_or(0);
    let last = lines.iter().rposition(|line| !line.is_blank()).unwrap_or(0);
    let mut reader = Reader::default();
    for line in &lines[first..=last] {
        if let Some(at) = line.text[..line.text.len() - line.text.trim_start().len()].find('\t') {
            let at = Span::new(line.start + at, line.start + at + 1);
            let diagnostic = out.error("peak::tab", at, "a tab stands where only spaces may");
            out.push(diagnostic.label("a tab").help("replace each tab by two spaces"));
        }
        reader.line(line, indent);
    }
    if let Some(opened) = reader.fence {
        let diagnostic = out.error("peak::unterminated-fence", opened, "this fence is not closed");
        out.push(diagnostic.label("opened here").help("close it with a line of three backticks before its block ends"));
    }
    let end = &lines[last];
    Prose { span: Span::new(lines[first].start, end.start + end.text.len()), segments: reader.finish() }
}

#[derive(Default)]
struct Reader {
    segments: Vec<ProseSegment>,
    text: String,
    fence: Option<Span>,
    /// Length of the run of backticks that is open; none outside code.
    ticks: Option<usize>,
}

impl Reader {
    fn line(&mut self, line: &RawLine<'_>, indent: usize) {
        let (text, offset) = line.dedented(indent);
        let text = text.trim_end();
        if text.trim_start().starts_with("```") {
            self.ticks = None;
            self.fence = match self.fence {
                Some(_) if text.trim() == "```" => None,
                Some(open) => Some(open),
                None => Some(Span::new(offset, offset + text.len())),
            };
            self.text.push_str(text);
        } else if self.fence.is_some() {
            self.text.push_str(text);
        } else {
            if text.is_empty() {
                self.ticks = None;
            }
            self.words(text, offset);
        }
        self.text.push('\n');
    }

    fn words(&mut self, text: &str, offset: usize) {
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            at += if rest.starts_with('`') {
                self.backticks(rest)
            } else if self.ticks.is_none() && rest.starts_with("{{") {
                self.text.push('{');
                2
            } else if let Some(name) = self.ticks.is_none().then(|| reference(rest)).flatten() {
                let span = Span::new(offset + at + 1, offset + at + 1 + name.len());
                self.flush();
                self.segments.push(ProseSegment::Reference(Spanned::new(name.to_owned(), span)));
                name.len() + 2
            } else {
                // The first character is itself text: a brace or backtick that opens nothing.
                let first = rest.chars().next().map_or(1, char::len_utf8);
                let opens = |byte: &u8| matches!(byte, b'`' | b'{');
                let next = rest.as_bytes()[first..].iter().position(opens).map_or(rest.len(), |at| first + at);
                self.text.push_str(&rest[..next]);
                next
            };
        }
    }

    fn backticks(&mut self, rest: &str) -> usize {
        let run = rest.len() - rest.trim_start_matches('`').len();
        self.ticks = match self.ticks {
            Some(open) if open == run => None,
            Some(open) => Some(open),
            None => Some(run),
        };
        self.text.push_str(&rest[..run]);
        run
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.segments.push(ProseSegment::Text(std::mem::take(&mut self.text)));
        }
    }

    fn finish(mut self) -> Vec<ProseSegment> {
        self.text.truncate(self.text.trim_end().len());
        self.flush();
        self.segments
    }
}

/// The name in `{name}` at the start of `rest`: letters, digits, `_`, `.` and `-`, with a letter or `_` first.
fn reference(rest: &str) -> Option<&str> {
    let inner = rest.strip_prefix('{')?;
    let (name, _) = inner.split_once('}')?;
    let first = name.chars().next()?;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    ((first.is_ascii_alphabetic() || first == '_') && name.chars().all(fits)).then_some(name)
}
