//! Data-driven tests of the front end through its public surface: files under `suite/` against their snapshots, which
//! hold source and rendering together.

#![allow(clippy::disallowed_methods, reason = "the fixtures are files")]

use miette::{GraphicalReportHandler, GraphicalTheme};
use peak_grammar::{Diagnostic, SourceFile, Sources, load, parse};
use std::collections::BTreeSet;
use std::path::Path;

const BASE: &str = include_str!("suite/base.peak");

/// Wrong files at least, as a floor under what is removed.
const WRONG_FILES: usize = 100;
/// Of those, files with three errors or more at least: each must tell of all of them.
const WITH_SEVERAL: usize = 12;

#[test]
fn what_cannot_be_read_says_what_is_wrong() {
    insta::glob!("suite/syntax/err/*.peak", |path| {
        let file = read(path);
        assert!(!parse(&file).1.is_empty(), "{} can be read: it belongs to resolve/err", path.display());
        check(&file, &found(&file));
    });
}

#[test]
fn what_can_be_read_and_means_nothing_says_what_is_wrong() {
    insta::glob!("suite/resolve/err/*.peak", |path| {
        let file = read(path);
        assert_eq!(parse(&file).1, [], "{} cannot be read: it belongs to syntax/err", path.display());
        let found = found(&file);
        assert!(!found.is_empty(), "{} is accepted", path.display());
        check(&file, &found);
    });
}

#[test]
fn there_are_enough_wrong_files_and_enough_with_several_errors() {
    let files = wrong_files();
    let texts: BTreeSet<&[u8]> = files.iter().map(|file| file.bytes.as_slice()).collect();
    assert_eq!(texts.len(), files.len(), "two files are the same");
    assert!(files.len() >= WRONG_FILES, "only {} files", files.len());
    let lines = |file: &SourceFile| -> BTreeSet<usize> {
        let sources = Sources::new([file]);
        found(file).iter().map(|one| sources.line_column(&one.file, one.span.start).0).collect()
    };
    let several = files.iter().filter(|file| lines(file).len() >= 3).count();
    assert!(several >= WITH_SEVERAL, "only {several} files have errors on three lines");
}

#[test]
fn no_place_is_told_of_twice() {
    for file in wrong_files() {
        let found: Vec<Diagnostic> = found(&file).into_iter().filter(Diagnostic::is_error).collect();
        for (at, one) in found.iter().enumerate() {
            let same = found[..at].iter().find(|other| (&other.file, other.span) == (&one.file, one.span));
            // What a declaration or a launch lacks is told at its name, each clause by itself.
            let lacks = |code: &str| code == "peak::missing-clause" || code == "peak::launch";
            let same = same.filter(|other| !lacks(other.code) || one.code != other.code);
            assert_eq!(same, None, "{}", file.name);
        }
    }
}

#[test]
fn every_right_file_is_accepted() {
    insta::glob!("suite/ok/*.peak", |path| {
        let file = read(path);
        let (library, diagnostics) = load(std::slice::from_ref(&file));
        assert!(diagnostics.is_empty(), "{}", rendered(std::slice::from_ref(&file), &diagnostics));
        serde_json::to_string(&parse(&file).0).expect("the AST is plain data");
        let json = serde_json::to_string_pretty(&library).expect("the IR is plain data");
        let again: peak_grammar::ir::Library = serde_json::from_str(&json).expect("the IR reads its own JSON");
        assert_eq!(library, again);
        insta::assert_snapshot!(json);
    });
}

#[test]
fn the_base_of_the_fixtures_is_right() {
    let base = [SourceFile::new("base.peak", BASE)];
    let (_, diagnostics) = load(&base);
    assert!(diagnostics.is_empty(), "{}", rendered(&base, &diagnostics));
}

#[test]
fn every_code_of_the_fixtures_is_explained() {
    let seen: BTreeSet<&str> = wrong_files().iter().flat_map(found).map(|one| one.code).collect();
    let unseen = peak_grammar::diagnostics::CODES.iter().filter(|entry| !seen.contains(entry.code));
    // Those that no text fixture can show have tests in `hostile.rs` and `specialize.rs`.
    let unseen: Vec<&str> = unseen.map(|entry| entry.code).collect();
    let elsewhere = [
        "peak::nul",
        "peak::utf8",
        "peak::file-too-large",
        "peak::line-too-long",
        "peak::too-many-errors",
        "peak::not-for-device",
        "peak::pack-conflict",
    ];
    assert_eq!(unseen, elsewhere);
}

/// Compares source and diagnostics with the snapshot; spans must lie in the source.
fn check(file: &SourceFile, diagnostics: &[Diagnostic]) {
    let source = String::from_utf8_lossy(&file.bytes);
    for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.file == file.name) {
        assert!(source.get(diagnostic.span.start..diagnostic.span.end).is_some(), "{diagnostic:?}");
        assert!(peak_grammar::diagnostics::code_entry(diagnostic.code).is_some());
    }
    let files = [SourceFile::new("base.peak", BASE), file.clone()];
    insta::assert_snapshot!(format!("{source}\n{}\n{}", "-".repeat(80), rendered(&files, diagnostics)));
}

fn rendered(files: &[SourceFile], diagnostics: &[Diagnostic]) -> String {
    let sources = Sources::new(files);
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(110);
    let mut text = String::new();
    for diagnostic in diagnostics {
        handler.render_report(&mut text, sources.report(diagnostic).as_ref()).expect("writing to a string");
    }
    text
}

fn found(file: &SourceFile) -> Vec<Diagnostic> {
    load(&[SourceFile::new("base.peak", BASE), file.clone()]).1
}

/// Every file under `syntax/err` and `resolve/err`.
fn wrong_files() -> Vec<SourceFile> {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let folders = ["syntax/err", "resolve/err"].map(|folder| std::fs::read_dir(suite.join(folder)).expect("fixtures"));
    let mut paths: Vec<_> = folders.into_iter().flatten().map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> SourceFile {
    let name = path.file_name().expect("a file").to_string_lossy().into_owned();
    SourceFile { name, bytes: std::fs::read(path).expect("a fixture") }
}
