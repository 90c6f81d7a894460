//! `spec/tutorial.md`, carried out: its files are written, its commands run in order, and what it shows is what comes.

use crate::program::{Outcome, command};
use crate::vulkan;
use std::path::Path;

const TUTORIAL: &str = include_str!("../spec/tutorial.md");

/// A fenced block: its mark, such as `sh exit=4`, and its text.
type Block = (String, String);

/// The blocks, in order. One of more backticks may hold others.
fn blocks() -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String, String)> = None;
    for line in TUTORIAL.lines() {
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        match &mut open {
            None if ticks.len() >= 3 => {
                open = Some((ticks.clone(), line[ticks.len()..].to_owned(), String::new()));
            }
            None => {}
            Some((opening, mark, text)) if line == opening => {
                blocks.push((std::mem::take(mark), std::mem::take(text)));
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

fn option<'m>(mark: &'m str, name: &str) -> Option<&'m str> {
    mark.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

/// Runs each line of a block, which must end as the mark says; what all of them said.
fn run(folder: &Path, commands: &str, code: i32, device: &str) -> String {
    let mut said = String::new();
    for line in commands.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(words[0], "peak", "only `peak` is run: {line}");
        let mut call = command(folder, &words[1..]);
        // On a machine with several, the one that the tests found; a device of the library is named by the tutorial.
        if ["run", "lower"].contains(&words[1]) && !words.contains(&"--device") {
            call.args(["--device", device]);
        }
        let outcome = Outcome::of(call.output().expect("peak starts"), folder);
        assert_eq!(outcome.code, code, "{line}\n{}\n{}", outcome.out, outcome.err);
        said.push_str(&outcome.out);
        said.push_str(&outcome.err);
    }
    said
}

#[test]
fn the_tutorial_goes_as_it_says() {
    let Some((_, device)) = vulkan::device() else { return };
    let home = tempfile::tempdir().expect("a temporary folder");
    let (mut said, mut commands, mut shown) = (String::new(), 0, 0);
    for (mark, text) in blocks() {
        if let Some(file) = option(&mark, "file") {
            std::fs::write(home.path().join(file), &text).expect("written");
        } else if mark == "text" {
            for line in text.lines() {
                assert!(said.contains(line), "`{line}` is not said:\n{said}");
                shown += 1;
            }
        } else {
            assert!(mark.starts_with("sh"), "a block of no known kind: {mark}");
            let code = option(&mark, "exit").map_or(0, |code| code.parse().expect("a number"));
            said = run(home.path(), &text, code, &device.name);
            commands += text.lines().count();
        }
    }
    assert!(commands > 10 && shown > 12, "{commands} commands, {shown} lines");
}

#[test]
fn the_tutorials_files_are_in_form() {
    let files: Vec<Block> = blocks().into_iter().filter(|(mark, _)| mark.starts_with("peak file=")).collect();
    assert!(files.len() >= 3, "{}", files.len());
    for (mark, text) in files {
        let formatted = peak_grammar::format::format(&peak_grammar::SourceFile::new(&mark, &text));
        assert_eq!(formatted.as_deref(), Ok(text.as_str()), "{mark}");
    }
}
