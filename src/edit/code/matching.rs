//! Whether nodes of code are what a pattern says, and what its metavariables stand for there.
//!
//! Exact: every part of a pattern is there and nothing else is, comments aside. `$$$` takes as few neighbours as do.
//! Recursion goes as deep as a pattern, never as deep as the code; the steps are counted.

use super::limits::MAX_MATCH_STEPS;
use super::pattern::Item;
use super::precedence;
use super::tree::{Tokens, children, same_leaf, semicolon, text};
use std::ops::Range;
use tree_sitter::Node;

/// Nodes that are copied in the time of one comparison.
const NODES_A_STEP: usize = 16;

/// What a metavariable stands for.
#[derive(Clone, Debug)]
pub(super) struct Binding<'t> {
    pub name: String,
    /// Its nodes, in order; none for a `$$$NAME` that stands for nothing.
    pub nodes: Vec<Node<'t>>,
    /// Where they are, in the tree's text; a `;` that the pattern itself has is left out.
    pub span: Range<usize>,
    /// How tightly it binds, where it is one expression.
    pub precedence: Option<u8>,
    /// A trailing `;` is no part of it.
    unterminated: bool,
}

/// The steps that are left.
#[derive(Debug)]
pub(super) struct Budget(u64);

impl Budget {
    pub fn new() -> Budget {
        Budget(MAX_MATCH_STEPS)
    }

    /// Takes steps; whether there were as many.
    fn take(&mut self, steps: usize) -> bool {
        self.0 = self.0.saturating_sub(steps as u64);
        self.0 > 0
    }

