//! `rename`: one name, wherever the kernel means it: in macros and device code, and where an entry is launched.
//!
//! Names that others know the kernel by are not the code's own, and are refused.

use super::code::{CodeLanguage, Document, Occurrence, is_identifier, is_parameter, occurrences};
use super::tokens::{Kind, Syntax, Token, tokens};
use super::{Edit, EditError, EditScript};
use crate::context::KernelContext;
use peak_grammar::ir::{ArgumentKind, PlanStatement, Region};
use std::collections::BTreeSet;

/// The scripts of a renaming in every region where the name is meant.
///
/// # Errors
/// The name is not in the region, is not the code's own, or the new one is taken.
pub(super) fn everywhere(
    context: &KernelContext,
    region: Region,
    from: &str,
    to: &str,
) -> Result<Vec<EditScript>, EditError> {
    check_names(context, region, from, to)?;
    if in_region(context, region, from, to)?.is_none() {
        return Err(EditError::NothingToRename { region, name: from.to_owned() });
    }
    let regions = regions(context, region, from);
    check_free(context, regions, from, to)?;
    let scripts = regions.iter().map(|region| in_region(context, *region, from, to));
    scripts.filter_map(Result::transpose).collect()
}

/// Where a name of `region` means the same: an entry where it is launched, other names of code in all code.
pub(super) fn regions(context: &KernelContext, region: Region, name: &str) -> &'static [Region] {
    match region {
        _ if context.plan.launches().iter().any(|launch| launch.kernel == name) => &Region::ALL,
        Region::HostCode => &[Region::HostCode],
        _ => &[Region::Macros, Region::DeviceCode],
    }
}

/// The script of one region; `None` where the name is not in it.
///
/// # Errors
/// The name stands in code that does not parse.
pub(super) fn in_region(
    context: &KernelContext,
    region: Region,
    from: &str,
    to: &str,
) -> Result<Option<EditScript>, EditError> {
    let text = context.regions.get(region);
    let spans: Vec<_> = match region {
        Region::HostCode => plan_names(context, from).into_iter().map(|token| token.span).collect(),
        _ => {
            let document = document(context, region)?;
            let found = occurrences(&document, from);
            if let Some(one) = found.iter().find(|one| one.in_error) {
                let (pattern, line) = (from.to_owned(), document.line(one.span.start));
                return Err(EditError::MatchDoesNotParse { region, pattern, line });
            }
            found.into_iter().map(|one| one.span).collect()
        }
    };
    let edit = |span: std::ops::Range<usize>| Edit {
        start: span.start,
        expected: text[span].to_owned(),
        replacement: to.to_owned(),
    };
    match spans.is_empty() {
        true => Ok(None),
        false => EditScript::new(region, spans.into_iter().map(edit).collect()).map(Some),
    }
}

/// The new name is one, and the old one is the code's own.
fn check_names(context: &KernelContext, region: Region, from: &str, to: &str) -> Result<(), EditError> {
    if !is_identifier(CodeLanguage::of(&context.backend), to) {
        return Err(EditError::NoIdentifier { name: to.to_owned() });
    }
    let fixed = |why: &str| Err(EditError::NameIsFixed { name: from.to_owned(), why: why.to_owned() });
    let argument = context.kernel.arguments.iter().any(|argument| argument.name == from);
    let passed = passed_names(context);
    match () {
        () if context.parameter(from).is_some() => fixed("it is a tuning parameter"),
        () if prelude(context).contains(from) => fixed("the prelude defines it"),
        () if argument && region == Region::HostCode => fixed("it is an argument of the kernel"),
        () if passed.contains(from) && context.backend == "hlsl" => {
            fixed("HLSL binds what a launch passes by this name")
        }
        () if region == Region::HostCode && is_required(context, from) => fixed("a requirement reads it"),
        () => Ok(()),
    }
}

