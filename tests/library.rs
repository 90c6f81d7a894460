//! `peak check` and `peak list` on files: what is missing, what is wrong, what is used. Run as the program.

use std::path::Path;
use std::process::Command;

/// A kernel whose code is in a file beside it.
const KERNEL: &str = r#"kernel scale "B = 2 A"
  computes B[i] = 2 * A[i]
  element f32, accumulate f32

  input n: int in 1024; checked at 64
  input A: array[n] of f32, random uniform -1 to 1
  output B: array[n] of f32
  tolerance exact

  tune BLOCK in 32, 64
  require n mod BLOCK = 0

  device code for hlsl from "scale.hlsl"
  host code
    launch scale
      grid n / BLOCK
      block BLOCK
      arguments A, B, n
"#;

struct Outcome {
    code: i32,
    out: String,
    err: String,
}

/// Runs `peak` in a folder, with an empty library in place of the standard one.
fn peak(folder: &Path, arguments: &[&str]) -> Outcome {
    std::fs::create_dir_all(folder.join("no-library")).expect("made");
    let output = Command::new(env!("CARGO_BIN_EXE_peak"))
        .args(arguments)
        .current_dir(folder)
        .env("PEAK_STDLIB", "no-library")
        .env("NO_COLOR", "1")
        .output()
        .expect("peak starts");
    Outcome {
        code: output.status.code().expect("an exit code"),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

fn folder_with(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, content) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(path, content).expect("written");
    }
    folder
}

/// Codes of the `diagnostic` events, with file and line.
fn codes(outcome: &Outcome) -> Vec<(String, String, Option<u64>)> {
    let event = |line: &str| -> serde_json::Value { serde_json::from_str(line).expect("one JSON object a line") };
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let events = outcome.out.lines().map(event).filter(|event| event["event"] == "diagnostic");
    events.map(|event| (text(&event["code"]), text(&event["file"]), event["line"].as_u64())).collect()
}

fn expected(code: &str, file: &str, line: impl Into<Option<u64>>) -> Vec<(String, String, Option<u64>)> {
    vec![(code.to_owned(), file.to_owned(), line.into())]
}

