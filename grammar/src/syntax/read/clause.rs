//! One line to the rules that it matches, and every line of a block to clauses.

use super::matcher::matched;
use super::piece::{Grammar, Line, parts};
use super::{below, expected, token};
use crate::limits::MAX_BRACKETS;
use crate::syntax::{Node, Report, Span, Spanned};
use pest::Parser;

pub(super) use super::piece::{Piece, Rule};

/// Parses a line; what does not fit is reported.
pub(super) fn clause<'n>(rule: Rule, node: &Node<'n>, out: &mut Report<'_>) -> Option<Line<'n>> {
    if let Some(at) = too_many_brackets(node.text) {
        let message = format!("brackets are nested deeper than {MAX_BRACKETS}");
        let at = node.span.start + at;
        let diagnostic = out.error("peak::too-deep", Span::new(at, at + 1), message).label("one too many");
        out.push(diagnostic.help("simplify, or name parts with a `let` of the host code"));
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
        let Some(line) = clause(rule, child, out) else {
            below::clause(rule, child, out);
            continue;
        };
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
    // A region is named in full: `in` alone says little.
    let head = match node.text.starts_with("in ") {
        true => node.text,
        false => node.text.split_whitespace().next().unwrap_or(""),
    };
    let diagnostic = out.error("peak::missing-block", node.span, format!("`{head}` needs indented lines below it"));
    out.push(diagnostic.label("nothing is indented below this").help("write its lines below it, two more spaces in"));
}

/// The text of the one fence below a clause.
pub(super) fn one_fence(node: &Node<'_>, out: &mut Report<'_>) -> Option<String> {
    match node.fences.as_slice() {
        [fence] if node.children.is_empty() => Some(fence.text.clone()),
        _ => {
            let diagnostic = out.error("peak::missing-code", node.span, "one fenced block of code is needed here");
            let help = "put the code below it, between two lines of three backticks";
            let takes_a_file = node.text.starts_with("device code") || node.text.starts_with("macros");
            let label = if node.fences.len() > 1 { "more than one block" } else { "no code" };
            out.push(diagnostic.label(label).help(match takes_a_file {
                true => format!("{help}; or name a file that holds it: `{} from \"FILE\"`", node.text),
                false => help.to_owned(),
            }));
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

/// Where brackets, quotes aside, are nested deeper than the bound.
fn too_many_brackets(text: &str) -> Option<usize> {
    // Nearly every line has too few of them.
    if text.bytes().filter(|byte| matches!(byte, b'(' | b'[')).count() <= MAX_BRACKETS {
        return None;
    }
    let (mut depth, mut quote) = (0usize, None);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'"' | b'`') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            (None, b'(' | b'[') => depth += 1,
            (None, b')' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_BRACKETS {
            return Some(at);
        }
    }
    None
}
