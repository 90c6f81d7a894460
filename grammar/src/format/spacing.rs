//! The blanks between the tokens of a clause: one, or none beside brackets, before separators and after a sign.

use crate::syntax::{Token, TokenKind};

/// A clause with its blanks put right.
pub(super) fn clause(text: &str, tokens: &[Token]) -> String {
    let mut line = String::new();
    let mut last: Option<(TokenKind, &str)> = None;
    for token in tokens {
        let Some(word) = text.get(token.span.start..token.span.end) else { continue };
        if last.is_some_and(|last| has_blank(last, (token.kind, word))) {
            line.push(' ');
        }
        match token.kind {
            TokenKind::Quoted => line.push_str(word),
            // A word of the language may be several: `device  code`.
            _ => push_words(word, &mut line),
        }
        last = Some((token.kind, word));
    }
    line
}

fn has_blank(left: (TokenKind, &str), right: (TokenKind, &str)) -> bool {
    let name = left.0 == TokenKind::Name;
    let mark = |token: (TokenKind, &str), marks: &[&str]| token.0 == TokenKind::Mark && marks.contains(&token.1);
    if left.0 == TokenKind::Sign || mark(left, &["(", "["]) || mark(right, &[",", ";", ":", ")", "]"]) {
        return false;
    }
    // `device.FACT`, `0..n`.
    let joins = |token: (TokenKind, &str)| token.0 == TokenKind::Mark && token.1.ends_with('.');
    if joins(left) || mark(right, &[".."]) {
        return false;
    }
    !(name && mark(right, &["(", "["]))
}

fn push_words(word: &str, line: &mut String) {
    for (at, piece) in word.split_whitespace().enumerate() {
        if at > 0 {
            line.push(' ');
        }
        line.push_str(piece);
    }
}
