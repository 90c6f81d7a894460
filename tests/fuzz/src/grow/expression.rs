//! Expressions, conditions and index notation, made by the grammar with the names of a text.

use super::names::Names;
use crate::text::NUMBERS;
use fastrand::Rng;

fn literal(rng: &mut Rng) -> String {
    match rng.u8(..16) {
        0 => rng.choice(NUMBERS).unwrap_or("1").to_owned(),
        1 => format!("{} KiB", rng.u8(1..)),
        2 => "0".to_owned(),
        _ => rng.u32(1..=64).to_string(),
    }
}

/// A whole number of a size, with `depth` operations inside one another.
pub fn number(rng: &mut Rng, names: &Names, depth: usize) -> String {
    let one = |rng: &mut Rng| number(rng, names, depth - 1);
    match rng.u8(..16) {
        _ if depth == 0 => leaf(rng, names),
        0..=3 => leaf(rng, names),
        4 => format!("-({})", one(rng)),
        5 => format!("ceil({} / {})", grouped(rng, names, depth - 1), grouped(rng, names, depth - 1)),
        6 => format!("floor({} / {})", grouped(rng, names, depth - 1), grouped(rng, names, depth - 1)),
        7 | 8 => {
            let items: Vec<String> = (0..rng.usize(1..4)).map(|_| one(rng)).collect();
            format!("{}({})", if rng.bool() { "min" } else { "max" }, items.join(", "))
        }
        _ => {
            let sign = rng.choice(["+", "-", "*", "*", "/", "mod"]).unwrap_or("+");
            format!("{} {sign} {}", grouped(rng, names, depth - 1), grouped(rng, names, depth - 1))
        }
    }
}

/// Mostly in brackets where it is an operation.
fn grouped(rng: &mut Rng, names: &Names, depth: usize) -> String {
    let inner = number(rng, names, depth);
    match inner.contains(' ') && rng.u8(..4) != 0 {
        true => format!("({inner})"),
        false => inner,
    }
}

fn leaf(rng: &mut Rng, names: &Names) -> String {
    let fallback = |known: &[String], rng: &mut Rng| rng.choice(known).cloned();
    match rng.u8(..16) {
        0 => format!("device.{}", fallback(&names.facts, rng).unwrap_or_default()),
        1 => {
            let of = fallback(&names.arrays, rng).filter(|_| rng.bool()).unwrap_or_else(|| "element".to_owned());
            format!("sizeof({of})")
        }
        2..=5 => fallback(&names.numbers, rng).unwrap_or_else(|| literal(rng)),
        6..=11 => fallback(&names.tuning, rng).unwrap_or_else(|| literal(rng)),
        _ => literal(rng),
    }
}

/// A condition, with `depth` of them inside one another.
pub fn condition(rng: &mut Rng, names: &Names, depth: usize) -> String {
    let one = |rng: &mut Rng| format!("({})", condition(rng, names, depth - 1));
    match rng.u8(..8) {
        0 if depth > 0 => format!("not {}", one(rng)),
        1 | 2 if depth > 0 => {
            let word = if rng.bool() { " and " } else { " or " };
            let items: Vec<String> = (0..rng.usize(2..4)).map(|_| one(rng)).collect();
            items.join(word)
        }
        3 => format!("{} mod {} = 0", grouped(rng, names, 1), grouped(rng, names, 1)),
        _ => {
            let sign = rng.choice(["=", "!=", "<", "<=", ">", ">="]).unwrap_or("=");
            format!("{} {sign} {}", number(rng, names, depth.min(2)), number(rng, names, depth.min(2)))
        }
    }
}

/// A statement of `computes`.
pub fn assignment(rng: &mut Rng, names: &Names) -> String {
    let target = rng.choice(&names.arrays).cloned().unwrap_or_else(|| "OUT".to_owned());
    let indices = &["i", "j", "l"][..rng.usize(..=3)];
    let mut open: Vec<String> = indices.iter().map(|index| (*index).to_owned()).collect();
    let made = value(rng, names, &mut open, 4);
    let bound = |rng: &mut Rng, index: &str| match rng.u8(..4) {
        0 => format!("{index} in 0..{}", number(rng, names, 1)),
        _ => index.to_owned(),
    };
    let left: Vec<String> = indices.iter().map(|index| bound(rng, index)).collect();
    match left.is_empty() {
        true => format!("{target} = {made}"),
        false => format!("{target}[{}] = {made}", left.join(", ")),
    }
}

/// A value of `computes`; `open` are the indices in scope.
fn value(rng: &mut Rng, names: &Names, open: &mut Vec<String>, depth: usize) -> String {
    if depth == 0 {
        return element(rng, names, open);
    }
    match rng.u8(..12) {
        0 => format!("-({})", value(rng, names, open, depth - 1)),
        1 | 2 => {
            let function = rng.choice(["exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "sin", "erf", "abs", "floor"]);
            format!("{}({})", function.unwrap_or("exp"), value(rng, names, open, depth - 1))
        }
        3 => {
            let function = rng.choice(["pow", "min", "max"]).unwrap_or("max");
            format!("{function}({}, {})", value(rng, names, open, depth - 1), value(rng, names, open, depth - 1))
        }
        4 | 5 => {
            let reduce = rng.choice(["sum", "product", "max", "min"]).unwrap_or("sum");
            let index = rng.choice(["k", "m", "i", "q"]).unwrap_or("k");
            let bounds = format!("{index} in 0..{}", number(rng, names, 1));
            open.push(index.to_owned());
            let filter = if rng.u8(..3) == 0 {
                format!(" where {}", predicate(rng, names, open, depth - 1))
            } else {
                String::new()
            };
            let body = value(rng, names, open, depth - 1);
            open.pop();
            format!("{reduce}({bounds}{filter}) ({body})")
        }
        6 => format!(
            "({} where {} else {})",
            value(rng, names, open, depth - 1),
            predicate(rng, names, open, depth - 1),
            value(rng, names, open, depth - 1)
        ),
        7..=9 => {
            let sign = rng.choice(["+", "-", "*", "/"]).unwrap_or("*");
            format!("({} {sign} {})", value(rng, names, open, depth - 1), value(rng, names, open, depth - 1))
        }
        _ => element(rng, names, open),
    }
}

fn predicate(rng: &mut Rng, names: &Names, open: &mut Vec<String>, depth: usize) -> String {
    let sign = rng.choice(["=", "<", "<=", ">", ">=", "!="]).unwrap_or("<");
    format!("{} {sign} {}", value(rng, names, open, depth.min(1)), value(rng, names, open, depth.min(1)))
}

fn element(rng: &mut Rng, names: &Names, open: &[String]) -> String {
    match rng.u8(..8) {
        0 => literal(rng),
        1 => format!("{}.{}", rng.u8(..), rng.u8(..)),
        2 => rng.choice(&names.numbers).cloned().unwrap_or_else(|| "1".to_owned()),
        _ => {
            let array = rng.choice(&names.arrays).cloned().unwrap_or_else(|| "A".to_owned());
            let index = |rng: &mut Rng| match rng.choice(open) {
                Some(index) if rng.u8(..4) == 0 => format!("{index} + {}", number(rng, names, 1)),
                Some(index) => index.clone(),
                None => "0".to_owned(),
            };
            let indices: Vec<String> = (0..rng.usize(1..=3)).map(|_| index(rng)).collect();
            let old = if rng.u8(..8) == 0 { "old " } else { "" };
            format!("{old}{array}[{}]", indices.join(", "))
        }
    }
}
