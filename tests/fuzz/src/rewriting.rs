//! Cases of a rewrite as one text, and mutations that make patterns of the code itself, so that they are found in it.

use crate::{seeds, text};
use fastrand::Rng;
use peak::edit::code::CodeLanguage;
use std::sync::LazyLock;

/// The line between the parts of a case.
const BETWEEN: &str = "\n=====\n";

/// A case: what is rewritten.
pub struct Case<'t> {
    /// The language.
    pub language: CodeLanguage,
    /// What is looked for.
    pub pattern: &'t str,
    /// What takes its place.
    pub replacement: &'t str,
    /// Where.
    pub code: &'t str,
}

impl Case<'_> {
    /// The case of a text: language, pattern, replacement and code, with [`BETWEEN`] them.
    pub fn of(text: &str) -> Option<Case<'_>> {
        let mut parts = text.splitn(4, BETWEEN);
        let (language, pattern, replacement, code) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        Some(Case { language: CodeLanguage::of(language), pattern, replacement, code })
    }
}

fn written(language: &str, pattern: &str, replacement: &str, code: &str) -> String {
    [language, pattern, replacement, code].join(BETWEEN)
}

/// Pairs of pattern and replacement.
const PAIRS: [(&str, &str); 16] = [
    ("$A + $B", "$B + $A"),
    ("$A * $B", "mul($A, $B)"),
    ("$A[$I]", "load(&$A[$I])"),
    ("for ($INIT; $TEST; $STEP) { $$$BODY }", "for ($INIT; $TEST; $STEP) { touch(); $$$BODY }"),
    ("for ($$$) $S", "{ $S }"),
    ("if ($C) $S", "if (!($C)) ; else $S"),
    ("int $X = $V;", "const int $X = $V;"),
    ("$X += $V;", "$X = $X + $V;"),
    ("__syncthreads();", ""),
    ("$F($$$ARGS)", "$F($$$ARGS, 0)"),
    ("$F($$$A, $B)", "$F($B, $$$A)"),
    ("return $V;", "return ($V);"),
    ("$A = $B", "$B"),
    ("{ $$$A }", "{ $$$A $$$A }"),
    ("$A < $B", "$B > $A"),
    ("-$A", "0 - $A"),
];

/// Every source of code with a pair.
fn cases() -> &'static [String] {
    static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let pairs = PAIRS.iter().cycle();
        seeds::code()
            .iter()
            .zip(pairs)
            .map(|((language, code), (from, to))| written(language, from, to, code))
            .collect()
    });
    &TEXTS
}

/// Mutates `bytes[..size]` in place, and gives the new size, at most `max`.
pub fn mutate(bytes: &mut [u8], size: usize, max: usize, seed: u32) -> usize {
    text::with_text(cases(), bytes, size, max, seed, |rng, text| {
        let Some(case) = Case::of(text) else { return rng.choice(cases()).cloned().unwrap_or_default() };
        change(rng, &case, max)
    })
}

fn change(rng: &mut Rng, case: &Case<'_>, max: usize) -> String {
    let Case { language, pattern, replacement, code } = case;
    let name = language.name();
    match rng.u8(..12) {
        0..=2 => {
            let pattern = pattern_of(rng, code);
            let replacement = if rng.bool() { replacement_of(rng, &pattern) } else { (*replacement).to_owned() };
            written(name, &pattern, &replacement, code)
        }
        3 => {
            let (from, to) = rng.choice(PAIRS).unwrap_or(PAIRS[0]);
            written(name, from, to, code)
        }
        4 | 5 => written(name, pattern, &replacement_of(rng, pattern), code),
        6 => written(name, pattern, &expression_of(rng, pattern), code),
        7 => written(rng.choice(["cuda", "hip", "hlsl"]).unwrap_or("cuda"), pattern, replacement, code),
        8 => {
            let (name, code) = rng.choice(seeds::code()).cloned().unwrap_or_default();
            written(name, pattern, replacement, &code)
        }
        9 if code.len() < max / 2 => written(name, pattern, replacement, &longer(rng, code, max)),
        _ => {
            let mut lines: Vec<String> = code.lines().map(str::to_owned).collect();
            let sources: Vec<String> = seeds::code().iter().map(|(_, code)| code.clone()).collect();
            (0..rng.usize(1..=4)).for_each(|_| text::change(rng, &sources, &mut lines));
            written(name, pattern, replacement, &(lines.join("\n") + "\n"))
        }
    }
}

