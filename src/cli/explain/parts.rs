//! A transformation as one device sees it, part by part: what it is, which pack it came from, and where that stands.

use crate::library::Loaded;
use peak_grammar::ir::{
    KernelSelector, Library, Origin, Pack, Prose, Setting, SettingValue, Transformation, TuningParameter,
};
use peak_grammar::specialize::Specialized;
use serde_json::json;

/// One part of a transformation.
pub(super) struct Part {
    /// `pass NAME`, `introduces NAME`, `takes NAME`, `requires NAME`.
    pub(super) name: String,
    /// As it would be written; a pass's whole text.
    pub(super) text: String,
    /// The pack that it came from; none where it is as declared.
    pub(super) pack: Option<String>,
    /// File and line.
    pub(super) place: String,
}

/// Every part, in the order of the declaration.
pub(super) fn parts(loaded: &Loaded, special: &Specialized) -> Vec<Part> {
    let transformation = &special.transformation;
    let part = |word: &str, name: &str, text: String, origin: Option<&Origin>| {
        let name = format!("{word} {name}");
        let pack = special.provenance.get(&name).cloned();
        let brought = pack.as_ref().and_then(|pack| specialization(&loaded.ir, pack, &transformation.name));
        let origin = origin.or(brought).unwrap_or(&transformation.origin);
        Part { name, text, pack, place: place(loaded, origin) }
    };
    let settings = transformation.settings.iter().map(|own| part("takes", &own.name, setting(own), None));
    let tuning = transformation.introduces.iter().map(|own| part("introduces", &own.name, parameter(own), None));
    let requirements = transformation.requires.iter();
    let requirements =
        requirements.map(|own| part("requires", &own.name, format!("requires {}: {}", own.name, own.condition), None));
    let passes = transformation.passes.iter();
    let passes = passes.map(|own| part("pass", &own.name, declared(loaded, &own.origin), Some(&own.origin)));
    settings.chain(tuning).chain(requirements).chain(passes).collect()
}

/// The clauses that no pack can change, as they would be written.
pub(super) fn clauses(transformation: &Transformation) -> Vec<String> {
    let listed = |words: &str, names: &[String]| (!names.is_empty()).then(|| format!("{words} {}", names.join(", ")));
    let prose = |word: &str, words: &Prose| {
        (!words.is_empty()).then(|| format!("{word}\n  {}", words.source().replace('\n', "\n  ")))
    };
    let kernels = match &transformation.kernels {
        KernelSelector::Any => None,
        KernelSelector::Named(names) => listed("for kernels", names),
        KernelSelector::Computing(pattern) => Some(format!("for kernels computing {pattern}")),
    };
    let clauses = [
        kernels,
        listed("on", &transformation.on),
        listed("needs tuning", &transformation.needs_tuning),
        listed("needs let", &transformation.needs_lets),
        listed("after", &transformation.after),
        listed("conflicts with", &transformation.conflicts_with),
        prose("because", &transformation.because),
        prose("known failures", &transformation.known_failures),
    ];
    clauses.into_iter().flatten().collect()
}

impl Part {
    /// For programs.
    pub(super) fn fields(&self) -> serde_json::Value {
        json!({"part": self.name, "text": self.text, "pack": self.pack, "place": self.place})
    }
}

/// Where a pack specializes a transformation: the last time, which wins.
fn specialization<'l>(library: &'l Library, pack: &str, transformation: &str) -> Option<&'l Origin> {
    let pack: &Pack = library.packs.get(pack)?;
    let own = pack.specializations.iter().rev().find(|special| special.transformation == transformation);
    own.map(|special| &special.origin)
}

fn setting(setting: &Setting) -> String {
    let value = match &setting.default {
        SettingValue::Integer(value) => value.to_string(),
        SettingValue::Flag(value) => if *value { "yes" } else { "no" }.to_owned(),
        SettingValue::Text(text) => format!("\"{text}\""),
    };
    format!("takes {} = {value}", setting.name)
}

fn parameter(parameter: &TuningParameter) -> String {
    let start = parameter.start.map(|start| format!(" start at {start}")).unwrap_or_default();
    format!("introduces {} in {}{start}", parameter.name, parameter.values)
}

/// `FILE:LINE`.
pub(super) fn place(loaded: &Loaded, origin: &Origin) -> String {
    format!("{}:{}", origin.file, loaded.sources.line_column(&origin.file, origin.start).0)
}

/// A declaration as it was written, from the margin.
pub(super) fn declared(loaded: &Loaded, origin: &Origin) -> String {
    let Some(text) = loaded.sources.text(&origin.file) else { return String::new() };
    let before = text.get(..origin.start).unwrap_or_default();
    let indent = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
    let mut lines = text.get(origin.start..origin.end).unwrap_or_default().lines();
    let mut shown = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        shown.push('\n');
        shown.push_str(line.get(indent.min(blanks)..).unwrap_or_default().trim_end());
    }
    shown
}
