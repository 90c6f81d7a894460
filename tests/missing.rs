//! What people are told where something is missing or misspelt: the words, the code, the exit code. Run as the program.

use crate::program::{Outcome, folder, peak, peak_with};
use crate::vulkan;
use std::path::Path;

const INPUT: i32 = 1;
const USAGE: i32 = 2;
const ENVIRONMENT: i32 = 3;
const PROVIDER: i32 = 4;

/// A transformation that nobody has recorded.
const UNROLL: &str = include_str!("suite/lower/unroll-k.peak");

/// A kernel whose code is not there.
const NO_SOURCE: &str = r#"kernel scale "B = 2 A"
  computes B[i] = 2 * A[i]
  element f32, accumulate f32
  input n: int in 1024; checked at 64
  input A: array[n] of f32, random uniform -1 to 1
  output B: array[n] of f32
  tune BLOCK in 32, 64
  require n mod BLOCK = 0
  device code for hlsl from "scale.hlsl"
  host code
    launch scale
      grid n / BLOCK
      block BLOCK
      arguments A, B, n

workflow scale-it
  start from kernel scale
  keep best
"#;

/// The words of a call that fails with a code, and says nothing on standard output.
fn words(outcome: &Outcome, code: i32) -> &str {
    assert_eq!((outcome.code, outcome.out.as_str()), (code, ""), "{}", outcome.err);
    &outcome.err
}

#[test]
fn no_vulkan_device() {
    let folder = folder(&[]);
    let none = Path::new("/nonexistent");
    let variables = [("VK_ICD_FILENAMES", none), ("VK_DRIVER_FILES", none), ("VK_ADD_DRIVER_FILES", none)];
    let outcome = peak_with(folder.path(), &variables, &["run", "matmul-f32", "--backend", "hlsl"]);
    let words = words(&outcome, ENVIRONMENT);
    // Whether the loader or a driver is missing is the machine's; what mends it is said either way.
    for piece in ["peak::no-device", "vulkan", "mends it: ", "peak doctor"] {
        assert!(words.contains(piece), "{words}");
    }
    if vulkan::device().is_some() {
        insta::assert_snapshot!(words);
    }
}

#[test]
fn no_compiler() {
    if vulkan::device().is_none() {
        return;
    }
    let folder = folder(&[]);
    let variables = [("PEAK_TOOLCHAINS", folder.path()), ("PATH", folder.path()), ("LD_LIBRARY_PATH", folder.path())];
    let outcome = peak_with(folder.path(), &variables, &["run", "matmul-f32", "--backend", "hlsl"]);
    insta::assert_snapshot!(words(&outcome, ENVIRONMENT));
}

#[test]
fn no_source_file() {
    let folder = folder(&[("scale.peak", NO_SOURCE)]);
    let outcome = peak(folder.path(), &["run", "scale-it", "--use", "scale.peak"]);
    insta::assert_snapshot!(words(&outcome, INPUT));
    let checked = peak(folder.path(), &["check", "-q", "scale.peak"]);
    assert_eq!((checked.code, checked.err), (INPUT, outcome.err), "`check` finds it too");
}

#[test]
fn no_file_of_that_name() {
    let folder = folder(&[]);
    insta::assert_snapshot!(words(&peak(folder.path(), &["run", "matmul-f32", "--use", "mine.peak"]), INPUT));
}

#[test]
fn no_recording() {
    let folder = folder(&[("unroll k.peak", UNROLL)]);
    let outcome = peak(folder.path(), &["lower", "unroll k.peak", "--no-run"]);
    insta::assert_snapshot!(words(&outcome, PROVIDER));
    // The command line that is shown works as it stands: it posts the prompt, and waits.
    let line = outcome.err.lines().find_map(|line| line.trim().strip_prefix("peak lower ")).expect("a command");
    let script = format!("exec '{}' lower {line} --timeout 0", env!("CARGO_BIN_EXE_peak"));
    let mut shell = std::process::Command::new("sh");
    let shown = shell.args(["-c", &script]).current_dir(folder.path()).output().expect("sh starts");
    let shown = Outcome::of(shown, folder.path());
    assert!(words(&shown, PROVIDER).contains("peak::mailbox-timeout"), "{}", shown.err);
    assert!(folder.path().join(".peak/mailbox/001.prompt.md").is_file());
}