#[test]
fn a_file_without_errors_is_said_to_have_none() {
    let folder = folder_with(&[("scale.peak", KERNEL.as_bytes()), ("scale.hlsl", b"void scale() {}\n")]);
    let outcome = peak(folder.path(), &["check", "scale.peak"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (0, ""), "{}", outcome.err);
    assert_eq!(outcome.err, "scale.peak: no errors\n");
}

#[test]
fn a_missing_file_a_folder_and_a_binary_are_input_errors() {
    let folder = folder_with(&[("sub/x", b""), ("binary.peak", b"kernel \xff\xfe\n")]);
    let check = |file: &str| peak(folder.path(), &["--json", "check", file]);
    let missing = check("nowhere.peak");
    assert_eq!(missing.code, 1);
    assert_eq!(codes(&missing), expected("peak::missing-file", "nowhere.peak", None));
    assert_eq!(codes(&check("sub")), expected("peak::not-a-file", "sub", None));
    assert_eq!(codes(&check("binary.peak"))[0].0, "peak::utf8");
    insta::assert_snapshot!(peak(folder.path(), &["check", "nowhere.peak"]).err);
}

#[test]
fn a_syntax_error_is_shown_where_it_is() {
    let text = KERNEL.replace("tune BLOCK in 32, 64", "tune BLOCK in in 32");
    let folder = folder_with(&[("scale.peak", text.as_bytes()), ("scale.hlsl", b"")]);
    let outcome = peak(folder.path(), &["--json", "check", "scale.peak"]);
    assert_eq!(outcome.code, 1);
    let found = codes(&outcome);
    assert!(found.contains(&("peak::syntax".to_owned(), "scale.peak".to_owned(), Some(10))), "{found:?}");
    assert!(outcome.err.contains("tune BLOCK in in 32"), "{}", outcome.err);
}

#[test]
fn a_missing_source_is_shown_where_it_is_named() {
    let folder = folder_with(&[("kernels/scale.peak", KERNEL.as_bytes())]);
    let outcome = peak(folder.path(), &["--json", "check", "kernels/scale.peak"]);
    assert_eq!(outcome.code, 1);
    assert_eq!(codes(&outcome), expected("peak::missing-file", "kernels/scale.peak", 13));
    let outcome = peak(folder.path(), &["check", "kernels/scale.peak"]);
    insta::assert_snapshot!(outcome.err);
}

#[test]
fn use_is_relative_to_the_file_that_says_it() {
    let main = "use \"../kernels/scale.peak\"\n";
    let files: [(&str, &[u8]); 3] =
        [("work/main.peak", main.as_bytes()), ("kernels/scale.peak", KERNEL.as_bytes()), ("kernels/scale.hlsl", b"")];
    let folder = folder_with(&files);
    let outcome = peak(folder.path(), &["--json", "list", "kernel", "--with", "work/main.peak"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let item: serde_json::Value = serde_json::from_str(&outcome.out).expect("one item");
    assert_eq!(
        item,
        serde_json::json!({
            "event": "item", "kind": "kernel", "name": "scale", "title": "B = 2 A", "backends": ["hlsl"],
            "from": "kernels/scale.peak", "line": 1, "pack": null,
        })
    );
}

#[test]
fn a_missing_use_is_shown_at_the_use() {
    let folder = folder_with(&[("main.peak", b"# first\nuse \"nowhere.peak\"\n")]);
    let outcome = peak(folder.path(), &["--json", "check", "main.peak"]);
    assert_eq!(codes(&outcome), expected("peak::missing-file", "main.peak", 2));
}

#[test]
fn a_circle_of_use_is_an_error_and_ends() {
    let folder = folder_with(&[("a.peak", b"use \"b.peak\"\n"), ("b.peak", b"use \"./a.peak\"\n")]);
    let outcome = peak(folder.path(), &["--json", "check", "a.peak"]);
    assert_eq!(outcome.code, 1);
    assert_eq!(codes(&outcome), expected("peak::cycle", "b.peak", 1));
}

#[test]
fn a_file_used_twice_is_read_once() {
    let files: [(&str, &[u8]); 4] = [
        ("scale.peak", KERNEL.as_bytes()),
        ("scale.hlsl", b""),
        ("a.peak", b"use \"scale.peak\"\n# a\n"),
        ("b.peak", b"use \"./scale.peak\"\nuse \"a.peak\"\n"),
    ];
    let folder = folder_with(&files);
    let outcome = peak(folder.path(), &["check", "a.peak", "b.peak", "scale.peak"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
}

#[test]
fn a_standard_library_that_is_not_there_is_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new(env!("CARGO_BIN_EXE_peak"))
        .args(["list"])
        .env("PEAK_STDLIB", folder.path().join("nowhere"))
        .output()
        .expect("peak starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("peak::missing-file"));
}

#[test]
fn the_embedded_library_has_no_errors() {
    let loaded = peak::library::load(&[], peak::library::Standard::Embedded);
    let errors: Vec<String> = loaded.errors().map(|error| format!("{}: {}", error.file, error.message)).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn the_readme_shows_what_the_front_end_accepts() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("a README");
    let blocks: Vec<&str> = readme.split("```peak\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!blocks.is_empty(), "the README shows a transformation");
    for block in blocks {
        let (_, diagnostics) = peak_grammar::load(&[peak_grammar::SourceFile::new("README.md", block)]);
        assert_eq!(diagnostics, [], "{block}");
    }
}

/// A device with little of everything, a kernel that fits it, and a transformation that does not.
const SMALL: &str = r#"
device small-card "A card with little shared memory"
  speaks hlsl
  has max_threads_per_block = 64, shared_memory_per_block = 1 KiB

kernel doubled "B = 2 A"
  element f32
  input n: int in 1024
  input A: array[n] of f32, ones
  output B: array[n] of f32
  tune BLOCK_X in BLOCKS
  require fits-block: BLOCK_X <= device.max_threads_per_block
  require whole-blocks: n mod BLOCK_X = 0
  device code for hlsl
    ```hlsl
    void doubled() {}
    ```
  host code
    let part = BLOCK_X
    launch doubled
      grid n / BLOCK_X
      block BLOCK_X
      arguments A, B, n

transformation stage "Stage parts in shared memory"
  needs let part
  introduces DEPTH in 4, 8
  requires fits-shared: part * DEPTH * sizeof(element) <= device.shared_memory_per_block
  pass widen
    in host code
      set part to 32 * DEPTH

workflow staged
  start from kernel doubled
  target small-card
  apply stage
"#;

#[test]
fn what_a_device_leaves_nothing_of_is_told_with_the_clause_and_the_fact() {
    let kernel = crate::program::folder(&[("small.peak", &SMALL.replace("BLOCKS", "128, 256"))]);
    let outcome = crate::program::peak(kernel.path(), &["check", "small.peak", "--json"]);
    let findings: Vec<_> = outcome.events().into_iter().filter(|event| event["event"] == "diagnostic").collect();
    assert_eq!(outcome.code, 1, "the workflow targets it: {}", outcome.err);
    assert!(findings.iter().all(|finding| finding["code"] == "peak::nothing-left-on-device"), "{findings:?}");
    assert_eq!(findings.iter().map(|finding| &finding["severity"]).collect::<Vec<_>>(), ["warning", "error"]);
    let help = findings[0]["help"].as_str().expect("a help");
    assert!(help.contains("this cannot be met: requirement fits-block"), "{help}");
    assert!(help.contains("`small-card` has max_threads_per_block = 64"), "{help}");
    assert!(help.contains("requirement fits-block excludes 2"), "{help}");
}

#[test]
fn a_workflow_is_followed_by_its_declarations_to_the_step_that_leaves_nothing() {
    let staged = crate::program::folder(&[("small.peak", &SMALL.replace("BLOCKS", "32, 64"))]);
    let outcome = crate::program::peak(staged.path(), &["check", "small.peak"]);
    let words = outcome.err.split_whitespace().collect::<Vec<_>>().join(" ");
    // 32 * 4 elements for each of 4 take 2 KiB: the `let` that the pass sets counts.
    assert!(
        words.contains("no configuration of `stage` of the workflow `staged` is valid on `small-card` in hlsl"),
        "{words}"
    );
    assert!(words.contains("requirement fits-shared") && words.contains("shared_memory_per_block = 1024"), "{words}");
    let fits = SMALL.replace("BLOCKS", "32, 64").replace("DEPTH in 4, 8", "DEPTH in 1, 2, 8");
    let fitting = crate::program::folder(&[("small.peak", &fits)]);
    assert_eq!(crate::program::peak(fitting.path(), &["check", "small.peak"]).code, 0);
}

#[test]
fn packs_that_contradict_one_another_are_found_when_they_are_checked() {
    let two = "device lone\n  speaks hlsl\n\npack one\n  for devices lone\n  specialize tb-tiling\n    introduces TILE_K_SIZE in 8\n\npack other\n  for devices lone\n  specialize tb-tiling\n    introduces TILE_K_SIZE in 16\n";
    let folder = crate::program::folder(&[("packs.peak", two)]);
    let outcome = crate::program::peak(folder.path(), &["check", "packs.peak"]);
    let words = outcome.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(outcome.code == 1 && words.contains("peak::pack-conflict"), "{words}");
    assert!(words.contains("on `lone`, the packs `one` and `other` both change"), "{words}");
    let friends = two.replace("pack other\n", "pack other\n  extends one\n");
    let folder = crate::program::folder(&[("packs.peak", &friends)]);
    assert_eq!(crate::program::peak(folder.path(), &["check", "packs.peak"]).code, 0);
}
