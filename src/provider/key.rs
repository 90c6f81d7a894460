//! What a completion is keyed by: that which a good answer depends on, and nothing else.
//!
//! Never ranges, tuned values, times, the device at hand, messages or the prompt's bytes: a better template, another
//! machine or a wider range must not lose a recording. All three regions count, since a prompt shows them all.

use crate::context::Regions;
use crate::edit::tokens::{Syntax, normalized};
use peak_grammar::ir::{Region, SettingValue};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFacts {
    /// `hlsl`, `cuda`, ...
    pub backend: String,
    /// The element type's name.
    pub element: String,
    /// The accumulator type's name.
    pub accumulator: String,
    /// The region that may change.
    pub region: Region,
    /// The pass's words for that region, references resolved (device facts by name, not by value).
    pub words: String,
    /// Knowledge from device and packs, resolved like `words`.
    pub knowledge: Vec<String>,
    /// The regions as the prompt shows them.
    pub regions: Regions,
    /// Settings in force.
    pub settings: BTreeMap<String, SettingValue>,
    /// For a repair: what is repaired.
    pub parent: Option<ParentAnswer>,
}

/// The parts of a key, each hashed by itself: eight hex digits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeyParts {
    /// The pass's words; the candidates of a choice.
    pub words: String,
    /// Knowledge that a pack brings.
    pub knowledge: String,
    /// The regions, types and settings.
    pub code: String,
    /// The answer that is repaired; empty for a first request.
    pub parent: String,
}

impl KeyParts {
    fn of(words: &str, knowledge: &serde_json::Value, code: &serde_json::Value, parent: Option<&ParentAnswer>) -> Self {
        let short = |text: &str| crate::hash::hex(text.as_bytes())[..8].to_owned();
        KeyParts {
            words: short(words),
            knowledge: short(&knowledge.to_string()),
            code: short(&code.to_string()),
            parent: parent
                .map(|parent| short(&format!("{} {}", parent.completion_sha256, parent.class)))
                .unwrap_or_default(),
        }
    }

    /// What is different in the other, in words.
    #[must_use]
    pub fn changes(&self, other: &KeyParts) -> Vec<&'static str> {
        let parts = [
            (&self.words, &other.words, "the words of the pass"),
            (&self.knowledge, &other.knowledge, "what a pack says with it"),
            (&self.code, &other.code, "the code that it is asked about"),
            (&self.parent, &other.parent, "the answer that it repairs"),
        ];
        parts.into_iter().filter(|(mine, theirs, _)| mine != theirs).map(|(.., what)| what).collect()
    }
}

/// The answer that a repair starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentAnswer {
    /// SHA-256 of the completion, in hex.
    pub completion_sha256: String,
    /// The class of its failure.
    pub class: String,
}

/// What counts of a choice among transformations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceKey {
    /// `hlsl`, `cuda`, ...
    pub backend: String,
    /// The element type's name.
    pub element: String,
    /// The accumulator type's name.
    pub accumulator: String,
    /// Each candidate's name, why it helps, and what packs know of it, resolved.
    pub candidates: Vec<(String, String, Vec<String>)>,
    /// The regions as the prompt shows them.
    pub regions: Regions,
    /// For a repair: what is repaired.
    pub parent: Option<ParentAnswer>,
}

impl ChoiceKey {
    /// SHA-256 of the canonical JSON, as [`KeyFacts::key`].
    #[must_use]
    pub fn key(&self) -> String {
        let mut members: BTreeMap<&str, serde_json::Value> = BTreeMap::new();
        members.insert("asked", "choice".into());
        members.insert("backend", self.backend.clone().into());
        members.insert("element", self.element.clone().into());
        members.insert("accumulator", self.accumulator.clone().into());
        members.insert("candidates", serde_json::json!(self.candidates));
        members.insert("regions", serde_json::json!(counted_regions(&self.regions)));
        if let Some(parent) = &self.parent {
            members.insert("parent", serde_json::json!([parent.completion_sha256, parent.class]));
        }
        crate::hash::hex(serde_json::json!(members).to_string().as_bytes())
    }

    /// Its parts, each hashed by itself.
    #[must_use]
    pub fn parts(&self) -> KeyParts {
        let words = serde_json::json!(self.candidates).to_string();
        let code = serde_json::json!([self.backend, self.element, self.accumulator, counted_regions(&self.regions)]);
        KeyParts::of(&words, &serde_json::Value::Null, &code, self.parent.as_ref())
    }
}

fn counted_regions(regions: &Regions) -> BTreeMap<&'static str, Vec<String>> {
    Region::ALL.iter().map(|region| (region.slug(), counted(regions.get(*region), *region))).collect()
}

impl KeyFacts {
    /// SHA-256 of the canonical JSON (members by name, no white space), in hex.
    #[must_use]
    pub fn key(&self) -> String {
        let regions = counted_regions(&self.regions);
        let words: Vec<&str> = self.words.split_whitespace().collect();
        let mut members: BTreeMap<&str, serde_json::Value> = BTreeMap::new();
        members.insert("backend", self.backend.clone().into());
        members.insert("element", self.element.clone().into());
        members.insert("accumulator", self.accumulator.clone().into());
        members.insert("region", self.region.slug().into());
        members.insert("words", words.join(" ").into());
        members.insert("knowledge", self.knowledge.clone().into());
        members.insert("regions", serde_json::json!(regions));
        members.insert("settings", serde_json::json!(self.settings));
        if let Some(parent) = &self.parent {
            members.insert("parent", serde_json::json!([parent.completion_sha256, parent.class]));
        }
        crate::hash::hex(serde_json::json!(members).to_string().as_bytes())
    }

    /// Its parts, each hashed by itself.
    #[must_use]
    pub fn parts(&self) -> KeyParts {
        let words: Vec<&str> = self.words.split_whitespace().collect();
        let regions = counted_regions(&self.regions);
        let code = serde_json::json!([self.backend, self.element, self.accumulator, regions, self.settings]);
        KeyParts::of(&words.join(" "), &serde_json::json!(self.knowledge), &code, self.parent.as_ref())
    }
}

/// Tokens of a region. A launch plan nests by indentation, so its lines keep their depth.
fn counted(text: &str, region: Region) -> Vec<String> {
    if region != Region::HostCode {
        return normalized(text, Syntax::of(region)).into_iter().map(str::to_owned).collect();
    }
    let mut open: Vec<usize> = Vec::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = normalized(line, Syntax::LaunchPlan);
        if words.is_empty() {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        open.retain(|outer| *outer < indent);
        lines.push(format!("{} {}", open.len(), words.join(" ")));
        open.push(indent);
    }
    lines
}
