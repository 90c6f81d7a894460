//! Carries a step out on a copy of the context: edits to one region, the launch plan parsed again.

use super::checks::Rejection;
use crate::context::KernelContext;
use crate::edit::{EditError, EditScript, mechanical, mechanical_again};
use crate::plan::PassPlan;
use peak_grammar::ir::{Action, ArgumentKind, Region};
use peak_grammar::{Diagnostic, PlanNames};

/// The code of text that does not parse, shared with the check of that name.
const DOES_NOT_PARSE: &str = "peak::answer-does-not-parse";

/// Why a step changes nothing.
pub enum StepError {
    /// The edit cannot be made.
    Edit(EditError),
    /// It can, and the result is no launch plan.
    Rejected(Rejection),
}

/// The context after an edit script.
pub fn edited(context: &KernelContext, script: &EditScript) -> Result<KernelContext, StepError> {
    let region = script.region;
    let text = script.apply(context.regions.get(region)).map_err(StepError::Edit)?;
    let mut after = context.clone();
    if region == Region::HostCode {
        after.plan = peak_grammar::parse_launch_plan(region.words(), &text, &names(context)).map_err(|problems| {
            let mut facts = problems.iter().filter(|problem| problem.is_error()).map(|problem| told(problem, &text));
            let message = facts.next().unwrap_or_else(|| "it is no launch plan".to_owned());
            let facts = facts.collect();
            StepError::Rejected(Rejection { code: DOES_NOT_PARSE, region, message, facts })
        })?;
    }
    *after.regions.get_mut(region) = text;
    Ok(after)
}

/// The context after a mechanical step.
pub fn carried_out(context: &KernelContext, region: Region, action: &Action) -> Result<KernelContext, StepError> {
    // Utilities are code already: the plan resolved them.
    all(context, &mechanical(context, region, action, &|_| None).map_err(StepError::Edit)?)
}

/// The context after what a mechanical step does to one region, whose text is from before the step.
pub fn carried_out_again(
    context: &KernelContext,
    step_region: Region,
    action: &Action,
    region: Region,
) -> Result<KernelContext, StepError> {
    all(context, &mechanical_again(context, step_region, action, region).map_err(StepError::Edit)?)
}

/// The context after every script: a copy, so that one that fails leaves all regions as they were.
fn all(context: &KernelContext, scripts: &[EditScript]) -> Result<KernelContext, StepError> {
    scripts.iter().try_fold(context.clone(), |context, script| edited(&context, script))
}

/// The context after a pass's own changes to requirements.
pub fn with_requirements(context: &KernelContext, pass: &PassPlan) -> KernelContext {
    let mut after = context.clone();
    for new in &pass.replaces {
        match after.requirements.iter_mut().find(|old| old.name == new.name) {
            Some(old) => old.clone_from(new),
            None => after.requirements.push(new.clone()),
        }
    }
    after
}

/// The context without the parameters that a pass retires.
pub fn without_retired(context: &KernelContext, pass: &PassPlan) -> KernelContext {
    let mut after = context.clone();
    after.tuning.retain(|parameter| !pass.retires.contains(&parameter.name));
    after
}

/// A diagnostic as one line for a model: where, what, and what to do.
fn told(problem: &Diagnostic, text: &str) -> String {
    let line = text.get(..problem.span.start).map_or(1, |before| before.matches('\n').count() + 1);
    let help = problem.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
    format!("host code, line {line}: {}{help}", problem.message)
}

/// Names that a launch plan may use.
fn names(context: &KernelContext) -> PlanNames {
    let mut names = PlanNames {
        arrays: Vec::new(),
        scalars: Vec::new(),
        tuning: context.tuning.iter().map(|parameter| parameter.name.clone()).collect(),
        facts: Vec::new(),
    };
    for argument in &context.kernel.arguments {
        match argument.kind {
            ArgumentKind::Array { .. } => names.arrays.push(argument.name.clone()),
            ArgumentKind::Scalar { .. } => names.scalars.push(argument.name.clone()),
        }
    }
    names
}
