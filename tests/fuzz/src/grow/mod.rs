//! Mutations of `.peak` text that mostly give well-formed files: clauses, expressions and declarations made by the
//! grammar, with names that the text declares, so that they reach what comes after the reader.

mod clause;
mod declaration;
mod expression;
mod names;
mod place;

use crate::text;
use fastrand::Rng;
use names::Names;
use place::Place;

/// Changes at most, in one mutation.
const MAX_CHANGES: usize = 6;

/// A line that starts another file of the same input; a comment, so that any input is also one file.
pub const NEXT_FILE: &str = "#### next file";

/// Mutates `bytes[..size]` in place, and gives the new size, at most `max`.
pub fn mutate(seeds: &[String], bytes: &mut [u8], size: usize, max: usize, seed: u32) -> usize {
    text::with_text(seeds, bytes, size, max, seed, |rng, text| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for _ in 0..rng.usize(1..=MAX_CHANGES) {
            change(rng, seeds, max, &mut lines);
        }
        lines.join("\n") + "\n"
    })
}

fn change(rng: &mut Rng, seeds: &[String], max: usize, lines: &mut Vec<String>) {
    let names = Names::of(lines);
    match rng.u8(..32) {
        0 => lines.extend(declaration::declaration(rng, &names)),
        1 if seeds.iter().any(|seed| seed.lines().any(|line| line.starts_with("pack"))) => {
            let seed = rng.choice(seeds).cloned().unwrap_or_default();
            lines.extend(seed.lines().map(str::to_owned));
        }
        2 if lines.len() > 1 => lines.insert(rng.usize(1..lines.len()), NEXT_FILE.to_owned()),
        3 => multiply(rng, max, lines),
        4..=7 => text::change(rng, seeds, lines),
        8..=11 => exchange_expression(rng, &names, lines),
        12..=13 if !lines.is_empty() => drop(lines.remove(rng.usize(..lines.len()))),
        _ => insert_clause(rng, &names, lines),
    }
}

/// A new clause in a block that is there.
fn insert_clause(rng: &mut Rng, names: &Names, lines: &mut Vec<String>) {
    let places = place::places(lines);
    let Some(Place { kind, indent, first, end }) = rng.choice(places) else {
        lines.extend(declaration::declaration(rng, names));
        return;
    };
    let at = if rng.bool() { first } else { end };
    let made = clause::clause(rng, names, kind);
    lines.splice(at..at, made.into_iter().map(|line| format!("{:indent$}{line}", "")));
}

/// What stands after a word that an expression follows, made anew.
fn exchange_expression(rng: &mut Rng, names: &Names, lines: &mut [String]) {
    let is_condition = |line: &str| line.contains("require") || line.contains("reject when");
    let fitting = |line: &String| {
        is_condition(line) || [" let ", "grid ", "block ", "computes "].iter().any(|w| line.contains(w))
    };
    let found: Vec<usize> = (0..lines.len()).filter(|at| fitting(&lines[*at])).collect();
    let Some(at) = rng.choice(found) else { return };
    let indent = lines[at].len() - lines[at].trim_start().len();
    let line = lines[at].trim_start().to_owned();
    let made = match &line {
        line if line.starts_with("reject when") => {
            format!("reject when {} \"no\"", expression::condition(rng, names, 3))
        }
        line if is_condition(line) => {
            let head = line.split_once(':').map_or("", |(head, _)| head);
            match head {
                "" => format!("{} {}", line.split(' ').next().unwrap_or(""), expression::condition(rng, names, 3)),
                head => format!("{head}: {}", expression::condition(rng, names, 3)),
            }
        }
        line if line.starts_with("computes") => format!("computes {}", expression::assignment(rng, names)),
        line if line.starts_with("let ") && line.contains('=') => {
            format!("{} = {}", line.split('=').next().unwrap_or("").trim_end(), expression::number(rng, names, 3))
        }
        line => format!("{} {}", line.split(' ').next().unwrap_or(""), expression::number(rng, names, 3)),
    };
    lines[at] = format!("{:indent$}{made}", "");
}

/// A block again and again, each with a name of its own, until the text is long: time grows as the length does.
fn multiply(rng: &mut Rng, max: usize, lines: &mut Vec<String>) {
    if lines.is_empty() {
        return;
    }
    let start = rng.usize(..lines.len());
    let depth = |line: &String| line.len() - line.trim_start().len();
    let inside = |line: &&String| line.trim().is_empty() || depth(line) > depth(&lines[start]);
    let length = 1 + lines[start + 1..].iter().take_while(inside).count();
    let block: Vec<String> = lines[start..start + length].to_vec();
    let bytes: usize = block.iter().map(|line| line.len() + 4).sum();
    let have: usize = lines.iter().map(String::len).sum();
    let room = max.saturating_sub(have) / bytes.max(1);
    let most = if rng.u8(..4) == 0 { room } else { room.min(40) };
    let most = most.min(8192);
    let made: Vec<String> = (0..rng.usize(..=most)).flat_map(|copy| numbered(&block, copy)).collect();
    lines.splice(start + length..start + length, made);
}

/// A block whose first line's name has a number.
fn numbered(block: &[String], copy: usize) -> Vec<String> {
    let mut block = block.to_vec();
    let words = text::words(&block[0]);
    let named = words.get(1).copied().filter(|(start, _)| block[0][*start..].starts_with(char::is_alphabetic));
    if let Some((_, end)) = named {
        let upper = block[0][..end].ends_with(|it: char| it.is_ascii_uppercase() || it == '_');
        block[0].insert_str(end, &if upper { format!("_{copy}") } else { format!("{copy}") });
    }
    block
}
