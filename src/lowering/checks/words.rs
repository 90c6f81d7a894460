//! What checks read off a text: defined macros, declared names, entry points. Heuristics that err on the lenient side.

use crate::edit::tokens::{Kind, Syntax, Token, tokens};
use std::collections::BTreeSet;

/// Words that stand before a name without declaring it.
const NOT_A_TYPE: [&str; 8] = ["return", "else", "case", "goto", "sizeof", "do", "throw", "defined"];

/// The tokens that count, with their text.
pub fn words(text: &str) -> Vec<(Kind, &str)> {
    counted(text).iter().map(|token| (token.kind, token.text(text))).collect()
}

fn counted(text: &str) -> Vec<Token> {
    tokens(text, Syntax::Code).into_iter().filter(|token| token.kind != Kind::Comment).collect()
}

/// The line of a byte offset, from 1.
pub fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Whether a name is written as tuning parameters and macros are.
pub fn is_capitals(name: &str) -> bool {
    name.len() > 1
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Identifiers in capitals that a text reads, with the offset of their first use. Members (`a.X`) are left out.
pub fn capitals(text: &str) -> Vec<(&str, usize)> {
    let tokens = counted(text);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let name = token.text(text);
        let before = |back: usize| index.checked_sub(back).map(|at| tokens[at].text(text));
        let member = before(1) == Some(".")
            || before(1) == Some(":") && before(2) == Some(":")
            || before(1) == Some(">") && before(2) == Some("-");
        if token.kind == Kind::Identifier && is_capitals(name) && !member && seen.insert(name) {
            found.push((name, token.span.start));
        }
    }
    found
}

/// Names that `#define` and `#undef` lines name, with the offset of the name.
pub fn defines(text: &str) -> Vec<(&str, usize)> {
    let tokens = counted(text);
    let directive = |w: &&[Token]| w[0].text(text) == "#" && matches!(w[1].text(text), "define" | "undef");
    tokens.windows(3).filter(directive).map(|w| (w[2].text(text), w[2].span.start)).collect()
}

/// Names that a text declares: variables, parameters, types of templates, enumerators, and parameters of macros.
pub fn declared(text: &str) -> BTreeSet<&str> {
    let words = words(text);
    let mut found = macro_parameters(text);
    for (index, (kind, name)) in words.iter().enumerate() {
        if *kind != Kind::Identifier {
            continue;
        }
        let next = words.get(index + 1).map_or("", |(_, text)| *text);
        let after_next = words.get(index + 2).map_or("", |(_, text)| *text);
        let assigned = next == "=" && after_next != "=";
        let mut before = words[..index].iter().rev().skip_while(|(_, text)| matches!(*text, "*" | "&"));
        let pointer = matches!(words[..index].last(), Some((_, "*" | "&")));
        let declares = match before.next() {
            // `BLOCK_X * NAME` is a product, `float * NAME` a pointer.
            Some((Kind::Identifier, word)) if pointer => is_type(word),
            Some((Kind::Identifier, word)) => !NOT_A_TYPE.contains(word),
            Some((_, ",")) => assigned,
            Some((_, ">")) => ends_type(&words[..index]),
            Some((_, "{")) => matches!(next, "," | "}" | "="),
            _ => false,
        };
        if declares && matches!(next, "=" | ";" | "[" | "," | ")" | ":" | "{" | "}" | ">") {
            found.insert(name);
        }
    }
    found.extend(enumerators(&words));
    found
}

/// Whether a word can only be a type: a built-in one, or one of the prelude's.
fn is_type(word: &str) -> bool {
    const BUILT_IN: [&str; 13] = [
        "auto", "bool", "char", "const", "double", "float", "half", "int", "long", "short", "uint", "unsigned", "void",
    ];
    let vector = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == 'x');
    BUILT_IN.contains(&word)
        || BUILT_IN.contains(&vector)
        || matches!(word, "ELEMENT" | "ACCUMULATOR")
        || word.ends_with("_t")
        || word.ends_with("_T")
}

/// Whether the `>` at the end closes a type's parameters (`vector<float, 4>`) rather than compares.
fn ends_type(words: &[(Kind, &str)]) -> bool {
    let mut inside = words.iter().rev().skip(1);
    let simple = |(kind, text): &(Kind, &str)| {
        matches!(kind, Kind::Identifier | Kind::Number) || matches!(*text, "," | "*" | ":")
    };
    let opened = inside.find(|word| !simple(word)).is_some_and(|(_, text)| *text == "<");
    opened && inside.next().is_some_and(|(kind, _)| *kind == Kind::Identifier)
}

/// Parameters of function-like macros, whose bracket follows the name without a gap.
fn macro_parameters(text: &str) -> BTreeSet<&str> {
    let tokens = counted(text);
    let mut found = BTreeSet::new();
    for (index, window) in tokens.windows(4).enumerate() {
        let starts = window[0].text(text) == "#" && window[1].text(text) == "define";
        if starts && window[3].text(text) == "(" && window[2].span.end == window[3].span.start {
            let list = tokens[index + 4..].iter().take_while(|token| token.text(text) != ")");
            found.extend(list.filter(|token| token.kind == Kind::Identifier).map(|token| token.text(text)));
        }
    }
    found
}

fn enumerators<'a>(words: &[(Kind, &'a str)]) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    for (index, _) in words.iter().enumerate().filter(|(_, (_, text))| *text == "enum") {
        let body = words[index..].iter().skip_while(|(_, text)| *text != "{").take_while(|(_, text)| *text != "}");
        found.extend(body.filter(|(kind, _)| *kind == Kind::Identifier).map(|(_, text)| *text));
    }
    found
}

/// Where the parameter list of the function `name` starts, as an index past its `(`; calls do not count.
pub fn function(words: &[(Kind, &str)], name: &str) -> Option<usize> {
    (1..words.len().saturating_sub(1))
        .find(|&at| {
            words[at].1 == name
                && words[at + 1].1 == "("
                && matches!(words[at - 1], (Kind::Identifier, _) | (_, ")"))
                && !NOT_A_TYPE.contains(&words[at - 1].1)
        })
        .map(|at| at + 2)
}
