//! The formatter, over every `.peak` file and every block of the repository, and over what chance makes of them: the
//! same twice is the same once, what a file means stays, and no comment is lost.

#![allow(clippy::disallowed_methods, reason = "the files of the repository are the data")]

use peak_grammar::format::{FormatError, format};
use peak_grammar::{Diagnostic, SourceFile, load};
use proptest::prelude::*;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Every `.peak` file of the repository, and every `peak` block of the reference.
static CORPUS: LazyLock<Vec<SourceFile>> = LazyLock::new(|| {
    let mut files: Vec<SourceFile> = peak_files(&root()).iter().map(|path| read(path)).collect();
    assert!(files.len() > 80, "only {} files were found", files.len());
    for page in peak_pages() {
        files.extend(blocks(&page));
    }
    files
});

/// Those of them that can be formatted.
static RIGHT: LazyLock<Vec<&SourceFile>> =
    LazyLock::new(|| CORPUS.iter().filter(|file| format(file).is_ok()).collect());

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository")
}

fn peak_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["grammar/tests", "stdlib", "tests", "src"].map(|name| folder.join(name)) {
        collect(&folder, &mut found);
    }
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => collect(&path, found),
            false if path.extension().is_some_and(|extension| extension == "peak") => found.push(path),
            false => {}
        }
    }
}

