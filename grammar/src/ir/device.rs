//! Devices and packs: what a device is, and what it wants.

use super::{Origin, Pass, Prose, Requirement, Setting, Transformation, TuningParameter, Workflow};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// `device NAME`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// `kebab-case` name.
    pub name: String,
    /// One line.
    pub title: Option<String>,
    /// `speaks cuda sm_90a, hlsl`: backend and its targets.
    pub speaks: IndexMap<String, Vec<String>>,
    /// `matches "NVIDIA H200"`: pieces of the name that a driver reports; any one suffices, case aside.
    pub matches: Vec<String>,
    /// `has NAME = VALUE`: bytes, counts; integers.
    pub facts: IndexMap<String, i64>,
    /// `has for BACKEND NAME = VALUE`: holds in place of the fact of that name.
    pub backend_facts: IndexMap<String, IndexMap<String, i64>>,
    /// `peaks at ...`.
    pub peaks: Vec<Peak>,
    /// Knowledge for prompts.
    pub knows: Prose,
    /// Where it was declared.
    pub origin: Origin,
}

impl Device {
    /// The facts in force for a backend.
    #[must_use]
    pub fn facts_for(&self, backend: &str) -> IndexMap<String, i64> {
        let mut facts = self.facts.clone();
        if let Some(over) = self.backend_facts.get(backend) {
            facts.extend(over.iter().map(|(name, value)| (name.clone(), *value)));
        }
        facts
    }

    /// The documented peak of a kind, such as (`flops`, `f32`), in units per second.
    #[must_use]
    pub fn peak(&self, kind: PeakKind, of: &str) -> Option<&Peak> {
        self.peaks.iter().find(|peak| peak.kind == kind && peak.of == of)
    }
}

/// A documented rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// What is counted.
    pub kind: PeakKind,
    /// Units per second: FLOP/s or bytes/s.
    pub value: f64,
    /// An element type for FLOPS, `memory` for bytes.
    pub of: String,
    /// `on tensor cores`.
    pub unit: Option<String>,
}

/// What a [`Peak`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeakKind {
    /// Floating-point operations.
    Flops,
    /// Bytes.
    Bytes,
}

/// `pack NAME`: what its user ships for a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pack {
    /// `kebab-case` name.
    pub name: String,
    /// One line.
    pub title: Option<String>,
    /// The pack it builds on.
    pub extends: Option<String>,
    /// `for devices ...`; inherited where it says nothing itself.
    pub devices: Vec<String>,
    /// `has NAME = VALUE`: in place of the device's.
    #[serde(default)]
    pub facts: IndexMap<String, i64>,
    /// `has for BACKEND NAME = VALUE`: in place of the device's for that backend.
    #[serde(default)]
    pub backend_facts: IndexMap<String, IndexMap<String, i64>>,
    /// Knowledge for prompts, beside the device's.
    pub knows: Prose,
    /// Overrides.
    pub specializations: Vec<Specialization>,
    /// New transformations, seen only where the pack applies.
    pub transformations: IndexMap<String, Transformation>,
    /// Workflows, preferred where the pack applies; by name, and by name, target and language where several share one.
    pub workflows: IndexMap<String, Workflow>,
    /// Where it was declared.
    pub origin: Origin,
}

/// `specialize TRANSFORMATION`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Specialization {
    /// Which transformation.
    pub transformation: String,
    /// `replace pass NAME`.
    pub passes: Vec<Pass>,
    /// `introduces NAME in ...`: replaces the range (and start) of that parameter, or adds it.
    pub introduces: Vec<TuningParameter>,
    /// `takes NAME = VALUE`: replaces a setting's default.
    pub settings: Vec<Setting>,
    /// `requires NAME: ...`: replaces the requirement of that name, or adds it.
    pub requires: Vec<Requirement>,
    /// Knowledge for this transformation's prompts.
    pub knows: Prose,
    /// Where it was declared.
    pub origin: Origin,
}
