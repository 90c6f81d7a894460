//! The code that is most like a pattern that matches nothing: what a person likely meant.

use super::document::Document;
use super::limits::{MAX_NEAREST, MAX_SHOWN_CHARS};
use super::pattern::{Item, Pattern};
use super::tree::{children, text};
use crate::edit::tokens::{Syntax, normalized};
use peak_grammar::metavariables::metavariables;
use std::collections::HashMap;

/// Code of this many times a pattern's length, and [`MAX_SHOWN_CHARS`] more, is not like it.
const LONGER: usize = 4;

/// A piece of code that is like a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// Its line, from 1.
    pub line: usize,
    /// Its first line, shortened.
    pub text: String,
}

/// The code most like a pattern: of the same kind where there is any, with the most tokens in common. `None` where
/// nothing has a token of it.
#[must_use]
pub fn nearest(document: &Document<'_>, pattern: &str) -> Option<Nearest> {
    let compiled = Pattern::new(document.language, pattern).ok()?;
    let kinds: Vec<&str> = compiled.readings.iter().filter_map(|items| kind(items.first()?)).collect();
    let fixed = without_metavariables(pattern);
    let wanted = normalized(&fixed, Syntax::Code);
    let longest = MAX_SHOWN_CHARS + LONGER * pattern.len();
    let mut best: Option<(Score, usize, &str)> = None;
    let mut compared = 0;
    for part in document.parts() {
        let mut open = vec![part.root()];
        while let Some(node) = open.pop() {
            let below = children(node);
            for child in &below {
                let (Some(span), true) = (part.span(child.byte_range()), child.is_named()) else { continue };
                let written = text(*child, &part.text);
                if written.len() > longest || compared >= MAX_NEAREST {
                    continue;
                }
                compared += 1;
                let score = Score::of(&wanted, &normalized(written, Syntax::Code), kinds.contains(&child.kind()));
                if score.common > 0 && best.as_ref().is_none_or(|(held, at, _)| (&score, *at) > (held, span.start)) {
                    best = Some((score, span.start, &document.source[span]));
                }
            }
            open.extend(below.into_iter().rev());
        }
    }
    best.map(|(_, at, code)| Nearest { line: document.line(at), text: shown(code) })
}

/// How like two pieces of code are; the greater the more.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    /// Tokens in common, in quarters: of the same kind counts as much as two.
    points: usize,
    common: usize,
    /// Tokens that it has beside them, negated.
    strange: std::cmp::Reverse<usize>,
}

impl Score {
    fn of(wanted: &[&str], found: &[&str], same_kind: bool) -> Score {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for token in found {
            *counts.entry(token).or_default() += 1;
        }
        let mut taken = |token: &&str| match counts.get_mut(*token) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        };
        let common = wanted.iter().filter(|token| taken(token)).count();
        let points = common + if same_kind { 2 } else { 0 };
        Score { points, common, strange: std::cmp::Reverse(found.len() - common) }
    }
}

fn kind(item: &Item) -> Option<&str> {
    match item {
        Item::Leaf { kind, .. } | Item::Node { kind, .. } => Some(kind),
        _ => None,
    }
}

fn without_metavariables(pattern: &str) -> String {
    let mut text = pattern.to_owned();
    for variable in metavariables(pattern).unwrap_or_default().into_iter().rev() {
        text.replace_range(variable.span, " ");
    }
    text
}

fn shown(code: &str) -> String {
    let line = code.lines().next().unwrap_or_default().trim_end();
    let mut text: String = line.chars().take(MAX_SHOWN_CHARS).collect();
    if text.len() < code.trim_end().len() {
        text.push_str(" ...");
    }
    text
}
