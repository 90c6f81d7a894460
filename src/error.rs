//! Errors as they reach the edge: a class, which decides the exit code, and a diagnostic for people.
//!
//! Modules keep error types of their own; here they meet. A candidate that fails is no error (see
//! [`crate::runner::Failure`]): it is data.

use std::fmt;

/// The class of an error; `cli/exit.rs` gives each its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// A file, a name or a text that was given is wrong.
    Input,
    /// The command line is wrong.
    Usage,
    /// A toolchain, a device or a folder is missing.
    Environment,
    /// A model's provider gave no answer.
    Provider,
    /// A kernel is wrong, or was not shown to be right.
    Validation,
    /// It was stopped on request.
    Interrupted,
    /// A defect of Peak.
    Bug,
}

/// An error type that knows its class.
pub trait Classified {
    /// The class.
    fn class(&self) -> Class;
}

/// A class and a diagnostic. It is a [`miette::Diagnostic`] itself, so that a program passes it on with `?`.
pub struct Error {
    /// Decides the exit code.
    pub class: Class,
    /// What people read; `None` where they were told already.
    pub report: Option<miette::Report>,
}

/// A result at the edge.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of a class, from any diagnostic.
    pub fn new(class: Class, diagnostic: impl miette::Diagnostic + Send + Sync + 'static) -> Error {
        Error { class, report: Some(miette::Report::new(diagnostic)) }
    }

    /// An error of which people were told already, such as by diagnostics of a file.
    #[must_use]
    pub fn told(class: Class) -> Error {
        Error { class, report: None }
    }

    /// An error in plain words, with its code (`peak::kebab-name`) and what to do.
    #[must_use]
    pub fn plain(class: Class, code: &str, message: impl Into<String>, help: impl Into<String>) -> Error {
        let diagnostic = miette::MietteDiagnostic::new(message.into()).with_code(code).with_help(help.into());
        Error { class, report: Some(miette::Report::new(diagnostic)) }
    }
}

impl<E: Classified + miette::Diagnostic + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Error {
        Error::new(error.class(), error)
    }
}

impl std::error::Error for Error {}

impl miette::Diagnostic for Error {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.report.as_ref()?.code()
    }

    fn severity(&self) -> Option<miette::Severity> {
        self.report.as_ref()?.severity()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.report.as_ref()?.help()
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.report.as_ref()?.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        self.report.as_ref()?.labels()
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn miette::Diagnostic> + 'a>> {
        self.report.as_ref()?.related()
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {:?}", self.class, self.report)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.report {
            Some(report) => fmt::Display::fmt(report, f),
            None => write!(f, "an error of class {:?}", self.class),
        }
    }
}
