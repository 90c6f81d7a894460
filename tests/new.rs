//! `peak new`: what it writes is right as it stands, is in form, runs, and overwrites nothing.

use crate::program::peak;
use crate::vulkan;
use std::path::Path;

/// Writes something new, and asserts that what was written passes `check` and `fmt --check`.
fn new(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let arguments: Vec<&str> = ["new"].iter().chain(arguments).copied().collect();
    let outcome = peak(folder, &arguments);
    assert_eq!(outcome.code, 0, "{arguments:?}: {}", outcome.err);
    let files: Vec<String> = outcome.out.lines().map(str::to_owned).collect();
    for file in files.iter().filter(|file| file.ends_with(".peak")) {
        let checked = peak(folder, &["check", file]);
        assert_eq!((checked.code, checked.err), (0, format!("{file}: no errors\n")), "{arguments:?}");
        let formatted = peak(folder, &["fmt", "--check", file]);
        assert_eq!(formatted.code, 0, "{arguments:?}: {} {}", formatted.out, formatted.err);
        let text = std::fs::read_to_string(folder.join(file)).expect("written");
        assert!(!text.contains("my-") && !text.contains("my_"), "a name of the template is left:\n{text}");
    }
    files
}

#[test]
fn everything_new_is_right_at_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    assert_eq!(new(folder, &["kernel", "row-sum"]), ["row-sum.peak", "row_sum.cu", "row_sum.hlsl"]);
    assert_eq!(
        new(folder, &["kernel", "float", "--in", "one", "--backend", "hlsl"]),
        ["one/float.peak", "one/float_kernel.hlsl"]
    );
    assert_eq!(
        new(folder, &["kernel", "row-sums", "--in", "all", "--backend", "cuda,hip,hlsl"]),
        ["all/row-sums.peak", "all/row_sums.cu", "all/row_sums.hip", "all/row_sums.hlsl"]
    );
    new(folder, &["transformation", "unroll"]);
    new(folder, &["transformation", "unroll-on-hip", "--backend", "hip"]);
    new(folder, &["transformation", "unroll-rows", "--kernel", "row-sum", "--use", "row-sum.peak", "--in", "deep/er"]);
    let text = std::fs::read_to_string(folder.join("deep/er/unroll-rows.peak")).expect("written");
    assert!(
        text.contains("use \"../../row-sum.peak\"") && text.contains("requires whole-turns: n mod UNROLL = 0"),
        "{text}"
    );
    new(folder, &["workflow", "steps"]);
    new(folder, &["workflow", "row-steps", "--kernel", "row-sum", "--use", "row-sum.peak"]);
    new(folder, &["workflow", "other-steps", "--kernel", "matmul-f32"]);
    new(folder, &["device", "small-gpu"]);
    new(folder, &["pack", "mine"]);
    new(folder, &["pack", "small", "--device", "small-gpu", "--use", "small-gpu.peak"]);
    let project = new(folder, &["project", "attention"]);
    assert!(project.len() >= 7 && project.iter().any(|file| file == "attention/workflow.peak"), "{project:?}");
}

#[test]
fn nothing_is_overwritten() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("row_sum.hlsl"), "mine").expect("written");
    let outcome = peak(folder.path(), &["new", "kernel", "row-sum"]);
    assert!(outcome.code == 1 && outcome.err.contains("peak::would-overwrite"), "{}", outcome.err);
    assert!(!folder.path().join("row-sum.peak").exists(), "all of it, or nothing");
    assert_eq!(std::fs::read_to_string(folder.path().join("row_sum.hlsl")).expect("there"), "mine");
}

#[test]
fn what_cannot_be_made_says_why() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let says = |arguments: &[&str], code: i32, words: &str| {
        let outcome = peak(folder.path(), arguments);
        assert_eq!(outcome.code, code, "{arguments:?}: {}", outcome.err);
        assert!(outcome.err.contains(words), "{arguments:?}: {}", outcome.err);
    };
    says(&["new", "kernel"], 2, "a new kernel needs a name");
    says(&["new", "kernel", "Row_Sum"], 1, "peak::name-style");
    says(&["new", "kernel", "matmul-f32"], 1, "peak::duplicate-name");
    says(&["new", "kernel", "row-sum", "--backend", "opencl"], 1, "peak::unknown-backend");
    says(&["new", "kernel", "row-sum", "--device", "llvmpipe"], 2, "`--device` says nothing");
    says(&["new", "workflow", "steps", "--kernel", "matmul"], 1, "peak::unknown-name");
    says(&["new", "pack", "mine", "--device", "llvmpip"], 1, "did you mean `llvmpipe`?");
    let alone = peak(folder.path(), &["new"]);
    assert!(alone.code == 0 && alone.out.contains("peak new kernel"), "{}{}", alone.out, alone.err);
    assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0, "nothing was written");
}

#[test]
fn a_new_kernel_runs_at_once() {
    let Some((_, device)) = vulkan::device() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    new(folder, &["kernel", "row-sum"]);
    let run = ["run", "row-sum", "--use", "row-sum.peak", "--backend", "hlsl", "--device", &device.name, "--tune", "4"];
    let outcome = peak(folder, &run);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.out.contains("baseline") && outcome.out.contains("accepted"), "{}", outcome.out);
}

#[test]
fn a_new_kernel_runs_on_the_simulator() {
    let there = peak(Path::new("."), &["doctor", "--json"]).events();
    if !there.iter().any(|event| event["event"] == "device" && event["backend"] == "cuda") {
        eprintln!("skipped: no device takes CUDA here");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    new(folder, &["kernel", "row-sum"]);
    let outcome = peak(folder, &["run", "row-sum", "--use", "row-sum.peak", "--backend", "cuda", "--tune", "4"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.out.contains("accepted"), "{}", outcome.out);
}
