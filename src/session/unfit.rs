//! Steps of workflows that cannot apply where they stand, told when a file is checked and not only when a run comes to
//! them. Of what a device or a model has yet to decide, nothing is said.

use super::context::start_context;
use super::steps::{Reason, Surroundings, reasons};
use super::written::{self, Part, Role, Written, applications};
use crate::library::Loaded;
use crate::plan::NotApplicable;
use indexmap::IndexMap;
use miette::Diagnostic as _;
use peak_grammar::ir::{Application, Library, Workflow};
use peak_grammar::specialize;
use peak_grammar::syntax::Span;
use peak_grammar::{Diagnostic, Severity};

/// Transformations that a help names, at most.
const NAMED: usize = 4;

/// A finding for each application that does not apply wherever its workflow may run: an error where the run would end
/// there, a warning where it would go on without it, or where it holds on some devices alone.
#[must_use]
pub fn unfit(loaded: &Loaded) -> Vec<Diagnostic> {
    let asked = |file: &String| loaded.asked.is_empty() || loaded.asked.contains(file);
    let in_packs = loaded.ir.packs.values().flat_map(|pack| pack.workflows.values().map(|own| (own, true)));
    let workflows = loaded.ir.workflows.iter().map(|workflow| (workflow, false)).chain(in_packs);
    let workflows = workflows.filter(|(workflow, _)| asked(&workflow.origin.file));
    workflows.flat_map(|(workflow, in_pack)| check(loaded, workflow, in_pack)).collect()
}

/// What became of each application, in one place.
struct Walked<'l> {
    place: Surroundings<'l>,
    reasons: Vec<Option<Reason>>,
}

fn check(loaded: &Loaded, workflow: &Workflow, in_pack: bool) -> Vec<Diagnostic> {
    let walked = places(&loaded.ir, workflow, in_pack).into_iter().filter_map(|place| {
        // Sources that are missing are reported already.
        let start = start_context(loaded, &workflow.kernel, &place.language).ok()?;
        Some(Walked { reasons: reasons(&loaded.ir, workflow, start, &place), place })
    });
    let walked: Vec<Walked<'_>> = walked.collect();
    let applications = applications(&workflow.steps);
    let meant = meant(&walked, &applications);
    let finding = |(index, (application, role)): (usize, &(&Application, Role))| {
        let fails: Vec<(&Reason, &Walked<'_>)> =
            meant.iter().filter_map(|one| Some((one.reasons[index].as_ref()?, *one))).collect();
        let (reason, _) = fails.first()?;
        let everywhere = fails.len() == meant.len();
        let places: Vec<String> = fails.iter().map(|(_, one)| words(&one.place)).collect();
        let at = written::application(loaded, workflow, index);
        let at = at.unwrap_or_else(|| Written {
            file: workflow.origin.file.clone(),
            span: Span::new(workflow.origin.start, workflow.origin.start),
        });
        let places = (!everywhere).then(|| places.join(", "));
        Some(diagnostic(loaded, at, application, *role, reason, places))
    };
    applications.iter().enumerate().filter_map(finding).collect()
}

/// Every language and device that the workflow may be run with. One without a target may meet a device that has no file.
fn places<'l>(library: &'l Library, workflow: &Workflow, in_pack: bool) -> Vec<Surroundings<'l>> {
    let Some(kernel) = library.kernels.get(&workflow.kernel) else { return Vec::new() };
    let wanted = |language: &&String| workflow.backend.as_ref().is_none_or(|own| own == *language);
    let mut found = Vec::new();
    for language in kernel.code.keys().filter(wanted) {
        for device in library.devices.values().filter(|device| device.speaks.contains_key(language)) {
            let chosen = specialize::workflow(library, &workflow.name, Some(&device.name), Some(language));
            if chosen.is_ok_and(|chosen| std::ptr::eq(chosen, workflow)) {
                let facts = specialize::with_facts(library, device).facts_for(language);
                found.push(Surroundings { device: Some(&device.name), language: language.clone(), facts });
            }
        }
        if workflow.target.is_none() && !in_pack {
            found.push(Surroundings { device: None, language: language.clone(), facts: IndexMap::new() });
        }
    }
    found
}

/// The places that a workflow means: not those in whose language, or on whose device, an `apply` of it cannot be had,
/// unless there are no others.
fn meant<'w, 'l>(walked: &'w [Walked<'l>], applications: &[(&Application, Role)]) -> Vec<&'w Walked<'l>> {
    let elsewhere = |(reason, (_, role)): (&Option<Reason>, &(&Application, Role))| {
        *role == Role::Apply
            && match reason {
                Some(Reason::Plan(reason)) => reason.is_of_language(),
                Some(Reason::Device(_)) => true,
                None => false,
            }
    };
    let meant = |one: &&Walked<'_>| !one.reasons.iter().zip(applications).any(elsewhere);
    let some: Vec<&Walked<'_>> = walked.iter().filter(meant).collect();
    if some.is_empty() { walked.iter().collect() } else { some }
}

