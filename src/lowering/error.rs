//! Why a transformation was not applied, for people.

use super::templates::TemplateError;
use crate::edit::EditError;
use crate::provider::ProviderError;
use crate::runner::Failure;
use miette::Diagnostic;
use std::fmt::Display;

/// Why a transformation was not applied.
#[derive(Debug, thiserror::Error)]
pub enum LoweringError {
    /// No completion came.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// No prompt could be made.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// An answer failed, and no repair of it came.
    #[error("pass `{pass}` failed ({failure}), and no repair came: {error}")]
    Unrepaired {
        /// The pass.
        pass: String,
        /// How the answer failed.
        failure: Failure,
        /// Why no repair came.
        error: Box<ProviderError>,
    },
    /// A mechanical step could not be carried out.
    #[error("pass `{pass}`: {error}")]
    Mechanical {
        /// The pass.
        pass: String,
        /// Why.
        error: EditError,
    },
    /// The last answer, after every repair, was rejected by a check, the compiler or a validator.
    #[error("pass `{pass}` failed{}: {failure}", after_repairs(*repairs))]
    Failed {
        /// The pass.
        pass: String,
        /// Repairs that were made of it.
        repairs: u32,
        /// The code of the check, where it was one.
        code: Option<&'static str>,
        /// What failed.
        failure: Failure,
        /// Whether a model was asked in the pass; else every step of it is mechanical.
        asked: bool,
    },
}

fn after_repairs(count: u32) -> String {
    match count {
        0 => String::new(),
        1 => " after one repair".to_owned(),
        count => format!(" after {count} repairs"),
    }
}

impl Diagnostic for LoweringError {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        match self {
            LoweringError::Provider(error) => error.code(),
            LoweringError::Unrepaired { error, .. } => error.code(),
            LoweringError::Template(error) => error.code(),
            LoweringError::Mechanical { error, .. } => error.code(),
            LoweringError::Failed { code: Some(code), .. } => Some(Box::new(*code)),
            LoweringError::Failed { failure, .. } => Some(Box::new(format!("peak::failed-{}", failure.class))),
        }
    }

    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        match self {
            LoweringError::Provider(error) => error.help(),
            LoweringError::Unrepaired { error, .. } => error.help(),
            LoweringError::Template(error) => error.help(),
            LoweringError::Mechanical { error, .. } => error.help(),
            LoweringError::Failed { failure, asked: false, .. } if failure.facts.is_empty() => {
                Some(Box::new("no model is asked in this pass: change its steps, or its `checks`"))
            }
            LoweringError::Failed { failure, .. } if failure.facts.is_empty() => {
                Some(Box::new("say more in the pass's words, or ask another model (--provider)"))
            }
            LoweringError::Failed { failure, .. } => Some(Box::new(failure.facts.join("\n"))),
        }
    }
}
