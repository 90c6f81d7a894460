//! `peak worker`: the child process in which compilers and candidates run. Started by Peak itself, hence not in the help.
//!
//! It stands before everything else of the command line: its arguments are its own, and a panic in it is an answer
//! ([`crate::runner::worker`] catches it), not the end of the program.

use crate::{backends, runner};
use std::process::ExitCode;

/// The arguments after `worker`, if this process is to be one.
#[must_use]
pub fn arguments() -> Option<Vec<String>> {
    let mut words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    (words.next()? == "worker").then(|| words.collect())
}

/// Serves until the coordinator ends it.
#[must_use]
pub fn serve(arguments: &[String]) -> ExitCode {
    runner::worker::serve(arguments, backends::BACKENDS)
}
