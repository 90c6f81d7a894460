//! What `peak check` says of workflows before any run: fixtures of steps that cannot apply, each with the words that
//! people read, and of steps of which nothing can be said yet. Run as the program.

use crate::program::{Outcome, folder, peak};
use std::path::{Path, PathBuf};

fn suite() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/check")
}

fn check(path: &Path) -> Outcome {
    let inside = path.strip_prefix(suite()).expect("in the suite");
    let outcome = peak(&suite(), &["check", &inside.to_string_lossy()]);
    assert!(outcome.out.is_empty(), "{}", outcome.out);
    outcome
}

#[test]
fn a_step_that_cannot_apply_is_told_where_it_stands() {
    insta::glob!("suite/check/err/*.peak", |path| {
        let outcome = check(path);
        assert_eq!(
            outcome.code,
            i32::from(!path.ends_with("never-tried.peak") && !path.ends_with("on-one-device.peak"))
        );
        insta::assert_snapshot!(outcome.err);
    });
}

#[test]
fn what_is_decided_later_is_accused_of_nothing() {
    insta::glob!("suite/check/ok/*.peak", |path| {
        let outcome = check(path);
        assert_eq!(outcome.code, 0, "{}", outcome.err);
        assert!(outcome.err.ends_with(": no errors\n") && outcome.err.lines().count() == 1, "{}", outcome.err);
    });
}

#[test]
fn the_library_and_the_examples_are_accused_of_nothing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = peak(root, &["check"]);
    assert_eq!((library.code, library.err.as_str()), (0, "the standard library: no errors\n"));
    let mut files = Vec::new();
    ["examples", "tests/suite/run", "tests/suite/hostile"]
        .iter()
        .for_each(|part| collect(&root.join(part), &mut files));
    assert!(!files.is_empty(), "there are examples");
    for file in files {
        let outcome = peak(root, &["check", &file.to_string_lossy()]);
        assert!(outcome.code == 0 && outcome.err.ends_with(": no errors\n"), "{}", outcome.err);
    }
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "peak") {
            found.push(path);
        }
    }
}

/// A file, or what stands in its place, that is bad in a way of its own; the files there are, and what is checked.
struct Bad {
    name: &'static str,
    files: &'static [(&'static str, &'static [u8])],
    checked: &'static [&'static str],
    /// Exit code, then the codes that are told of, each once.
    code: i32,
    codes: &'static [&'static str],
}

const DEVICE: &[u8] = b"device d\n  speaks cuda\n";

const BAD: &[Bad] = &[
    bad("a file that is a folder", &[("d.peak/x", b"")], &["d.peak"], 1, &["peak::not-a-file"]),
    bad("a file that is not there", &[], &["nowhere.peak"], 1, &["peak::missing-file"]),
    bad("an empty file", &[("a.peak", b"")], &["a.peak"], 0, &["peak::empty-file"]),
    bad("a file of comments", &[("a.peak", b"# nothing\n\n")], &["a.peak"], 0, &["peak::empty-file"]),
    bad("a cycle of `use`", &CYCLE, &["a.peak"], 1, &["peak::cycle"]),
    bad("a file that uses itself", &[("a.peak", b"use \"a.peak\"\n")], &["a.peak"], 1, &["peak::cycle"]),
    bad("a `use` of what is not there", &[("a.peak", b"use \"b.peak\"\n")], &["a.peak"], 1, &["peak::missing-file"]),
    bad("a `use` of a folder", &[("a.peak", b"use \"d\"\n"), ("d/x", b"")], &["a.peak"], 1, &["peak::not-a-file"]),
    bad("a file given twice", &[("a.peak", DEVICE)], &["a.peak", "./a.peak"], 0, &[]),
    bad("duplicate names in two files", &TWICE, &["a.peak", "b.peak"], 1, &["peak::duplicate-name"]),
    bad("tabs", &[("a.peak", b"device d\n\tspeaks cuda\n")], &["a.peak"], 1, &["peak::tab"]),
    bad("a NUL", &[("a.peak", b"device d\n  speaks cuda\0\n")], &["a.peak"], 1, &["peak::nul"]),
    bad("a program", &[("a.peak", b"\x7fELF\x02\x01\x01\0\0\xff\xfe")], &["a.peak"], 1, &["peak::nul", "peak::utf8"]),
    bad("invalid UTF-8", &[("a.peak", b"device d \"\xff\"\n  speaks cuda\n")], &["a.peak"], 1, &["peak::utf8"]),
    bad("bad UTF-8 in what is used", &USED, &["a.peak"], 1, &["peak::utf8"]),
];

const CYCLE: [(&str, &[u8]); 3] =
    [("a.peak", b"use \"b.peak\"\n"), ("b.peak", b"use \"c.peak\"\n"), ("c.peak", b"use \"./a.peak\"\n")];
const TWICE: [(&str, &[u8]); 2] = [("a.peak", DEVICE), ("b.peak", b"device d\n  speaks hlsl\n")];
const USED: [(&str, &[u8]); 2] = [("a.peak", b"use \"b.peak\"\n"), ("b.peak", b"# \xc3\x28\n")];

const fn bad(
    name: &'static str,
    files: &'static [(&'static str, &'static [u8])],
    checked: &'static [&'static str],
    code: i32,
    codes: &'static [&'static str],
) -> Bad {
    Bad { name, files, checked, code, codes }
}

#[test]
fn every_bad_file_gives_its_code_and_ends_well() {
    for Bad { name, files, checked, code, codes } in BAD {
        let home = folder(&[]);
        for (path, bytes) in *files {
            let path = home.path().join(path);
            std::fs::create_dir_all(path.parent().expect("in the folder")).expect("made");
            std::fs::write(path, bytes).expect("written");
        }
        let outcome = peak(home.path(), &[&["check", "--json"], *checked].concat());
        let found = outcome.events().into_iter().filter(|event| event["event"] == "diagnostic");
        let mut found: Vec<String> = found.filter_map(|event| event["code"].as_str().map(str::to_owned)).collect();
        found.sort();
        found.dedup();
        assert_eq!((outcome.code, found), (*code, codes.iter().map(|code| (*code).to_owned()).collect()), "{name}");
        assert!(!outcome.err.contains("panicked"), "{name}: {}", outcome.err);
    }
}

#[test]
fn an_empty_file_says_what_to_do() {
    let home = folder(&[("empty.peak", "")]);
    insta::assert_snapshot!(peak(home.path(), &["check", "empty.peak"]).err);
}
