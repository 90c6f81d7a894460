//! The reference's fenced blocks: right ones are one library, wrong ones give the code that they are marked with.

use peak_grammar::{Diagnostic, SourceFile, Sources, load};

const REFERENCE: &str = include_str!("../../spec/language.md");

/// A fenced `peak` block: the code that it must give, and its text.
type Block = (Option<&'static str>, SourceFile);

/// The blocks, in order. A fence inside a block is indented, so that it does not close it.
fn blocks() -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(Option<&str>, usize, String)> = None;
    for (at, line) in REFERENCE.lines().enumerate() {
        match &mut open {
            None => {
                if let Some(mark) = line.strip_prefix("```peak") {
                    open = Some((mark.trim().strip_prefix("error="), at + 1, String::new()));
                }
            }
            Some((code, start, text)) if line == "```" => {
                blocks.push((*code, SourceFile::new(&format!("language.md:{start}"), text)));
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
    let wrong: Vec<(&str, SourceFile)> = blocks().into_iter().filter_map(|(code, file)| Some((code?, file))).collect();
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

fn right() -> Vec<SourceFile> {
    blocks().into_iter().filter(|(code, _)| code.is_none()).map(|(_, file)| file).collect()
}

fn shown(files: &[SourceFile], found: &[Diagnostic]) -> String {
    let sources = Sources::new(files);
    found.iter().map(|one| format!("{:?}\n", sources.report(one))).collect()
}
