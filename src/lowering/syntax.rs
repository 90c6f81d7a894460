//! Syntax trees of macros and device code, by tree-sitter: where a text does not parse, and how deep loops nest.
//!
//! The grammars know no preprocessor: code that uses a macro as a statement or a type may look wrong and be right. So
//! what stands on a line with a macro of the kernel's own is never called an error here; the compiler decides.

use crate::edit::code::{self, CodeLanguage};
use crate::edit::tokens::{Kind, Syntax, tokens};
use tree_sitter::{Node, Tree};

/// Nodes that are loops, in both grammars.
const LOOPS: [&str; 4] = ["for_statement", "while_statement", "do_statement", "for_range_loop"];

/// Tree depth that is looked into; deeper code is left to the compiler.
const MAX_DEPTH: usize = 400;

/// A place that does not parse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxProblem {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong, in words.
    pub what: String,
}

/// The first place where `text` does not parse as the backend's language, macros aside.
#[must_use]
pub fn problem(backend: &str, text: &str, macros: &[String]) -> Option<SyntaxProblem> {
    unbalanced(text).or_else(|| error_node(backend, text, macros))
}

/// The greatest depth of nested loops.
#[must_use]
pub fn loop_depth(backend: &str, text: &str) -> u32 {
    parse(backend, text).map_or(0, |tree| depth(tree.root_node(), 0))
}

/// Names of macros that a text defines.
#[must_use]
pub fn defined_macros(text: &str) -> Vec<String> {
    let tokens: Vec<_> = tokens(text, Syntax::Code).into_iter().filter(|token| token.kind != Kind::Comment).collect();
    let defines = tokens.windows(3).filter(|w| w[0].text(text) == "#" && w[1].text(text) == "define");
    defines.map(|window| window[2].text(text).to_owned()).collect()
}

fn parse(backend: &str, text: &str) -> Option<Tree> {
    code::parse(CodeLanguage::of(backend), text).ok()
}

fn depth(node: Node<'_>, level: usize) -> u32 {
    if level > MAX_DEPTH {
        return 0;
    }
    let mut cursor = node.walk();
    let inner = node.children(&mut cursor).map(|child| depth(child, level + 1)).max().unwrap_or(0);
    inner + u32::from(LOOPS.contains(&node.kind()))
}

fn error_node(backend: &str, text: &str, macros: &[String]) -> Option<SyntaxProblem> {
    let tree = parse(backend, text)?;
    let mut problems = Vec::new();
    collect(tree.root_node(), 0, &mut problems);
    let lines: Vec<&str> = text.lines().collect();
    let doubtful = |line: &str| {
        let uses = |token: &crate::edit::tokens::Token| macros.iter().any(|name| name == token.text(line));
        line.trim_start().starts_with('#') || tokens(line, Syntax::Code).iter().any(uses)
    };
    problems.into_iter().find_map(|(node, missing)| {
        let (first, last) = (node.start_position().row, node.end_position().row);
        let covered = lines.get(first..=last.min(lines.len().saturating_sub(1)))?;
        if covered.iter().any(|line| doubtful(line)) {
            return None;
        }
        let what = match missing {
            true => format!("`{}` is missing", node.kind()),
            false => format!("`{}` is out of place", text.get(node.byte_range())?.lines().next()?.trim()),
        };
        Some(SyntaxProblem { line: first + 1, what })
    })
}

fn collect<'t>(node: Node<'t>, level: usize, problems: &mut Vec<(Node<'t>, bool)>) {
    if level > MAX_DEPTH || !node.has_error() && !node.is_missing() {
        return;
    }
    if node.is_error() || node.is_missing() {
        problems.push((node, node.is_missing()));
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        collect(child, level + 1, problems);
    }
}

/// The first bracket without its partner: what a text that was cut off shows, macros or not.
fn unbalanced(text: &str) -> Option<SyntaxProblem> {
    let mut open: Vec<(char, usize)> = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for token in tokens(text, Syntax::Code) {
        if token.kind != Kind::Punctuation {
            continue;
        }
        let mark = token.text(text).chars().next().unwrap_or_default();
        line += text[counted..token.span.start].matches('\n').count();
        counted = token.span.start;
        let partner = match mark {
            '(' | '[' | '{' => {
                open.push((mark, line));
                continue;
            }
            ')' => '(',
            ']' => '[',
            '}' => '{',
            _ => continue,
        };
        match open.pop() {
            Some((opened, _)) if opened == partner => {}
            Some((opened, at)) => {
                let what = format!("`{mark}` closes the `{opened}` of line {at}");
                return Some(SyntaxProblem { line, what });
            }
            None => return Some(SyntaxProblem { line, what: format!("`{mark}` closes nothing") }),
        }
    }
    open.pop().map(|(mark, line)| SyntaxProblem { line, what: format!("`{mark}` is not closed") })
}
