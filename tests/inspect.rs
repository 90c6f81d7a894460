//! `peak disasm` and `peak profile`: what they show of the library's kernels, and what they say where something is wrong.
//!
//! All is compiled for a device of the library, so that every machine with the pinned toolchains shows the same.

use crate::program::{Outcome, folder, peak, peak_with};
use crate::store::{put, start_run};
use peak::library::{Standard, load};
use peak::session::start_context;
use peak::store::Store;
use std::path::Path;

const INPUT: i32 = 1;
const USAGE: i32 = 2;
const ENVIRONMENT: i32 = 3;

const TILED: [&str; 6] = ["--after", "refactor,tb-tiling", "--config", "BLOCK_X=16", "--config", "BLOCK_Y=16"];

/// Runs a command for the H200 of the library; `None`, with a counted skip, where the backend has no compiler here.
fn shown(command: &str, backend: &str, more: &[&str]) -> Option<Outcome> {
    let home = folder(&[]);
    let arguments = [&[command, "matmul-f32", "--backend", backend, "--device", "nvidia-h200"], more].concat();
    let outcome = peak(home.path(), &arguments);
    if outcome.code == ENVIRONMENT {
        let required = std::env::var("PEAK_REQUIRE").unwrap_or_default();
        assert!(!required.split(',').any(|name| name == backend), "PEAK_REQUIRE names {backend}: {}", outcome.err);
        eprintln!("skipped (1): {}", outcome.err);
        return None;
    }
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    Some(outcome)
}

/// Snapshots of a command for the naive kernel and the tiled one.
fn both(command: &str, backend: &str, more: &[&str]) {
    for (name, kernel) in [("naive", &[][..]), ("tiled", &TILED)] {
        let Some(outcome) = shown(command, backend, &[kernel, more].concat()) else { return };
        insta::assert_snapshot!(format!("{command}_{backend}_{name}"), outcome.out);
    }
}

#[test]
fn the_profile_of_cuda() {
    both("profile", "cuda", &["--annotate", "--static"]);
}

#[test]
fn the_profile_of_hlsl() {
    both("profile", "hlsl", &["--annotate"]);
}

#[test]
fn the_code_of_cuda() {
    both("disasm", "cuda", &["--source"]);
}

#[test]
fn the_code_of_hlsl() {
    both("disasm", "hlsl", &["--source"]);
}

#[test]
fn programs_get_counts_and_lines() {
    let Some(outcome) =
        shown("profile", "cuda", &["--json", "--static", "--config", "BLOCK_X=16", "--config", "BLOCK_Y=16"])
    else {
        return;
    };
    let [event] = &outcome.events()[..] else { panic!("{}", outcome.out) };
    assert_eq!((&event["event"], &event["entry"]), (&"profile".into(), &"matmul".into()));
    assert_eq!(event["counters"]["source"], "static");
    // 32 registers: 2048 threads of 65536 registers, in blocks of 256.
    assert_eq!(
        (&event["registers"], &event["occupancy"], &event["occupancy_blocks"]),
        (&32.into(), &1.0.into(), &8.into())
    );
    assert_eq!(event["occupancy_limiters"], serde_json::json!(["registers", "threads"]));
    let kinds = event["counters"]["kinds"].as_array().expect("kinds");
    let sum: u64 = kinds.iter().filter_map(|kind| kind["count"].as_u64()).sum();
    assert_eq!(event["counters"]["instructions"], sum);
    let Some(outcome) = shown("disasm", "hlsl", &["--json", "--entry", "matmul"]) else { return };
    let [event] = &outcome.events()[..] else { panic!("{}", outcome.out) };
    let lines = event["lines"].as_array().expect("lines");
    assert!(lines.iter().all(|line| line["function"] == "matmul"));
    assert!(
        lines.iter().any(|line| line["kind"] == "global_load" && line["bytes"] == 4 && line["piece"] == "device code")
    );
}

#[test]
fn registers_of_a_module_are_not_known_and_not_zero() {
    let Some(outcome) = shown("profile", "hlsl", &["--json"]) else { return };
    let event = &outcome.events()[0];
    assert!(event["registers"].is_null() && event["spill_bytes"].is_null() && event["occupancy"].is_null());
    assert_eq!(event["occupancy_unknown"], serde_json::json!(["registers of the kernel"]));
}

