//! A diagnostic of an earlier part of a run, told again: its words and its code, without what it was made from.

use miette::Diagnostic;
use serde::{Deserialize, Serialize};
use std::fmt::Display;

/// The words of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct Retold {
    /// What is wrong.
    pub message: String,
    /// Its stable code.
    pub code: Option<String>,
    /// What to do.
    pub help: Option<String>,
}

impl Retold {
    /// The words of another.
    #[must_use]
    pub fn of(diagnostic: &dyn Diagnostic) -> Retold {
        Retold {
            message: diagnostic.to_string(),
            code: diagnostic.code().map(|code| code.to_string()),
            help: diagnostic.help().map(|help| help.to_string()),
        }
    }
}

impl Diagnostic for Retold {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.code.as_ref().map(|code| Box::new(code) as Box<dyn Display>)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn Display>)
    }
}
