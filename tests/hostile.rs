//! Kernels that mean harm, or go wrong as kernels do, on the simulator and through the program: each is a row with its
//! class and words that help, and the workflow goes on with the next.

use crate::program::{Outcome, folder, peak};
use crate::skipped::skip;
use peak::backends::backend;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

const HOSTILE: &str = include_str!("suite/hostile/hostile.peak");

/// What one run of a candidate may take, and the worker's start after a death.
const DEADLINE: Duration = Duration::from_secs(60);

/// Whether CUDA's kernels can be compiled here; a counted skip where not.
fn compiles() -> bool {
    let toolchains = backend("cuda").map(|cuda| cuda.toolchains()).unwrap_or_default();
    match toolchains.iter().find(|toolchain| !toolchain.found) {
        None => true,
        Some(lacking) => {
            skip("cuda", &format!("there is no {}", lacking.name));
            false
        }
    }
}

/// The rows of the workflow, and its words.
fn rows(folder: &Path) -> (Vec<Value>, Outcome) {
    // By its name: where there is a GPU, that would be taken.
    let device = ["--device", "Peak CUDA simulator"];
    let outcome = peak(folder, &[&["run", "hostile", "--use", "hostile.peak", "--json"], &device[..]].concat());
    let events = outcome.events();
    (events.into_iter().filter(|event| event["event"] == "step").collect(), outcome)
}

fn row<'a>(rows: &'a [Value], name: &str) -> &'a Value {
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no row {name}: {rows:?}"))
}

/// Every row, its class, and what its words must say.
const EXPECTED: &[(&str, Option<&str>, &[&str])] = &[
    ("baseline", None, &[]),
    (
        "loops-for-ever",
        Some("sanitizer"),
        &["`doubled`", "thread (0, 0, 0)", "device code, line", "a loop without end?"],
    ),
    (
        "recurses-without-end",
        Some("sanitizer"),
        &["`doubled`", "thread (", "device code, line", "recursion without end?"],
    ),
    ("spins-on-a-flag", Some("sanitizer"), &["`doubled`", "thread (", "device code, line", "who ends the wait?"]),
    (
        "deadlocks",
        Some("sanitizer"),
        &[
            "`doubled`",
            "32 threads wait for barrier 1",
            "32 threads wait for barrier 2",
            "device code, line",
            "same barrier",
        ],
    ),
    (
        "writes-far-away",
        Some("sanitizer"),
        &[
            "`doubled`",
            "a 4-byte write out of bounds: element 1000",
            "of buffer `B`, which has 256",
            "device code, line",
        ],
    ),
    (
        "reads-a-texture",
        Some("launch"),
        &[
            "`doubled`",
            "device code, line",
            "`tex.1d.v4.f32.s32` is not modelled",
            "a GPU runs what the simulator lacks",
        ],
    ),
    ("asks-for-200-gigabytes", Some("launch"), &["200000002048 bytes", "`room`", "are allowed"]),
    ("waits-for-the-last-block", None, &[]),
    ("has-a-million-blocks", None, &[]),
];

#[test]
fn each_ends_in_a_row_and_the_next_one_runs() {
    if !compiles() {
        return;
    }
    let folder = folder(&[("hostile.peak", HOSTILE)]);
    let start = Instant::now();
    let (rows, outcome) = rows(folder.path());
    assert!(start.elapsed() < DEADLINE * EXPECTED.len() as u32, "{:?}", start.elapsed());
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names, EXPECTED.iter().map(|(name, ..)| *name).collect::<Vec<_>>());
    let said = outcome.err.split_whitespace().collect::<Vec<_>>().join(" ");
    for (name, class, words) in EXPECTED {
        let row = row(&rows, name);
        assert_eq!(row["failure_class"].as_str(), *class, "{row}");
        assert_eq!(row["verdict"], if class.is_some() { "failed" } else { "accepted" }, "{row}");
        let reason = format!("{} {said}", row["reason"].as_str().unwrap_or_default());
        for word in *words {
            assert!(reason.contains(word), "{name}: `{word}` is not in {reason}");
        }
    }
}
