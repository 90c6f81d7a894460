//! One mutation of a module: statements moved, taken over or made; registers, modifiers, types and numbers exchanged.

use super::registers;
use crate::seeds;
use crate::text::{self, NUMBERS, with_text};
use fastrand::Rng;
use std::sync::LazyLock;

/// Changes at most, in one mutation.
const MAX_CHANGES: usize = 6;

/// A row of the simulator's table: an opcode, its modifiers, its types.
type Row = (String, Vec<String>, Vec<String>);

/// Mutates `bytes[..size]` in place, and gives the new size, at most `max`.
pub fn mutate(bytes: &mut [u8], size: usize, max: usize, seed: u32) -> usize {
    with_text(seeds::ptx_entries(), bytes, size, max, seed, |rng, text| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        registers::declare_own(&mut lines);
        for _ in 0..rng.usize(1..=MAX_CHANGES) {
            change(rng, &mut lines);
        }
        lines.join("\n") + "\n"
    })
}

fn change(rng: &mut Rng, lines: &mut Vec<String>) {
    let statements: Vec<usize> = (0..lines.len()).filter(|at| is_instruction(&lines[*at])).collect();
    let (Some(at), Some(other)) = (rng.choice(statements.clone()), rng.choice(statements)) else {
        return text::change(rng, seeds::ptx_entries(), lines);
    };
    let ranges = registers::ranges(lines);
    match rng.u8(..16) {
        0 => lines.swap(at, other),
        1 => lines.insert(at, lines[other].clone()),
        2 => drop(lines.remove(at)),
        3..=5 => {
            let taken = taken_over(rng, &ranges, lines);
            lines.insert(at, taken);
        }
        6..=8 => exchange_operand(rng, &ranges, &mut lines[at]),
        9 | 10 => exchange_modifier(rng, &mut lines[at]),
        11..=13 => lines.insert(at, made(rng, &ranges)),
        14 => guard(rng, &ranges, &mut lines[at]),
        _ => text::change(rng, seeds::ptx_entries(), lines),
    }
}

fn is_instruction(line: &str) -> bool {
    let line = line.trim();
    line.ends_with(';') && line.starts_with(|it: char| it.is_ascii_lowercase() || it == '@')
}

/// A seed's statement, with registers and labels of this text.
fn taken_over(rng: &mut Rng, ranges: &[(u32, String, u32)], lines: &[String]) -> String {
    let seeds = seeds::ptx_entries();
    let seed = &seeds[rng.usize(..seeds.len())];
    let statements: Vec<&str> = seed.lines().filter(|line| is_instruction(line)).collect();
    let Some(line) = rng.choice(statements) else { return String::new() };
    let theirs = registers::ranges(&seed.lines().map(str::to_owned).collect::<Vec<_>>());
    let labels: Vec<&str> = lines.iter().filter_map(|line| line.trim().strip_suffix(':')).collect();
    let mut taken = line.to_owned();
    for (start, end) in text::words(line).into_iter().rev() {
        let word = &line[start..end];
        let with = match registers::bits_of(&theirs, word) {
            Some(bits) => registers::any(rng, ranges, bits),
            None if word.starts_with('$') => rng.choice(&labels).map_or("$none", |label| label).to_owned(),
            None => continue,
        };
        taken.replace_range(start..end, &with);
    }
    taken
}

/// A register by another of its width (now and then of any), a number by another, a special register by another.
fn exchange_operand(rng: &mut Rng, ranges: &[(u32, String, u32)], line: &mut String) {
    // The first word is the opcode, or a guard.
    let Some((start, end)) = rng.choice(text::words(line).into_iter().skip(1)) else { return };
    let word = &line[start..end];
    let with = match registers::bits_of(ranges, word) {
        Some(_) if rng.u8(..12) == 0 => NUMBERS[rng.usize(..NUMBERS.len())].to_owned(),
        Some(_) if rng.u8(..12) == 0 => {
            let bits = [1, 16, 32, 64][rng.usize(..4)];
            registers::any(rng, ranges, bits)
        }
        Some(bits) => registers::any(rng, ranges, bits),
        None if word.starts_with('%') => {
            ["%tid.x", "%laneid", "%lanemask_lt", "%clock64", "%ntid.y"][rng.usize(..5)].to_owned()
        }
        None if word.starts_with(|it: char| it.is_ascii_digit() || it == '-') => {
            NUMBERS[rng.usize(..NUMBERS.len())].to_owned()
        }
        None => return,
    };
    line.replace_range(start..end, &with);
}

