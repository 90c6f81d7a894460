//! Every construct of the language, in a table: each has a fixture that holds it, is in the tree that is read and in the
//! IR, goes through JSON and through the formatter and back, and stands in a block of the reference.

#![allow(clippy::disallowed_methods, reason = "the fixtures are files")]

use peak_grammar::format::format;
use peak_grammar::ir::Library;
use peak_grammar::{SourceFile, Sources, load, parse};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

const TABLE: &str = include_str!("suite/constructs/constructs.txt");
const REFERENCE: &str = include_str!("../../spec/language.md");
/// Constructs at least, as a floor under what is removed.
const CONSTRUCTS: usize = 180;

/// A line of the table.
struct Construct {
    name: &'static str,
    fixture: &'static str,
    /// In the fixture, and in what the formatter prints of it.
    words: &'static str,
    /// In the JSON of the tree.
    ast: Option<&'static str>,
    /// In the JSON of the IR.
    ir: Option<&'static str>,
    /// In a block of the reference; the same words where nothing else is said.
    reference: &'static str,
}

fn table() -> Vec<Construct> {
    let stated = |text: &'static str| (text != "-").then_some(text);
    let lines = TABLE.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let row = |line: &'static str| {
        let columns: Vec<&'static str> = line.split(" | ").map(str::trim).collect();
        let [name, fixture, words, ast, ir, rest @ ..] = columns.as_slice() else { panic!("too few columns: {line}") };
        let reference = rest.first().copied().unwrap_or(words);
        Construct { name, fixture, words, ast: stated(ast), ir: stated(ir), reference }
    };
    lines.map(row).collect()
}

fn fixtures() -> Vec<SourceFile> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/constructs");
    let paths = std::fs::read_dir(folder).expect("the fixtures").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<SourceFile> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "peak"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            SourceFile { name, bytes: std::fs::read(path).expect("a fixture") }
        })
        .collect();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

/// The library of the files, which are right.
fn library(files: &[SourceFile]) -> Library {
    let (library, found) = load(files);
    let sources = Sources::new(files);
    // A build is read and checked, and a warning says that it is not carried out.
    let wrong: Vec<String> =
        found.iter().filter(|one| one.is_error()).map(|one| format!("{:?}", sources.report(one))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    library
}

fn text(file: &SourceFile) -> &str {
    std::str::from_utf8(&file.bytes).expect("a fixture is text")
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain data")
}

/// The reference's blocks that are right; a build is, but for the warning that it is not carried out.
fn blocks() -> Vec<&'static str> {
    let opened = REFERENCE.split("\n```peak").skip(1).filter_map(|rest| rest.split_once('\n'));
    let right = opened.filter(|(mark, _)| ["", " error=peak::not-built"].contains(mark));
    right.map(|(_, rest)| rest.split("\n```\n").next().unwrap_or(rest)).collect()
}

/// What was read, without where it stood.
fn meaning(library: &Library) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("origin");
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = serde_json::to_value(library).expect("plain data");
    strip(&mut value);
    value
}

#[test]
fn every_construct_is_read_kept_and_described() {
    let files = fixtures();
    let ir = json(&library(&files));
    let blocks = blocks();
    let table = table();
    assert!(table.len() >= CONSTRUCTS, "only {} constructs", table.len());
    let names: BTreeSet<&str> = table.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), table.len(), "a construct stands twice");
    let mut wrong = Vec::new();
    for row in &table {
        let file = files.iter().find(|file| file.name == row.fixture);
        let file = file.unwrap_or_else(|| panic!("{}: there is no fixture {}", row.name, row.fixture));
        let mut expect = |held: bool, what: &str| {
            if !held {
                wrong.push(format!("{}: {what}", row.name));
            }
        };
        expect(text(file).contains(row.words), "not in its fixture");
        let printed = format(file).expect("a right file");
        expect(printed.contains(row.words), "not in what the formatter prints");
        let ast = json(&parse(file).0);
        expect(row.ast.is_none_or(|ast_of| ast.contains(ast_of)), "not in the tree");
        expect(row.ir.is_none_or(|ir_of| ir.contains(ir_of)), "not in the IR");
        expect(blocks.iter().any(|block| block.contains(row.reference)), "in no block of spec/language.md");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_fixtures_go_through_json_and_through_the_formatter_and_back() {
    let files = fixtures();
    let read = library(&files);
    let again: Library = serde_json::from_str(&json(&read)).expect("the IR reads its own JSON");
    assert_eq!(read, again);
    assert_eq!(read.version, peak_grammar::ir::IR_VERSION);
    let printed: Vec<SourceFile> =
        files.iter().map(|file| SourceFile::new(&file.name, &format(file).expect("a right file"))).collect();
    assert_eq!(meaning(&read), meaning(&library(&printed)));
    for (file, printed) in files.iter().zip(&printed) {
        assert_eq!(text(file), text(printed), "{} is not in form", file.name);
    }
}

/// Without any one of its lines, and what stands below it, a fixture means something else: nothing that is read is lost
/// on the way to the IR.
#[test]
fn no_line_of_the_fixtures_means_nothing() {
    let files = fixtures();
    let whole = meaning(&library(&files));
    let mut idle = Vec::new();
    for at in 0..files.len() {
        let lines: Vec<&str> = text(&files[at]).lines().collect();
        for line in 0..lines.len() {
            let head = lines[line].trim();
            if head.is_empty() || head.starts_with('#') || head.starts_with("use ") || is_said_anyway(head) {
                continue;
            }
            let mut changed = files.clone();
            changed[at] = SourceFile::new(&files[at].name, &without(&lines, line));
            let (library, found) = load(&changed);
            if found.iter().all(|one| !one.is_error()) && meaning(&library) == whole {
                idle.push(format!("{}:{}: {head}", files[at].name, line + 1));
            }
        }
    }
    assert!(idle.is_empty(), "lines without a meaning:\n{}", idle.join("\n"));
}

/// What holds where nothing is said: the defaults, written out.
fn is_said_anyway(line: &str) -> bool {
    ["keeps results", "tolerance relative to the sum's length"].contains(&line)
}

fn without(lines: &[&str], removed: usize) -> String {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let own = indentation(lines[removed]);
    let below = lines[removed + 1..].iter().take_while(|line| line.is_empty() || indentation(line) > own).count();
    let kept = lines.iter().enumerate().filter(|(at, _)| *at < removed || *at > removed + below);
    kept.flat_map(|(_, line)| [*line, "\n"]).collect()
}
