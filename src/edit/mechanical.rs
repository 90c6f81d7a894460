//! The steps that need no model: `insert`, `rename`, `set`.

use super::tokens::{self, Kind, Syntax};
use super::{Edit, EditError, EditScript, host, rewrite};
use crate::context::KernelContext;
use peak_grammar::ir::{Action, Insertion, Place, Region};

/// The edits of a mechanical step. `utility` gives the code of a utility in the context's language.
///
/// # Errors
/// A pattern that is not found exactly once, a name that is not there or is taken, a `set` without its target, and
/// [`EditError::RewriteNotBuilt`]. Prose is no mechanical step and gives an empty script.
pub fn mechanical(
    context: &KernelContext,
    region: Region,
    action: &Action,
    utility: &dyn Fn(&str) -> Option<String>,
) -> Result<EditScript, EditError> {
    let text = context.regions.get(region);
    match action {
        Action::Prose(_) => EditScript::new(region, Vec::new()),
        Action::Insert { what, place } => insert(region, text, &code_of(what, utility), place),
        Action::Rename { from, to } => rename(region, text, from, to),
        Action::Set { target, to } if region == Region::HostCode => {
            Ok(rewrite(region, text, &host::set(&context.plan, target, to)?))
        }
        Action::Set { .. } => Err(EditError::SetOutsideHostCode { region }),
        Action::Rewrite { .. } => Err(EditError::RewriteNotBuilt),
    }
}

fn code_of(what: &Insertion, utility: &dyn Fn(&str) -> Option<String>) -> String {
    // The plan has checked that the utility is there, with code for this language.
    let mut code = match what {
        Insertion::Code(code) => code.clone(),
        Insertion::Utility(name) => utility(name).unwrap_or_default(),
    };
    if !code.is_empty() && !code.ends_with('\n') {
        code.push('\n');
    }
    code
}

fn insert(region: Region, text: &str, code: &str, place: &Place) -> Result<EditScript, EditError> {
    let once = |pattern: &str| {
        let mut found = tokens::find(text, pattern, Syntax::of(region));
        match found.len() {
            1 => Ok(found.remove(0)),
            count => Err(EditError::NotUnique { region, pattern: pattern.to_owned(), count }),
        }
    };
    // Beside a line, what is inserted stands as deep as that line.
    let deep = |at: usize| indented(code, indent(&text[text[..at].rfind('\n').map_or(0, |at| at + 1)..]));
    let (start, replacement) = match place {
        Place::Top => (0, code.to_owned()),
        Place::End => (text.len(), after_line(text, code)),
        // Whole lines: what is inserted starts on a line of its own.
        Place::Before(pattern) => {
            let start = once(pattern)?.start;
            (text[..start].rfind('\n').map_or(0, |at| at + 1), deep(start))
        }
        Place::After(pattern) => {
            let found = once(pattern)?;
            let code = deep(found.start);
            match text[found.end..].find('\n') {
                Some(at) => (found.end + at + 1, code),
                None => (text.len(), after_line(text, &code)),
            }
        }
    };
    EditScript::new(region, vec![Edit { start, expected: String::new(), replacement }])
}

/// The blanks that a line starts with.
fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The code with `margin` before each line, in place of the blanks that all its lines share.
fn indented(code: &str, margin: &str) -> String {
    let filled = code.lines().filter(|line| !line.trim().is_empty());
    let shared = filled.map(|line| indent(line).len()).min().unwrap_or(0);
    let mut deep = String::new();
    for line in code.lines() {
        if let Some(line) = line.get(shared..).filter(|line| !line.trim().is_empty()) {
            deep.push_str(margin);
            deep.push_str(line);
        }
        deep.push('\n');
    }
    deep
}

fn after_line(text: &str, code: &str) -> String {
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{gap}{code}")
}

fn rename(region: Region, text: &str, from: &str, to: &str) -> Result<EditScript, EditError> {
    if !is_identifier(to) {
        return Err(EditError::NoIdentifier { name: to.to_owned() });
    }
    let identifiers: Vec<_> =
        tokens::tokens(text, Syntax::of(region)).into_iter().filter(|token| token.kind == Kind::Identifier).collect();
    if identifiers.iter().any(|token| token.text(text) == to) {
        return Err(EditError::NameTaken { region, from: from.to_owned(), name: to.to_owned() });
    }
    let edits: Vec<Edit> = identifiers
        .iter()
        .filter(|token| token.text(text) == from)
        .map(|token| Edit { start: token.span.start, expected: from.to_owned(), replacement: to.to_owned() })
        .collect();
    match edits.is_empty() {
        true => Err(EditError::NothingToRename { region, name: from.to_owned() }),
        false => EditScript::new(region, edits),
    }
}

fn is_identifier(name: &str) -> bool {
    let starts = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(starts) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
