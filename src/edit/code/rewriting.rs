//! `rewrite`: every match that is meant, replaced.

use super::document::Document;
use super::language::{CodeLanguage, parse};
use super::limits::MAX_CODE_BYTES;
use super::pattern::PatternProblem;
use super::select::{Found, SelectError, select};
use super::template::Template;
use peak_grammar::ir::{Snippet, Target, Which};
use peak_grammar::metavariables::metavariables;
use std::ops::Range;
use tree_sitter::Node;

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeEdit {
    /// What is replaced, in bytes.
    pub span: Range<usize>,
    /// What takes its place.
    pub replacement: String,
}

/// Why nothing is rewritten.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RewriteError {
    /// What is looked for is not there as it must be.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// The replacement is none.
    #[error("`{text}` is no replacement: {problem}")]
    Replacement {
        /// As it was written.
        text: String,
        /// What is wrong.
        problem: PatternProblem,
    },
    /// The replacement names what the pattern does not bind.
    #[error("the pattern binds no `{0}`")]
    Unbound(String),
    /// Code that parsed would not with the replacement in it, though that parses by itself.
    #[error("`{text}` does not fit on line {line}: the code there would not parse")]
    DoesNotFit {
        /// As it was written; empty where what is found goes away.
        text: String,
        /// Where it would stand, from 1.
        line: usize,
    },
    /// The code, or what would become of it, is beyond the bounds.
    #[error("the code is larger or more tangled than what is rewritten")]
    TooLarge,
}

/// The edits of a rewrite, in order and disjoint. Without a replacement, what is found goes away.
///
/// # Errors
/// Nothing is found, not as often as it must be, or what would come of it is too large, or parses no more.
pub fn rewrites(
    document: &Document<'_>,
    target: &Target,
    replacement: Option<&str>,
) -> Result<Vec<CodeEdit>, RewriteError> {
    let text = replacement.unwrap_or_default();
    let template = Template::new(document.language, text)
        .map_err(|problem| RewriteError::Replacement { text: text.to_owned(), problem })?;
    check_bound(&target.pattern.text, text)?;
    let mut edits = Vec::new();
    let mut bytes = document.source.len();
    for found in select(document, target)? {
        let edit = match replacement {
            None => removed(document.source, &found),
            Some(_) => CodeEdit { replacement: template.filled(document.source, &found), span: found.span },
        };
        bytes = bytes.saturating_add(edit.replacement.len());
        if bytes > MAX_CODE_BYTES {
            return Err(RewriteError::TooLarge);
        }
        edits.push(edit);
    }
    if template.parses {
        check_fit(document, &edits, text)?;
    }
    Ok(edits)
}

/// Code that parsed parses with the edits in it. Two statements may stand where one did, and not in a loop's head.
fn check_fit(document: &Document<'_>, edits: &[CodeEdit], text: &str) -> Result<(), RewriteError> {
    let parsed = document.parts().first().is_some_and(|whole| !whole.root().has_error());
    if !parsed || edits.is_empty() {
        return Ok(());
    }
    let (after, places) = edited(document.source, edits);
    let tree = parse(document.language, &after).map_err(|_| RewriteError::TooLarge)?;
    let Some(error) = first_error(tree.root_node()) else { return Ok(()) };
    let before = places.iter().rposition(|place| *place <= error).unwrap_or(0);
    let line = edits.get(before).map_or(1, |edit| document.line(edit.span.start));
    Err(RewriteError::DoesNotFit { text: text.to_owned(), line })
}

/// Code with edits made, and where each then starts.
fn edited(source: &str, edits: &[CodeEdit]) -> (String, Vec<usize>) {
    let mut result = String::with_capacity(source.len());
    let mut places = Vec::with_capacity(edits.len());
    let mut done = 0;
    for edit in edits {
        result.push_str(&source[done..edit.span.start]);
        places.push(result.len());
        result.push_str(&edit.replacement);
        done = edit.span.end;
    }
    result.push_str(&source[done..]);
    (result, places)
}

/// Where the first thing starts that does not parse.
fn first_error(root: Node<'_>) -> Option<usize> {
    if !root.has_error() {
        return None;
    }
    let mut node = root;
    loop {
        let mut cursor = node.walk();
        match node.children(&mut cursor).find(|child| child.has_error()) {
            Some(child) if !node.is_error() => node = child,
            _ => return Some(node.start_byte()),
        }
    }
}

/// Code with every match of `pattern` replaced, the outermost of those inside one another. The result is not looked
/// into again. An empty replacement removes what is found.
///
/// Whatever it is given, it ends, and does not panic.
///
/// # Errors
/// As [`rewrites`]; then nothing of the code has changed.
pub fn rewrite_code(
    language: CodeLanguage,
    code: &str,
    pattern: &str,
    replacement: &str,
) -> Result<String, RewriteError> {
    let document = Document::new(language, code).map_err(|_| RewriteError::TooLarge)?;
    let target = Target {
        pattern: Snippet { text: pattern.to_owned(), ..Snippet::default() },
        which: Which::Every,
        innermost: false,
        within: None,
        if_any: false,
    };
    let replacement = Some(replacement).filter(|text| !text.trim().is_empty());
    Ok(edited(code, &rewrites(&document, &target, replacement)?).0)
}

/// What is removed, with its line where nothing else stands there. A body without braces leaves an empty one.
fn removed(source: &str, found: &Found) -> CodeEdit {
    let span = found.span.clone();
    if found.bare_body {
        return CodeEdit { span, replacement: "{}".to_owned() };
    }
    let start = source[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = source[span.end..].find('\n').map_or(source.len(), |at| span.end + at + 1);
    let alone = source[start..span.start].trim().is_empty() && source[span.end..end].trim().is_empty();
    let ends_inside = span.start > start && source[..span.end].ends_with('\n');
    match alone && !found.in_define && !ends_inside {
        true => CodeEdit { span: start..end, replacement: String::new() },
        false => CodeEdit { span, replacement: String::new() },
    }
}

fn check_bound(pattern: &str, replacement: &str) -> Result<(), RewriteError> {
    let bound = metavariables(pattern).unwrap_or_default();
    let used = metavariables(replacement).unwrap_or_default();
    let unbound = used
        .iter()
        .find(|one| one.name.is_none() || !bound.iter().any(|other| other.name == one.name && other.many == one.many));
    match unbound {
        Some(one) => Err(RewriteError::Unbound(replacement[one.span.clone()].to_owned())),
        None => Ok(()),
    }
}
