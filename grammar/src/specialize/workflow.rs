//! Of several workflows of one name, the most specific.

use super::SpecializeError;
use super::packs::applicable_packs;
use crate::ir::{Library, Workflow};

/// The workflow `name` for a device and a backend, the most specific first: one whose `target` is the device, one of
/// a pack of the device (of what builds on a base before the base's), one `on` the backend, one for everything.
///
/// Without a device, one with a target may be chosen too, after those without; it then brings its device. Without a
/// backend, likewise.
///
/// # Errors
/// No workflow of that name, or none for this device and backend.
pub fn workflow<'l>(
    library: &'l Library,
    name: &str,
    device: Option<&str>,
    backend: Option<&str>,
) -> Result<&'l Workflow, SpecializeError> {
    let packs = device.map(|device| applicable_packs(library, device)).unwrap_or_default();
    let in_packs =
        packs.iter().enumerate().flat_map(|(at, pack)| pack.workflows.values().map(move |own| (at + 1, own)));
    let in_packs = in_packs.filter(|(_, workflow)| workflow.name == name);
    let outside = library.workflows.iter().filter(|workflow| workflow.name == name).map(|workflow| (0, workflow));
    let fitting = outside.chain(in_packs).filter_map(|(depth, workflow)| {
        let target = fit(workflow.target.as_deref(), device)?;
        let language = fit(workflow.backend.as_deref(), backend)?;
        Some(((target, depth, language), workflow))
    });
    // `max_by_key` gives the last of equals; the first declared is wanted.
    let best = fitting.collect::<Vec<_>>().into_iter().rev().max_by_key(|(rank, _)| *rank);
    best.map(|(_, workflow)| workflow).ok_or_else(|| none(library, name, device, backend))
}

/// How well what a workflow asks for fits what is given: better, equal or worse than asking for nothing; none where
/// it does not.
fn fit(asked: Option<&str>, given: Option<&str>) -> Option<i8> {
    match (asked, given) {
        (None, _) => Some(0),
        (Some(asked), Some(given)) => (asked == given).then_some(1),
        (Some(_), None) => Some(-1),
    }
}

fn none(library: &Library, name: &str, device: Option<&str>, backend: Option<&str>) -> SpecializeError {
    let nested = library.packs.values().flat_map(|pack| pack.workflows.values());
    let mut all = library.workflows.iter().chain(nested).filter(|workflow| workflow.name == name).peekable();
    if all.peek().is_none() {
        let nested = library.packs.values().flat_map(|pack| pack.workflows.values().map(|own| own.name.as_str()));
        let names = library.workflows.iter().map(|workflow| workflow.name.as_str()).chain(nested);
        return SpecializeError::unknown("workflow", name, names);
    }
    let place = match (device, backend) {
        (Some(device), Some(backend)) => format!("the device `{device}` with {backend}"),
        (Some(device), None) => format!("the device `{device}`"),
        (None, Some(backend)) => backend.to_owned(),
        (None, None) => "use without a device".to_owned(),
    };
    let is_for = |workflow: &Workflow| {
        let parts = [workflow.target.as_deref(), workflow.backend.as_deref()];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "the devices of its pack".to_owned() } else { parts.join(" with ") }
    };
    let help = format!("those that there are, are for: {}", all.map(is_for).collect::<Vec<_>>().join("; "));
    SpecializeError::NotFor { kind: "workflow", name: name.to_owned(), place, help }
}