#[test]
fn no_recording_in_a_run() {
    if vulkan::device().is_none() {
        return;
    }
    let flow =
        "workflow mine\n  start from kernel tiny\n  tune up to 1 configurations after each step\n  apply unroll-k\n";
    let tiny = include_str!("suite/workflow/tiny.peak");
    let folder = folder(&[("mine.peak", &format!("{tiny}\n{UNROLL}\n{flow}"))]);
    let outcome = peak(folder.path(), &["run", "mine", "--use", "mine.peak", "-q"]);
    assert_eq!(outcome.code, PROVIDER, "{}", outcome.err);
    assert!(outcome.out.contains("failed (provider)"), "the table is there all the same: {}", outcome.out);
    insta::assert_snapshot!(outcome.err);
}

#[test]
fn a_syntax_error() {
    let folder = folder(&[("broken.peak", "workflow broken\n  start from kernel matmul-f32\n  aply refactor\n")]);
    insta::assert_snapshot!(words(&peak(folder.path(), &["run", "broken", "--use", "broken.peak"]), INPUT));
}

#[test]
fn what_is_not_built_yet() {
    if vulkan::device().is_none() {
        return;
    }
    let text = "workflow clever\n  start from kernel matmul-f32\n  search refactor, tb-tiling with beam 4\n";
    let folder = folder(&[("clever.peak", text)]);
    insta::assert_snapshot!(words(&peak(folder.path(), &["run", "clever", "--use", "clever.peak", "-q"]), INPUT));
}

/// Names that nothing has, each with its exit code: one snapshot, to be read as one.
#[test]
fn unknown_names() {
    let folder = folder(&[("unroll.peak", UNROLL)]);
    let cases: &[(i32, &[&str])] = &[
        (INPUT, &["run", "matmul-f23"]),
        (INPUT, &["lower", "unroll.peak", "-k", "matmul-f23", "--no-run"]),
        (INPUT, &["lower", "-t", "refacto", "--no-run"]),
        (INPUT, &["lower", "-t", "refactor", "--after", "tb-tilling", "--no-run"]),
        (INPUT, &["lower", "-t", "refactor", "--backend", "metal", "--no-run"]),
        (INPUT, &["lower", "-t", "refactor", "--device", "lvmpipe", "--no-run"]),
        (INPUT, &["run", "matmul-f32", "--backend", "hlsk"]),
        (USAGE, &["lower", "-t", "refactor", "--provider", "mailbix", "--no-run"]),
        (USAGE, &["lower"]),
    ];
    let mut told = String::new();
    for (code, arguments) in cases {
        let outcome = peak(folder.path(), arguments);
        told.push_str(&format!("$ peak {}\n{}", arguments.join(" "), words(&outcome, *code)));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn an_unknown_device() {
    let Some((_, device)) = vulkan::device() else { return };
    let folder = folder(&[]);
    for wanted in ["radeon-vii", "77"] {
        let outcome = peak(folder.path(), &["run", "matmul-f32", "--device", wanted]);
        let words = words(&outcome, INPUT);
        assert!(words.contains("peak::unknown-device") && words.contains(wanted), "{words}");
        let unfolded = words.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(unfolded.contains(&device.name), "it lists what there is: {words}");
    }
}

#[test]
fn the_lists_that_help_texts_name_are_there() {
    let folder = folder(&[]);
    for kind in ["kernels", "transformations", "devices", "packs", "workflows", "utilities"] {
        let outcome = peak(folder.path(), &["list", kind]);
        assert_eq!(outcome.code, 0, "{}", outcome.err);
    }
}

/// The codes in a file of the sources.
fn codes(path: &Path, found: &mut Vec<String>) {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path());
        return entries.for_each(|entry| codes(&entry, found));
    }
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let pieces = text.split("\"peak::").skip(1).filter_map(|rest| rest.split_once('"'));
    let is_code = |code: &str| !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    found.extend(pieces.map(|(code, _)| code.to_owned()).filter(|code| is_code(code)));
}

#[test]
fn every_code_of_the_program_is_explained() {
    let mut found = Vec::new();
    codes(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    found.sort();
    found.dedup();
    assert!(found.len() > 50, "{found:?}");
    let folder = folder(&[]);
    found.retain(|code| peak(folder.path(), &["explain", code]).code != 0);
    assert!(found.is_empty(), "not in spec/diagnostics.md: {found:?}");
}
