//! Whether anything is left on the devices that a file is for: each kernel and each workflow against the facts of each
//! device, from the declarations alone. Runs nothing, asks nobody.

use super::context::start_context;
use crate::context::KernelContext;
use crate::context::scope::Facts;
use crate::library::Loaded;
use crate::lowering::foreseen;
use crate::plan::TransformationPlan;
use crate::tune::space::{Count, Explanation, Space};
use crate::workflow::timed_sizes;
use indexmap::IndexMap;
use peak_grammar::ir::{Application, Device, Kernel, Library, Origin, Workflow, WorkflowStep};
use peak_grammar::specialize;
use peak_grammar::syntax::Span;
use peak_grammar::{Diagnostic, Severity};

/// The code of a finding.
const CODE: &str = "peak::nothing-left-on-device";

/// A finding for each kernel, and each step of a workflow, of which no configuration is valid on a device that its file
/// is for: of a kernel a warning, since it may run elsewhere; of a workflow an error.
#[must_use]
pub fn unreachable(loaded: &Loaded) -> Vec<Diagnostic> {
    let asked = |origin: &Origin| loaded.asked.is_empty() || loaded.asked.contains(&origin.file);
    let mut found = Vec::new();
    for kernel in loaded.ir.kernels.values().filter(|kernel| asked(&kernel.origin)) {
        for device in devices_of_file(&loaded.ir, &kernel.origin.file) {
            for place in places(&loaded.ir, kernel, device, None) {
                found.extend(check_kernel(loaded, kernel, &place));
            }
        }
    }
    for (workflow, devices) in workflows(&loaded.ir) {
        let kernel = loaded.ir.kernels.get(&workflow.kernel).filter(|_| asked(&workflow.origin));
        let Some(kernel) = kernel else { continue };
        for device in devices {
            for place in places(&loaded.ir, kernel, device, workflow.backend.as_deref()) {
                found.extend(check_workflow(loaded, workflow, &place));
            }
        }
    }
    found
}

/// A device in one of its languages.
struct Place<'l> {
    device: &'l Device,
    language: String,
    facts: Facts,
}

/// Devices that a file declares, and those that its packs and builds are for.
fn devices_of_file<'l>(library: &'l Library, file: &str) -> Vec<&'l Device> {
    let packs = library.packs.values().filter(|pack| pack.origin.file == file).flat_map(|pack| &pack.devices);
    let builds = library.builds.values().filter(|build| build.origin.file == file).flat_map(|build| &build.devices);
    let named: Vec<&String> = packs.chain(builds).collect();
    library.devices.values().filter(|device| device.origin.file == file || named.contains(&&device.name)).collect()
}

/// Every workflow with the devices that it is for: its target, or those of its pack.
fn workflows(library: &Library) -> Vec<(&Workflow, Vec<&Device>)> {
    let target = |workflow: &Workflow| workflow.target.as_ref().and_then(|name| library.devices.get(name));
    let outside = library.workflows.iter().map(|workflow| (workflow, target(workflow).into_iter().collect()));
    let mut all: Vec<(&Workflow, Vec<&Device>)> = outside.collect();
    for pack in library.packs.values() {
        let applies = |device: &&Device| {
            specialize::applicable_packs(library, &device.name).iter().any(|own| own.name == pack.name)
        };
        for workflow in pack.workflows.values() {
            let devices = match target(workflow) {
                Some(device) => vec![device],
                None => library.devices.values().filter(applies).collect(),
            };
            all.push((workflow, devices));
        }
    }
    all
}

/// The languages that the device speaks and the kernel has code for, with the facts in force.
fn places<'l>(library: &Library, kernel: &Kernel, device: &'l Device, only: Option<&str>) -> Vec<Place<'l>> {
    let known = specialize::with_facts(library, device);
    let fits = |language: &&String| kernel.code.contains_key(*language) && only.is_none_or(|only| only == *language);
    let place = |language: &String| Place { device, language: language.clone(), facts: known.facts_for(language) };
    device.speaks.keys().filter(fits).map(place).collect()
}

