//! From all matches of a pattern to those that a step means: outermost or innermost, beside an anchor, first or last.

use super::document::{Document, Part};
use super::limits::MAX_MATCHES;
use super::matching::{Budget, Matcher};
use super::pattern::{Pattern, PatternProblem};
use super::precedence;
use super::tree::{children, is_bare_body, is_statement};
use peak_grammar::ir::{Side, Target, Which};
use std::collections::BTreeMap;
use std::ops::Range;
use tree_sitter::Node;

/// A match, in the places of the source.
#[derive(Clone, Debug)]
pub struct Found {
    /// Where it is.
    pub span: Range<usize>,
    /// What the metavariables stand for.
    pub(super) captures: BTreeMap<String, Capture>,
    /// How tightly an expression in its place must bind.
    pub(super) slot: u8,
    /// It is the body, without braces, of a loop or branch.
    pub bare_body: bool,
    /// The statement that it is, or is in.
    pub statement: Range<usize>,
    /// That statement is the body, without braces, of a loop or branch.
    pub bare_statement: bool,
    /// It is one expression, or a part of one, and no statement.
    pub is_expression: bool,
    /// It lies in a macro's body.
    pub in_define: bool,
    /// It lies in code that does not parse.
    in_error: bool,
}

/// What a metavariable stands for.
#[derive(Clone, Debug)]
pub(super) struct Capture {
    /// Where it is, in the source.
    pub span: Range<usize>,
    /// How tightly it binds, where it is one expression.
    pub precedence: Option<u8>,
    /// It stands for several, and there is none.
    pub empty: bool,
}

/// Why what a step looks for is not there as it says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each field is what the message says of it")]
pub enum SelectError {
    #[error("`{pattern}` is no pattern: {problem}")]
    Pattern { pattern: String, problem: PatternProblem },
    #[error("`{pattern}` is not there")]
    Nothing { pattern: String },
    #[error("`{pattern}` is there {count} times")]
    Count { pattern: String, count: usize, wanted: usize, lines: Vec<usize> },
    #[error("`{pattern}` is on line {line}, in code that does not parse")]
    DoesNotParse { pattern: String, line: usize },
    #[error("too many matches or steps")]
    TooLarge,
}

/// The matches that a step means, in order and disjoint. None at all only where it says `if any`.
///
/// # Errors
/// The pattern or its anchor is none, is not there, or not as often as the step says.
pub fn select(document: &Document<'_>, target: &Target) -> Result<Vec<Found>, SelectError> {
    let mut budget = Budget::new();
    let text = &target.pattern.text;
    let mut found = all(document, text, &mut budget)?;
    if let Some(within) = &target.within {
        let Some(anchor) = anchor(document, &within.anchor.text, target.if_any, &mut budget)? else {
            return Ok(Vec::new());
        };
        found.retain(|one| lies(&one.span, within.side, &anchor));
    }
    let found = disjoint(found, target.innermost);
    let chosen = chosen(document, found, target)?;
    match chosen.iter().find(|one| one.in_error) {
        Some(one) => Err(SelectError::DoesNotParse { pattern: text.clone(), line: document.line(one.span.start) }),
        None => Ok(chosen),
    }
}

fn lies(span: &Range<usize>, side: Side, anchor: &Range<usize>) -> bool {
    match side {
        Side::Before => span.end <= anchor.start,
        Side::After => span.start >= anchor.end,
        Side::Inside => span.start >= anchor.start && span.end <= anchor.end && span != anchor,
    }
}

/// The one place of an anchor; `None` where there is none and that is no failure.
fn anchor(
    document: &Document<'_>,
    pattern: &str,
    if_any: bool,
    budget: &mut Budget,
) -> Result<Option<Range<usize>>, SelectError> {
    let found = disjoint(all(document, pattern, budget)?, false);
    match found.as_slice() {
        [one] => Ok(Some(one.span.clone())),
        [] if if_any => Ok(None),
        [] => Err(SelectError::Nothing { pattern: pattern.to_owned() }),
        several => Err(count_error(document, several, pattern, 1)),
    }
}

fn chosen(document: &Document<'_>, mut found: Vec<Found>, target: &Target) -> Result<Vec<Found>, SelectError> {
    let pattern = &target.pattern.text;
    if found.is_empty() {
        return match target.if_any {
            true => Ok(found),
            false => Err(SelectError::Nothing { pattern: pattern.clone() }),
        };
    }
    match target.which {
        Which::Every => {}
        Which::First => found.truncate(1),
        Which::Last => {
            found.drain(..found.len() - 1);
        }
        Which::Exactly(wanted) if found.len() == wanted as usize => {}
        Which::Exactly(wanted) => return Err(count_error(document, &found, pattern, wanted as usize)),
    }
    Ok(found)
}

