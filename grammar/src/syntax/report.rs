//! Collects the diagnostics of one file, up to a bound.

use super::Span;
use crate::diagnostics::Diagnostic;
use crate::limits::MAX_DIAGNOSTICS;

/// The findings in one file.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    file: &'a str,
    diagnostics: Vec<Diagnostic>,
    dropped: usize,
}

impl<'a> Report<'a> {
    /// No findings yet.
    pub(crate) fn new(file: &'a str) -> Report<'a> {
        Report { file, diagnostics: Vec::new(), dropped: 0 }
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
        match self.diagnostics.len() < MAX_DIAGNOSTICS {
            true => self.diagnostics.push(diagnostic),
            false => self.dropped += 1,
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
