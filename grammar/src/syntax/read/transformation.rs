//! Clauses of `transformation`, passes and steps.

use super::clause::{
    Piece, Rule, clauses, clauses_of, missing_block, no_block, no_block_after_prose, one_fence, stray_fences,
};
use super::{expression, kernel};
use crate::ir::{Check, Effect, Region, SettingValue, Side, Which};
use crate::syntax::ast::{
    Block, Header, Pass, PassClause, Place, RegionContent, RegionStep, Setting, Target, TransformationClause as Clause,
};
use crate::syntax::{Node, Prose, Report, Spanned, prose};

/// The words that steps open with.
const STEPS: [&str; 4] = ["insert", "rewrite", "rename", "set"];

pub(super) fn transformation(header: Header, node: &Node<'_>, out: &mut Report<'_>) -> Block<Clause> {
    let clauses = clauses(Rule::transformation_line, node, out, |piece, node, out| {
        if !matches!(piece.rule(), Rule::for_kernels | Rule::because | Rule::pass | Rule::known_failures) {
            no_block(node, out);
        }
        match piece.rule() {
            Rule::for_kernels if piece.has(Rule::k_computing) => {
                kernel::assignments(piece, node, out).map(Clause::Computing)
            }
            Rule::for_kernels => {
                no_block(node, out);
                Some(Clause::ForKernels(piece.names(Rule::word)))
            }
            Rule::on_languages => Some(Clause::On(piece.names(Rule::word))),
            Rule::needs => needs(piece),
            Rule::after => Some(Clause::After(piece.names(Rule::word))),
            Rule::conflicts => Some(Clause::ConflictsWith(piece.names(Rule::word))),
            Rule::because => words(node, out).map(Clause::Because),
            Rule::takes => setting(piece, out).map(Clause::Takes),
            Rule::introduces => expression::introduced(piece, out).map(Clause::Introduces),
            Rule::requires => expression::requirement(piece, out).map(Clause::Requires),
            Rule::expects => expects(piece, out),
            Rule::pass => pass(piece, node, out).map(Clause::Pass),
            _ => words(node, out).map(Clause::KnownFailures),
        }
    });
    Block { header, clauses }
}

/// The prose below an opener.
pub(super) fn words(node: &Node<'_>, out: &mut Report<'_>) -> Option<Prose> {
    let words = prose::prose(node.prose.as_deref().unwrap_or(&[]), out);
    no_block_after_prose(node, out);
    if words.segments.is_empty() {
        missing_block(node, out);
        return None;
    }
    Some(words)
}