fn rows() -> &'static [Row] {
    static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
        let words = |cell: &str| cell.split_whitespace().map(str::to_owned).collect();
        let table = peak_backend_sim::instruction_table();
        let row = |line: &str| {
            let mut cells = line.split('|').skip(1);
            let name = cells.next()?.trim().trim_matches('`').to_owned();
            Some((name, words(cells.next()?), words(cells.next()?)))
        };
        table.lines().skip(2).filter_map(row).collect()
    });
    &ROWS
}

/// A modifier or type of an instruction by another that its opcode has; or one more, or one less.
fn exchange_modifier(rng: &mut Rng, line: &mut String) {
    let Some((start, end)) = text::words(line).into_iter().find(|(start, end)| {
        let name = line[*start..*end].split('.').next();
        rows().iter().any(|row| name == Some(row.0.as_str()))
    }) else {
        return;
    };
    let mut parts: Vec<String> = line[start..end].split('.').map(str::to_owned).collect();
    let Some((_, modifiers, types)) = rows().iter().find(|row| row.0 == parts[0]) else { return };
    let at = rng.usize(..parts.len());
    let choices = if types.contains(&parts[at]) { types } else { modifiers };
    let with = rng.choice(choices).cloned().unwrap_or_default();
    match rng.u8(..4) {
        0 if at > 0 => drop(parts.remove(at)),
        1 => parts.insert(at + 1, with),
        _ if at > 0 => parts[at] = with,
        _ => return,
    }
    line.replace_range(start..end, &parts.join("."));
}

/// A new instruction: an opcode, some of its modifiers, its types, and operands of their widths.
fn made(rng: &mut Rng, ranges: &[(u32, String, u32)]) -> String {
    let (name, modifiers, types) = &rows()[rng.usize(..rows().len())];
    let mut spelled = name.clone();
    let mut add = |word: &str| spelled.push_str(&format!(".{word}"));
    if modifiers.iter().any(|it| it == "sync") {
        add("sync");
    }
    for _ in 0..rng.usize(..4) {
        rng.choice(modifiers).into_iter().for_each(|word| add(word));
    }
    let two = matches!(name.as_str(), "cvt" | "set" | "slct" | "dp4a") && rng.u8(..8) != 0;
    let chosen: Vec<&String> = (0..1 + usize::from(two)).filter_map(|_| rng.choice(types)).collect();
    chosen.iter().for_each(|ty| add(ty));
    let width = |at: usize| chosen.get(at).or(chosen.first()).map_or(32, |ty| registers::bits(ty));
    let memory = matches!(name.as_str(), "ld" | "ldu" | "st" | "atom" | "red" | "prefetch");
    let count = rng.usize(1..6);
    let mut operands = Vec::new();
    for at in 0..count {
        let address = memory && at == usize::from(matches!(name.as_str(), "ld" | "ldu" | "atom"));
        let bits = match rng.u8(..8) {
            0 => 32,
            1 => 1,
            2 => 64,
            _ => width(usize::from(at > 0)),
        };
        operands.push(match rng.u8(..8) {
            _ if address => format!("[{}+{}]", registers::any(rng, ranges, 64), NUMBERS[rng.usize(..NUMBERS.len())]),
            0 if at > 0 => NUMBERS[rng.usize(..NUMBERS.len())].to_owned(),
            1 if at == 0 && bits == 32 => {
                format!("{}|{}", registers::any(rng, ranges, bits), registers::any(rng, ranges, 1))
            }
            2 if rng.bool() => {
                let items: Vec<_> = (0..rng.usize(1..5)).map(|_| registers::any(rng, ranges, bits)).collect();
                format!("{{{}}}", items.join(", "))
            }
            _ => registers::any(rng, ranges, bits),
        });
    }
    format!("\t{spelled} {};", operands.join(", "))
}

fn guard(rng: &mut Rng, ranges: &[(u32, String, u32)], line: &mut String) {
    let not = if rng.bool() { "!" } else { "" };
    let guard = format!("@{not}{} ", registers::any(rng, ranges, 1));
    let body = line.trim_start();
    let start = if body.starts_with('@') { body.find(' ').map_or(body.len(), |at| at + 1) } else { 0 };
    *line = format!("\t{guard}{}", &body[start..]);
}
