//! Diagnostics for people: what is wrong, where, and what to do. Plain data; rendering is [`Sources::report`]'s.

mod codes;
mod report;
mod suggest;

pub use codes::{CODES, CodeEntry, code_entry};
pub use report::Sources;
pub use suggest::nearest;

use crate::syntax::Span;
use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The declaration cannot be used.
    Error,
    /// It can, but is likely not what was meant.
    Warning,
}

/// One finding in one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Stable, one of [`CODES`].
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The file's name as it was given.
    pub file: String,
    /// Where, in bytes of the file.
    pub span: Span,
    /// Words under the span.
    pub label: String,
    /// What to do.
    pub help: Option<String>,
    /// Other places that matter, such as an earlier declaration.
    pub related: Vec<Related>,
}

/// Another place that a diagnostic speaks of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Related {
    /// The file's name.
    pub file: String,
    /// Where.
    pub span: Span,
    /// What is there.
    pub message: String,
}

impl Diagnostic {
    /// An error. `code` is one of [`CODES`].
    #[must_use]
    pub fn error(code: &'static str, file: &str, span: Span, message: impl Into<String>) -> Diagnostic {
        debug_assert!(code_entry(code).is_some(), "{code} is not in CODES");
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            file: file.to_owned(),
            span,
            label: usual_label(code).to_owned(),
            help: None,
            related: Vec::new(),
        }
    }

    /// The same, as a warning.
    #[must_use]
    pub fn as_warning(mut self) -> Diagnostic {
        self.severity = Severity::Warning;
        self
    }

    /// The same, with words under the span.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// The same, with what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// The same, with the nearest of `known` as help, or all of them where none is near and they are few.
    #[must_use]
    pub fn suggest<'a>(mut self, name: &str, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
        self.help = suggest::did_you_mean(name, known).or(self.help);
        self
    }

    /// The same, with another place.
    #[must_use]
    pub fn related(mut self, file: &str, span: Span, message: impl Into<String>) -> Diagnostic {
        self.related.push(Related { file: file.to_owned(), span, message: message.into() });
        self
    }

    /// Whether it is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The words under the span where a finding has none of its own.
fn usual_label(code: &str) -> &'static str {
    match code {
        "peak::cycle" => "reads itself",
        "peak::insert-without-code" => "lacks code",
        "peak::launch" => "this launch",
        "peak::missing-clause" => "incomplete",
        "peak::name-style" => "this name",
        "peak::not-computed" => "never computed",
        "peak::number-range" => "out of range",
        "peak::unknown-function" | "peak::unknown-language" | "peak::unknown-type" | "peak::unknown-unit" => "unknown",
        "peak::used-before-defined" => "used here",
        "peak::wrong-region" => "not in this region",
        _ => "here",
    }
}
