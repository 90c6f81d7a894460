//! Renders a region request into a prompt, in five parts: rules, device, kernel context, what is known, the pass.
//!
//! Tuning parameters appear with their ranges, never with a value, so that a prompt is the same on every run.

use super::format::AnswerFormat;
use super::repair::Repair;
use super::templates::{TemplateError, Templates};
use crate::context::KernelContext;
use crate::context::scope::Facts;
use crate::plan::{PassPlan, RegionRequest, TransformationPlan};
use crate::report::units;
use indexmap::IndexMap;
use peak_backend_api::Spelling;
use peak_grammar::ir::{Argument, ArgumentKind, Check, Device, Direction, Effect, Region, Tolerance, TuningParameter};
use serde_json::{Value, json};

/// Language and device.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// How the language spells things.
    pub spelling: &'a Spelling,
    /// The device file, where one matches.
    pub device: Option<&'a Device>,
    /// Facts in force.
    pub facts: &'a Facts,
}

/// What a prompt is made from.
#[derive(Clone, Copy, Debug)]
pub struct PromptFacts<'a> {
    /// The regions as they stand.
    pub context: &'a KernelContext,
    /// The transformation.
    pub plan: &'a TransformationPlan,
    /// The pass.
    pub pass: &'a PassPlan,
    /// The region and its words.
    pub request: &'a RegionRequest,
    /// Language and device.
    pub surroundings: Surroundings<'a>,
    /// Baseline, current time, counters: a few lines.
    pub known: &'a [String],
    /// What failed before.
    pub repair: Option<&'a Repair>,
    /// How the answer is asked for.
    pub format: AnswerFormat,
}

/// The prompt.
///
/// # Errors
/// A template that is missing or asks for what is not there.
pub fn render(templates: &Templates, facts: &PromptFacts<'_>) -> Result<String, TemplateError> {
    let text = templates.render(&values(facts))?;
    Ok(format!("{}\n", text.trim_end()))
}

fn values(facts: &PromptFacts<'_>) -> Value {
    let spelling = facts.surroundings.spelling;
    let text = facts.context.regions.get(facts.request.region);
    json!({
        "blocks": facts.format.for_region(text) == AnswerFormat::Blocks,
        "region": facts.request.region.words(),
        "is_host": facts.request.region == Region::HostCode,
        "is_macros": facts.request.region == Region::Macros,
        "answer_fence": fence_of(facts.request.region, spelling),
        "backend": facts.context.backend,
        "language": facts.context.backend.to_uppercase(),
        "banned": banned(spelling),
        "prelude": prelude(facts.context),
        "entries": entries(facts.context),
        "device": device(&facts.surroundings),
        "knowledge": facts.plan.knowledge.iter().map(|known| json!({"from": known.source, "text": known.words.text})).collect::<Vec<_>>(),
        "terms": spelling.terms,
        "notes": spelling.notes,
        "barrier": spelling.barrier,
        "kernel": kernel(facts.context),
        "tuning": tuning(facts),
        "requirements": facts.context.requirements.iter()
            .map(|r| json!({"name": r.name, "text": r.condition.to_string()})).collect::<Vec<_>>(),
        "regions": regions(facts),
        "known": facts.known,
        "pass": pass(facts),
        "repair": facts.repair.map(Repair::values),
    })
}

/// The values of the template for a choice among transformations; `rejected` is the caller's to add.
pub(super) fn choice_values(
    context: &KernelContext,
    candidates: &[TransformationPlan],
    surroundings: &Surroundings<'_>,
    known: &[String],
) -> Value {
    let spelling = surroundings.spelling;
    // What is known of the device stands in every candidate; what a pack knows of one of them stands with that one.
    let general = candidates.first().map(|plan| plan.knowledge.iter().filter(|known| !known.specific));
    let region = |region: &Region| {
        let text = context.regions.get(*region);
        let fence = fence_of(*region, spelling);
        json!({"name": region.words(), "text": text, "empty": text.trim().is_empty(), "fence": fence, "changes": false})
    };
    let parameter = |parameter: &TuningParameter| json!({"name": parameter.name, "values": parameter.values.to_string(), "new": false, "retired": false});
    json!({
        "is_host": false,
        "backend": context.backend,
        "language": context.backend.to_uppercase(),
        "device": device(surroundings),
        "knowledge": general.into_iter().flatten()
            .map(|known| json!({"from": known.source, "text": known.words.text})).collect::<Vec<_>>(),
        "terms": spelling.terms,
        "notes": spelling.notes,
        "kernel": kernel(context),
        "tuning": context.tuning.iter().map(parameter).collect::<Vec<_>>(),
        "requirements": context.requirements.iter()
            .map(|r| json!({"name": r.name, "text": r.condition.to_string()})).collect::<Vec<_>>(),
        "regions": Region::ALL.iter().map(region).collect::<Vec<_>>(),
        "known": known,
        "candidates": candidates.iter().map(candidate).collect::<Vec<_>>(),
    })
}

