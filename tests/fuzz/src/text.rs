//! Mutations of texts by line and by word, among a text's own and those of the seeds.

use fastrand::Rng;
use libfuzzer_sys::fuzzer_mutate;

/// Changes at most, in one mutation.
const MAX_CHANGES: usize = 4;

/// Mutates `bytes[..size]` in place, and gives the new size, at most `max`.
pub fn mutate(seeds: &[String], bytes: &mut [u8], size: usize, max: usize, seed: u32) -> usize {
    with_text(seeds, bytes, size, max, seed, |rng, text| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for _ in 0..rng.usize(1..=MAX_CHANGES) {
            change(rng, seeds, &mut lines);
        }
        lines.join("\n") + "\n"
    })
}

/// Bytes as libFuzzer mutates them, or a text as `change` does; now and then a seed as it stands.
pub(crate) fn with_text(
    seeds: &[String],
    bytes: &mut [u8],
    size: usize,
    max: usize,
    seed: u32,
    change: impl FnOnce(&mut Rng, &str) -> String,
) -> usize {
    let mut rng = Rng::with_seed(u64::from(seed));
    let text = match std::str::from_utf8(&bytes[..size]) {
        Ok(text) if size > 1 && rng.u8(..) != 0 => {
            if rng.u8(..8) == 0 {
                return fuzzer_mutate(bytes, size, max);
            }
            change(&mut rng, text)
        }
        Err(_) if rng.bool() => return fuzzer_mutate(bytes, size, max),
        _ => seeds[rng.usize(..seeds.len())].clone(),
    };
    let length = text.floor_char_boundary(max.min(bytes.len()));
    bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
    length
}

/// One change of some lines.
pub(crate) fn change(rng: &mut Rng, seeds: &[String], lines: &mut Vec<String>) {
    if lines.is_empty() {
        lines.push(String::new());
    }
    let at = rng.usize(..lines.len());
    let other = rng.usize(..lines.len());
    match rng.u8(..8) {
        0 => lines.swap(at, other),
        1 => lines.insert(at, lines[other].clone()),
        2 => drop(lines.remove(at)),
        3 => {
            let seed = rng.usize(..seeds.len());
            lines.insert(at, line_of(rng, &seeds[seed]));
        }
        4 => {
            let indent = lines[at].len() - lines[at].trim_start().len();
            let more = " ".repeat(rng.usize(..5));
            lines[at] = more + &lines[at][rng.usize(..=indent)..];
        }
        5 => {
            let seed = rng.usize(..seeds.len());
            let line = line_of(rng, &seeds[seed]);
            let word = word_of(rng, &line);
            replace_word(rng, &mut lines[at], &word);
        }
        6 => {
            let number = NUMBERS[rng.usize(..NUMBERS.len())];
            replace_word(rng, &mut lines[at], number);
        }
        _ => {
            let word = word_of(rng, &lines[other]);
            replace_word(rng, &mut lines[at], &word);
        }
    }
}

/// Numbers at the edges.
pub(crate) const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "31",
    "32",
    "33",
    "64",
    "255",
    "65536",
    "4294967295",
    "-2147483648",
    "9223372036854775807",
];

fn line_of(rng: &mut Rng, text: &str) -> String {
    let count = text.lines().count().max(1);
    text.lines().nth(rng.usize(..count)).unwrap_or("").to_owned()
}

/// The words of a line: where each begins and ends. Spaces count as none.
pub(crate) fn words(line: &str) -> Vec<(usize, usize)> {
    let is_word = |it: char| it.is_alphanumeric() || matches!(it, '_' | '$' | '%' | '.' | '-');
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, char) in line.char_indices().filter(|(_, char)| !char.is_whitespace()) {
        match found.last_mut() {
            Some((start, end)) if *end == at && is_word(char) && line[*start..].starts_with(is_word) => {
                *end = at + char.len_utf8();
            }
            _ => found.push((at, at + char.len_utf8())),
        }
    }
    found
}

fn word_of(rng: &mut Rng, line: &str) -> String {
    let words = words(line);
    if words.is_empty() {
        return String::new();
    }
    let (start, end) = words[rng.usize(..words.len())];
    line[start..end].to_owned()
}

fn replace_word(rng: &mut Rng, line: &mut String, with: &str) {
    let words = words(line);
    match words.is_empty() {
        true => line.push_str(with),
        false => {
            let (start, end) = words[rng.usize(..words.len())];
            line.replace_range(start..end, with);
        }
    }
}