fn peak_pages() -> Vec<PathBuf> {
    let pages = std::fs::read_dir(root().join("spec")).expect("spec/").map(|entry| entry.expect("an entry").path());
    pages.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

fn blocks(page: &Path) -> Vec<SourceFile> {
    let text = std::fs::read_to_string(page).expect("a page");
    let open = text.split("\n```peak").skip(1).filter_map(|rest| rest.split_once('\n'));
    open.map(|(_, block)| SourceFile::new("block.peak", block.split("\n```\n").next().unwrap_or(block))).collect()
}

fn read(path: &Path) -> SourceFile {
    let name = path.strip_prefix(root()).unwrap_or(path).to_string_lossy().into_owned();
    SourceFile { name, bytes: std::fs::read(path).expect("a file") }
}

/// Formats a file, and asserts all that the formatter promises. False where the file is wrong.
fn promises_hold(file: &SourceFile) -> bool {
    let text = match format(file) {
        Ok(text) => text,
        Err(FormatError::Wrong(found)) => {
            assert!(found.iter().any(Diagnostic::is_error), "{}: left alone without an error", file.name);
            return false;
        }
        Err(FormatError::Changed) => panic!("{}: would change:\n{}", file.name, String::from_utf8_lossy(&file.bytes)),
    };
    let after = SourceFile::new(&file.name, &text);
    let source = String::from_utf8_lossy(&file.bytes);
    assert_eq!(format(&after).as_deref(), Ok(text.as_str()), "{}: twice is not once:\n{source}", file.name);
    assert_eq!(meaning(file), meaning(&after), "{}: another meaning:\n{source}\n-----\n{text}", file.name);
    assert_eq!(comments(&source), comments(&text), "{}: other comments:\n{source}\n-----\n{text}", file.name);
    let blanks = text.lines().any(|line| line != line.trim_end()) || text.ends_with("\n\n");
    assert!(!blanks, "{}: blanks at the end of a line, or of the file:\n{text}", file.name);
    true
}

/// The declarations, and what is wrong with them, places aside.
fn meaning(file: &SourceFile) -> (Value, Vec<(&'static str, String)>) {
    let base = SourceFile::new("base.peak", include_str!("suite/base.peak"));
    let (library, found) = load(&[base, file.clone()]);
    let mut library = serde_json::to_value(library).expect("plain data");
    strip(&mut library);
    (library, found.into_iter().map(|one| (one.code, one.message)).collect())
}

fn strip(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::Object(fields) => {
            fields.shift_remove("origin");
            fields.values_mut().for_each(strip);
        }
        _ => {}
    }
}

/// What stands behind a `#` outside quotes, sorted; in prose and code too, where it is no comment and stays as well.
fn comments(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = text.lines().filter_map(comment).collect();
    found.sort_unstable();
    found
}

fn comment(line: &str) -> Option<&str> {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') => return Some(line[at..].trim_end()),
            (None, '"' | '`') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

#[test]
fn every_file_of_the_repository_keeps_its_meaning() {
    let right = CORPUS.iter().filter(|file| promises_hold(file)).count();
    assert!(right > 40, "only {right} files were formatted");
}

#[test]
fn right_files_of_the_repository_are_in_the_one_form() {
    let mut bad = Vec::new();
    for path in peak_files(&root()) {
        let file = read(&path);
        // What is wrong on purpose may look as it likes.
        let meant = ["/err/", "suite/wrong/", "suite/format/messy"].iter().any(|part| file.name.contains(part));
        if !meant && format(&file).ok().is_none_or(|text| text.as_bytes() != file.bytes) {
            bad.push(file.name);
        }
    }
    assert!(bad.is_empty(), "`peak fmt` would change: {bad:#?}");
}

#[test]
fn a_messy_file_becomes_the_neat_one() {
    let messy = include_str!("suite/format/messy.peak");
    let neat = include_str!("suite/format/neat.peak");
    let text = format(&SourceFile::new("messy.peak", messy)).expect("it is right");
    assert_eq!(text, neat, "\n{text}");
    // The same lines with the ends of Windows keep them.
    let windows = format(&SourceFile::new("messy.peak", &messy.replace('\n', "\r\n"))).expect("it is right");
    assert_eq!(windows, neat.replace('\n', "\r\n"));
    let marked = format(&SourceFile::new("messy.peak", &format!("\u{feff}{messy}"))).expect("it is right");
    assert_eq!(marked, neat);
}

#[test]
fn a_wrong_file_is_left_alone_with_what_is_wrong() {
    let file = SourceFile::new("wrong.peak", "kernel  k\n  element f32\n  tunes N in 1\n");
    let Err(FormatError::Wrong(found)) = format(&file) else { panic!("it was formatted") };
    assert_eq!(found.iter().map(|one| one.code).collect::<Vec<_>>(), ["peak::unknown-clause"]);
}

#[test]
fn names_from_other_files_do_not_matter() {
    let text = "workflow  w\n  start from kernel  elsewhere\n  apply  far-away\n";
    let formatted = format(&SourceFile::new("w.peak", text)).expect("it can be read");
    assert_eq!(formatted, "workflow w\n  start from kernel elsewhere\n  apply far-away\n");
}

/// A slip of the hand. Each may make a file wrong; then it is left alone.
#[derive(Clone, Debug)]
enum Slip {
    /// Blank lines before a line.
    Blanks(usize, usize),
    /// A comment of its own, indented by so much, before a line.
    Comment(usize, usize),
    /// A comment behind a line.
    Behind(usize),
    /// More blanks where one is.
    Wide(usize, usize, usize),
    /// A blank less, or one beside a bracket or comma.
    Tight(usize, usize),
    /// Blanks at a line's end.
    Trailing(usize),
    /// Every indentation times so much.
    Indent(usize),
    /// A line again at another indentation.
    Again(usize, usize),
}

fn slip() -> impl Strategy<Value = Slip> {
    let line = 0usize..400;
    prop_oneof![
        (line.clone(), 1usize..4).prop_map(|(line, count)| Slip::Blanks(line, count)),
        (line.clone(), 0usize..9).prop_map(|(line, indent)| Slip::Comment(line, indent)),
        line.clone().prop_map(Slip::Behind),
        (line.clone(), 0usize..12, 1usize..5).prop_map(|(line, at, count)| Slip::Wide(line, at, count)),
        (line.clone(), 0usize..12).prop_map(|(line, at)| Slip::Tight(line, at)),
        line.clone().prop_map(Slip::Trailing),
        (2usize..4).prop_map(Slip::Indent),
        (line, 0usize..9).prop_map(|(line, indent)| Slip::Again(line, indent)),
    ]
}

fn slipped(text: &str, slips: &[Slip]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (number, slip) in slips.iter().enumerate() {
        let count = lines.len().max(1);
        match *slip {
            Slip::Blanks(line, blanks) => {
                let at = line % count;
                lines.splice(at..at, std::iter::repeat_n(String::new(), blanks));
            }
            Slip::Comment(line, indent) => lines.insert(line % count, format!("{:indent$}# note {number}", "")),
            Slip::Behind(line) => lines[line % count].push_str(&format!(" # behind {number}")),
            Slip::Wide(line, nth, blanks) => widen(&mut lines[line % count], nth, &" ".repeat(blanks)),
            Slip::Tight(line, nth) => tighten(&mut lines[line % count], nth),
            Slip::Trailing(line) => lines[line % count].push_str("   "),
            Slip::Indent(by) => lines.iter_mut().for_each(|line| {
                let blanks = line.len() - line.trim_start().len();
                line.insert_str(0, &" ".repeat(blanks * (by - 1)));
            }),
            Slip::Again(line, indent) => {
                let at = line % count;
                lines.insert(at, format!("{:indent$}{}", "", lines[at].trim_start()));
            }
        }
    }
    lines.join("\n")
}

/// Puts blanks beside the `nth` place of a line where a token may end.
fn widen(line: &mut String, nth: usize, blanks: &str) {
    let start = line.len() - line.trim_start().len();
    let places: Vec<usize> =
        line.char_indices().skip(start).filter(|(_, c)| " ,()[]=*:".contains(*c)).map(|(at, _)| at).collect();
    if let Some(at) = places.get(nth) {
        line.insert_str(*at, blanks);
    }
}

/// Takes away the `nth` blank that stands beside punctuation.
fn tighten(line: &mut String, nth: usize) {
    let start = line.len() - line.trim_start().len();
    let bytes = line.as_bytes();
    let mark = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_punctuation() && *byte != b'_');
    let places: Vec<usize> =
        (start.max(1)..bytes.len()).filter(|at| bytes[*at] == b' ' && (mark(at - 1) || mark(at + 1))).collect();
    if let Some(at) = places.get(nth) {
        line.remove(*at);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn slips_of_the_hand_are_put_right(file in 0usize..10_000, slips in prop::collection::vec(slip(), 1..8)) {
        let file = &CORPUS[file % CORPUS.len()];
        let text = slipped(&String::from_utf8_lossy(&file.bytes), &slips);
        promises_hold(&SourceFile::new(&file.name, &text));
    }

    #[test]
    fn harmless_slips_leave_a_file_right(file in 0usize..10_000, at in 0usize..400, by in 2usize..4, count in 1usize..4) {
        let file = RIGHT[file % RIGHT.len()];
        let slips = [Slip::Indent(by), Slip::Blanks(at, count), Slip::Trailing(at)];
        let text = slipped(&String::from_utf8_lossy(&file.bytes), &slips);
        prop_assert!(promises_hold(&SourceFile::new(&file.name, &text)), "{text}");
    }

    #[test]
    fn any_text_is_formatted_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        promises_hold(&SourceFile { name: "any.peak".to_owned(), bytes });
    }

    #[test]
    fn any_lines_are_formatted_or_refused(lines in prop::collection::vec((0usize..7, 0usize..16), 0..24)) {
        const LINES: [&str; 16] = [
            "kernel k", "because", "in macros", "host code", "let a = 1", "```", "words", "# note", "", "pass p",
            "transformation t", "insert at the end", "rename `a` to `b`", "checks", "keeps results", "use \"x\"",
        ];
        let text: String = lines.iter().map(|(indent, line)| format!("{:1$}{2}\n", "", indent, LINES[*line])).collect();
        promises_hold(&SourceFile::new("lines.peak", &text));
    }
}
