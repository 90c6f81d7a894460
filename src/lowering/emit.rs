//! The stages of lowering as text, for `peak lower --emit plan|prompt|edits|source`.

use super::apply::prepared;
use super::prompt::{PromptFacts, Surroundings, render};
use super::step::with_requirements;
use super::templates::{TemplateError, Templates};
use crate::context::KernelContext;
use crate::edit::{rewrite, unified};
use crate::plan::TransformationPlan;
use peak_grammar::ir::Region;

/// A stage that can be printed once a transformation was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The plan, as JSON.
    Plan,
    /// The edits of each region, as a unified diff.
    Edits,
    /// The edit scripts, as JSON.
    EditScripts,
    /// The three regions.
    Source,
}

/// A stage as text. `before` and `after` are the same context where nothing was applied yet.
#[must_use]
pub fn lower_stage(stage: Stage, plan: &TransformationPlan, before: &KernelContext, after: &KernelContext) -> String {
    match stage {
        Stage::Plan => json(plan),
        Stage::Edits => edits(before, after),
        Stage::EditScripts => {
            let script = |region: &Region| rewrite(*region, before.regions.get(*region), after.regions.get(*region));
            let scripts: Vec<_> = Region::ALL.iter().map(script).filter(|script| !script.is_empty()).collect();
            json(&scripts)
        }
        Stage::Source => source(after),
    }
}

/// A unified diff of all regions; empty where nothing changed.
#[must_use]
pub fn edits(before: &KernelContext, after: &KernelContext) -> String {
    Region::ALL.iter().map(|region| unified(*region, before.regions.get(*region), after.regions.get(*region))).collect()
}

/// The three regions, each under its name.
#[must_use]
pub fn source(context: &KernelContext) -> String {
    let region = |region: &Region| {
        let text = context.regions.get(*region);
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        format!("==> {region}\n{text}{end}")
    };
    Region::ALL.iter().map(region).collect::<Vec<_>>().join("\n")
}

/// The first prompt of a transformation, or of one of its passes, on the context as it stands; `None` where no model
/// is asked. What later passes are asked depends on the answers: an [`super::Observer`] sees those prompts.
///
/// # Errors
/// A template that is missing or wrong.
pub fn first_prompt(
    context: &KernelContext,
    plan: &TransformationPlan,
    pass: Option<&str>,
    templates: &Templates,
    surroundings: Surroundings<'_>,
    known: &[String],
) -> Result<Option<String>, TemplateError> {
    let wanted = plan.passes.iter().filter(|planned| pass.is_none_or(|name| planned.name == name));
    let Some((pass, request)) = wanted.flat_map(|pass| pass.requests().map(move |request| (pass, request))).next()
    else {
        return Ok(None);
    };
    let context = &with_requirements(&prepared(context, plan), pass);
    let facts = PromptFacts { context, plan, pass, request, surroundings, known, repair: None };
    render(templates, &facts).map(Some)
}

fn json(value: &impl serde::Serialize) -> String {
    // Plain data with text keys always has a JSON form; should that change, the error is shown in its place.
    serde_json::to_string_pretty(value).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"))
}
