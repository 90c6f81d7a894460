//! Passes with their steps for one language: prose gathered into one request a region, the rest bound.

use super::{Names, PassPlan, PlanInputs, PlannedStep, RegionRequest, bind, code};
use crate::context::KernelContext;
use peak_grammar::ir::{Action, Check, Effect, Insertion, Pass, Region, Step};

/// Every pass, grouped: a group ends with a pass that keeps results, and with the last.
pub fn passes(context: &KernelContext, inputs: &PlanInputs<'_>, names: &Names) -> Vec<PassPlan> {
    let passes = &inputs.transformation.passes;
    let mut group = 0;
    let mut planned = Vec::new();
    for (index, pass) in passes.iter().enumerate() {
        let closes_group = pass.effect == Effect::KeepsResults || index + 1 == passes.len();
        planned.push(PassPlan {
            name: pass.name.clone(),
            title: pass.title.clone(),
            steps: steps(context, inputs, names, pass),
            effect: pass.effect,
            group,
            closes_group,
            checks: pass.checks.iter().map(|check| bound_check(check, names)).collect(),
            replaces: pass.replaces.iter().map(|r| bind::requirement(r, inputs.transformation, names)).collect(),
            retires: pass.retires.iter().map(|name| names.name(name)).collect(),
        });
        group += usize::from(closes_group);
    }
    planned
}

fn steps(context: &KernelContext, inputs: &PlanInputs<'_>, names: &Names, pass: &Pass) -> Vec<PlannedStep> {
    let here = |step: &&Step| step.on.is_empty() || step.on.contains(&context.backend);
    let mut planned: Vec<PlannedStep> = Vec::new();
    for step in pass.steps.iter().filter(here) {
        let Action::Prose(prose) = &step.action else {
            let action = bound_action(context, inputs, names, &step.action);
            planned.push(PlannedStep::Mechanical { region: step.region, action });
            continue;
        };
        let words = names.words(prose);
        match request_of(&mut planned, step.region) {
            Some(request) => {
                request.words.text = format!("{}\n\n{}", request.words.text, words.text);
                request.words.key = format!("{}\n\n{}", request.words.key, words.key);
            }
            None => planned.push(PlannedStep::Request(RegionRequest { region: step.region, words })),
        }
    }
    planned
}

fn request_of(planned: &mut [PlannedStep], region: Region) -> Option<&mut RegionRequest> {
    planned.iter_mut().find_map(|step| match step {
        PlannedStep::Request(request) if request.region == region => Some(request),
        _ => None,
    })
}

fn bound_action(context: &KernelContext, inputs: &PlanInputs<'_>, names: &Names, action: &Action) -> Action {
    match action {
        Action::Insert { what: Insertion::Utility(name), place } => {
            let code = inputs.utilities.get(name).and_then(|utility| utility.code.get(&context.backend));
            let what = Insertion::Code(code.cloned().unwrap_or_default());
            Action::Insert { what, place: code::place(names, place) }
        }
        Action::Insert { what, place } => Action::Insert { what: what.clone(), place: code::place(names, place) },
        Action::Rewrite { target, replacement } => Action::Rewrite {
            target: code::target(names, target),
            replacement: replacement.as_ref().map(|snippet| code::snippet(names, snippet)),
        },
        Action::Set { target, to } => {
            Action::Set { target: target.clone(), to: to.iter().map(|expr| names.expr(expr)).collect() }
        }
        Action::Rename { from, to } => Action::Rename { from: names.name(from), to: to.clone() },
        other => other.clone(),
    }
}

fn bound_check(check: &Check, names: &Names) -> Check {
    match check {
        Check::Mentions { region, name } => Check::Mentions { region: *region, name: names.name(name) },
        Check::Lacks { region, name } => Check::Lacks { region: *region, name: names.name(name) },
        other => other.clone(),
    }
}
