//! Passes: steps checked against the region they act on and the names of their transformation.

use super::index::Index;
use super::pattern;
use super::scope::Scope;
use super::{LANGUAGES, checked_languages, declared, duplicate_clause, origin, plan, unknown_name};
use crate::ir::{Action, Effect, Insertion, Pass, Region, Requirement, SetTarget, Step};
use crate::syntax::ast::{self, Expression, PassClause, Place, RegionContent, RegionStep, UtilityClause};
use crate::syntax::{Name, Report, Span, Spanned};
use std::collections::BTreeSet;

/// What the passes of one transformation are checked against.
pub(super) struct Surroundings<'s, 'i, 'a> {
    /// Every declaration.
    pub(super) index: &'s Index<'a>,
    /// The transformation's names.
    pub(super) scope: &'s Scope<'i>,
    /// The languages it is for; empty means all.
    pub(super) on: &'s [String],
    /// The transformation, as requirements name it.
    pub(super) transformation: &'s str,
    /// Names of tuning parameters that it may retire.
    pub(super) tuning: &'s BTreeSet<String>,
    /// Names of lets that it may set.
    pub(super) lets: &'s BTreeSet<String>,
}

pub(super) fn pass(form: &ast::Pass, around: &Surroundings<'_, '_, '_>, out: &mut Report<'_>) -> Pass {
    let mut pass = Pass {
        name: declared(&form.name, out),
        title: form.title.clone(),
        steps: Vec::new(),
        effect: Effect::default(),
        checks: Vec::new(),
        replaces: Vec::new(),
        retires: Vec::new(),
        origin: origin(form.span, out),
    };
    let mut effects = 0;
    for clause in &form.clauses {
        match &clause.value {
            PassClause::In { region, languages, content } => {
                let on = checked_languages(languages, out);
                steps(*region, &on, content, around, &mut pass.steps, out);
            }
            PassClause::Effect(effect) => {
                effects += 1;
                if effects > 1 {
                    duplicate_clause("what the pass may break", clause.span, out);
                }
                pass.effect = *effect;
            }
            PassClause::Checks(checks) => pass.checks.extend(checks.iter().map(|check| check.value.clone())),
            PassClause::ReplaceRequirement(name, condition) => {
                pass.replaces.extend(replaced(name, condition, around, out));
            }
            PassClause::Retire(names) => pass.retires.extend(names.iter().map(|name| retired(name, around, out))),
        }
    }
    pass
}

fn replaced(
    name: &Name,
    condition: &Expression,
    around: &Surroundings<'_, '_, '_>,
    out: &mut Report<'_>,
) -> Option<Requirement> {
    let condition = around.scope.condition(condition, out)?;
    Some(Requirement { name: name.value.clone(), condition, added_by: Some(around.transformation.to_owned()) })
}

fn retired(name: &Name, around: &Surroundings<'_, '_, '_>, out: &mut Report<'_>) -> String {
    if !around.tuning.contains(&name.value) {
        let known = around.tuning.iter().map(String::as_str);
        let message = format!("there is no tuning parameter `{}`", name.value);
        let mut diagnostic =
            out.error("peak::unknown-name", name.span, message).label("unknown").suggest(&name.value, known);
        let needs = format!("if the kernel has it, add `needs tuning {}`", name.value);
        diagnostic.help = Some(diagnostic.help.map_or(needs.clone(), |help| format!("{help}\n{needs}")));
        out.push_unknown(&name.value, diagnostic);
    }
    name.value.clone()
}

fn steps(
    region: Region,
    on: &[String],
    content: &RegionContent,
    around: &Surroundings<'_, '_, '_>,
    into: &mut Vec<Step>,
    out: &mut Report<'_>,
) {
    let step = |action| Step { region, on: on.to_vec(), action };
    match content {
        RegionContent::Prose(prose) => into.push(step(Action::Prose(around.scope.prose(prose, out)))),
        RegionContent::Steps(steps) => {
            for form in steps {
                into.extend(action(form, region, on, around, out).map(step));
            }
        }
    }
}

