//! Instruction by instruction, the simulator against a GPU, for a machine with one and without cargo.
//!
//! `cargo build --example instructions`, then copy `target/debug/examples/instructions` there and run it; it needs a CUDA
//! driver and nothing else. It prints a Markdown table: each instruction over values at the edges and random ones, how
//! many results have equal bits, and the largest difference. `--random N` runs N random programs on both instead,
//! `--seed S` begins with another one. Exit code 0 where all that must be equal is, 5 where not, 3 without a GPU (the
//! simulator's side is run all the same, so that it is known to take every instruction).

mod bench;
mod compare;
mod list;
mod program;
mod values;

use bench::{Bench, open};
use compare::Tally;
use std::process::ExitCode;

const DIFFERENT: u8 = 5;
const NO_GPU: u8 = 3;
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let Some((programs, seed)) = arguments() else {
        eprintln!("instructions [--random PROGRAMS] [--seed NUMBER]");
        return ExitCode::from(USAGE);
    };
    let mut sim = open("sim").expect("the simulator is always there");
    let mut gpu = match open("gpu") {
        Ok(gpu) => Some(gpu),
        Err(why) => {
            eprintln!("no GPU, so the simulator runs alone: {why}");
            None
        }
    };
    println!("Simulator: {}. GPU: {}.\n", sim.name, gpu.as_ref().map_or("none", |gpu| &gpu.name));
    let different = match programs {
        0 => instructions(&mut sim, gpu.as_mut(), seed),
        count => random(&mut sim, gpu.as_mut(), seed, count),
    };
    match (gpu, different) {
        (None, _) => ExitCode::from(NO_GPU),
        (_, 0) => ExitCode::SUCCESS,
        _ => ExitCode::from(DIFFERENT),
    }
}

/// Programs and seed.
fn arguments() -> Option<(u64, u64)> {
    let (mut programs, mut seed) = (0, 1);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let number = words.next()?.parse().ok()?;
        match word.as_str() {
            "--random" => programs = number,
            "--seed" => seed = number,
            _ => return None,
        }
    }
    Some((programs, seed))
}

/// Prints the table, and gives the number of instructions that must be equal and are not.
fn instructions(sim: &mut Bench, mut gpu: Option<&mut Bench>, seed: u64) -> usize {
    println!("| instruction | values | equal bits | NaN of other bits | largest difference | for example |");
    println!("| --- | ---: | ---: | ---: | --- | --- |");
    let (mut different, mut refused) = (0, 0);
    for instruction in list::instructions() {
        let inputs = values::inputs(&instruction, seed);
        let mut run = |bench: &mut Bench| bench.run(&list::module(&instruction), &inputs, size_of::<u64>());
        let here = run(sim);
        let there = gpu.as_deref_mut().map(&mut run);
        let text = instruction.text.replace('|', "\\|");
        match (here, there) {
            (Ok(here), Some(Ok(there))) => {
                let tally = Tally::of(&instruction, &inputs, &here, &there);
                different += usize::from(instruction.exact && !tally.is_equal());
                println!("| `{text}` | {tally} |");
            }
            (Ok(_), None) => {}
            (Err(why), _) => {
                refused += 1;
                println!("| `{text}` | | | | the simulator refuses it | {} |", first_line(&why));
            }
            (_, Some(Err(why))) => println!("| `{text}` | | | | the GPU refuses it | {} |", first_line(&why)),
        }
    }
    println!("\n{different} instructions differ that must not; the simulator refuses {refused}.");
    different + refused
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().replace('|', "\\|")
}

/// Runs random programs on both, and gives the number of those that differ. The text of the first one is printed.
fn random(sim: &mut Bench, mut gpu: Option<&mut Bench>, seed: u64, count: u64) -> usize {
    let mut different = 0;
    for seed in seed..seed + count {
        let text = program::text(seed);
        let inputs = values::random(seed, program::THREADS);
        let mut run = |bench: &mut Bench| bench.run(&text, &inputs, program::BYTES);
        let (here, there) = (run(sim), gpu.as_deref_mut().map(&mut run));
        let said = match (&here, &there) {
            (Ok(here), Some(Ok(there))) => program::first_difference(here, there),
            (Err(why), _) => Some(format!("the simulator: {why}")),
            (_, Some(Err(why))) => Some(format!("the GPU: {why}")),
            (Ok(_), None) => None,
        };
        if let Some(said) = said {
            println!("program {seed}: {said}");
            if different == 0 {
                println!("{text}");
            }
            different += 1;
        }
    }
    println!("{count} random programs from seed {seed}: {different} differ.");
    different
}