fn count_error(document: &Document<'_>, found: &[Found], pattern: &str, wanted: usize) -> SelectError {
    const LINES: usize = 8;
    let lines = found.iter().take(LINES).map(|one| document.line(one.span.start)).collect();
    SelectError::Count { pattern: pattern.to_owned(), count: found.len(), wanted, lines }
}

/// Of matches that share code, the outermost and then the first; or the innermost.
fn disjoint(mut found: Vec<Found>, innermost: bool) -> Vec<Found> {
    found.sort_by_key(|one| (one.span.start, std::cmp::Reverse(one.span.end)));
    found.dedup_by(|a, b| a.span == b.span);
    if innermost {
        // In this order, what a match holds follows it at once.
        let holds = |a: &Found, b: &Found| a.span.start <= b.span.start && a.span.end >= b.span.end;
        let keep: Vec<bool> =
            (0..found.len()).map(|at| found.get(at + 1).is_none_or(|next| !holds(&found[at], next))).collect();
        let mut keep = keep.into_iter();
        found.retain(|_| keep.next().unwrap_or(true));
    }
    let mut end = 0;
    found.retain(|one| {
        let free = one.span.start >= end;
        if free {
            end = one.span.end;
        }
        free
    });
    found
}

/// Every match, those inside others included.
fn all(document: &Document<'_>, pattern: &str, budget: &mut Budget) -> Result<Vec<Found>, SelectError> {
    let compiled = Pattern::new(document.language, pattern)
        .map_err(|problem| SelectError::Pattern { pattern: pattern.to_owned(), problem })?;
    let mut found = Vec::new();
    for part in document.parts() {
        search(part, &compiled, budget, &mut found);
        if budget.is_spent() || found.len() > MAX_MATCHES {
            return Err(SelectError::TooLarge);
        }
    }
    Ok(found)
}

/// What is around a place of the tree.
#[derive(Clone)]
struct Around {
    in_error: bool,
    /// The statement that the place is in, and whether it is a body without braces.
    statement: Option<(Range<usize>, bool)>,
}

impl Around {
    /// What is around the children of `node`, which stands below `parent`.
    fn below(&self, parent: Node<'_>, node: Node<'_>) -> Around {
        let statement = match is_statement(parent, node) {
            true => Some((node.byte_range(), is_bare_body(parent, node))),
            false => self.statement.clone(),
        };
        Around { in_error: self.in_error || node.is_error(), statement }
    }
}

/// Every match in one tree.
fn search(part: &Part<'_>, pattern: &Pattern, budget: &mut Budget, found: &mut Vec<Found>) {
    let root = part.root();
    let mut open: Vec<(Node<'_>, Around)> = vec![(root, Around { in_error: root.is_error(), statement: None })];
    while let Some((parent, around)) = open.pop() {
        let nodes = children(parent);
        for at in 0..nodes.len() {
            for items in &pattern.readings {
                let mut matcher = Matcher { source: &part.text, budget: &mut *budget, bindings: Vec::new() };
                let Some(count) = matcher.prefix(items, &nodes[at..]).filter(|count| *count > 0) else { continue };
                let bindings = std::mem::take(&mut matcher.bindings);
                found.extend(located(part, parent, &nodes[at..at + count], &bindings, &around));
            }
            if nodes[at].child_count() > 0 {
                open.push((nodes[at], around.below(parent, nodes[at])));
            }
            if budget.is_spent() || found.len() > MAX_MATCHES {
                return;
            }
        }
    }
}

fn located(
    part: &Part<'_>,
    parent: Node<'_>,
    nodes: &[Node<'_>],
    bindings: &[super::matching::Binding<'_>],
    around: &Around,
) -> Option<Found> {
    let (first, last) = (nodes.first()?, nodes.last()?);
    let span = part.span(first.start_byte()..last.end_byte())?;
    let captures = bindings.iter().map(|binding| {
        let capture = Capture {
            span: part.span(binding.span.clone()).unwrap_or(span.start..span.start),
            precedence: binding.precedence,
            empty: binding.nodes.is_empty(),
        };
        (binding.name.clone(), capture)
    });
    let one = nodes.len() == 1;
    let bare_body = one && is_bare_body(parent, *first);
    let (statement, bare_statement) = match &around.statement {
        _ if is_statement(parent, *first) => (span.clone(), bare_body),
        Some((statement, bare)) => (part.span(statement.clone()).unwrap_or_else(|| span.clone()), *bare),
        None => (span.clone(), false),
    };
    Some(Found {
        captures: captures.collect(),
        slot: if one { precedence::slot(parent, *first) } else { 0 },
        bare_body,
        statement,
        bare_statement,
        is_expression: one && precedence::of(*first).is_some(),
        in_define: part.in_define,
        in_error: around.in_error || first.is_error(),
        span,
    })
}