/// `takes NAME[: TYPE] = VALUE`.
pub(super) fn setting(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Setting> {
    let value = piece.find(Rule::setting_value)?;
    let kind = piece.find(Rule::setting_type).map(|kind| kind.as_name());
    let value = Spanned::new(setting_value(&value, out)?, value.span());
    let given = match value.value {
        SettingValue::Integer(_) => "int",
        SettingValue::Flag(_) => "bool",
        SettingValue::Text(_) => "text",
    };
    if let Some(kind) = kind.as_ref().filter(|kind| kind.value != given) {
        let message = format!("the setting is `{}`, its default `{given}`", kind.value);
        let diagnostic = out.error("peak::type-mismatch", value.span, message);
        out.push(diagnostic.help("an int is a whole number, a bool `yes` or `no`, a text is quoted"));
    }
    Some(Setting { name: piece.name(Rule::ident), kind, value })
}

/// A number, `yes`, `no` or quoted text.
pub(super) fn setting_value(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<SettingValue> {
    let form = piece.parts().next()?;
    Some(match form.rule() {
        Rule::integer => SettingValue::Integer(form.integer(out).value),
        Rule::text => SettingValue::Text(form.quoted().value),
        other => SettingValue::Flag(other == Rule::k_yes),
    })
}

/// A pass and its clauses.
pub(super) fn pass(piece: &Piece<'_>, node: &Node<'_>, out: &mut Report<'_>) -> Option<Pass> {
    if node.children.is_empty() {
        missing_block(node, out);
        return None;
    }
    let clauses = clauses(Rule::pass_line, node, out, pass_clause);
    let title = piece.find(Rule::text).map(|text| text.quoted().value);
    Some(Pass { name: piece.name(Rule::word), title, span: node.whole(), clauses })
}

fn needs(piece: &Piece<'_>) -> Option<Clause> {
    let form = piece.parts().nth(1)?;
    let names = form.names(Rule::ident);
    Some(if form.rule() == Rule::needs_tuning { Clause::NeedsTuning(names) } else { Clause::NeedsLet(names) })
}

fn expects(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Clause> {
    let number = piece.find(Rule::number)?;
    let factor = Spanned::new(number.number(out), number.span());
    if factor.value <= 1.0 {
        out.push(
            out.error("peak::values", factor.span, "a factor above 1 is needed").help("`by at least 2 times`, say"),
        );
    }
    Some(Clause::Expects { counter: piece.name(Rule::ident), falls: piece.has(Rule::k_fall), factor })
}

pub(super) fn pass_clause(piece: &Piece<'_>, node: &Node<'_>, out: &mut Report<'_>) -> Option<PassClause> {
    match piece.rule() {
        Rule::in_region => {
            let content = match &node.prose {
                Some(_) => RegionContent::Prose(words(node, out)?),
                None => RegionContent::Steps(region_steps(node, out)),
            };
            return Some(PassClause::In { region: region(piece)?, languages: piece.languages(), content });
        }
        Rule::checks if node.children.is_empty() => {
            missing_block(node, out);
            return None;
        }
        Rule::checks => return Some(PassClause::Checks(clauses(Rule::check_line, node, out, check))),
        _ => no_block(node, out),
    }
    Some(match piece.rule() {
        Rule::keeps_results => PassClause::Effect(Effect::KeepsResults),
        Rule::may_break if piece.has(Rule::k_results) => PassClause::Effect(Effect::MayBreakResults),
        Rule::may_break => PassClause::Effect(Effect::MayBreakBuild),
        Rule::retire => PassClause::Retire(piece.names(Rule::ident)),
        _ => PassClause::ReplaceRequirement(piece.name(Rule::word), expression::expression(piece, out)?),
    })
}

/// The steps of a region. Of lines that open no step, only the first of a run is reported: they are prose, misplaced.
fn region_steps(node: &Node<'_>, out: &mut Report<'_>) -> Vec<Spanned<RegionStep>> {
    stray_fences(node, out);
    let prose = |child: &Node<'_>| !STEPS.contains(&child.text.split_whitespace().next().unwrap_or_default());
    let mut kept = Vec::new();
    let mut in_prose = false;
    for child in &node.children {
        match prose(child) && in_prose {
            true => out.unread(child.span, child.text),
            false => kept.push(child),
        }
        in_prose = prose(child);
    }
    clauses_of(Rule::step_line, kept, out, step)
}

fn region(piece: &Piece<'_>) -> Option<Region> {
    Some(match piece.find(Rule::region)?.parts().next()?.rule() {
        Rule::k_macros => Region::Macros,
        Rule::k_device_code => Region::DeviceCode,
        _ => Region::HostCode,
    })
}

fn step(piece: &Piece<'_>, node: &Node<'_>, out: &mut Report<'_>) -> Option<RegionStep> {
    if piece.rule() == Rule::insert {
        let place = piece.find(Rule::place).and_then(|form| place(&form, out)).unwrap_or(Place::Top);
        return Some(match piece.find(Rule::word) {
            Some(utility) => {
                no_block(node, out);
                RegionStep::InsertUtility(utility.as_name(), place)
            }
            None => RegionStep::InsertCode(one_fence(node, out)?, place),
        });
    }
    no_block(node, out);
    let mut codes = piece.all(Rule::code).map(|code| code.quoted());
    Some(match piece.rule() {
        Rule::rewrite => RegionStep::Rewrite(target(piece, out)?, codes.nth(1)),
        Rule::rename => RegionStep::Rename(codes.next()?.value, codes.next()?.value),
        _ => RegionStep::Set(piece.name(Rule::ident), expression::expressions(piece, out)),
    })
}

fn place(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Place> {
    let form = piece.parts().next()?;
    Some(match form.rule() {
        Rule::before => Place::Before(target(&form, out)?),
        Rule::after_code => Place::After(target(&form, out)?),
        Rule::k_at_the_end => Place::End,
        _ => Place::Top,
    })
}

/// The first code of a clause, with the words around it.
fn target(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Target> {
    let which = piece.find(Rule::which).and_then(|form| {
        let word = form.parts().next()?;
        Some(match word.rule() {
            Rule::k_first => Which::First,
            Rule::k_last => Which::Last,
            Rule::k_every => Which::Every,
            _ => Which::Exactly(form.find(Rule::integer)?.count(out)),
        })
    });
    let within = piece.find(Rule::within).and_then(|form| {
        let side = match form.parts().next()?.rule() {
            Rule::k_before => Side::Before,
            Rule::k_after => Side::After,
            _ => Side::Inside,
        };
        Some((side, form.find(Rule::code)?.quoted()))
    });
    let pattern = piece.find(Rule::code)?.quoted();
    Some(Target { pattern, which, innermost: piece.has(Rule::k_innermost), within, if_any: piece.has(Rule::k_if_any) })
}

fn check(piece: &Piece<'_>, node: &Node<'_>, out: &mut Report<'_>) -> Option<Check> {
    no_block(node, out);
    let region = region(piece)?;
    let name = || {
        let code = piece.find(Rule::code).map(|code| code.quoted().value);
        code.unwrap_or_else(|| piece.name(Rule::ident).value)
    };
    let count = piece.find(Rule::integer).map_or(1, |number| number.count(out));
    Some(match piece.rule() {
        Rule::mentions => Check::Mentions { region, name: name() },
        Rule::lacks => Check::Lacks { region, name: name() },
        Rule::has_loops => Check::NestedLoops { region, depth: count },
        _ => Check::Barriers { region, count },
    })
}