fn action(
    form: &Spanned<RegionStep>,
    region: Region,
    on: &[String],
    around: &Surroundings<'_, '_, '_>,
    out: &mut Report<'_>,
) -> Option<Action> {
    let host = region == Region::HostCode;
    let fits = match &form.value {
        RegionStep::Set(..) => host,
        RegionStep::Rename(..) => true,
        _ => !host,
    };
    if !fits {
        let message = format!("this step cannot act on {region}");
        let help =
            "host code is changed by `set` and `rename`, device code and macros by `insert`, `rewrite` and `rename`";
        out.push(out.error("peak::wrong-region", form.span, message).help(help));
        return None;
    }
    Some(match &form.value {
        RegionStep::InsertUtility(name, place) => inserted(name, place, on, around, out),
        RegionStep::InsertCode(code, place) => {
            Action::Insert { what: Insertion::Code(code.clone()), place: pattern::place(place, out) }
        }
        RegionStep::Rewrite(target, replacement) => pattern::rewrite(target, replacement.as_ref(), out),
        RegionStep::Rename(from, to) => {
            identifier(from, form.span, out);
            identifier(to, form.span, out);
            Action::Rename { from: from.clone(), to: to.clone() }
        }
        RegionStep::Set(name, items) => set(name, items, form.span, around, out)?,
    })
}

fn identifier(text: &str, span: Span, out: &mut Report<'_>) {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) || !text.chars().all(fits) {
        let diagnostic = out.error("peak::syntax", span, format!("`{text}` is no identifier"));
        out.push(diagnostic.help("`rename` exchanges one identifier; `rewrite` exchanges a pattern"));
    }
}

/// `insert UTILITY`: it exists, and has code wherever the step runs.
fn inserted(
    name: &Name,
    place: &Place,
    on: &[String],
    around: &Surroundings<'_, '_, '_>,
    out: &mut Report<'_>,
) -> Action {
    match around.index.utilities.get(name.value.as_str()) {
        None => unknown_name("utility", name, around.index.utilities.keys().copied(), out),
        Some((_, utility)) => {
            let has = |language: &str| {
                utility.clauses.iter().any(|clause| match &clause.value {
                    UtilityClause::Code { languages, .. } => languages.iter().any(|name| name.value == language),
                    UtilityClause::Takes(_) => false,
                })
            };
            let wanted = LANGUAGES.into_iter().filter(|language| runs_on(language, on) && runs_on(language, around.on));
            let lacks: Vec<&str> = wanted.filter(|language| !has(language)).collect();
            if !lacks.is_empty() {
                let message = format!("the utility `{}` has no code for {}", name.value, lacks.join(", "));
                let help = format!(
                    "add `code for {}` to the utility, or say for which languages this is: `on ...` in the transformation, \
                     or `in REGION for ...` here",
                    lacks.join(", ")
                );
                out.push(out.error("peak::insert-without-code", name.span, message).help(help));
            }
        }
    }
    Action::Insert { what: Insertion::Utility(name.value.clone()), place: pattern::place(place, out) }
}

fn runs_on(language: &str, on: &[String]) -> bool {
    on.is_empty() || on.iter().any(|own| own == language)
}

fn set(
    name: &Name,
    items: &[Expression],
    span: Span,
    around: &Surroundings<'_, '_, '_>,
    out: &mut Report<'_>,
) -> Option<Action> {
    let target = match name.value.as_str() {
        "grid" => SetTarget::Grid,
        "block" => SetTarget::Block,
        "shared" => SetTarget::Shared,
        other => {
            if !around.lets.contains(other) {
                let known = around.lets.iter().map(String::as_str).chain(["grid", "block", "shared"]);
                let message = format!("there is no let `{other}`");
                let diagnostic = out.error("peak::unknown-name", name.span, message).label("unknown");
                let mut diagnostic = diagnostic.suggest(other, known);
                let needs = format!("if the kernel has it, add `needs let {other}`");
                diagnostic.help = Some(diagnostic.help.map_or(needs.clone(), |help| format!("{help}\n{needs}")));
                out.push_unknown(other, diagnostic);
            }
            SetTarget::Let(other.to_owned())
        }
    };
    if matches!(target, SetTarget::Shared | SetTarget::Let(_)) && items.len() > 1 {
        let message = format!("`{}` takes one expression, not {}", name.value, items.len());
        out.push(out.error("peak::launch", span, message).help("give one expression; `grid` and `block` take three"));
    }
    Some(Action::Set { target, to: Some(plan::extents(items, around.scope, out)).filter(|to| !to.is_empty())? })
}