#[test]
fn the_text_goes_to_a_file() {
    let home = folder(&[]);
    let arguments = ["disasm", "matmul-f32", "--backend", "hlsl", "--device", "nvidia-h200", "-o", "matmul.spvasm"];
    let outcome = peak(home.path(), &arguments);
    if outcome.code == ENVIRONMENT {
        return;
    }
    let text = std::fs::read_to_string(home.path().join("matmul.spvasm")).expect("written");
    assert!(outcome.out.is_empty() && text.contains("OpEntryPoint GLCompute"), "{}", outcome.out);
}

#[test]
fn machine_code_is_shown_or_its_tool_is_named() {
    let home = folder(&[]);
    let arguments = ["disasm", "matmul-f32", "--backend", "cuda", "--device", "nvidia-h200", "--form", "sass"];
    let outcome = peak(home.path(), &arguments);
    match outcome.code {
        0 => assert!(outcome.out.contains("LDG.E") && outcome.out.contains("FFMA"), "{}", outcome.out),
        code => {
            assert_eq!(code, ENVIRONMENT, "{}", outcome.err);
            assert!(outcome.err.contains("peak::missing-toolchain"), "{}", outcome.err);
        }
    }
}

#[test]
fn a_checkpoint_is_compiled_with_its_winner() {
    let home = folder(&[]);
    let loaded = load(&[], Standard::from_environment());
    let context = start_context(&loaded, "matmul-f32", "hlsl").expect("the kernel is there");
    let mut store = Store::open(home.path()).expect("opens");
    let run = start_run(&store);
    let id = put(&mut store, run, "baseline", &context, None, 215.0);
    store.set_current(id).expect("set");
    for name in [&["baseline"][..], &["1/baseline"], &[]] {
        let outcome = peak(home.path(), &[&["profile", "--device", "nvidia-h200", "--json"], name].concat());
        if outcome.code == ENVIRONMENT {
            return;
        }
        assert_eq!(outcome.code, 0, "{}", outcome.err);
        let event = &outcome.events()[0];
        assert_eq!((&event["name"], &event["context"]), (&"1/baseline".into(), &context.hash().into()));
    }
    let other = peak(home.path(), &["profile", "baseline", "--backend", "cuda"]);
    assert_eq!(other.code, USAGE, "{}", other.err);
}

#[test]
fn what_is_misspelt_is_named() {
    let home = folder(&[]);
    let mut shown = Vec::new();
    for (code, arguments) in [
        (INPUT, &["profile", "matmul-f23"][..]),
        (USAGE, &["disasm"]),
        (INPUT, &["disasm", "no-such-file.peak"]),
        (INPUT, &["profile", "matmul-f32", "--device", "nvidia-h200", "--config", "BLOCK_Z=2"]),
        (INPUT, &["profile", "matmul-f32", "--device", "nvidia-h200", "--config", "BLOCK_X=7"]),
        (
            INPUT,
            &["profile", "matmul-f32", "--device", "nvidia-h200", "--config", "BLOCK_X=64", "--config", "BLOCK_Y=32"],
        ),
        (INPUT, &["profile", "matmul-f32", "--device", "nvidia-h200", "--at", "m=64"]),
        (INPUT, &["profile", "matmul-f32", "--device", "nvidia-h200", "--entry", "matmull"]),
        (INPUT, &["profile", "matmul-f32", "--device", "nvidia-h200", "--after", "tb-tilling"]),
        (INPUT, &["profile", "matmul-f32", "--device", "adreno-x1-85", "--backend", "cuda"]),
        (USAGE, &["disasm", "matmul-f32", "--device", "nvidia-h200", "--backend", "hlsl", "--form", "sass"]),
        (USAGE, &["profile", "matmul-f32", "--config", "BLOCK_X"]),
    ] {
        let outcome = peak(home.path(), arguments);
        if outcome.code == ENVIRONMENT {
            return;
        }
        assert_eq!((outcome.code, outcome.out.as_str()), (code, ""), "{arguments:?}: {}", outcome.err);
        shown.push(format!("$ peak {}\n{}", arguments.join(" "), outcome.err));
    }
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn a_missing_compiler_is_the_machines_fault() {
    let home = folder(&[]);
    let variables = [("PEAK_TOOLCHAINS", Path::new("/nonexistent")), ("LD_LIBRARY_PATH", Path::new("/nonexistent"))];
    let outcome = peak_with(home.path(), &variables, &["profile", "matmul-f32", "--backend", "hlsl"]);
    // A machine may have a DXC of its own.
    if outcome.code != 0 {
        assert_eq!(outcome.code, ENVIRONMENT, "{}", outcome.err);
        assert!(outcome.err.contains("peak::missing-toolchain"), "{}", outcome.err);
    }
}
