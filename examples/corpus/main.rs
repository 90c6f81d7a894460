//! Runs every kernel of a folder (`tests/suite/run` where none is named) on a GPU and on the simulator, from the same PTX and
//! the same inputs, and prints a Markdown table: whether the outputs are the same to the bit, and how far each is from what
//! it should be. For machines with a GPU and without cargo; without a GPU the simulator is judged alone.
//!
//! `cargo build --release --example corpus`, then take `target/release/examples/corpus`, the folder, and NVRTC there. Exit
//! code 1: a result is wrong, or bits differ that are defined. 2: the arguments. 3: nothing can run. It times nothing.

mod bits;
#[path = "../../tests/run/corpus.rs"]
#[allow(dead_code, reason = "the test `run` uses what this program does not")]
mod corpus;
mod row;
mod table;

use corpus::{device, subjects};
use peak::backends;
use peak_backend_api::{Backend, Runtime};
use row::Row;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where the kernels are, from the root of the repository.
const FOLDER: &str = "tests/suite/run";

const INPUT: u8 = 1;
const USAGE: u8 = 2;
const ENVIRONMENT: u8 = 3;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = match arguments.as_slice() {
        [] => PathBuf::from(FOLDER),
        [folder] if !folder.starts_with('-') => PathBuf::from(folder),
        _ => {
            eprintln!("usage: corpus [FOLDER]");
            return USAGE.into();
        }
    };
    match run(&folder) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => INPUT.into(),
        Err((code, words)) => {
            eprintln!("{words}");
            code.into()
        }
    }
}

/// Whether all is as it should be.
fn run(folder: &Path) -> Result<bool, (u8, String)> {
    let cuda = backends::backend("cuda").ok_or((ENVIRONMENT, "this build has no CUDA backend".to_owned()))?;
    if let Some(lacking) = cuda.toolchains().into_iter().find(|toolchain| !toolchain.found) {
        return Err((ENVIRONMENT, format!("there is no {}", lacking.name)));
    }
    let subjects = subjects(folder).map_err(|words| (INPUT, words))?;
    let runtimes = present(cuda.as_ref());
    if runtimes.is_empty() {
        return Err((ENVIRONMENT, "no runtime has a device".to_owned()));
    }
    let rows: Vec<Row> = subjects
        .iter()
        .map(|subject| {
            let row = row::of(subject, cuda.as_ref(), &runtimes);
            row.failures.iter().for_each(|words| eprintln!("{}: {words}", row.name));
            row
        })
        .collect();
    let names: Vec<&str> = runtimes.iter().map(|runtime| runtime.name()).collect();
    println!("{}", table::markdown(&rows, &names));
    println!();
    println!("{}", table::summary(&rows, &names));
    Ok(rows.iter().all(Row::is_right))
}

/// The runtimes that have a device, said to people with what those lack that have none.
fn present(cuda: &dyn Backend) -> Vec<Box<dyn Runtime>> {
    let mut runtimes = backends::runtimes(cuda);
    runtimes.retain(|runtime| match device::open(runtime.as_ref()) {
        Ok(device) => {
            eprintln!("{}: {} ({})", runtime.name(), device.info().name, device.info().driver);
            true
        }
        Err(error) => {
            eprintln!("{}: left out: {error}", runtime.name());
            false
        }
    });
    runtimes
}
