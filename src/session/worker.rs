//! This program as its own worker: the child process in which compilers and candidates run.
//!
//! It stands before everything else of a program: a worker's arguments are its own, and a panic in it is an answer
//! ([`crate::runner::worker`] catches it), not the end of the program.

use super::error::SessionError;
use crate::backends::BACKENDS;
use crate::error::Result;
use crate::runner::{self, RunnerError, WorkerProgram};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this program was asked, so that it can be started as a worker.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Serves as worker, where this process was started as one by a session (`PROGRAM worker --compile`, `--device ...`).
///
/// `main` begins with it: `if let Some(code) = peak::worker() { return code; }`. Without it, a session does not start
/// this program, which would only start itself again and again; name another one by
/// [`SessionBuilder::worker`](super::SessionBuilder::worker).
#[must_use]
pub fn worker() -> Option<ExitCode> {
    ASKED.store(true, Ordering::Relaxed);
    let mut words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let arguments: Vec<String> = (words.next()? == "worker").then(|| words.collect())?;
    Some(runner::worker::serve(&arguments, BACKENDS))
}

/// This program, where it serves as worker.
pub(super) fn own_program() -> Result<WorkerProgram> {
    match ASKED.load(Ordering::Relaxed) {
        true => Ok(WorkerProgram::current().map_err(RunnerError::from)?),
        false => Err(SessionError::NoWorkerProgram.into()),
    }
}
