//! The steps that need no model: `insert`, `rewrite`, `rename`, `set`.

use super::code::{CodeLanguage, Document, RewriteError, SelectError, nearest, rewrites};
use super::{Edit, EditError, EditScript, host, insert, rename, rewrite};
use crate::context::KernelContext;
use peak_grammar::ir::{Action, Insertion, Place, Region, Snippet, Target};

/// The edits of a mechanical step, one script for each region that it changes. `utility` gives the code of a utility
/// in the context's language.
///
/// # Errors
/// A pattern that is not found as often as it must be, a name that is not there, is taken or is not the code's own, a
/// `set` without its target. Prose is no mechanical step and gives no script.
pub fn mechanical(
    context: &KernelContext,
    region: Region,
    action: &Action,
    utility: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<EditScript>, EditError> {
    let text = context.regions.get(region);
    let one = |script: EditScript| Ok(vec![script]);
    match action {
        Action::Prose(_) => Ok(Vec::new()),
        Action::Insert { what, place } => one(inserted(context, region, &code_of(what, utility), place)?),
        Action::Rename { from, to } => rename::everywhere(context, region, from, to),
        Action::Set { target, to } if region == Region::HostCode => {
            one(rewrite(region, text, &host::set(&context.plan, target, to)?))
        }
        Action::Set { .. } => Err(EditError::SetOutsideHostCode { region }),
        Action::Rewrite { target, replacement } => one(rewritten(context, region, target, replacement.as_ref())?),
    }
}

/// What a mechanical step of `step_region` does to `region` alone, once more: the text of that region is older than the
/// step, the others are not.
///
/// # Errors
/// As [`mechanical`]; a name that is not in this region is none.
pub fn mechanical_again(
    context: &KernelContext,
    step_region: Region,
    action: &Action,
    region: Region,
) -> Result<Vec<EditScript>, EditError> {
    match action {
        Action::Rename { from, to } if rename::regions(context, step_region, from).contains(&region) => {
            Ok(rename::in_region(context, region, from, to)?.into_iter().collect())
        }
        Action::Rename { .. } => Ok(Vec::new()),
        _ if step_region == region => mechanical(context, region, action, &|_| None),
        _ => Ok(Vec::new()),
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

fn inserted(context: &KernelContext, region: Region, code: &str, place: &Place) -> Result<EditScript, EditError> {
    let text = context.regions.get(region);
    let code = insert::with_line_ends(code, text);
    let edits = match place {
        Place::Top => vec![insert::edit(0, code)],
        Place::End => vec![insert::at_the_end(text, &code)],
        Place::Before(target) | Place::After(target) => {
            let document = document(context, region)?;
            let found = super::code::select(&document, target)
                .map_err(|error| refused(&document, region, &RewriteError::Select(error)))?;
            let beside = |one| match place {
                Place::Before(_) => insert::before(&document, region, &code, one),
                _ => insert::after(&document, region, &code, one),
            };
            found.iter().map(beside).collect::<Result<Vec<Edit>, EditError>>()?
        }
    };
    EditScript::new(region, edits)
}

fn rewritten(
    context: &KernelContext,
    region: Region,
    target: &Target,
    replacement: Option<&Snippet>,
) -> Result<EditScript, EditError> {
    let document = document(context, region)?;
    let edits = rewrites(&document, target, replacement.map(|code| code.text.as_str()))
        .map_err(|error| refused(&document, region, &error))?;
    let edit = |edit: super::code::CodeEdit| Edit {
        start: edit.span.start,
        expected: document.source[edit.span].to_owned(),
        replacement: edit.replacement,
    };
    EditScript::new(region, edits.into_iter().map(edit).collect())
}

/// The region's code. The launch plan is none: its language has `set`.
fn document(context: &KernelContext, region: Region) -> Result<Document<'_>, EditError> {
    if region == Region::HostCode {
        return Err(EditError::NotCode { region });
    }
    let text = context.regions.get(region);
    Document::new(CodeLanguage::of(&context.backend), text).map_err(|_| EditError::TooLarge { region })
}

/// Why a step changes nothing, with what helps to mend it.
fn refused(document: &Document<'_>, region: Region, error: &RewriteError) -> EditError {
    match error {
        RewriteError::Select(SelectError::Nothing { pattern }) => EditError::NotFound {
            region,
            pattern: pattern.clone(),
            nearest: nearest(document, pattern).map(|found| (found.line, found.text)),
        },
        RewriteError::Select(SelectError::Count { pattern, count, wanted, lines }) => {
            EditError::Count { region, pattern: pattern.clone(), count: *count, wanted: *wanted, lines: lines.clone() }
        }
        RewriteError::Select(SelectError::DoesNotParse { pattern, line }) => {
            EditError::MatchDoesNotParse { region, pattern: pattern.clone(), line: *line }
        }
        RewriteError::Select(SelectError::Pattern { pattern, problem }) => {
            EditError::Pattern { pattern: pattern.clone(), problem: problem.clone() }
        }
        RewriteError::Replacement { text, problem } => {
            EditError::Pattern { pattern: text.clone(), problem: problem.clone() }
        }
        RewriteError::DoesNotFit { text, line } => {
            EditError::DoesNotFit { region, replacement: text.clone(), line: *line }
        }
        RewriteError::Unbound(name) => EditError::Unbound { name: name.clone() },
        RewriteError::Select(SelectError::TooLarge) | RewriteError::TooLarge => EditError::TooLarge { region },
    }
}
