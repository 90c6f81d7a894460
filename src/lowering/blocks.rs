//! Search/replace blocks: an answer that gives only what changes. Each search must stand in the region exactly once, line
//! for line; all blocks apply, or none. Never guesses: lines that are merely near are told of, not taken.

use super::checks::Rejection;
use super::response::{Answer, Block};
use peak_grammar::ir::Region;

/// The lines that mark a block.
const SEARCH: &str = "<<<<<<< SEARCH";
const DIVIDER: &str = "=======";
const REPLACE: &str = ">>>>>>> REPLACE";

/// The code of a block whose marks are not all there.
pub const MALFORMED: &str = "peak::answer-block-malformed";
/// The code of a block whose search stands nowhere in the region.
pub const NO_MATCH: &str = "peak::answer-block-no-match";
/// The code of a block whose search stands there more than once.
pub const AMBIGUOUS: &str = "peak::answer-block-ambiguous";
/// The code of blocks that change the same lines.
pub const OVERLAP: &str = "peak::answer-block-overlap";

/// Pairs of lines that are compared to find the nearest, at most.
const MAX_COMPARED: usize = 200_000;

/// Characters of a line that are compared, at most.
const MAX_COMPARED_CHARS: usize = 160;

/// Places of an ambiguous search that a message names, at most.
const MAX_PLACES: usize = 5;

/// One block.
struct Replacement<'a> {
    /// Its line in the fenced block, from 1.
    line: usize,
    search: Vec<&'a str>,
    replace: Vec<&'a str>,
}

/// Whether an answer is made of search/replace blocks.
pub fn are_blocks(answer: &Answer) -> bool {
    answer.code.iter().any(|block| block.text.lines().any(|line| line.trim_end() == SEARCH))
}

/// The answer as if it had given the whole region: one block of code, the region's text with every block applied.
pub fn whole(answer: &Answer, region: Region, old: &str) -> Result<Answer, Rejection> {
    let reject = |code, message: String, facts| Rejection { code, region, message, facts };
    let mut found = Vec::new();
    for block in &answer.code {
        found.extend(read(&block.text).map_err(|(line, what)| {
            reject(MALFORMED, format!("line {} of the answer: {what}", block.line + line), Vec::new())
        })?);
    }
    let lines: Vec<&str> = old.lines().collect();
    let mut places = Vec::new();
    let mut wrong = Vec::new();
    for (number, one) in (1..).zip(&found) {
        match place(one, &lines, number, region) {
            Ok(at) => places.push((at, number, one)),
            Err(rejection) => wrong.push(rejection),
        }
    }
    let mut wrong = wrong.into_iter();
    if let Some(mut first) = wrong.next() {
        first.facts.extend(wrong.map(|other| other.message));
        first.facts.push(format!("the blocks as you wrote them:\n{}", texts(answer)));
        return Err(first);
    }
    places.sort_by_key(|(at, ..)| *at);
    if let Some(pair) = places.windows(2).find(|pair| pair[0].0 + pair[0].2.search.len() > pair[1].0) {
        let message = format!("blocks {} and {} change the same lines of the {region}", pair[0].1, pair[1].1);
        return Err(reject(OVERLAP, message, vec!["join them into one block".to_owned()]));
    }
    let text = applied(&lines, places.into_iter().map(|(at, _, one)| (at, one)));
    let Block { language, line, .. } = answer.region().clone();
    Ok(Answer { code: vec![Block { language, text, line }], notes: answer.notes.clone() })
}

/// The blocks of a fenced block; else the line at fault, from 1, and what is wrong there.
fn read(text: &str) -> Result<Vec<Replacement<'_>>, (usize, &'static str)> {
    let mut found = Vec::new();
    let mut lines = (1..).zip(text.lines()).peekable();
    while let Some((line, first)) = lines.next() {
        match first.trim_end() {
            "" => continue,
            SEARCH => {}
            _ => return Err((line, "code outside of a block: a block begins with `<<<<<<< SEARCH`")),
        }
        let mut part = |end: &str| -> Option<Vec<&str>> {
            let mut part = Vec::new();
            for (_, text) in lines.by_ref() {
                match text.trim_end() {
                    mark if mark == end => return Some(part),
                    SEARCH | DIVIDER | REPLACE => return None,
                    _ => part.push(text),
                }
            }
            None
        };
        let search = part(DIVIDER).ok_or((line, "this block has no `=======` after its search"))?;
        let replace = part(REPLACE).ok_or((line, "this block does not end with `>>>>>>> REPLACE`"))?;
        found.push(Replacement { line, search, replace });
    }
    Ok(found)
}