fn words(place: &Surroundings<'_>) -> String {
    match place.device {
        Some(device) => format!("on `{device}` in {}", place.language),
        None => format!("in {} on a device without a file", place.language),
    }
}

fn diagnostic(
    loaded: &Loaded,
    at: Written,
    application: &Application,
    role: Role,
    reason: &Reason,
    places: Option<String>,
) -> Diagnostic {
    let (code, message, help) = match reason {
        Reason::Plan(reason) => (reason.stable_code(), reason.to_string(), help(&loaded.ir, reason)),
        Reason::Device(error) => ("peak::not-for-device", error.to_string(), error.help().map(|help| help.to_string())),
    };
    let severity = if role == Role::Apply && places.is_none() { Severity::Error } else { Severity::Warning };
    let message = match places {
        Some(places) => format!("{places}, {message}"),
        None => message,
    };
    let found = Diagnostic {
        code,
        severity,
        message,
        file: at.file,
        span: at.span,
        label: label(role).to_owned(),
        help,
        related: Vec::new(),
    };
    match clause(loaded, application, reason) {
        Some((at, what)) => found.related(&at.file, at.span, what),
        None => found,
    }
}

fn label(role: Role) -> &'static str {
    match role {
        Role::Apply => "a run ends here",
        Role::Branch => "so this branch is never taken",
        Role::Try => "so this is never tried",
        Role::Candidate => "so this is never offered",
    }
}

/// What to do in the workflow; else what the reason itself says.
fn help(library: &Library, reason: &NotApplicable) -> Option<String> {
    match reason {
        NotApplicable::NeedsTuning { name, .. } => match introducers(library, name).as_slice() {
            [] => Some(format!(
                "no transformation introduces `{name}`: add `tune {name} in ...` to the kernel, or map another \
                 parameter to it: `with {name} as OTHER`"
            )),
            known => Some(format!(
                "introduced by {}: apply one that does before this, or map another parameter: `with {name} as OTHER`",
                known[..known.len().min(NAMED)].join(", ")
            )),
        },
        NotApplicable::Backend { on, .. } => {
            Some(format!("say for which language the workflow is (`on ...`: {on}), or apply another transformation"))
        }
        NotApplicable::After { other, .. } => Some(format!("put the line `apply {other}` before it")),
        NotApplicable::ParameterExists { .. } => {
            Some("it was applied before, or the kernel has a parameter of that name: leave this line out".to_owned())
        }
        _ => reason.help().map(|help| help.to_string()),
    }
}

fn introducers(library: &Library, name: &str) -> Vec<String> {
    let nested = library.packs.values().flat_map(|pack| pack.transformations.values());
    let all = library.transformations.values().chain(nested);
    let introduces = |own: &&peak_grammar::ir::Transformation| own.introduces.iter().any(|new| new.name == name);
    all.filter(introduces).map(|own| format!("`{}`", own.name)).collect()
}

/// The clause of the transformation that is not met, and what it says.
fn clause(loaded: &Loaded, application: &Application, reason: &Reason) -> Option<(Written, &'static str)> {
    let Reason::Plan(reason) = reason else { return None };
    // What the clause calls it, before the workflow's `as`.
    let own = |name: &str| {
        let renamed = application.renames.iter().find(|(_, other)| *other == name);
        renamed.map_or(name.to_owned(), |(own, _)| own.clone())
    };
    let name = application.transformation.as_str();
    let find = |part: Part<'_>, what| Some((written::part(loaded, name, part)?, what));
    match reason {
        NotApplicable::Backend { .. } => find(Part::On, "only these languages"),
        NotApplicable::Kernel { .. } => find(Part::ForKernels, "only these kernels"),
        NotApplicable::Pattern { .. } => find(Part::ForKernels, "only kernels that compute this"),
        NotApplicable::NeedsTuning { name, .. } => find(Part::NeedsTuning(&own(name)), "needed here"),
        NotApplicable::NeedsLet { name, .. } => find(Part::NeedsLet(name), "needed here"),
        NotApplicable::After { other, .. } => find(Part::After(other), "asked for here"),
        NotApplicable::Conflict { other, .. } => find(Part::ConflictsWith(other), "said here").or_else(|| {
            // A conflict holds both ways.
            Some((written::part(loaded, other, Part::ConflictsWith(name))?, "said here"))
        }),
        NotApplicable::ParameterExists { name, .. } => find(Part::Introduces(name), "introduced here"),
        NotApplicable::ReplacedMissing { requirement, .. } => find(Part::Replaces(requirement), "replaced here"),
        NotApplicable::RetiredRequired { parameter, .. } | NotApplicable::RetiredRead { parameter, .. } => {
            find(Part::Retires(&own(parameter)), "retired here")
        }
        NotApplicable::Utility { .. }
        | NotApplicable::UnknownSetting { .. }
        | NotApplicable::SettingType { .. }
        | NotApplicable::UnknownRange { .. } => None,
    }
}
