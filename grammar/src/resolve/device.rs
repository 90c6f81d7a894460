//! Devices: languages, facts and rates.

use super::index::Index;
use super::scope::Scope;
use super::{checked_languages, declared, duplicate_name, missing_clause, once, origin};
use crate::ir::{Device, ElementType, Peak, PeakKind, Prose};
use crate::syntax::ast::{Block, DeviceClause, PeakRate};
use crate::syntax::{Name, Report};
use indexmap::IndexMap;

/// Types that hardware has a rate for and kernels do not name.
const HARDWARE_TYPES: [&str; 5] = ["fp4", "fp6", "fp8", "i4", "tf32"];

pub(super) fn device(block: &Block<DeviceClause>, index: &Index<'_>, out: &mut Report<'_>) -> Device {
    let mut device = Device {
        name: declared(&block.header.name, out),
        title: block.header.title.clone(),
        speaks: IndexMap::new(),
        matches: Vec::new(),
        facts: IndexMap::new(),
        backend_facts: IndexMap::new(),
        peaks: Vec::new(),
        knows: Prose::default(),
        origin: origin(block.header.span, out),
    };
    let scope = Scope::new(&index.facts);
    let mut knows = None;
    for clause in &block.clauses {
        match &clause.value {
            DeviceClause::Speaks(spoken) => speaks(spoken, &mut device, out),
            DeviceClause::Matches(names) => matches(names, &mut device, out),
            DeviceClause::Has { languages, facts } => {
                has(languages, facts, &mut device.facts, &mut device.backend_facts, out);
            }
            DeviceClause::Peaks(rates) => device.peaks.extend(rates.iter().filter_map(|rate| peak(rate, out))),
            DeviceClause::Knows(prose) => once(&mut knows, scope.prose(prose, out), "`knows`", clause.span, out),
        }
    }
    device.knows = knows.unwrap_or_default();
    if device.speaks.is_empty() && !block.clauses.iter().any(|clause| matches!(clause.value, DeviceClause::Speaks(_))) {
        missing_clause("device", "speaks LANGUAGE TARGET", &block.header, out);
    }
    device
}

fn speaks(spoken: &[Vec<Name>], device: &mut Device, out: &mut Report<'_>) {
    for words in spoken {
        let Some((language, targets)) = words.split_first() else { continue };
        for language in checked_languages(std::slice::from_ref(language), out) {
            let known = device.speaks.entry(language).or_default();
            known.extend(targets.iter().map(|target| target.value.clone()));
        }
    }
}

fn matches(names: &[Name], device: &mut Device, out: &mut Report<'_>) {
    for name in names {
        if name.value.trim().is_empty() {
            let diagnostic = out.error("peak::values", name.span, "an empty piece of a name matches every device");
            out.push(diagnostic.help("write a piece of the name that the driver reports"));
        } else {
            device.matches.push(name.value.clone());
        }
    }
}

/// The facts of a `has`: for every language, or for those that it names.
pub(super) fn has(
    languages: &[Name],
    stated: &[(Name, i64)],
    facts: &mut IndexMap<String, i64>,
    by_language: &mut IndexMap<String, IndexMap<String, i64>>,
    out: &mut Report<'_>,
) {
    if languages.is_empty() {
        add(stated, facts, out);
    }
    for language in checked_languages(languages, out) {
        add(stated, by_language.entry(language).or_default(), out);
    }
}

fn add(facts: &[(Name, i64)], into: &mut IndexMap<String, i64>, out: &mut Report<'_>) {
    for (name, value) in facts {
        if into.insert(name.value.clone(), *value).is_some() {
            duplicate_name("fact", name, out);
        }
        if *value < 0 {
            out.push(out.error("peak::number-range", name.span, "a fact is a size or a count, not negative"));
        }
    }
}

fn peak(rate: &PeakRate, out: &mut Report<'_>) -> Option<Peak> {
    let kind = if rate.bytes { PeakKind::Bytes } else { PeakKind::Flops };
    let known = || ElementType::ALL.iter().map(|element| element.name()).chain(HARDWARE_TYPES);
    if !rate.bytes && !known().any(|name| name == rate.of.value) {
        let message = format!("`{}` is no element type", rate.of.value);
        let known = known();
        out.push(out.error("peak::unknown-type", rate.of.span, message).suggest(&rate.of.value, known));
        return None;
    }
    Some(Peak { kind, value: rate.value, of: rate.of.value.clone(), unit: rate.unit.clone() })
}
