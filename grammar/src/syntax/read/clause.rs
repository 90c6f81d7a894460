//! One line to the rules that it matches, and every line of a block to clauses.

use super::matcher::matched;
use super::piece::{Grammar, Line, parts};
use super::{expected, token};
use crate::limits::MAX_BRACKETS;
use crate::syntax::{Node, Report, Spanned};
use pest::Parser;

pub(super) use super::piece::{Piece, Rule};

/// Parses a line; what does not fit is reported.
pub(super) fn clause<'n>(rule: Rule, node: &Node<'n>, out: &mut Report<'_>) -> Option<Line<'n>> {
    if too_deep(node.text) {
        let message = format!("brackets are nested deeper than {MAX_BRACKETS}");
        out.push(out.error("peak::too-deep", node.span, message).help("name parts with `let`, or simplify"));
        out.unread(node.span, node.text);
        return None;
    }
    // Pest is slower, and knows what it expected: it has the last word on a line that does not match.
    let found = matched(rule, node.text).map_or_else(|| Grammar::parse(rule, node.text).map(parts), Ok);
    match found {
        Ok(parts) => {
            let line = Line { parts, text: node.text, base: node.span.start };
            out.write(node.span.start, || token::tokens(&line.parts, node));
            Some(line)
        }
        Err(error) => {
            out.push_if_kept(|out| expected::diagnostic(rule, node, &error, out));
            out.unread(node.span, node.text);
            None
        }
    }
}

/// Every clause below a head, read by `read`.
pub(super) fn clauses<'n, C>(
    rule: Rule,
    node: &Node<'n>,
    out: &mut Report<'_>,
    read: impl FnMut(&Piece<'_>, &Node<'n>, &mut Report<'_>) -> Option<C>,
) -> Vec<Spanned<C>> {
    stray_fences(node, out);
    clauses_of(rule, &node.children, out, read)
}

/// Those of some lines.
pub(super) fn clauses_of<'t, 'n: 't, C>(
    rule: Rule,
    nodes: impl IntoIterator<Item = &'t Node<'n>>,
    out: &mut Report<'_>,
    mut read: impl FnMut(&Piece<'_>, &Node<'n>, &mut Report<'_>) -> Option<C>,
) -> Vec<Spanned<C>> {
    let mut clauses = Vec::new();
    for child in nodes {
        let Some(line) = clause(rule, child, out) else { continue };
        match read(&line.piece(), child, out) {
            Some(clause) => clauses.push(Spanned::new(clause, child.whole())),
            None => out.unread(child.span, child.text),
        }
    }
    clauses
}

/// Reports anything below a clause that takes nothing.
pub(super) fn no_block(node: &Node<'_>, out: &mut Report<'_>) {
    stray_fences(node, out);
    if let Some(child) = node.children.first() {
        let head = node.text.split_whitespace().next().unwrap_or("");
        let message = format!("`{head}` takes no indented lines");
        let diagnostic = out.error("peak::unexpected-block", child.span, message);
        out.push(diagnostic.label("indented below it").help("align the line with the clause above"));
        node.children.iter().for_each(|child| out.unread(child.span, child.text));
    }
}

/// Reports what stands below a clause and no longer belongs to its prose.
pub(super) fn no_block_after_prose(node: &Node<'_>, out: &mut Report<'_>) {
    stray_fences(node, out);
    if let Some(child) = node.children.first() {
        let message = "the prose above ended before this line";
        let diagnostic = out.error("peak::unexpected-block", child.span, message);
        out.push(diagnostic.help("indent every line of the prose deeper than the clause that opens it, comments too"));
        node.children.iter().for_each(|child| out.unread(child.span, child.text));
    }
}

/// Reports that a clause has nothing below it.
pub(super) fn missing_block(node: &Node<'_>, out: &mut Report<'_>) {
    let head = node.text.split_whitespace().next().unwrap_or("");
    let diagnostic = out.error("peak::missing-block", node.span, format!("`{head}` needs indented lines below it"));
    out.push(diagnostic.label("nothing is indented below this").help("indent its lines by two more spaces"));
}

/// The text of the one fence below a clause.
pub(super) fn one_fence(node: &Node<'_>, out: &mut Report<'_>) -> Option<String> {
    match node.fences.as_slice() {
        [fence] if node.children.is_empty() => Some(fence.text.clone()),
        _ => {
            let diagnostic = out.error("peak::missing-code", node.span, "one fenced block of code is needed here");
            out.push(diagnostic.help("put the code below it, between two lines of three backticks"));
            None
        }
    }
}

pub(super) fn stray_fences(node: &Node<'_>, out: &mut Report<'_>) {
    for fence in &node.fences {
        let diagnostic =
            out.error("peak::unexpected-block", fence.span, "a fenced block that this clause does not take");
        out.push(diagnostic.help("indent it below the clause that it belongs to"));
    }
}

/// Whether brackets are nested deeper than the bound, quotes aside.
fn too_deep(text: &str) -> bool {
    let opening = text.bytes().filter(|byte| matches!(byte, b'(' | b'[')).count();
    opening > MAX_BRACKETS && brackets(text) > MAX_BRACKETS
}

/// The deepest nesting of brackets, quotes aside.
fn brackets(text: &str) -> usize {
    let (mut depth, mut deepest, mut quote) = (0usize, 0, None);
    for byte in text.bytes() {
        match (quote, byte) {
            (None, b'"' | b'`') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            (None, b'(' | b'[') => depth += 1,
            (None, b')' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}
