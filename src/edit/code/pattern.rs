//! Patterns: code with metavariables, parsed as the languages parse code.
//!
//! A pattern is a piece of code out of its context, and C's syntax needs one. It is parsed as an expression, as
//! statements, as a declaration, as a parameter and as a member of a struct; every reading without an error counts.

use super::document::holder;
use super::language::{CodeLanguage, parse};
use super::limits::{MAX_PATTERN_BYTES, MAX_PATTERN_DEPTH};
use super::precedence;
use super::tree::{children, semicolon, text};
use peak_grammar::metavariables::{Metavariable, metavariables};
use tree_sitter::Node;

/// Marks a metavariable that stands for a whole statement, where the parser is given a `;` that was not written.
const STATEMENT_MARK: char = '$';

/// Contexts, in the order in which their readings are preferred: the text around a pattern, and the fields or kinds to
/// go through to the node whose children are the pattern.
const FRAMES: [Frame; 5] = [
    Frame { before: "void peak_frame() { return\n", after: "\n; }", holder: "return_statement", statements: false },
    Frame { before: "void peak_frame() {\n", after: "\n}", holder: "compound_statement", statements: true },
    Frame { before: "", after: "\n", holder: "translation_unit", statements: true },
    Frame { before: "void peak_frame(\n", after: "\n) {}", holder: "parameter_list", statements: false },
    Frame { before: "struct peak_frame {\n", after: "\n};", holder: "field_declaration_list", statements: true },
];

struct Frame {
    before: &'static str,
    after: &'static str,
    holder: &'static str,
    /// A metavariable may stand for a whole statement.
    statements: bool,
}

/// Why code is no pattern of a language.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternProblem {
    /// It does not parse.
    #[error("it is no expression, statement, declaration or parameter of {0}")]
    DoesNotParse(CodeLanguage),
    /// A metavariable is misspelled.
    #[error("`{0}` is no metavariable")]
    Metavariable(String),
    /// It would match all code, or none.
    #[error("it holds no code beside metavariables, or several pieces at its start or end")]
    TooGeneral,
    /// It is beyond the bounds.
    #[error("it is longer or nests deeper than a pattern may")]
    TooLarge,
}

/// A pattern in one language.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Its readings, each a sequence of neighbouring nodes.
    pub(super) readings: Vec<Vec<Item>>,
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// `$NAME`, or `$_`: one node.
    One(Option<String>),
    /// `$NAME;`: one node with its own `;`, which the metavariable does not hold.
    Terminated(Option<String>),
    /// `$$$NAME`, or `$$$`: any number of neighbours.
    Many(Option<String>),
    /// A token.
    Leaf {
        /// tree-sitter's name for it.
        kind: String,
        /// Its text.
        text: String,
    },
    /// A node with parts.
    Node {
        /// tree-sitter's name for it.
        kind: String,
        /// Its parts, in order.
        items: Vec<Item>,
    },
}

/// One reading of code with metavariables.
pub(super) struct Reading {
    /// The neighbouring nodes.
    pub items: Vec<Item>,
    /// How tightly it binds as an operand, where it is one expression.
    pub precedence: Option<u8>,
    /// How tightly what stands for each metavariable must bind, in the order in which they are written.
    pub slots: Vec<u8>,
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// It does not parse in this language, would match everything or nothing, or is beyond the bounds.
    pub fn new(language: CodeLanguage, code: &str) -> Result<Pattern, PatternProblem> {
        let readings = readings(language, code)?;
        if readings.is_empty() {
            return Err(PatternProblem::DoesNotParse(language));
        }
        let mut distinct: Vec<Vec<Item>> = Vec::new();
        for reading in readings.into_iter().map(|reading| reading.items) {
            if !distinct.contains(&reading) {
                distinct.push(reading);
            }
        }
        match distinct.iter().any(|items| is_too_general(items)) {
            true => Err(PatternProblem::TooGeneral),
            false => Ok(Pattern { readings: distinct }),
        }
    }
}

