//! Runs the example's workflow in the folder that is named, and prints what its steps came to.

use peak::author::Authored;
use peak::workflow::{Observer, Options, Row};
use peak_embedding::{session, workflow};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> miette::Result<ExitCode> {
    // Compilers and kernels run in processes of their own, which are this program again.
    if let Some(code) = peak::worker() {
        return Ok(code);
    }
    let project = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| ".".into()));
    let mut session = session(&project).open(workflow().name())?;
    let outcome = session.run(Options::default(), &mut Steps)?;
    println!("best: {}", outcome.finished.best.checkpoint);
    println!("{}", session.best(&outcome)?.regions.device_code);
    Ok(if outcome.failure.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints each step as it ends.
struct Steps;

impl Observer for Steps {
    fn rows(&mut self, rows: &[Row]) {
        for row in rows {
            println!("{}: {}", row.name, row.verdict.name());
        }
    }
}
