//! Where a name stands in code, as an identifier of its own: not in comments, quotes or members, and not as another
//! macro's parameter.

use super::document::{Document, Part};
use super::language::CodeLanguage;
use super::pattern::{Item, Pattern};
use super::tree::{children, text};
use crate::edit::tokens::{Kind, Syntax, tokens};
use std::ops::Range;
use tree_sitter::Node;

/// A place where a name stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Where.
    pub span: Range<usize>,
    /// Where the function around it starts; `None` outside of functions, in a macro's body as well.
    pub function: Option<usize>,
    /// It is in code that does not parse.
    pub in_error: bool,
}

/// Every place where `name` stands as an identifier, in order.
#[must_use]
pub fn occurrences(document: &Document<'_>, name: &str) -> Vec<Occurrence> {
    let mut found = Vec::new();
    for part in document.parts().iter().filter(|part| !part.parameters.iter().any(|own| own == name)) {
        in_part(part, name, &mut found);
    }
    found.sort_by_key(|one| one.span.start);
    found
}

/// Whether a macro of the document has a parameter of this name.
pub(in crate::edit) fn is_parameter(document: &Document<'_>, name: &str) -> bool {
    document.parts().iter().any(|part| part.parameters.iter().any(|own| own == name))
}

/// Whether a word can name something in a language: no keyword, no type that is built in.
#[must_use]
pub fn is_identifier(language: CodeLanguage, word: &str) -> bool {
    let starts = |c: char| c.is_ascii_alphabetic() || c == '_';
    let spelled = word.starts_with(starts) && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let named = |items: &Vec<Item>| matches!(items.as_slice(), [Item::Leaf { kind, .. }] if kind == "identifier");
    spelled && Pattern::new(language, word).is_ok_and(|pattern| pattern.readings.iter().any(named))
}

fn in_part(part: &Part<'_>, name: &str, found: &mut Vec<Occurrence>) {
    let mut open: Vec<(Node<'_>, Option<usize>, bool)> = vec![(part.root(), None, false)];
    while let Some((parent, function, in_error)) = open.pop() {
        let in_error = in_error || parent.is_error();
        let function = match parent.kind() {
            "function_definition" if !part.in_define => function.or(Some(parent.start_byte())),
            _ => function,
        };
        for child in children(parent) {
            if child.child_count() > 0 {
                open.push((child, function, in_error));
                continue;
            }
            let written = text(child, &part.text);
            let spans = match child.kind() {
                "identifier" | "type_identifier" if written == name && is_free(parent) => vec![child.byte_range()],
                // Text to the parser: `#pragma unroll NAME`.
                "preproc_arg" if parent.kind() == "preproc_call" => words(written, child.start_byte(), name),
                _ => Vec::new(),
            };
            let spans = spans.into_iter().filter_map(|span| part.span(span));
            found.extend(spans.map(|span| Occurrence { span, function, in_error }));
        }
    }
}

/// Whether an identifier below `parent` is a name of the code, and not a word of the language.
fn is_free(parent: Node<'_>) -> bool {
    !matches!(parent.kind(), "semantics" | "hlsl_attribute" | "attribute" | "preproc_params")
}

fn words(written: &str, base: usize, name: &str) -> Vec<Range<usize>> {
    let found = tokens(written, Syntax::Code).into_iter();
    let same = found.filter(|token| token.kind == Kind::Identifier && token.text(written) == name);
    same.map(|token| base + token.span.start..base + token.span.end).collect()
}
