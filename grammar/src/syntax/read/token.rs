//! The tokens of a clause, from the grammar's own pairs: the innermost rules, and the literals between them.
//!
//! Knows no clause; a new one needs nothing here.

use super::clause::Rule;
use crate::syntax::{Node, Span, Token, TokenKind};
use pest::iterators::Pairs;

/// The tokens of a line, in order.
pub(super) fn tokens(pairs: Pairs<'_, Rule>, node: &Node<'_>) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut end = 0;
    let mut pairs = pairs.flatten().peekable();
    while let Some(pair) = pairs.next() {
        let (rule, span) = (pair.as_rule(), pair.as_span());
        let quoted = matches!(rule, Rule::text | Rule::code);
        // Pairs come outermost first: one that another begins inside of is no token, unless it is text as it stands.
        let holds_more = pairs.peek().is_some_and(|next| next.as_span().start() < span.end());
        if span.start() < end || (holds_more && !quoted) {
            continue;
        }
        // An optional part that is missing may leave its blanks in the rule before it.
        let kept = span.as_str().trim_end().len();
        if kept == 0 {
            continue;
        }
        literals(node, end, span.start(), &mut tokens);
        end = span.start() + kept;
        tokens.push(token(node, span.start(), end, kind(rule)));
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

/// Literals of the grammar, which make no pair: brackets and separators each alone, others as they are joined.
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
