//! Data-driven tests of the front end through its public surface: files under `suite/` against their snapshots, which
//! hold source and rendering together.

#![allow(clippy::disallowed_methods, reason = "the fixtures are files")]

use miette::{GraphicalReportHandler, GraphicalTheme};
use peak_grammar::{Diagnostic, SourceFile, Sources, load, parse};
use std::path::Path;

const BASE: &str = include_str!("suite/base.peak");

#[test]
fn every_wrong_file_says_what_is_wrong() {
    insta::glob!("suite/err/*.peak", |path| {
        let file = read(path);
        let (_, diagnostics) = load(&[SourceFile::new("base.peak", BASE), file.clone()]);
        assert!(!diagnostics.is_empty(), "{} is accepted", path.display());
        check(&file, &diagnostics);
    });
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
    let mut seen = std::collections::BTreeSet::new();
    insta::glob!("suite/err/*.peak", |path| {
        let (_, diagnostics) = load(&[SourceFile::new("base.peak", BASE), read(path)]);
        seen.extend(diagnostics.iter().map(|diagnostic| diagnostic.code));
    });
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

fn read(path: &Path) -> SourceFile {
    let name = path.file_name().expect("a file").to_string_lossy().into_owned();
    SourceFile { name, bytes: std::fs::read(path).expect("a fixture") }
}
