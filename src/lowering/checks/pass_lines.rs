//! The lines of a pass's `checks`.

use super::{PassFacts, Rejection};
use crate::edit::tokens::{Kind, Syntax, find, tokens};
use crate::lowering::prompt::check_region;
use crate::lowering::syntax;
use peak_grammar::ir::Check;

pub const CODE: &str = "peak::answer-fails-check";

pub fn check(facts: &PassFacts<'_>) -> Option<Rejection> {
    let failed: Vec<(&Check, String)> =
        facts.pass.checks.iter().filter_map(|check| Some((check, shortfall(facts, check)?))).collect();
    let line = |(check, shows): &(&Check, String)| {
        format!("after this pass the {} {}{shows}", check_region(check), rule(check))
    };
    let (first, others) = failed.split_first()?;
    Some(Rejection {
        code: CODE,
        region: check_region(first.0),
        message: line(first),
        facts: others.iter().map(line).collect(),
    })
}

/// What a check asks for.
fn rule(check: &Check) -> String {
    match check {
        Check::Mentions { name, .. } => format!("must mention `{name}`"),
        Check::Lacks { name, .. } => format!("must not mention `{name}`"),
        Check::NestedLoops { depth, .. } => format!("must have loops nested at least {depth} deep"),
        Check::Barriers { count, .. } => format!("must have at least {count} barriers"),
    }
}

/// What the text shows instead, to go on after the rule; `None` where the check holds.
fn shortfall(facts: &PassFacts<'_>, check: &Check) -> Option<String> {
    let region = check_region(check);
    let text = facts.after.regions.get(region);
    let mentions = |name: &str| !find(text, name, Syntax::of(region)).is_empty();
    match check {
        Check::Mentions { name, .. } if !mentions(name) => Some(", and does not".to_owned()),
        Check::Lacks { name, .. } if mentions(name) => Some(", and does".to_owned()),
        Check::NestedLoops { depth, .. } => {
            let found = syntax::loop_depth(&facts.after.backend, text);
            (found < *depth).then(|| format!(": the deepest is {found}"))
        }
        Check::Barriers { count, .. } => {
            let found = barriers(facts, text);
            (found < *count as usize).then(|| format!(": it has {found}"))
        }
        Check::Mentions { .. } | Check::Lacks { .. } => None,
    }
}

/// Barriers in a text, and uses of macros that hold one.
fn barriers(facts: &PassFacts<'_>, text: &str) -> usize {
    let name = facts.spelling.barrier.trim_end_matches("()");
    let direct = find(text, name, Syntax::Code).len();
    let macros = &facts.after.regions.macros;
    let holders: Vec<&str> = macros
        .split("#define")
        .skip(1)
        .filter(|definition| !find(definition, name, Syntax::Code).is_empty())
        .filter_map(|definition| {
            definition.split(|c: char| !c.is_alphanumeric() && c != '_').find(|word| !word.is_empty())
        })
        .collect();
    let uses = tokens(text, Syntax::Code);
    direct + uses.iter().filter(|t| t.kind == Kind::Identifier && holders.contains(&t.text(text))).count()
}
