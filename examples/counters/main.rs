//! The simulator's counters against Nsight Compute's on a GPU, for the kernels of `tests/suite/count`.
//!
//! ```text
//! counters ours [FOLDER] > ours.json       what the simulator counts; needs NVRTC, no GPU
//! counters metrics                         the metrics to ask Nsight Compute for, with commas
//! counters gpu [FOLDER]                    runs each kernel once on the GPU: to be started by `ncu`
//! counters join ours.json ncu.csv          the table, in Markdown; needs neither
//! ```
//!
//! `scripts/compare-ncu` does all four. Exit code 5: a metric that should be the same is off by over 2%, and the folder's
//! table gives no reason. 1: the arguments' files. 2: the arguments. 3: something is missing. It times nothing.

#[path = "../../tests/count/cases.rs"]
mod cases;
mod join;
mod ncu;

use cases::{cases, cuda, open};
use peak::inspect::{METRICS, executed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

/// Where the kernels are, from the root of the repository.
const FOLDER: &str = "tests/suite/count";

const INPUT: u8 = 1;
const USAGE: u8 = 2;
const ENVIRONMENT: u8 = 3;
const OFF: u8 = 5;

/// What the simulator counted.
#[derive(Serialize, Deserialize)]
pub struct Ours {
    /// The compiler and the simulator.
    pub made_by: String,
    /// In the order in which the GPU runs them.
    pub launches: Vec<Launch>,
}

/// One launch.
#[derive(Serialize, Deserialize)]
pub struct Launch {
    /// The case, in words.
    pub case: String,
    /// The entry point.
    pub entry: String,
    /// By name.
    pub counts: BTreeMap<String, u64>,
    /// Metrics that a GPU counts otherwise, and why.
    pub assembler: BTreeMap<String, String>,
}

type Failed = (u8, String);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["ours"] => ours(Path::new(FOLDER)),
        ["ours", folder] => ours(Path::new(folder)),
        ["metrics"] => {
            println!("{}", names().join(","));
            Ok(true)
        }
        ["gpu"] => gpu(Path::new(FOLDER)),
        ["gpu", folder] => gpu(Path::new(folder)),
        ["join", ours, csv] => join(Path::new(ours), Path::new(csv)),
        _ => Err((USAGE, "usage: counters ours [FOLDER] | metrics | gpu [FOLDER] | join OURS.json NCU.csv".to_owned())),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => OFF.into(),
        Err((code, words)) => {
            eprintln!("{words}");
            code.into()
        }
    }
}

fn names() -> Vec<&'static str> {
    METRICS.iter().map(|metric| metric.ncu).filter(|name| !name.is_empty()).collect()
}

/// Counts every case on the simulator.
fn ours(folder: &Path) -> Result<bool, Failed> {
    let cuda = cuda().map_err(|lacking| (ENVIRONMENT, format!("there is no {lacking}")))?;
    let mut sim = open(cuda.as_ref(), "sim").map_err(|words| (ENVIRONMENT, words))?;
    let mut launches = Vec::new();
    for case in cases(folder).map_err(|words| (INPUT, words))? {
        let (program, plan) = case.set_up(cuda.as_ref(), sim.as_mut()).map_err(|words| (INPUT, words))?;
        let counted = sim.count(program, &plan.sequence, None);
        let counted = counted.map_err(|error| (INPUT, format!("{}: {error}", case.name())))?;
        for entry in executed(&counted) {
            launches.push(Launch {
                case: case.name(),
                counts: METRICS.iter().map(|it| (it.name.to_owned(), entry.sum(it))).collect(),
                entry: entry.entry,
                assembler: case.entry.assembler.clone().into_iter().collect(),
            });
        }
    }
    let made_by = format!("{}, {}", cuda.title(), sim.info().driver);
    let text = serde_json::to_string_pretty(&Ours { made_by, launches });
    println!("{}", text.map_err(|error| (INPUT, error.to_string()))?);
    Ok(true)
}

/// Runs every case once on the GPU.
fn gpu(folder: &Path) -> Result<bool, Failed> {
    let cuda = cuda().map_err(|lacking| (ENVIRONMENT, format!("there is no {lacking}")))?;
    let mut gpu = open(cuda.as_ref(), "gpu").map_err(|words| (ENVIRONMENT, words))?;
    eprintln!("{} ({})", gpu.info().name, gpu.info().driver);
    for case in cases(folder).map_err(|words| (INPUT, words))? {
        let (program, plan) = case.set_up(cuda.as_ref(), gpu.as_mut()).map_err(|words| (INPUT, words))?;
        gpu.run(program, &plan.sequence).map_err(|error| (ENVIRONMENT, format!("{}: {error}", case.name())))?;
    }
    Ok(true)
}

/// Prints the table. Whether all that should be the same is.
fn join(ours: &Path, csv: &Path) -> Result<bool, Failed> {
    let read =
        |path: &Path| std::fs::read_to_string(path).map_err(|error| (INPUT, format!("{}: {error}", path.display())));
    let parsed: Ours =
        serde_json::from_str(&read(ours)?).map_err(|error| (INPUT, format!("{}: {error}", ours.display())))?;
    let theirs = ncu::launches(&read(csv)?).map_err(|words| (INPUT, format!("{}: {words}", csv.display())))?;
    let rows = join::rows(&parsed, theirs).map_err(|words| (INPUT, words))?;
    println!("{}\n\n{}", join::summary(&rows), join::table(&rows));
    Ok(rows.iter().all(|row| row.verdict != join::Verdict::Off))
}
