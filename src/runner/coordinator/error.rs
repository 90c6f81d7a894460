//! What goes wrong before there is a candidate to blame. Shown to people.

use miette::Diagnostic;

/// Why workers cannot be set up.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum RunnerError {
    /// The worker's program does not start, or dies at once.
    #[error("the worker does not start: {message}")]
    #[diagnostic(
        code("peak::worker-does-not-start"),
        help("`peak doctor` shows what works; the worker is this program itself, run as `peak worker`")
    )]
    Start {
        /// What happened.
        message: String,
    },
    /// The device does not open.
    #[error("device {device} does not open: {message}")]
    #[diagnostic(code("peak::device-does-not-open"), help("{mend}"))]
    Open {
        /// Its address.
        device: String,
        /// What its runtime said.
        message: String,
        /// What to do.
        mend: String,
    },
    /// A folder for the workers' files cannot be made.
    #[error("no folder for the workers' files: {0}")]
    #[diagnostic(code("peak::no-work-folder"), help("is the disk full, or TMPDIR a folder that cannot be written?"))]
    Folder(#[from] std::io::Error),
}