fn candidate(plan: &TransformationPlan) -> Value {
    let specific = plan.knowledge.iter().filter(|known| known.specific).map(|known| known.words.text.as_str());
    let words: Vec<&str> = std::iter::once(plan.because.text.as_str()).chain(specific).collect();
    json!({
        "name": plan.transformation,
        "title": plan.title,
        "because": words.join("\n\n").trim(),
        "introduces": plan.introduces.iter()
            .map(|p| json!({"name": p.name, "values": p.values.to_string()})).collect::<Vec<_>>(),
        "requires": plan.requires.iter()
            .map(|r| json!({"name": r.name, "text": r.condition.to_string()})).collect::<Vec<_>>(),
        "expects": plan.expects.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

/// What no kernel may hold, gathered by reason; `#include` stands in the rules of every language.
fn banned(spelling: &Spelling) -> Vec<Value> {
    let mut reasons: IndexMap<&str, Vec<String>> = IndexMap::new();
    for (text, why) in spelling.banned.iter().filter(|(text, _)| *text != "#include") {
        reasons.entry(why).or_default().push(format!("`{text}`"));
    }
    reasons.iter().map(|(why, texts)| json!({"why": why, "texts": texts})).collect()
}

/// The fence that a region's text stands in.
pub(super) fn fence_of(region: Region, spelling: &Spelling) -> &str {
    match region {
        Region::HostCode => "peak",
        _ => spelling.fence,
    }
}

/// Type names that the prelude defines.
fn prelude(context: &KernelContext) -> Vec<Value> {
    let kernel = &context.kernel;
    let named = |name: &str, of: &str| json!({"name": name, "type": of});
    let mut names = vec![named("ELEMENT", kernel.element.name()), named("ACCUMULATOR", kernel.accumulator.name())];
    let arguments = kernel.arguments.iter().map(|argument| {
        let (ArgumentKind::Scalar { element, .. } | ArgumentKind::Array { element, .. }) = &argument.kind;
        named(&format!("{}_T", argument.name), element.name())
    });
    names.extend(arguments);
    names.extend(context.plan.statements.iter().filter_map(|statement| match statement {
        peak_grammar::ir::PlanStatement::Scratch { name, element, .. } => {
            Some(named(&format!("{name}_T"), element.name()))
        }
        peak_grammar::ir::PlanStatement::TensorMap { name, .. } => Some(named(&format!("{name}_T"), "tensor map")),
        _ => None,
    }));
    names
}

fn entries(context: &KernelContext) -> Vec<Value> {
    let mut entries: Vec<Value> = Vec::new();
    for launch in context.plan.launches() {
        let entry = json!({"name": launch.kernel, "arguments": launch.arguments});
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    entries
}

fn device(surroundings: &Surroundings<'_>) -> Value {
    json!({
        "name": surroundings.device.map(|device| &device.name),
        "title": surroundings.device.and_then(|device| device.title.as_ref()),
        "facts": surroundings.facts.iter().map(|(name, value)| json!({"name": name, "value": fact(name, *value)}))
            .collect::<Vec<_>>(),
    })
}

/// A fact with its unit. Sizes of memory are in bytes, everything else is a count.
fn fact(name: &str, value: i64) -> String {
    let is_memory = name.starts_with("shared_memory") || name.ends_with("_bytes") || ["l1", "l2"].contains(&name);
    if is_memory { units::memory(value) } else { value.to_string() }
}

fn kernel(context: &KernelContext) -> Value {
    let kernel = &context.kernel;
    json!({
        "name": kernel.name,
        "title": kernel.title,
        "computes": kernel.computes.as_ref().map(ToString::to_string),
        "element": kernel.element.name(),
        "accumulator": kernel.accumulator.name(),
        "arguments": kernel.arguments.iter().map(argument).collect::<Vec<_>>(),
        "tolerance": tolerance(kernel.tolerance),
        "applied": context.applied,
    })
}

fn argument(argument: &Argument) -> String {
    let direction = match argument.direction {
        Direction::Input => "input",
        Direction::Output => "output",
        Direction::InOut => "inout",
    };
    match &argument.kind {
        // Which values it is timed and checked at is no business of the code's: it must serve all that may come.
        ArgumentKind::Scalar { element, .. } => format!("{direction} {}: {element}", argument.name),
        ArgumentKind::Array { shape, element, .. } => {
            let shape: Vec<String> = shape.iter().map(ToString::to_string).collect();
            format!("{direction} {}: array[{}] of {element}, row-major", argument.name, shape.join(", "))
        }
    }
}

fn tolerance(tolerance: Tolerance) -> String {
    match tolerance {
        Tolerance::SumLength => "within the rounding errors of its sums".to_owned(),
        Tolerance::Relative(share) => format!("within {share} of the output's scale"),
        Tolerance::Absolute(distance) => format!("within {distance}"),
        Tolerance::Exact => "bit for bit".to_owned(),
    }
}

fn tuning(facts: &PromptFacts<'_>) -> Vec<Value> {
    let introduced = |name: &str| facts.plan.introduces.iter().any(|parameter| parameter.name == name);
    let retired = |name: &String| facts.pass.retires.contains(name);
    let parameters = facts.context.tuning.iter().map(|parameter| {
        json!({
            "name": parameter.name,
            "values": parameter.values.to_string(),
            "new": introduced(&parameter.name),
            "retired": retired(&parameter.name),
        })
    });
    parameters.collect()
}

fn regions(facts: &PromptFacts<'_>) -> Vec<Value> {
    let region = |region: &Region| {
        let text = facts.context.regions.get(*region);
        json!({
            "name": region.words(),
            "text": text,
            "empty": text.trim().is_empty(),
            "fence": fence_of(*region, facts.surroundings.spelling),
            "changes": *region == facts.request.region,
        })
    };
    Region::ALL.iter().map(region).collect()
}

fn pass(facts: &PromptFacts<'_>) -> Value {
    let (plan, pass) = (facts.plan, facts.pass);
    json!({
        "transformation": plan.transformation,
        "title": plan.title,
        "because": plan.because.text,
        "name": pass.name,
        "pass_title": pass.title,
        "all": plan.passes.iter().map(|p| json!({"name": p.name, "title": p.title, "this": p.name == pass.name})).collect::<Vec<_>>(),
        "words": facts.request.words.text,
        "also": pass.requests().map(|request| request.region).filter(|region| *region != facts.request.region)
            .map(Region::words).collect::<Vec<_>>(),
        "may_break": pass.effect != Effect::KeepsResults && !pass.closes_group,
        "checks": checks(pass, facts.request.region),
    })
}

/// The lines of `checks` for a region; names that must be there in one line.
fn checks(pass: &PassPlan, region: Region) -> Vec<String> {
    let (mut mentioned, mut lines) = (Vec::new(), Vec::new());
    for check in pass.checks.iter().filter(|check| check_region(check) == region) {
        match check {
            Check::Mentions { name, .. } => mentioned.push(format!("`{name}`")),
            other => lines.push(check_text(other)),
        }
    }
    if !mentioned.is_empty() {
        lines.insert(0, format!("mentions {}", mentioned.join(", ")));
    }
    lines
}

/// The region that a line of `checks` looks at.
pub(super) fn check_region(check: &Check) -> Region {
    match check {
        Check::Mentions { region, .. }
        | Check::Lacks { region, .. }
        | Check::NestedLoops { region, .. }
        | Check::Barriers { region, .. } => *region,
    }
}

/// A line of `checks`, as a rule.
fn check_text(check: &Check) -> String {
    match check {
        Check::Mentions { name, .. } => format!("mentions `{name}`"),
        Check::Lacks { name, .. } => format!("does not mention `{name}`"),
        Check::NestedLoops { depth, .. } => format!("has loops nested at least {depth} deep"),
        Check::Barriers { count, .. } => format!("has at least {count} barriers"),
    }
}
