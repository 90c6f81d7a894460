//! The `peak` program as people and programs meet it: exit codes, messages, JSON lines.

use crate::store::{context, put, start_run};
use peak::store::{RunStatus, Store};
use std::path::Path;
use std::process::Command;

/// How a call ended.
struct Outcome {
    code: i32,
    out: String,
    err: String,
}

/// Runs `peak` in a folder.
fn peak(folder: &Path, arguments: &[&str]) -> Outcome {
    let output = Command::new(env!("CARGO_BIN_EXE_peak"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("PEAK_STDLIB")
        .env("NO_COLOR", "1")
        .env("XDG_CONFIG_HOME", folder.join("config"))
        .output()
        .expect("peak starts");
    Outcome {
        code: output.status.code().expect("an exit code"),
        out: without_times(&String::from_utf8(output.stdout).expect("UTF-8")),
        err: String::from_utf8(output.stderr).expect("UTF-8").replace(&*folder.to_string_lossy(), "FOLDER"),
    }
}

/// The text with each time of day (`2026-11-30T16:07:00Z`) replaced.
fn without_times(text: &str) -> String {
    let is_time = |at: usize| {
        let form = "dddd-dd-ddTdd:dd:ddZ";
        text.get(at..at + form.len()).is_some_and(|piece| {
            piece.chars().zip(form.chars()).all(|(c, f)| if f == 'd' { c.is_ascii_digit() } else { c == f })
        })
    };
    let mut shown = String::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if is_time(at) {
            shown.push_str("TIME");
            at += "dddd-dd-ddTdd:dd:ddZ".len();
        } else {
            shown.push(c);
            at += c.len_utf8();
        }
    }
    shown
}

/// A project with one run of two checkpoints, the second current.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut store = Store::open(folder.path()).expect("opens");
    let run = start_run(&store);
    let baseline = put(&mut store, run, "baseline", &context("one\ntwo\nthree\n"), None, 215.0);
    let mut tiled = context("one\ntwice two\nthree\n");
    tiled.applied.push("thread-tiling".to_owned());
    tiled.requirements.clear();
    let id = put(&mut store, run, "thread-tiling", &tiled, Some(baseline), 83.0);
    store.set_current(id).expect("set");
    store.finish_run(run, RunStatus::Finished).expect("noted");
    folder
}

#[test]
fn alone_it_says_what_it_is_and_what_to_try() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let outcome = peak(folder.path(), &[]);
    assert_eq!((outcome.code, outcome.out.lines().count()), (0, 5), "{}", outcome.out);
    assert!(outcome.out.contains("peak run matmul-f32"), "{}", outcome.out);
    assert!(peak(project().path(), &[]).out.contains("peak log"));
}

#[test]
fn a_wrong_command_line_is_usage() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for arguments in [&["no-such-command"][..], &["log", "--no-such-flag"], &["diff"]] {
        let outcome = peak(folder.path(), arguments);
        assert_eq!(outcome.code, 2, "{arguments:?}: {}", outcome.err);
        assert!(outcome.out.is_empty() && outcome.err.contains("Usage"), "{}", outcome.err);
    }
}

#[test]
fn a_wrong_command_line_is_one_object_for_programs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let outcome = peak(folder.path(), &["--json", "log", "--no-such-flag"]);
    let event: serde_json::Value = serde_json::from_str(&outcome.out).expect("one JSON object");
    assert_eq!((outcome.code, &event["event"], &event["code"]), (2, &"diagnostic".into(), &"peak::usage".into()));
    assert!(event["message"].as_str().is_some_and(|message| message.contains("--no-such-flag")), "{event}");
}

#[test]
fn a_short_hash_says_how_many_digits_it_takes() {
    assert_eq!(peak(project().path(), &["show", "2"]).code, 0);
    let outcome = peak(project().path(), &["show", "02"]);
    assert_eq!(outcome.code, 1, "{}", outcome.out);
    assert!(outcome.err.contains("a hash takes 6 digits or more"), "{}", outcome.err);
}

#[test]
fn help_tells_the_exit_codes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let outcome = peak(folder.path(), &["--help"]);
    assert_eq!(outcome.code, 0);
    assert!(outcome.out.contains("70  a defect of Peak"), "{}", outcome.out);
}

