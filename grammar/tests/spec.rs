//! The reference's fenced blocks: right ones are one library, wrong ones give the code that they are marked with.

use peak_grammar::{Diagnostic, SourceFile, Sources, load};

const REFERENCE: &str = include_str!("../../spec/language.md");
const DIAGNOSTICS: &str = include_str!("../../spec/diagnostics.md");

/// A fenced `peak` block: the code that it must give, and its text.
type Block = (Option<&'static str>, SourceFile);

/// The blocks of a page, in order. A fence inside a block is indented, so that it does not close it.
fn blocks(page: &'static str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(Option<&str>, usize, String)> = None;
    for (at, line) in page.lines().enumerate() {
        match &mut open {
            None => {
                if let Some(mark) = line.strip_prefix("```peak") {
                    open = Some((mark.trim().strip_prefix("error="), at + 1, String::new()));
                }
            }
            Some((code, start, text)) if line == "```" => {
                blocks.push((*code, SourceFile::new(&format!("spec.md:{start}"), text)));
                open = None;
            }
            Some((_, _, text)) => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    blocks
}

#[test]
fn the_references_blocks_are_one_library() {
    let files: Vec<SourceFile> = right();
    assert!(files.len() >= 6, "only {} blocks were found", files.len());
    let (_, found) = load(&files);
    assert!(found.is_empty(), "{}", shown(&files, &found));
}

#[test]
fn the_references_wrong_blocks_give_their_codes() {
    let wrong: Vec<(&str, SourceFile)> =
        blocks(REFERENCE).into_iter().filter_map(|(code, file)| Some((code?, file))).collect();
    assert!(wrong.len() >= 10, "only {} blocks were found", wrong.len());
    for (code, file) in wrong {
        let mut files = right();
        files.push(file);
        let (_, found) = load(&files);
        let codes: Vec<&str> = found.iter().map(|one| one.code).collect();
        assert!(codes.contains(&code), "{code} is not given: {}", shown(&files, &found));
        assert!(codes.iter().all(|own| *own == code), "more than {code} is given: {}", shown(&files, &found));
    }
}

#[test]
fn the_references_blocks_are_in_form() {
    for file in right() {
        let formatted = peak_grammar::format::format(&file);
        assert_eq!(formatted.as_deref().map(str::as_bytes), Ok(file.bytes.as_slice()), "{}", file.name);
    }
}

#[test]
fn the_examples_of_diagnostics_give_their_codes() {
    let library = standard_library();
    let examples = blocks(DIAGNOSTICS);
    assert!(examples.len() >= 30, "only {} examples were found", examples.len());
    for (code, file) in examples {
        let code = code.expect("an example is marked with its code");
        let mut files = library.clone();
        files.push(file);
        let (_, found) = load(&files);
        assert!(found.iter().any(|one| one.code == code), "{code} is not given: {}", shown(&files, &found));
        assert!(found.iter().all(|one| one.code == code), "more than {code} is given: {}", shown(&files, &found));
    }
}

/// The standard library, which the examples are read beside.
#[allow(clippy::disallowed_methods, reason = "the library is files")]
fn standard_library() -> Vec<SourceFile> {
    let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../stdlib")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of the library") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "peak") {
                files.push(SourceFile {
                    name: path.display().to_string(),
                    bytes: std::fs::read(&path).expect("a file"),
                });
            }
        }
    }
    files
}

fn right() -> Vec<SourceFile> {
    blocks(REFERENCE).into_iter().filter(|(code, _)| code.is_none()).map(|(_, file)| file).collect()
}

fn shown(files: &[SourceFile], found: &[Diagnostic]) -> String {
    let sources = Sources::new(files);
    found.iter().map(|one| format!("{:?}\n", sources.report(one))).collect()
}
