//! Why there is no completion. The kernel and the model's answer are not at fault.

use super::RecordingError;

/// Why there is no completion.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[allow(missing_docs, reason = "each field is what the message says of it")]
pub enum ProviderError {
    #[error(
        "no recording for kernel `{kernel}` on {backend}: transformation `{transformation}`, pass `{pass}`, {region}{repair}"
    )]
    #[diagnostic(code("peak::recording-missing"), help("{reason}. To record it:\n  {command}\nLooked in {places}."))]
    Missing {
        kernel: String,
        backend: String,
        transformation: String,
        pass: String,
        region: String,
        repair: String,
        reason: String,
        command: String,
        places: String,
    },

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

    #[error("the completion {path} has {bytes} bytes, and {limit} are allowed")]
    #[diagnostic(code("peak::completion-too-long"), help("answer with one region, not with a log"))]
    TooLong { path: String, bytes: u64, limit: u64 },

    #[error("{what} {path}: {reason}")]
    #[diagnostic(code("peak::provider-file"), help("check that the folder exists, can be written, and has space left"))]
    File { what: &'static str, path: String, reason: String },

    #[error("there is no provider `{name}`{suggestion}")]
    #[diagnostic(code("peak::unknown-provider"), help("the providers are: {known}"))]
    Unknown { name: String, suggestion: String, known: String },
}
