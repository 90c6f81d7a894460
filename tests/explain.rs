//! `peak explain`, `peak list` and the help texts: what is said of names, codes, and of what applies to a kernel.

use crate::program::{folder, peak};
use peak_grammar::diagnostics::CODES;
use std::collections::BTreeSet;

const REFERENCE: &str = include_str!("../spec/diagnostics.md");

/// Each section of the reference: its code and its words.
fn sections() -> Vec<(&'static str, &'static str)> {
    let sections = REFERENCE.split("\n### `").skip(1);
    sections.filter_map(|section| section.split("\n## ").next()?.split_once("`\n")).collect()
}

#[test]
fn every_code_has_words_and_an_example_in_one_place() {
    let sections = sections();
    for (code, text) in &sections {
        let has_example = text.contains("\nExample: ") || text.contains("\n```peak error=");
        assert!(has_example, "{code} has no example");
        assert!(
            text.trim().lines().next().is_some_and(|line| line.ends_with('.') || line.len() > 60),
            "{code}: {text}"
        );
    }
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for entry in CODES {
        let section = sections.iter().find(|(code, _)| code == &entry.code);
        let (_, text) = section.unwrap_or_else(|| panic!("{} has no section in spec/diagnostics.md", entry.code));
        // Where both speak, they say the same; two codes belong to the compiler as much as to the front end.
        let shared = ["peak::not-for-device", "peak::pack-conflict"].contains(&entry.code);
        assert!(shared || words(text).contains(&words(entry.explanation)), "{}: other words", entry.code);
    }
    let codes: BTreeSet<&str> = sections.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes.len(), sections.len(), "a code has two sections");
}