fn check_kernel(loaded: &Loaded, kernel: &Kernel, place: &Place<'_>) -> Option<Diagnostic> {
    // Sources that are missing are reported already.
    let context = start_context(loaded, &kernel.name, &place.language).ok()?;
    let why = nothing_left(&context, &IndexMap::new(), place)?;
    let what = format!("the kernel `{}`", kernel.name);
    Some(diagnostic(&what, &kernel.origin, Severity::Warning, &why, place))
}

/// The first step after which nothing is left. Steps are taken as they are declared; of alternatives each by itself.
fn check_workflow(loaded: &Loaded, workflow: &Workflow, place: &Place<'_>) -> Option<Diagnostic> {
    let mut context = start_context(loaded, &workflow.kernel, &place.language).ok()?;
    let finding = |step: &str, why: &Explanation| {
        let what = format!("{step} of the workflow `{}`", workflow.name);
        Some(diagnostic(&what, &workflow.origin, Severity::Error, why, place))
    };
    if let Some(why) = nothing_left(&context, &workflow.time_at, place) {
        return finding(&format!("the kernel `{}`", workflow.kernel), &why);
    }
    for step in &workflow.steps {
        for (application, goes_on) in applications(step) {
            let Some(plan) = planned(loaded, application, &context, place) else {
                // What later steps start from is not known.
                if goes_on {
                    return None;
                }
                continue;
            };
            let after = foreseen(&context, &plan);
            if let Some(why) = nothing_left(&after, &workflow.time_at, place) {
                return finding(&format!("`{}`", application.transformation), &why);
            }
            if goes_on {
                context = after;
            }
        }
    }
    None
}

/// What a step applies, and whether it is what later steps build on.
fn applications(step: &WorkflowStep) -> Vec<(&Application, bool)> {
    match step {
        WorkflowStep::Apply(application) => vec![(application, true)],
        WorkflowStep::LetModelChoose(from) | WorkflowStep::Search { from, .. } => {
            from.iter().map(|application| (application, false)).collect()
        }
        // What is tried may be left out again, and is no reason to refuse the workflow.
        _ => Vec::new(),
    }
}

/// The plan of a step; none where it does not apply from here, which [`super::unfit`] says.
fn planned(
    loaded: &Loaded,
    application: &Application,
    context: &KernelContext,
    place: &Place<'_>,
) -> Option<TransformationPlan> {
    crate::workflow::planned(&loaded.ir, Some(&place.device.name), &place.facts, application, context).ok()
}

/// Why no configuration is valid at any size, where that is so.
fn nothing_left(
    context: &KernelContext,
    time_at: &IndexMap<String, Vec<i64>>,
    place: &Place<'_>,
) -> Option<Explanation> {
    let sizes = timed_sizes(&context.kernel, time_at);
    let mut why = None;
    for inputs in &sizes {
        let space = Space::new(context, inputs, &place.facts);
        if space.count() != Count::Exact(0) {
            return None;
        }
        why.get_or_insert_with(|| space.explain());
    }
    why
}

fn diagnostic(what: &str, origin: &Origin, severity: Severity, why: &Explanation, place: &Place<'_>) -> Diagnostic {
    let Place { device, language, facts } = place;
    let excluded: Vec<String> = why.alone.iter().map(|(reason, count)| format!("{reason} excludes {count}")).collect();
    let stated = |fact: &String| facts.get(fact).map(|value| format!("{fact} = {value}"));
    let stated: Vec<String> = why.facts.iter().filter_map(stated).collect();
    let device_says = match stated.is_empty() {
        true => String::new(),
        false => format!("; `{}` has {}", device.name, stated.join(", ")),
    };
    let together = if why.conflict.len() > 1 { "these cannot be met together: " } else { "this cannot be met: " };
    Diagnostic {
        code: CODE,
        severity,
        message: format!("no configuration of {what} is valid on `{}` in {language}", device.name),
        file: origin.file.clone(),
        span: Span::new(origin.start, origin.start),
        label: "here".to_owned(),
        help: Some(format!("{together}{}{device_says}\n{}", why.conflict.join("; "), excluded.join(", "))),
        related: Vec::new(),
    }
}