/// It names no token, so that all code matches; or starts or ends with any number of nodes, none included.
fn is_too_general(items: &[Item]) -> bool {
    let open = |item: Option<&Item>| matches!(item, None | Some(Item::Many(_)));
    open(items.first()) || open(items.last()) || items.iter().all(|item| matches!(item, Item::One(_)))
}

/// Every reading of code, best first; empty where it does not parse.
pub(super) fn readings(language: CodeLanguage, code: &str) -> Result<Vec<Reading>, PatternProblem> {
    if code.len() > MAX_PATTERN_BYTES {
        return Err(PatternProblem::TooLarge);
    }
    let variables = metavariables(code).map_err(|wrong| PatternProblem::Metavariable(code[wrong.span].to_owned()))?;
    let marked = with_statements(code, &variables);
    let mut found = Vec::new();
    for frame in &FRAMES {
        let code = if frame.statements { marked.as_str() } else { code };
        found.extend(reading(language, frame, code)?);
    }
    Ok(found)
}

fn reading(language: CodeLanguage, frame: &Frame, code: &str) -> Result<Option<Reading>, PatternProblem> {
    let source = format!("{}{code}{}", frame.before, frame.after);
    let tree = parse(language, &source).map_err(|_| PatternProblem::TooLarge)?;
    let (start, end) = (frame.before.len(), frame.before.len() + code.len());
    let root = tree.root_node();
    if root.has_error() {
        return Ok(None);
    }
    let Some(holder) = holder(root, frame.holder, start, end) else { return Ok(None) };
    let inside = |node: &Node<'_>| node.start_byte() >= start && node.end_byte() <= end;
    let mut nodes: Vec<Node<'_>> = children(holder).into_iter().filter(inside).collect();
    // All of the code is in them, and nothing of the frame.
    let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else { return Ok(None) };
    let outside = [source.get(start..first.start_byte()), source.get(last.end_byte()..end)];
    let blank =
        |text: &Option<&str>| text.is_some_and(|text| text.trim().is_empty() || text.trim_start().starts_with('/'));
    if !outside.iter().all(blank)
        || children(holder).iter().any(|node| node.end_byte() > start && node.start_byte() < end && !inside(node))
    {
        return Ok(None);
    }
    // A declaration's name may stand as the only part of a parameter: what is meant is the name.
    while let [only] = nodes.as_slice()
        && only.child_count() == 1
        && metavariable(text(*only, &source)).is_none()
        && let Some(child) = only.child(0).filter(|child| child.is_named())
    {
        nodes = vec![child];
    }
    let items = nodes.iter().map(|node| item(*node, &source, 0)).collect::<Option<Vec<Item>>>();
    let items = items.ok_or(PatternProblem::TooLarge)?;
    if items.iter().any(is_misread) {
        return Ok(None);
    }
    let precedence = match nodes.as_slice() {
        [one] => precedence::of(*one),
        _ => None,
    };
    Ok(Some(Reading { items, precedence, slots: slots(holder, &nodes, &source) }))
}

/// Words that are never names. Where the grammar expects none of them, it reads them as names: `for for` is no
/// parameter.
const KEYWORDS: [&str; 20] = [
    "break", "case", "class", "const", "continue", "default", "do", "else", "enum", "for", "goto", "if", "return",
    "sizeof", "static", "struct", "switch", "template", "union", "while",
];

fn is_misread(item: &Item) -> bool {
    match item {
        Item::Leaf { kind, text } => kind.ends_with("identifier") && KEYWORDS.contains(&text.as_str()),
        Item::Node { items, .. } => items.iter().any(is_misread),
        Item::One(_) | Item::Terminated(_) | Item::Many(_) => false,
    }
}

/// A metavariable's item, where the text is one. A marked one is left to its statement.
fn metavariable(text: &str) -> Option<Item> {
    let variables = metavariables(text).ok()?;
    let [Metavariable { name, many, span }] = variables.as_slice() else { return None };
    let whole = *span == (0..text.len());
    whole.then(|| if *many { Item::Many(name.clone()) } else { Item::One(name.clone()) })
}

