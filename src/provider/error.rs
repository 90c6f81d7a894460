//! Why there is no completion. The kernel and the model's answer are not at fault.

use super::{AskError, RecordingError};

/// Why there is no completion.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[allow(missing_docs, reason = "each field is what the message says of it")]
pub enum ProviderError {
    #[error("no recording for {}", .0.what)]
    #[diagnostic(code("peak::recording-missing"), help("{}. To record it:\n  {}\nLooked in {}; recordings of another folder are read with `--record FOLDER`.", .0.reason, .0.command, .0.places))]
    Missing(Box<MissingRecording>),

    #[error("the recording {path} cannot be read: {problem}")]
    #[diagnostic(
        code("peak::recording-malformed"),
        help("recordings are written by `--record`, never by hand: record it again")
    )]
    Malformed { path: String, problem: RecordingError },

    #[error("no completion came within {seconds} seconds: {path} is not there")]
    #[diagnostic(
        code("peak::mailbox-timeout"),
        help("write the answer to that file and run the same command again: it goes on from there")
    )]
    MailboxTimeout { seconds: u64, path: String },

    #[error("the completion is too long: {place}, and {limit} are allowed")]
    #[diagnostic(code("peak::completion-too-long"), help("answer with one region, not with a log"))]
    TooLong { place: String, limit: u64 },

    #[error("{what} {path}: {reason}")]
    #[diagnostic(code("peak::provider-file"), help("check that the folder exists, can be written, and has space left"))]
    File { what: &'static str, path: String, reason: String },

    #[error(transparent)]
    #[diagnostic(transparent)]
    Ask(#[from] Box<AskError>),

    #[error("the prompt was caught to be shown, and was not sent")]
    #[diagnostic(code("peak::prompt-not-sent"), help("leave out `--emit prompt` to ask"))]
    NotSent,

    #[error("there is no provider `{name}`{suggestion}")]
    #[diagnostic(code("peak::unknown-provider"), help("the providers are: {known}"))]
    Unknown { name: String, suggestion: String, known: String },
}

impl From<AskError> for ProviderError {
    fn from(error: AskError) -> ProviderError {
        ProviderError::Ask(Box::new(error))
    }
}

/// What is known of a recording that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingRecording {
    /// Kernel, backend, transformation, pass, region and repair, in words.
    pub what: String,
    /// Whether it was never there, or the words or the code changed.
    pub reason: String,
    /// The command line that records it.
    pub command: String,
    /// Where it was looked for.
    pub places: String,
}
