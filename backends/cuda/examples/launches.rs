//! What launches of CUDA have beside a grid and a block, run on a GPU without cargo: clusters with distributed shared memory,
//! tensor maps, cooperative launches, 100 KB of shared memory, several launches over scratch. A line a test; exit code 1
//! where one fails, or where there is no GPU at all.
//!
//! `cargo build -p peak-backend-cuda --example launches`, then copy `target/debug/examples/launches` there. What a device
//! lacks is a counted skip.

#[path = "../tests/launches/cases.rs"]
mod cases;

use cases::{CASES, Case, REFUSED, Work};
use peak_backend_api::{Caches, Device, ProgramId, RuntimeError};
use std::process::ExitCode;

/// Timed runs: short sequences become a graph of copies.
const REPEATS: u32 = 3;

/// What a test came to.
enum Outcome {
    Passed(String),
    Skipped(String),
    Failed(String),
}

fn main() -> ExitCode {
    let mut device = match open() {
        Ok(device) => device,
        Err(error) => {
            println!("nothing ran: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{} ({})", device.info().name, device.info().driver);
    let runs = CASES.iter().map(|case| (case.name, outcome(runs(case, device.as_mut()))));
    let mut lines: Vec<(&str, Outcome)> = runs.collect();
    lines.extend(REFUSED.iter().map(|(case, word)| (case.name, outcome(is_refused(case, word, device.as_mut())))));
    let (mut passed, mut skipped, mut failed) = (0, 0, 0);
    for (name, outcome) in lines {
        let (count, word, why) = match outcome {
            Outcome::Passed(why) => (&mut passed, "pass", why),
            Outcome::Skipped(why) => (&mut skipped, "skip", why),
            Outcome::Failed(why) => (&mut failed, "FAIL", why),
        };
        *count += 1;
        println!("{word} {name}: {why}");
    }
    println!("{passed} passed, {skipped} skipped, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The first GPU.
fn open() -> Result<Box<dyn Device>, RuntimeError> {
    let runtimes = peak_backend_cuda::backend().runtimes();
    let first = runtimes.first().ok_or(RuntimeError::NoDevice { index: 0, count: 0 })?;
    first.open(0)
}

fn outcome(result: Result<Outcome, String>) -> Outcome {
    result.unwrap_or_else(Outcome::Failed)
}

/// Runs a case once and as it is timed, and compares what came of both.
fn runs(case: &Case, device: &mut dyn Device) -> Result<Outcome, String> {
    let (work, program) = match prepare(case, device)? {
        Ok(ready) => ready,
        Err(lack) => return Ok(Outcome::Skipped(lack)),
    };
    device.run(program, &work.sequence).map_err(|error| format!("run: {error}"))?;
    compare(&work, device).map_err(|problem| format!("run: {problem}"))?;
    // Outputs as they were at first, so that what the timed runs leave out shows.
    write(&work, device)?;
    let times =
        device.time(program, &work.sequence, REPEATS, Caches::Warm).map_err(|error| format!("time: {error}"))?;
    compare(&work, device).map_err(|problem| format!("time: {problem}"))?;
    device.unload(program);
    let times: Vec<String> = times.iter().map(u64::to_string).collect();
    Ok(Outcome::Passed(format!("{} ns", times.join(", "))))
}

/// Runs a case that must be refused, with a word of why; the device must be usable afterwards.
fn is_refused(case: &Case, word: &str, device: &mut dyn Device) -> Result<Outcome, String> {
    let (work, program) = match prepare(case, device)? {
        Ok(ready) => ready,
        Err(lack) => return Ok(Outcome::Skipped(lack)),
    };
    let outcome = match device.run(program, &work.sequence) {
        Err(RuntimeError::Launch(words)) if words.contains(word) => Outcome::Passed(words),
        other => Outcome::Failed(format!("a refusal with `{word}` was expected, and it gave {other:?}")),
    };
    device.unload(program);
    for (name, bytes) in &work.buffers {
        if device.read(name).map_err(|error| format!("afterwards: {error}"))? != *bytes {
            return Err(format!("`{name}` changed"));
        }
    }
    Ok(outcome)
}

/// Compiles, loads and writes; or what the device lacks.
fn prepare(case: &Case, device: &mut dyn Device) -> Result<Result<(Work, ProgramId), String>, String> {
    if let Some(lack) = case.lack(device.info()) {
        return Ok(Err(lack));
    }
    let backend = peak_backend_cuda::backend();
    let target = device.info().target.clone().unwrap_or_default();
    let work = (case.work)(device.info());
    let request = case.request(|spec| backend.prelude(spec), &work, &target);
    let artifact = backend.compile(&request).map_err(|error| format!("compile: {error}"))?;
    let program = device.load(&artifact).map_err(|error| format!("load: {error}"))?;
    device.free_all();
    for (name, bytes) in &work.buffers {
        device.allocate(name, bytes.len() as u64).map_err(|error| format!("allocate: {error}"))?;
    }
    write(&work, device)?;
    Ok(Ok((work, program)))
}

fn write(work: &Work, device: &mut dyn Device) -> Result<(), String> {
    let mut buffers = work.buffers.iter();
    buffers.try_for_each(|(name, bytes)| device.write(name, bytes)).map_err(|error| format!("write: {error}"))
}

fn compare(work: &Work, device: &mut dyn Device) -> Result<(), String> {
    for (name, expected) in &work.expected {
        let found = device.read(name).map_err(|error| format!("read: {error}"))?;
        let differs = found.chunks(4).zip(expected.chunks(4)).position(|(found, expected)| found != expected);
        if let Some(at) = differs {
            let words =
                |bytes: &[u8]| bytes[4 * at..].iter().take(4).map(|byte| format!("{byte:02x}")).collect::<String>();
            return Err(format!("element {at} of `{name}` is {}, not {}", words(&found), words(expected)));
        }
        if found.len() != expected.len() {
            return Err(format!("`{name}` has {} bytes, not {}", found.len(), expected.len()));
        }
    }
    Ok(())
}