/// Where a block's search stands: the index of its first line. An empty search is the start of an empty region.
fn place(one: &Replacement<'_>, lines: &[&str], number: usize, region: Region) -> Result<usize, Rejection> {
    let reject = |code, message: String, facts| Err(Rejection { code, region, message, facts });
    let wanted: Vec<&str> = one.search.iter().map(|line| line.trim_end()).collect();
    if wanted.iter().all(|line| line.is_empty()) {
        return match lines.iter().all(|line| line.trim().is_empty()) {
            true => Ok(0),
            false => reject(MALFORMED, format!("block {number} searches for nothing"), Vec::new()),
        };
    }
    let is_here = |at: &usize| lines[*at..].iter().zip(&wanted).all(|(line, wanted)| line.trim_end() == *wanted);
    let last = (lines.len() + 1).saturating_sub(wanted.len());
    let found: Vec<usize> = (0..last).filter(is_here).collect();
    match found.as_slice() {
        [at] => Ok(*at),
        [] => {
            let message = format!("the search of block {number} (line {}) stands nowhere in the {region}", one.line);
            reject(NO_MATCH, message, nearest(&wanted, lines, region))
        }
        several => {
            let places: Vec<String> = several.iter().take(MAX_PLACES).map(|at| (at + 1).to_string()).collect();
            let message = format!(
                "the search of block {number} stands {} times in the {region}: at lines {}",
                several.len(),
                places.join(", ")
            );
            reject(AMBIGUOUS, message, vec!["search for more lines, so that they stand there once".to_owned()])
        }
    }
}

/// The lines of the region that are most like the search, and where they first differ.
fn nearest(wanted: &[&str], lines: &[&str], region: Region) -> Vec<String> {
    let windows = (lines.len() + 1).saturating_sub(wanted.len());
    if windows == 0 {
        return vec![format!("the search has {} lines, and the {region} has {}", wanted.len(), lines.len())];
    }
    if windows.saturating_mul(wanted.len()) > MAX_COMPARED {
        return vec!["copy the lines from part 3: every character counts".to_owned()];
    }
    let likeness = |at: usize| -> f64 { wanted.iter().zip(&lines[at..]).map(|(a, b)| alike(a, b)).sum() };
    let best = (0..windows).map(|at| (likeness(at), at)).fold(
        (f64::MIN, 0),
        |best, next| {
            if next.0 > best.0 { next } else { best }
        },
    );
    let there = &lines[best.1..best.1 + wanted.len()];
    let range = format!("{} to {}", best.1 + 1, best.1 + wanted.len());
    let mut facts = vec![format!("the nearest lines of the {region}, {range}, are:\n{}", there.join("\n"))];
    let differs = wanted.iter().zip(there).find(|(wanted, line)| line.trim_end() != **wanted);
    if let Some((wanted, line)) = differs {
        facts.push(format!("the first that differs:\nsearched: {wanted}\nthere:    {line}"));
    }
    facts
}

/// How alike two lines are, 0 to 1, indentation aside.
fn alike(a: &str, b: &str) -> f64 {
    let cut = |text: &str| -> String { text.trim().chars().take(MAX_COMPARED_CHARS).collect() };
    let (a, b) = (cut(a), cut(b));
    if a == b { 1.0 } else { strsim::sorensen_dice(&a, &b) }
}

fn applied<'a>(lines: &[&'a str], places: impl Iterator<Item = (usize, &'a Replacement<'a>)>) -> String {
    let mut new: Vec<&str> = Vec::new();
    let mut done = 0;
    for (at, one) in places {
        new.extend(&lines[done..at]);
        new.extend(&one.replace);
        done = (at + one.search.len()).min(lines.len());
    }
    new.extend(&lines[done..]);
    new.iter().map(|line| format!("{line}\n")).collect()
}

fn texts(answer: &Answer) -> String {
    answer.code.iter().map(|block| block.text.as_str()).collect::<Vec<_>>().join("\n")
}