/// The new name means nothing yet where the old one stands.
fn check_free(context: &KernelContext, regions: &[Region], from: &str, to: &str) -> Result<(), EditError> {
    let taken = |region| Err(EditError::NameTaken { region, from: from.to_owned(), name: to.to_owned() });
    if context.parameter(to).is_some() || prelude(context).contains(to) || declares(&context.plan.statements, to) {
        return taken(regions[0]);
    }
    if regions.contains(&Region::HostCode) && plan_words(context, to) > 0 {
        return taken(Region::HostCode);
    }
    let code = [Region::Macros, Region::DeviceCode];
    let mut old = Vec::new();
    let mut new = Vec::new();
    for region in code.into_iter().filter(|region| regions.contains(region)) {
        let document = document(context, region)?;
        old.extend(occurrences(&document, from));
        new.extend(occurrences(&document, to).into_iter().map(|one| (region, one)));
        if is_parameter(&document, to) {
            return taken(region);
        }
    }
    match new.into_iter().find(|(_, new)| old.iter().any(|old| meet(old, new))) {
        Some((region, _)) => taken(region),
        None => Ok(()),
    }
}

/// Whether two names may mean the same thing: both in one function, or one of them outside of any.
fn meet(a: &Occurrence, b: &Occurrence) -> bool {
    a.function.is_none() || b.function.is_none() || a.function == b.function
}

fn document(context: &KernelContext, region: Region) -> Result<Document<'_>, EditError> {
    let text = context.regions.get(region);
    Document::new(CodeLanguage::of(&context.backend), text).map_err(|_| EditError::TooLarge { region })
}

/// Where the launch plan's text names it: a fact of the device (`device.NAME`) is none of its names.
fn plan_names(context: &KernelContext, name: &str) -> Vec<Token> {
    let text = &context.regions.host_code;
    if !declares(&context.plan.statements, name) {
        return Vec::new();
    }
    let found = tokens(text, Syntax::LaunchPlan);
    let mut kept = Vec::new();
    for (at, token) in found.iter().enumerate() {
        let fact = at > 0 && found[at - 1].text(text) == ".";
        if token.kind == Kind::Identifier && token.text(text) == name && !fact {
            kept.push(token.clone());
        }
    }
    kept
}

/// Whether a launch plan brings the name: a `let`, an array or a tensor map of its own, or an entry that it launches.
fn declares(statements: &[PlanStatement], wanted: &str) -> bool {
    statements.iter().any(|statement| match statement {
        PlanStatement::Let { name, .. }
        | PlanStatement::Scratch { name, .. }
        | PlanStatement::TensorMap { name, .. } => name == wanted,
        PlanStatement::Launch(launch) => launch.kernel == wanted,
        PlanStatement::Repeat { body, .. } => declares(body, wanted),
        PlanStatement::Fill { .. } | PlanStatement::Reject { .. } => false,
    })
}

fn plan_words(context: &KernelContext, name: &str) -> usize {
    let text = &context.regions.host_code;
    let same = |token: &Token| token.kind == Kind::Identifier && token.text(text) == name;
    tokens(text, Syntax::LaunchPlan).iter().filter(|token| same(token)).count()
}

/// Names that launches pass.
fn passed_names(context: &KernelContext) -> BTreeSet<String> {
    context.plan.launches().into_iter().flat_map(|launch| launch.arguments.iter().cloned()).collect()
}

/// Names that the prelude gives to code.
fn prelude(context: &KernelContext) -> BTreeSet<String> {
    let arrays = context.kernel.arguments.iter().filter(|argument| matches!(argument.kind, ArgumentKind::Array { .. }));
    let types = arrays.map(|argument| format!("{}_T", argument.name));
    types.chain(["ELEMENT".to_owned(), "ACCUMULATOR".to_owned()]).collect()
}

fn is_required(context: &KernelContext, name: &str) -> bool {
    context.requirements.iter().any(|requirement| {
        let mut names = BTreeSet::new();
        requirement.condition.collect_names(&mut names);
        names.contains(name)
    })
}
