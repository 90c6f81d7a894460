//! Code left out: `...`, "rest unchanged", "same as before".

use super::words::line_of;
use super::{AnswerFacts, Rejection};
use crate::edit::tokens::{Kind, Syntax, tokens};

pub const CODE: &str = "peak::answer-elided-code";

/// Phrases that stand for code that is not there.
const PHRASES: [&str; 21] = [
    "rest of the code",
    "rest of code",
    "rest of the kernel",
    "rest of the function",
    "rest of the body",
    "rest of the file",
    "rest of the region",
    "rest unchanged",
    "rest is unchanged",
    "rest remains",
    "remaining code",
    "remains unchanged",
    "remains the same",
    "existing code",
    "previous code",
    "code omitted",
    "omitted for brevity",
    "code unchanged",
    "unchanged code",
    "your code here",
    "code goes here",
];

/// Short comments that are nothing but such words.
const WHOLE: [&str; 8] =
    ["unchanged", "same as before", "same as above", "as before", "as above", "omitted", "no change", "no changes"];

pub fn check(facts: &AnswerFacts<'_>) -> Option<Rejection> {
    let syntax = Syntax::of(facts.region);
    let held: Vec<String> = comments(facts.old(), syntax);
    let mut depth = 0usize;
    for token in tokens(facts.new, syntax) {
        let text = token.text(facts.new);
        match (token.kind, text) {
            (Kind::Punctuation, "(") => depth += 1,
            (Kind::Punctuation, ")") => depth = depth.saturating_sub(1),
            _ => {}
        }
        let elides = match token.kind {
            // `...` in parentheses is a variadic macro.
            Kind::Punctuation => text == "..." && depth == 0,
            Kind::Comment => stands_for_code(&bare(text)) && !held.contains(&bare(text)),
            _ => false,
        };
        if elides {
            let line = line_of(facts.new, token.span.start);
            let shown = text.lines().next().unwrap_or_default().trim();
            return facts.reject(CODE, format!("line {line} leaves code out: `{shown}`"));
        }
    }
    None
}

fn comments(text: &str, syntax: Syntax) -> Vec<String> {
    tokens(text, syntax)
        .iter()
        .filter(|token| token.kind == Kind::Comment)
        .map(|token| bare(token.text(text)))
        .collect()
}

/// A comment's words: no marks, one space between them, in lower case.
fn bare(comment: &str) -> String {
    let inner = comment.trim_matches(|c: char| matches!(c, '/' | '*' | '#') || c.is_whitespace());
    inner.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn stands_for_code(words: &str) -> bool {
    let plain = words.trim_matches(|c: char| matches!(c, '.' | '…' | '(' | ')' | '[' | ']' | '-' | ' ' | ':' | '!'));
    // Nobody begins a sentence so, unless it stands for what went before.
    let goes_on = words.starts_with("...") || words.starts_with('…');
    goes_on || WHOLE.contains(&plain) || PHRASES.iter().any(|phrase| words.contains(phrase))
}
