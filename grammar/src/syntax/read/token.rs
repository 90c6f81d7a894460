//! The tokens of a clause, from the rules that it matched: the innermost rules, and the literals between them.
//!
//! Knows no clause; a new one needs nothing here.

use super::piece::{Part, Rule};
use crate::syntax::{Node, Span, Token, TokenKind};

/// The tokens of a line, in order.
pub(super) fn tokens(parts: &[Part], node: &Node<'_>) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut end = 0;
    for (at, part) in parts.iter().enumerate() {
        let (start, part_end) = (part.start as usize, part.end as usize);
        let quoted = matches!(part.rule, Rule::text | Rule::code);
        // Outermost first: a rule that another begins inside of is no token, unless it is text as it stands.
        let holds_more = parts.get(at + 1).is_some_and(|next| (next.start as usize) < part_end);
        if start < end || (holds_more && !quoted) {
            continue;
        }
        // An optional part that is missing may leave its blanks in the rule before it.
        let kept = node.text.get(start..part_end).unwrap_or("").trim_end().len();
        if kept == 0 {
            continue;
        }
        literals(node, end, start, &mut tokens);
        end = start + kept;
        tokens.push(token(node, start, end, kind(part.rule)));
    }
    literals(node, end, node.text.len(), &mut tokens);
    tokens
}

fn kind(rule: Rule) -> TokenKind {
    match rule {
        Rule::text | Rule::code => TokenKind::Quoted,
        Rule::prefix => TokenKind::Sign,
        Rule::infix | Rule::product_op => TokenKind::Word,
        // It reads as the name of a type: its bracket belongs to it.
        Rule::k_array => TokenKind::Name,
        // Words of the language are named `k_...`; diagnostics rely on it too.
        _ if format!("{rule:?}").starts_with("k_") => TokenKind::Word,
        _ => TokenKind::Name,
    }
}

/// Literals of the grammar, which are no rule: brackets and separators each alone, others as they are joined.
fn literals(node: &Node<'_>, from: usize, to: usize, tokens: &mut Vec<Token>) {
    let Some(text) = node.text.get(from..to) else { return };
    let single = |c: char| matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' | ':');
    let mut open: Option<usize> = None;
    for (at, c) in text.char_indices() {
        if c.is_whitespace() || single(c) {
            if let Some(start) = open.take() {
                tokens.push(token(node, from + start, from + at, TokenKind::Mark));
            }
            if single(c) {
                tokens.push(token(node, from + at, from + at + c.len_utf8(), TokenKind::Mark));
            }
        } else {
            open.get_or_insert(at);
        }
    }
    if let Some(start) = open {
        tokens.push(token(node, from + start, to, TokenKind::Mark));
    }
}

fn token(node: &Node<'_>, start: usize, end: usize, kind: TokenKind) -> Token {
    Token { span: Span::new(node.span.start + start, node.span.start + end), kind }
}