#[test]
fn without_a_store_it_says_how_to_make_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let outcome = peak(folder.path(), &["log"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (1, ""));
    insta::assert_snapshot!(outcome.err);
    let outcome = peak(folder.path(), &["--json", "show", "x"]);
    let event: serde_json::Value = serde_json::from_str(&outcome.out).expect("one JSON object");
    assert_eq!((event["event"].as_str(), event["code"].as_str()), (Some("diagnostic"), Some("peak::no-store")));
}

#[test]
fn an_unknown_checkpoint_is_input_and_suggests() {
    let outcome = peak(project().path(), &["show", "thread-tilling"]);
    assert_eq!(outcome.code, 1);
    insta::assert_snapshot!(outcome.err);
}

#[test]
fn the_log_lists_runs_and_checkpoints() {
    let outcome = peak(project().path(), &["log"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    insta::assert_snapshot!(outcome.out);
}

#[test]
fn the_log_for_programs_is_one_object_a_line() {
    let outcome = peak(project().path(), &["log", "--json"]);
    let events: Vec<serde_json::Value> =
        outcome.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let names: Vec<_> = events.iter().map(|event| event["checkpoint"].as_str().expect("a name")).collect();
    assert_eq!(names, ["1/baseline", "1/thread-tiling"]);
    assert_eq!((&events[1]["parent"], &events[1]["current"]), (&"1/baseline".into(), &true.into()));
}

#[test]
fn show_is_the_current_checkpoint_where_none_is_named() {
    let outcome = peak(project().path(), &["show"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    insta::assert_snapshot!(outcome.out);
}

#[test]
fn diff_is_by_region_with_requirements() {
    let outcome = peak(project().path(), &["diff", "baseline", "thread-tiling"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    insta::assert_snapshot!(outcome.out);
    let same = peak(project().path(), &["diff", "baseline", "baseline"]);
    assert_eq!((same.code, same.out.as_str(), same.err.as_str()), (0, "", "nothing changed\n"));
}

#[test]
fn restore_writes_the_regions_and_makes_it_current() {
    let folder = project();
    let outcome = peak(folder.path(), &["restore", "baseline", "--to", "out"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert_eq!(
        std::fs::read_to_string(folder.path().join("out/device-code.hlsl")).expect("written"),
        "one\ntwo\nthree\n"
    );
    assert!(peak(folder.path(), &["log"]).out.contains("* 1/baseline"));
    let to_file = peak(folder.path(), &["restore", "baseline", "--to", "out/device-code.hlsl"]);
    assert!(to_file.code == 1 && to_file.err.contains("is a file; a checkpoint"), "{}", to_file.err);
    // A file with another content stays.
    let refused = peak(folder.path(), &["restore", "thread-tiling", "--to", "out"]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("peak::would-overwrite"), "{}", refused.err);
    assert!(peak(folder.path(), &["log"]).out.contains("* 1/baseline"));
    assert_eq!(peak(folder.path(), &["restore", "thread-tiling", "--to", "out", "--force", "-q"]).err, "");
}

#[test]
fn explain_knows_codes_and_suggests() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let outcome = peak(folder.path(), &["explain", "no-store"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.out.starts_with("peak::no-store\n\n"), "{}", outcome.out);
    let outcome = peak(folder.path(), &["explain", "peak::no-stoer"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.err.contains("did you mean `peak::no-store`?"), "{}", outcome.err);
}

#[test]
fn a_project_can_be_named() {
    let folder = project();
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let outcome = peak(elsewhere.path(), &["log", "--project", &folder.path().to_string_lossy()]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.out.contains("1/baseline"));
    // Exactly that folder, while the working folder is looked for upwards.
    let below = folder.path().join("below");
    std::fs::create_dir(&below).expect("made");
    assert_eq!(peak(&below, &["log"]).code, 0);
    assert_eq!(peak(&below, &["log", "--project", "."]).code, 1);
}

#[test]
fn doctor_without_toolchains_says_what_mends_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new(env!("CARGO_BIN_EXE_peak"))
        .args(["doctor", "--json"])
        .current_dir(folder.path())
        .env("PEAK_TOOLCHAINS", folder.path())
        .env("PATH", folder.path())
        .output()
        .expect("peak starts");
    assert_eq!(output.status.code(), Some(3));
    let out = String::from_utf8(output.stdout).expect("UTF-8");
    let events: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let named = |name: &str| events.iter().find(|event| event["name"] == name).expect("listed");
    assert_eq!((&named("spirv-val")["found"], &named("spirv-val")["mend"]), (&false.into(), &"scripts/setup".into()));
    assert_eq!(events.last().expect("an event")["code"], "peak::nothing-runs");
}