    /// Whether none are left: then what was found is not all.
    pub fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

/// A comparison of one reading of a pattern with code.
pub(super) struct Matcher<'a, 't> {
    pub source: &'a str,
    pub budget: &'a mut Budget,
    pub bindings: Vec<Binding<'t>>,
}

impl<'t> Matcher<'_, 't> {
    /// How many of `nodes`, from the first, the items are; `None` where they are not.
    pub fn prefix(&mut self, items: &[Item], nodes: &[Node<'t>]) -> Option<usize> {
        self.bindings.clear();
        self.items(items, nodes, false)
    }

    /// `all`: every node must be taken. How many were.
    fn items(&mut self, mut items: &[Item], mut nodes: &[Node<'t>], all: bool) -> Option<usize> {
        let given = nodes.len();
        loop {
            let Some((item, rest)) = items.split_first() else {
                return (!all || nodes.is_empty()).then(|| given - nodes.len());
            };
            if let Item::Many(name) = item {
                let taken = self.many(name.as_deref(), rest, nodes, all)?;
                return Some(given - nodes.len() + taken);
            }
            // The comma before several that are none.
            if let [_, Item::Many(name), after @ ..] = items
                && is_sign(item, ",")
            {
                let kept = self.bindings.len();
                if self.bind(name.as_deref(), &[], nodes.first(), false)
                    && let Some(taken) = self.items(after, nodes, all)
                {
                    return Some(given - nodes.len() + taken);
                }
                self.bindings.truncate(kept);
            }
            let (node, others) = nodes.split_first()?;
            match (item, rest) {
                // A declaration holds the `;` that a pattern writes apart: `for ($INIT; ...)`.
                (Item::One(name), [end, after @ ..])
                    if is_sign(end, ";")
                        && semicolon(*node).is_some()
                        && others.first().is_none_or(|next| next.kind() != ";") =>
                {
                    if !self.bind(name.as_deref(), &[*node], None, true) {
                        return None;
                    }
                    items = after;
                }
                _ => {
                    if !self.node(item, *node) {
                        return None;
                    }
                    items = rest;
                }
            }
            nodes = others;
        }
    }

    /// The fewest neighbours with which the rest fits.
    fn many(&mut self, name: Option<&str>, rest: &[Item], nodes: &[Node<'t>], all: bool) -> Option<usize> {
        let kept = self.bindings.len();
        // Several that are none, and the comma after them.
        if let [comma, after @ ..] = rest
            && is_sign(comma, ",")
        {
            if self.bind(name, &[], nodes.first(), false)
                && let Some(taken) = self.items(after, nodes, all)
            {
                return Some(taken);
            }
            self.bindings.truncate(kept);
        }
        let fewest = if rest.is_empty() && all { nodes.len() } else { 0 };
        for count in fewest..=nodes.len() {
            // What is bound is copied.
            if !self.budget.take(1 + count / NODES_A_STEP) {
                return None;
            }
            if self.bind(name, &nodes[..count], nodes.get(count), false)
                && let Some(taken) = self.items(rest, &nodes[count..], all)
            {
                return Some(count + taken);
            }
            self.bindings.truncate(kept);
        }
        None
    }

    fn are_equal(&mut self, a: &Bound<'t>, b: &Bound<'t>) -> bool {
        // A token and what is put together of several are never the same.
        if let ([one], [other]) = (a.nodes.as_slice(), b.nodes.as_slice())
            && (one.child_count() == 0) != (other.child_count() == 0)
        {
            return false;
        }
        let source = self.source;
        let budget = &mut *self.budget;
        same_tokens(a, b, || budget.take(1), |a, b| text(a, source) == text(b, source)) && !budget.is_spent()
    }

    fn node(&mut self, item: &Item, node: Node<'t>) -> bool {
        if !self.budget.take(1) {
            return false;
        }
        match item {
            Item::One(name) => {
                node.is_named() && !node.is_missing() && self.bind(name.as_deref(), &[node], None, false)
            }
            Item::Terminated(name) => {
                node.is_named() && semicolon(node).is_some() && self.bind(name.as_deref(), &[node], None, true)
            }
            Item::Many(name) => self.bind(name.as_deref(), &[node], None, false),
            Item::Leaf { kind, text: wanted } => {
                node.child_count() == 0
                    && same_leaf(kind, node.kind())
                    && !node.is_missing()
                    && text(node, self.source).trim_end() == wanted
            }
            Item::Node { kind, items } => {
                kind == node.kind() && !node.is_error() && self.items(items, &children(node), true).is_some()
            }
        }
    }

    /// Binds a name; where it is bound, the code must be equal. `next` is where nothing stands.
    fn bind(&mut self, name: Option<&str>, nodes: &[Node<'t>], next: Option<&Node<'t>>, unterminated: bool) -> bool {
        let Some(name) = name else { return true };
        if let Some(earlier) = self.bindings.iter().find(|binding| binding.name == name) {
            let earlier = Bound { nodes: earlier.nodes.clone(), unterminated: earlier.unterminated };
            return self.are_equal(&earlier, &Bound { nodes: nodes.to_vec(), unterminated });
        }
        let span = match (nodes.first(), nodes.last()) {
            (Some(first), Some(last)) => {
                let end = match semicolon(*last).filter(|_| unterminated) {
                    Some(end) => end.start_byte(),
                    None => last.end_byte(),
                };
                first.start_byte()..end
            }
            _ => next.map_or(0..0, |next| next.start_byte()..next.start_byte()),
        };
        let precedence = match nodes {
            [one] if !unterminated => precedence::of(*one),
            [one] if one.kind() == "expression_statement" => one.child(0).and_then(precedence::of),
            _ => None,
        };
        self.bindings.push(Binding { name: name.to_owned(), nodes: nodes.to_vec(), span, precedence, unterminated });
        true
    }
}

/// Whether the tokens of two bindings are the same, the `;` aside that one of them may not hold.
fn same_tokens(
    a: &Bound<'_>,
    b: &Bound<'_>,
    mut steps: impl FnMut() -> bool,
    same: impl Fn(Node<'_>, Node<'_>) -> bool,
) -> bool {
    let (mut left, mut right) = (Tokens::of(&a.nodes), Tokens::of(&b.nodes));
    let ends = |rest: Option<Node<'_>>, unterminated: bool| {
        rest.is_none() || unterminated && rest.is_some_and(|token| token.kind() == ";")
    };
    loop {
        match (left.next(&mut steps), right.next(&mut steps)) {
            (Some(a), Some(b)) if same(a, b) => {}
            (None, rest) => return ends(rest, b.unterminated),
            (rest, None) => return ends(rest, a.unterminated),
            _ => return false,
        }
    }
}

fn is_sign(item: &Item, sign: &str) -> bool {
    matches!(item, Item::Leaf { kind, .. } if kind == sign)
}

/// Nodes to be compared with others.
struct Bound<'t> {
    nodes: Vec<Node<'t>>,
    /// A trailing `;` is no part of it.
    unterminated: bool,
}