/// A node as a part of a pattern; `None` where it is too deep.
fn item(node: Node<'_>, source: &str, depth: usize) -> Option<Item> {
    if depth > MAX_PATTERN_DEPTH {
        return None;
    }
    let written = text(node, source);
    if let Some(item) = metavariable(written) {
        return Some(item);
    }
    if let Some(statement) = statement(node, written) {
        return Some(statement);
    }
    if node.child_count() == 0 {
        return Some(Item::Leaf { kind: node.kind().to_owned(), text: written.trim_end().to_owned() });
    }
    let items =
        children(node).into_iter().map(|child| item(child, source, depth + 1)).collect::<Option<Vec<Item>>>()?;
    Some(Item::Node { kind: node.kind().to_owned(), items: with_loop_heads(items) })
}

/// `for ($$$HEAD)`: what the parser was given two `;` for is one metavariable again.
fn with_loop_heads(mut items: Vec<Item>) -> Vec<Item> {
    let head = items.iter().enumerate().find_map(|(at, item)| match item {
        Item::Leaf { text, .. } => Some((at, metavariable(text.strip_suffix(STATEMENT_MARK)?)?)),
        _ => None,
    });
    if let Some((at, many)) = head {
        let end = items.len().min(at + 3);
        items.splice(at..end, [many]);
    }
    items
}

/// A metavariable with its `;`, which was written or is the parser's.
fn statement(node: Node<'_>, written: &str) -> Option<Item> {
    if node.kind() != "expression_statement" {
        return None;
    }
    semicolon(node)?;
    let inner = written.strip_suffix(';')?.trim_end();
    if let Some(inner) = inner.strip_suffix(STATEMENT_MARK) {
        return metavariable(inner);
    }
    match metavariable(inner)? {
        Item::One(name) => Some(Item::Terminated(name)),
        other => Some(other),
    }
}

/// The slots of the metavariables in the order of the text.
fn slots(holder: Node<'_>, nodes: &[Node<'_>], source: &str) -> Vec<u8> {
    let mut found = Vec::new();
    let mut open: Vec<(Node<'_>, Node<'_>)> = nodes.iter().rev().map(|node| (holder, *node)).collect();
    while let Some((parent, node)) = open.pop() {
        let written = text(node, source);
        let marked = written.strip_suffix(STATEMENT_MARK).and_then(metavariable);
        if metavariable(written).or(marked).is_some() {
            found.push(precedence::slot(parent, node));
            continue;
        }
        open.extend(children(node).into_iter().rev().map(|child| (node, child)));
    }
    found
}

/// The code with a marked `;` after each metavariable that stands where a statement starts and nothing goes on with it.
fn with_statements(code: &str, variables: &[Metavariable]) -> String {
    let mut marked = String::with_capacity(code.len() + variables.len() * 2);
    let mut done = 0;
    for variable in variables {
        let before = code[..variable.span.start].trim_end();
        let after = code[variable.span.end..].trim_start();
        let word = |text: &str, word: &str| text.ends_with(word) && !text[..text.len() - word.len()].ends_with(is_word);
        let starts = before.is_empty()
            || before.ends_with([')', '{', '}', ';'])
            || word(before, "else")
            || word(before, "do")
            || variables.iter().any(|other| other.span.end == before.len() && marked.ends_with(';'));
        let ends = after.is_empty() || after.starts_with(['{', '}', '$', '#']) || after.starts_with(is_word);
        marked.push_str(&code[done..variable.span.end]);
        let head = variable.many
            && after.starts_with(')')
            && before.strip_suffix('(').is_some_and(|before| word(before.trim_end(), "for"));
        if head || starts && ends {
            marked.push(STATEMENT_MARK);
            marked.push_str(if head { ";;" } else { ";" });
        }
        done = variable.span.end;
    }
    marked.push_str(&code[done..]);
    marked
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
