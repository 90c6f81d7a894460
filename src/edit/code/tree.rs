//! What matching reads off tree-sitter's nodes.

use tree_sitter::Node;

/// Whether a node counts: comments and other extras do not, what does not parse does.
pub(super) fn counts(node: Node<'_>) -> bool {
    !node.is_extra() || node.is_error()
}

/// The children that count.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).filter(|child| counts(*child)).collect()
}

/// The text of a node; empty where it lies on no character's edge.
pub(super) fn text<'a>(node: Node<'_>, source: &'a str) -> &'a str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// Kinds that tell the same word apart by where it stands: a pattern cannot know.
const NAMES: [&str; 3] = ["identifier", "type_identifier", "namespace_identifier"];

/// Whether two kinds of leaf are the same for a pattern.
pub(super) fn same_leaf(a: &str, b: &str) -> bool {
    a == b || NAMES.contains(&a) && NAMES.contains(&b)
}

/// The tokens below some nodes, in order, comments left out. Iterative: code may nest deeper than a stack.
pub(super) struct Tokens<'t> {
    open: Vec<Node<'t>>,
}

impl<'t> Tokens<'t> {
    pub fn of(nodes: &[Node<'t>]) -> Tokens<'t> {
        Tokens { open: nodes.iter().rev().copied().collect() }
    }

    /// The next token. Each node on the way to it costs a step of `steps`; where they are spent, there is none.
    pub fn next(&mut self, steps: &mut impl FnMut() -> bool) -> Option<Node<'t>> {
        while let Some(node) = self.open.pop() {
            if !steps() {
                return None;
            }
            match node.child_count() {
                _ if !counts(node) => {}
                0 => return Some(node),
                _ => self.open.extend(children(node).into_iter().rev()),
            }
        }
        None
    }
}

/// The last child, where it is a `;`.
pub(super) fn semicolon(node: Node<'_>) -> Option<Node<'_>> {
    let last = node.child(node.child_count().checked_sub(1)?)?;
    (last.kind() == ";" && !last.is_missing()).then_some(last)
}

/// Statements whose body may stand without braces.
const TAKES_A_BODY: [&str; 6] =
    ["if_statement", "else_clause", "for_statement", "for_range_loop", "while_statement", "do_statement"];

/// Whether `node` is the body, without braces, of a statement.
pub(super) fn is_bare_body(parent: Node<'_>, node: Node<'_>) -> bool {
    let statement = |kind: &str| kind.ends_with("_statement") || matches!(kind, "declaration" | "for_range_loop");
    let last = || {
        ["body", "consequence", "alternative"]
            .iter()
            .any(|field| parent.child_by_field_name(field).is_some_and(|child| child.id() == node.id()))
    };
    let chained = parent.kind() == "else_clause" && node.kind() == "if_statement";
    TAKES_A_BODY.contains(&parent.kind())
        && node.kind() != "compound_statement"
        && statement(node.kind())
        && !chained
        && (last() || parent.kind() == "else_clause")
}

/// Whether `node` stands below `parent` as a statement, declaration or member of its own.
pub(super) fn is_statement(parent: Node<'_>, node: Node<'_>) -> bool {
    const LISTS: [&str; 5] =
        ["compound_statement", "translation_unit", "declaration_list", "field_declaration_list", "case_statement"];
    node.is_named() && (LISTS.contains(&parent.kind()) || parent.kind().starts_with("preproc_"))
        || is_bare_body(parent, node)
}
