//! Collects the diagnostics of one file, up to a bound.

use super::{Span, Spanned, Token, Written};
use crate::diagnostics::Diagnostic;
use crate::limits::MAX_DIAGNOSTICS;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The findings in one file.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    file: &'a str,
    diagnostics: Vec<Diagnostic>,
    dropped: usize,
    unread: Vec<Spanned<String>>,
    lost: Rc<BTreeSet<String>>,
    written: Option<Written>,
}

impl<'a> Report<'a> {
    /// No findings yet.
    pub(crate) fn new(file: &'a str) -> Report<'a> {
        Report { file, diagnostics: Vec::new(), dropped: 0, unread: Vec::new(), lost: Rc::default(), written: None }
    }

    /// No findings yet; how clauses are written is kept.
    pub(crate) fn recording(file: &'a str) -> Report<'a> {
        Report { written: Some(Written::default()), ..Report::new(file) }
    }

    /// Keeps how a clause is written, where that is wanted.
    pub(crate) fn write(&mut self, start: usize, tokens: impl FnOnce() -> Vec<Token>) {
        if let Some(written) = &mut self.written {
            written.clauses.insert(start, tokens());
        }
    }

    /// Notes text that is data as it stands.
    pub(crate) fn keep(&mut self, span: Span) {
        if let Some(written) = &mut self.written {
            written.kept.insert(span);
        }
    }

    /// How the file is written; nothing where that was not wanted.
    pub(crate) fn take_written(&mut self) -> Written {
        self.written.take().unwrap_or_default()
    }

    /// A report on a file of which some clauses were not read: what they may have said is not held against the rest.
    /// `lost` are the words of all such clauses, in this file and others.
    pub(crate) fn after(file: &'a str, unread: Vec<Spanned<String>>, lost: Rc<BTreeSet<String>>) -> Report<'a> {
        Report { unread, lost, ..Report::new(file) }
    }

    /// Notes a clause that could not be read.
    pub(crate) fn unread(&mut self, span: Span, text: &str) {
        self.unread.push(Spanned::new(text.to_owned(), span));
    }

    /// The clauses that could not be read.
    pub(crate) fn take_unread(&mut self) -> Vec<Spanned<String>> {
        std::mem::take(&mut self.unread)
    }

    /// Whether a clause inside `span` could not be read: then nothing is known to be missing there.
    pub(crate) fn lost_within(&self, span: Span) -> bool {
        self.unread.iter().any(|clause| span.start <= clause.span.start && clause.span.end <= span.end)
    }

    /// Adds a finding about a name that is not known, unless a clause that was not read may have declared it.
    pub(crate) fn push_unknown(&mut self, name: &str, diagnostic: Diagnostic) {
        if !self.lost.contains(name) {
            self.push(diagnostic);
        }
    }

    /// The file's name.
    pub(crate) fn file(&self) -> &'a str {
        self.file
    }

    /// An error in this file; it counts once it is pushed.
    pub(crate) fn error(&self, code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, self.file, span, message)
    }

    /// Adds a finding.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        // A number that does not fit is read as another: what is wrong with that one is nobody's slip.
        let stands_in = |last: &Diagnostic| last.code == "peak::number-range" && last.span == diagnostic.span;
        if self.diagnostics.last().is_some_and(stands_in) {
            return;
        }
        match self.diagnostics.len() < MAX_DIAGNOSTICS {
            true => self.diagnostics.push(diagnostic),
            false => self.dropped += 1,
        }
    }

    /// Adds a finding that is made only where it is kept: of a million, most are only counted.
    pub(crate) fn push_if_kept(&mut self, make: impl FnOnce(&Report<'_>) -> Diagnostic) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            let diagnostic = make(self);
            self.push(diagnostic);
        } else {
            self.dropped += 1;
        }
    }

    /// All of them, in order of the text, with a count of those beyond the bound.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
        if self.dropped > 0 {
            let at = self.diagnostics.last().map_or(Span::default(), |last| last.span);
            let message = format!("{} more errors of this file are not shown", self.dropped);
            self.diagnostics.push(self.error("peak::too-many-errors", at, message));
        }
        self.diagnostics
    }
}

/// The words of clauses that could not be read.
pub(crate) fn words_of<'u>(unread: impl IntoIterator<Item = &'u Spanned<String>>) -> Rc<BTreeSet<String>> {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let words = unread.into_iter().flat_map(|clause| clause.value.split(move |c| !word(c)));
    Rc::new(words.filter(|word| !word.is_empty()).map(str::to_owned).collect())
}