#[test]
fn a_code_is_explained_with_its_example() {
    let home = folder(&[]);
    let outcome = peak(home.path(), &["explain", "peak::cycle"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(
        outcome.out.starts_with("peak::cycle\n\n") && outcome.out.contains("extends second-pack"),
        "{}",
        outcome.out
    );
    assert!(!outcome.out.contains("error="), "marks of the tests are none of the words: {}", outcome.out);
}

#[test]
fn a_name_is_explained_as_it_is_declared() {
    let home = folder(&[]);
    let outcome = peak(home.path(), &["explain", "tb-tiling"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let start =
        "transformation tb-tiling  (stdlib/transformations/matmul/tb-tiling.peak:1)\n\ntransformation tb-tiling \"";
    assert!(outcome.out.starts_with(start), "{}", outcome.out);
    let both = peak(home.path(), &["explain", "matmul-f32", "--json"]);
    let kinds: Vec<String> = both.events().iter().map(|event| event["kind"].to_string()).collect();
    assert_eq!(kinds, ["\"kernel\"", "\"workflow\"", "\"workflow\""]);
    let pass = peak(home.path(), &["explain", "tb-tiling.use-tiles"]);
    assert!(pass.out.starts_with("pass tb-tiling.use-tiles  (") && pass.out.contains("LEFT_TILE_AT"), "{}", pass.out);
    for name in ["refactor", "use-tiles", "llvmpipe", "software", "launch-primitives"] {
        let outcome = peak(home.path(), &["explain", name]);
        assert!(outcome.code == 0 && outcome.out.contains(".peak:"), "{name}: {}{}", outcome.out, outcome.err);
    }
}

#[test]
fn what_a_devices_packs_change_is_told_part_by_part() {
    let home = folder(&[]);
    let outcome = peak(home.path(), &["explain", "thread-tiling", "--device", "llvmpipe"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let changed =
        "introduces TRD_Y_DIM in 4, 8, 16 start at 16  # pack software, stdlib/packs/software/software.peak:8";
    assert!(outcome.out.contains(changed), "{}", outcome.out);
    assert!(
        outcome.out.contains("# as declared, stdlib/transformations/matmul/thread-tiling.peak:"),
        "{}",
        outcome.out
    );
    let event = &peak(home.path(), &["explain", "thread-tiling", "--device", "llvmpipe", "--json"]).events()[0];
    assert_eq!(event["packs"], serde_json::json!(["software"]));
    let packs: Vec<&serde_json::Value> =
        event["parts"].as_array().expect("parts").iter().map(|part| &part["pack"]).collect();
    assert_eq!(packs.iter().filter(|pack| **pack == "software").count(), 3, "{event}");
    let workflows = peak(home.path(), &["explain", "matmul-f32", "--device", "llvmpipe", "--backend", "hlsl"]);
    assert!(workflows.out.contains("this is the one that is carried out there"), "{}", workflows.out);
    assert!(workflows.out.contains("another is carried out there: stdlib/packs/"), "{}", workflows.out);
}

#[test]
fn a_slip_in_a_name_is_helped() {
    let home = folder(&[]);
    let outcome = peak(home.path(), &["explain", "tb-tilling"]);
    assert!(outcome.code == 1 && outcome.err.contains("did you mean `tb-tiling`?"), "{}", outcome.err);
    let outcome = peak(home.path(), &["explain", "tb-tiling", "--device", "llvmpip"]);
    assert!(outcome.code == 1 && outcome.err.contains("llvmpipe"), "{}", outcome.err);
}

#[test]
fn what_applies_to_a_kernel_is_told_with_the_reason_why_not() {
    let home = folder(&[]);
    let outcome = peak(home.path(), &["list", "--for", "matmul-f32"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let (apply, rest) = outcome.out.split_once("do not apply to matmul-f32 in hlsl\n").expect("both");
    assert!(apply.starts_with("apply to matmul-f32 in hlsl\n") && apply.contains("\n  refactor "), "{apply}");
    assert!(rest.contains("`tb-tiling` comes after `refactor`"), "{rest}");
    let events = peak(home.path(), &["list", "--for", "matmul-f32", "--backend", "cuda", "--json"]).events();
    let refactor = events.iter().find(|event| event["name"] == "refactor").expect("listed");
    assert_eq!((&refactor["applies"], &refactor["why"]), (&true.into(), &serde_json::Value::Null));
    assert_eq!(peak(home.path(), &["list", "--for", "matmul"]).code, 1);
    assert_eq!(peak(home.path(), &["list", "devices", "--for", "matmul-f32"]).code, 2);
}

#[test]
fn every_kind_can_be_listed() {
    let home = folder(&[]);
    let kinds = [
        ("kernels", "matmul-f32"),
        ("transformations", "refactor"),
        ("devices", "llvmpipe"),
        ("packs", "software"),
        ("workflows", "matmul-f32"),
        ("utilities", "launch-primitives"),
        ("validators", "outputs"),
        ("strategies", "random"),
        ("providers", "mailbox"),
        ("backends", "hlsl"),
        ("runtimes", "vulkan"),
    ];
    for (kind, name) in kinds {
        let events = peak(home.path(), &["list", kind, "--json"]).events();
        assert!(events.iter().any(|event| event["name"] == name), "{kind}: {events:?}");
    }
    let builds = peak(home.path(), &["list", "builds"]);
    assert!(builds.code == 0 && builds.err.contains("no build is declared"), "{}", builds.err);
    let text = "build all-sizes \"MatMul at two sizes\"\n  kernels matmul-f32\n  sizes n in 64, 128\n  \
                for devices llvmpipe\n  using workflow matmul-f32\n";
    std::fs::write(home.path().join("builds.peak"), text).expect("written");
    let builds = peak(home.path(), &["list", "builds", "--with", "builds.peak"]);
    assert_eq!((builds.code, builds.out.as_str()), (0, "build\n  all-sizes  MatMul at two sizes  builds.peak\n"));
    assert!(builds.err.contains("not carried out yet"), "{}", builds.err);
}

#[test]
fn every_command_shows_an_example() {
    let home = folder(&[]);
    let help = peak(home.path(), &["--help"]).out;
    let commands = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a list");
    let names: Vec<&str> = commands
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty())
        .collect();
    assert!(names.contains(&"fmt") && names.contains(&"new") && names.len() >= 14, "{names:?}");
    for name in names {
        let help = peak(home.path(), &[name, "--help"]).out;
        assert!(help.contains("Examples:\n  peak ") && help.contains(&format!("peak {name}")), "{name}: {help}");
    }
}

#[test]
fn shells_and_man_are_told_of_every_command() {
    let home = folder(&[]);
    for shell in ["bash", "zsh", "fish"] {
        let script = peak(home.path(), &["completions", shell]);
        assert!(script.code == 0 && script.out.contains("explain") && script.out.contains("emit"), "{shell}");
    }
    let page = peak(home.path(), &["man"]);
    assert!(page.code == 0 && page.out.contains(".TH peak 1") && page.out.contains("explain"), "{}", page.err);
    let page = peak(home.path(), &["man", "fmt"]);
    assert!(page.code == 0 && page.out.contains("peak\\-fmt") && page.out.contains("check"), "{}", page.out);
    assert_eq!(peak(home.path(), &["man", "fnt"]).code, 2);
}
