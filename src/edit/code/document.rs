//! A text with its syntax trees: one of the whole, and one of each macro's body, which the grammars leave as text.

use super::language::{CodeLanguage, TooLarge, parse};
use super::tree::{children, text};
use std::ops::Range;
use tree_sitter::{Node, Tree};

/// Ways to read a macro's body: as statements, then as a value.
const FRAMES: [(&str, &str, &str); 2] =
    [("void peak_body() {\n", "\n;}", "compound_statement"), ("int peak_body[] = {\n", "\n};", "initializer_list")];

/// A text and its trees.
#[derive(Debug)]
pub struct Document<'s> {
    /// The text.
    pub source: &'s str,
    /// Its language.
    pub language: CodeLanguage,
    parts: Vec<Part<'s>>,
}

/// A tree of the text, or of a macro's body.
#[derive(Debug)]
pub(super) struct Part<'s> {
    tree: Tree,
    /// What the tree's places count in: the text, or the body in its frame.
    pub text: std::borrow::Cow<'s, str>,
    /// Bytes of the frame before the body.
    before: usize,
    /// Where the body stands in the source.
    body: Range<usize>,
    /// The kind of the node whose children are a macro's body; `None` for the whole text.
    holder: Option<&'static str>,
    /// It is a macro's body.
    pub in_define: bool,
    /// The macro's parameters.
    pub parameters: Vec<String>,
}

impl<'s> Document<'s> {
    /// Parses a text.
    ///
    /// # Errors
    /// It is too large to look into.
    pub fn new(language: CodeLanguage, source: &'s str) -> Result<Document<'s>, TooLarge> {
        let tree = parse(language, source)?;
        let (text, body) = (source.into(), 0..source.len());
        let whole = Part { tree, text, before: 0, body, holder: None, in_define: false, parameters: Vec::new() };
        let bodies = bodies(whole.tree.root_node(), source);
        let mut parts = vec![whole];
        for body in bodies {
            parts.extend(macro_part(language, source, body)?);
        }
        Ok(Document { source, language, parts })
    }

    pub(super) fn parts(&self) -> &[Part<'s>] {
        &self.parts
    }

    /// The line of a byte, from 1.
    #[must_use]
    pub fn line(&self, at: usize) -> usize {
        self.source.as_bytes()[..at.min(self.source.len())].iter().filter(|byte| **byte == b'\n').count() + 1
    }
}

impl Part<'_> {
    /// The node whose children are the code.
    pub fn root(&self) -> Node<'_> {
        let root = self.tree.root_node();
        let (start, end) = (self.before, self.before + self.body.len());
        self.holder.and_then(|kind| holder(root, kind, start, end)).unwrap_or(root)
    }

    /// A place of the tree as a place of the source; `None` where it is not within the body.
    pub fn span(&self, span: Range<usize>) -> Option<Range<usize>> {
        let start = span.start.checked_sub(self.before)?;
        let end = span.end.checked_sub(self.before)?;
        (end <= self.body.len()).then(|| self.body.start + start..self.body.start + end)
    }
}

/// The outermost node of a kind that holds a range.
pub(super) fn holder<'t>(root: Node<'t>, kind: &str, start: usize, end: usize) -> Option<Node<'t>> {
    let mut node = root;
    while node.kind() != kind {
        let mut cursor = node.walk();
        let child = node.children(&mut cursor).find(|child| child.start_byte() <= start && child.end_byte() >= end)?;
        node = child;
    }
    Some(node)
}

/// A macro as it is defined.
struct Body {
    span: Range<usize>,
    parameters: Vec<String>,
}

/// The bodies of all macros of the tree.
fn bodies(root: Node<'_>, source: &str) -> Vec<Body> {
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "preproc_arg" if matches!(node.kind(), "preproc_def" | "preproc_function_def") => {
                    found.push(Body { span: child.byte_range(), parameters: parameters(node, source) });
                }
                _ if child.child_count() > 0 => open.push(child),
                _ => {}
            }
        }
    }
    found.sort_by_key(|body| body.span.start);
    found
}

fn parameters(define: Node<'_>, source: &str) -> Vec<String> {
    let Some(list) = define.child_by_field_name("parameters") else { return Vec::new() };
    let names = children(list).into_iter().filter(|child| child.kind() == "identifier");
    names.map(|name| text(name, source).to_owned()).collect()
}

/// A macro's body, in the first frame in which all of it parses; else as statements, with its errors.
fn macro_part<'s>(language: CodeLanguage, source: &'s str, body: Body) -> Result<Option<Part<'s>>, TooLarge> {
    let Some(inside) = source.get(body.span.clone()) else { return Ok(None) };
    let mut first = None;
    for (before, after, kind) in FRAMES {
        let text = format!("{before}{inside}{after}");
        let tree = parse(language, &text)?;
        let clean = !tree.root_node().has_error();
        let part = Part {
            tree,
            text: text.into(),
            before: before.len(),
            body: body.span.clone(),
            holder: Some(kind),
            in_define: true,
            parameters: body.parameters.clone(),
        };
        if clean {
            return Ok(Some(part));
        }
        first = first.or(Some(part));
    }
    Ok(first)
}
