//! `set`: changes to the launch plan, made on its parsed form and printed again.

use super::EditError;
use peak_grammar::ir::{Expr, Launch, LaunchPlan, PlanStatement, SetTarget};

/// The launch plan's text after `set TARGET to EXPR, ...`.
///
/// # Errors
/// No launch or no such `let`, or the wrong number of expressions.
pub fn set(plan: &LaunchPlan, target: &SetTarget, to: &[Expr]) -> Result<String, EditError> {
    let mut plan = plan.clone();
    let count = |takes: &'static str| EditError::SetCount { what: words(target), count: to.len(), takes };
    match target {
        SetTarget::Grid | SetTarget::Block if to.is_empty() || to.len() > 3 => return Err(count("one to three")),
        SetTarget::Shared | SetTarget::Let(_) if to.len() != 1 => return Err(count("one")),
        _ => {}
    }
    match change(&mut plan.statements, target, to) {
        0 => Err(EditError::NothingToSet { what: words(target) }),
        _ => Ok(peak_grammar::print_launch_plan(&plan)),
    }
}

/// How many statements were changed.
fn change(statements: &mut [PlanStatement], target: &SetTarget, to: &[Expr]) -> usize {
    let mut changed = 0;
    for statement in statements {
        match (statement, target) {
            (PlanStatement::Repeat { body, .. }, _) => changed += change(body, target, to),
            (PlanStatement::Launch(launch), _) => changed += change_launch(launch, target, to),
            (PlanStatement::Let { name, value }, SetTarget::Let(wanted)) if name == wanted => {
                value.clone_from(&to[0]);
                changed += 1;
            }
            _ => {}
        }
    }
    changed
}

fn change_launch(launch: &mut Launch, target: &SetTarget, to: &[Expr]) -> usize {
    match target {
        SetTarget::Grid => launch.grid = to.to_vec(),
        SetTarget::Block => launch.block = to.to_vec(),
        SetTarget::Shared => launch.shared = to.first().cloned(),
        SetTarget::Let(_) => return 0,
    }
    1
}

fn words(target: &SetTarget) -> String {
    match target {
        SetTarget::Grid => "grid".to_owned(),
        SetTarget::Block => "block".to_owned(),
        SetTarget::Shared => "shared".to_owned(),
        SetTarget::Let(name) => format!("`let {name}`"),
    }
}