/// Some neighbouring lines, or words of a line, with metavariables in place of some words.
fn pattern_of(rng: &mut Rng, code: &str) -> String {
    let lines: Vec<&str> = code.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return "x".to_owned();
    }
    let at = rng.usize(..lines.len());
    let count = if rng.u8(..4) == 0 { rng.usize(1..4) } else { 1 };
    let piece = lines[at..(at + count).min(lines.len())].join("\n");
    let words = text::words(&piece);
    let (mut from, mut to) = (0, words.len());
    if rng.bool() && !words.is_empty() {
        from = rng.usize(..words.len());
        to = rng.usize(from + 1..=words.len());
    }
    let mut made = String::new();
    let mut end = words.get(from).map_or(0, |(start, _)| *start);
    for (start, next) in words.get(from..to).unwrap_or_default() {
        made.push_str(&piece[end..*start]);
        let word = &piece[*start..*next];
        match word.starts_with(|it: char| it.is_alphanumeric()) && rng.u8(..3) == 0 {
            true => made.push_str(["$A", "$B", "$C", "$_", "$$$D"][rng.usize(..5)]),
            false => made.push_str(word),
        }
        end = *next;
    }
    made.trim().to_owned()
}

/// The pattern's own metavariables, now and then with others.
fn bound(rng: &mut Rng, pattern: &str) -> String {
    let words = text::words(pattern);
    let variables = words.iter().map(|(start, end)| &pattern[*start..*end]).filter(|word| word.starts_with('$'));
    let variables: Vec<&str> = variables.filter(|word| !matches!(*word, "$_" | "$$$")).collect();
    rng.choice(variables).unwrap_or(["x", "1", "f(x)", "$A"][rng.usize(..4)]).to_owned()
}

/// The pattern with a change, or a piece of code around its metavariables.
fn replacement_of(rng: &mut Rng, pattern: &str) -> String {
    let (a, b) = (bound(rng, pattern), bound(rng, pattern));
    match rng.u8(..10) {
        0 => String::new(),
        1 => format!("{{ {pattern} }}"),
        2 => format!("{pattern} {pattern}"),
        3 => format!("{a};"),
        4 => format!("if ({a}) {{ {b}; }}"),
        5 => format!("if ({a}) {b}; else {a};"),
        6 => format!("{a}, {b}"),
        7 => format!("// {a}\n{b}"),
        8 => "renamed".to_owned(),
        _ => expression_of(rng, pattern),
    }
}

fn expression_of(rng: &mut Rng, pattern: &str) -> String {
    let (a, b) = (bound(rng, pattern), bound(rng, pattern));
    match rng.u8(..10) {
        0 => a,
        1 => format!("{a} + {b}"),
        2 => format!("-{a}"),
        3 => format!("{a} ? {b} : {a}"),
        4 => format!("f({a}, {b})"),
        5 => format!("{a}[{b}]"),
        6 => format!("{a} = {b}"),
        7 => format!("({a}) * {b}"),
        8 => format!("{a} << {b} & 1"),
        _ => format!("{a}.x"),
    }
}

/// The code with some of its lines many times, or with deep nesting.
fn longer(rng: &mut Rng, code: &str, max: usize) -> String {
    let lines: Vec<&str> = code.lines().collect();
    if lines.is_empty() {
        return "f(x);\n".repeat(max / 8);
    }
    let at = rng.usize(..lines.len());
    let to = (at + rng.usize(1..=8)).min(lines.len());
    let block = lines[at..to].join("\n") + "\n";
    let most = (max - code.len()) / block.len().max(1);
    let times = if rng.bool() { most } else { rng.usize(..=most.min(32)) };
    let (before, after) = (lines[..to].join("\n"), lines[to..].join("\n"));
    match rng.u8(..4) {
        0 => {
            let (open, close) =
                rng.choice([("(", ")"), ("{", "}"), ("f(", ")"), ("a + ", ""), ("if (a) ", "")]).unwrap_or(("(", ")"));
            let times = times.min(2000);
            format!("{before}\n{}x{}\n{after}\n", open.repeat(times), close.repeat(times))
        }
        _ => format!("{before}\n{}{after}\n", block.repeat(times)),
    }
}
