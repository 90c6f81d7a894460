//! Diagnostics to miette reports, with their source attached, and to lines and columns.

use super::{Diagnostic, Severity};
use crate::SourceFile;
use crate::limits::MAX_LINE_BYTES;
use crate::syntax::{Span, clean};
use indexmap::IndexMap;
use miette::{LabeledSpan, NamedSource, SourceCode};
use std::fmt;

/// Bytes shown of a line that is too long.
const SHOWN: usize = 120;
/// Lines of a span that are shown; of a longer one, only the first.
const LINES: usize = 8;

/// The text of each file, by name.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    texts: IndexMap<String, String>,
}

impl Sources {
    /// The text of these files; bytes that are no text appear as `?`, one each, so that spans hold.
    #[must_use]
    pub fn new<'a>(files: impl IntoIterator<Item = &'a SourceFile>) -> Sources {
        let texts = files.into_iter().map(|file| (file.name.clone(), clean(&file.bytes).0.into_owned())).collect();
        Sources { texts }
    }

    /// Adds or replaces a file.
    pub fn insert(&mut self, name: &str, text: &str) {
        self.texts.insert(name.to_owned(), text.to_owned());
    }

    /// The text of a file.
    #[must_use]
    pub fn text(&self, file: &str) -> Option<&str> {
        self.texts.get(file).map(String::as_str)
    }

    /// Line and column of a byte, both from 1, columns in characters. `(1, 1)` for a file that is not here.
    #[must_use]
    pub fn line_column(&self, file: &str, offset: usize) -> (usize, usize) {
        let text = self.text(file).unwrap_or("");
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        (line, before.get(line_start..).unwrap_or("").chars().count() + 1)
    }

    /// The report that miette renders.
    #[must_use]
    pub fn report(&self, diagnostic: &Diagnostic) -> miette::Report {
        miette::Report::new(self.rendered(diagnostic))
    }

    fn rendered(&self, diagnostic: &Diagnostic) -> Rendered {
        let (source, labels) = self.excerpt(diagnostic);
        Rendered {
            code: diagnostic.code,
            severity: diagnostic.severity,
            message: diagnostic.message.clone(),
            help: self.help(diagnostic),
            source,
            labels,
        }
    }

    /// What to do, and the places in other files: labels point into one file alone.
    fn help(&self, diagnostic: &Diagnostic) -> Option<String> {
        let elsewhere = diagnostic.related.iter().filter(|related| related.file != diagnostic.file).map(|related| {
            let (line, column) = self.line_column(&related.file, related.span.start);
            format!("{}: {}:{line}:{column}", related.message, related.file)
        });
        let lines: Vec<String> = diagnostic.help.iter().cloned().chain(elsewhere).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    fn excerpt(&self, diagnostic: &Diagnostic) -> (NamedSource<String>, Vec<LabeledSpan>) {
        let text = self.text(&diagnostic.file).unwrap_or("");
        let same_file = diagnostic.related.iter().filter(|related| related.file == diagnostic.file);
        let labels: Vec<(Span, String)> = std::iter::once((diagnostic.span, diagnostic.label.clone()))
            .chain(same_file.map(|related| (related.span, related.message.clone())))
            .collect();
        let (text, labels) = shorten(text, labels);
        let labels = labels
            .into_iter()
            .map(|(span, label)| LabeledSpan::new(Some(label), span.start, span.end.saturating_sub(span.start)))
            .collect();
        (NamedSource::new(&diagnostic.file, text), labels)
    }
}

/// The text with too long lines cut, and the labels moved with it.
fn shorten(text: &str, mut labels: Vec<(Span, String)>) -> (String, Vec<(Span, String)>) {
    let clamp = |at: usize| at.min(text.len());
    for (span, _) in &mut labels {
        *span = Span { start: clamp(span.start), end: clamp(span.end) };
        let within = text.get(span.start..span.end).unwrap_or("");
        if within.lines().count() > LINES {
            span.end = span.start + within.find('\n').unwrap_or(0);
        }
    }
    if text.lines().all(|line| line.len() <= MAX_LINE_BYTES) {
        return (text.to_owned(), labels);
    }
    let mut short = String::new();
    let mut moved = labels.clone();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let kept = if line.len() <= MAX_LINE_BYTES { line.len() } else { line.floor_char_boundary(SHOWN) };
        let move_to = |at: usize| short.len() + (at - start).min(kept);
        for (index, (span, _)) in labels.iter().enumerate() {
            if (start..=end).contains(&span.start) {
                moved[index].0.start = move_to(span.start);
            }
            if (start..=end).contains(&span.end) {
                moved[index].0.end = move_to(span.end);
            }
        }
        short.push_str(&line[..kept]);
        if kept < line.len() {
            short.push_str(" ...\n");
        }
        start = end;
    }
    (short, moved)
}

/// A diagnostic with its source.
#[derive(Debug)]
struct Rendered {
    code: &'static str,
    severity: Severity,
    message: String,
    help: Option<String>,
    source: NamedSource<String>,
    labels: Vec<LabeledSpan>,
}

impl fmt::Display for Rendered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Rendered {}

impl miette::Diagnostic for Rendered {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}
