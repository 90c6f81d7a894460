//! What a run works with. Put together by [`crate::session`]; tests put one together by hand.

use super::decision::Decision;
use crate::context::scope::Facts;
use crate::lowering::{AnswerFormat, Templates};
use crate::provider::Provider;
use crate::runner::{Compile, Execute};
use crate::store::{Run, Store};
use crate::tune::{Cache, Measured, TuneTiming};
use peak_backend_api::{Backend, DeviceInfo};
use peak_grammar::ir::{Device, Library};
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicBool;

/// Everything outside the run itself.
pub struct Environment<'a> {
    /// Every declaration.
    pub library: &'a Library,
    /// The device as its driver describes it.
    pub info: &'a DeviceInfo,
    /// The device's file, where the library has one that matches.
    pub device: Option<&'a Device>,
    /// Facts in force: the smaller of the file's and the driver's.
    pub facts: &'a Facts,
    /// The language.
    pub backend: &'a dyn Backend,
    /// Versions of its toolchains, in words.
    pub toolchain: &'a str,
    /// Compiles.
    pub compile: &'a dyn Compile,
    /// Runs and times.
    pub execute: &'a mut dyn Execute,
    /// Is asked for completions.
    pub provider: &'a dyn Provider,
    /// Whether the provider replays what was answered before.
    pub replays: bool,
    /// How answers are asked for.
    pub format: AnswerFormat,
    /// The prompts' templates.
    pub templates: &'a Templates,
    /// Keeps checkpoints, attempts and measurements.
    pub store: &'a mut Store,
    /// How to time.
    pub timing: TuneTiming,
    /// What the caller asks for beyond the workflow.
    pub options: Options,
    /// Set by somebody else to stop at the next safe point.
    pub cancelled: &'a AtomicBool,
}

/// What the caller asks for beyond the workflow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// Configurations after each step, in place of the workflow's.
    pub tune_budget: Option<u32>,
    /// Seed of tuning and of validation data.
    pub seed: u64,
    /// Measures and validates anew what the store already knows.
    pub fresh: bool,
    /// Tells the model what the device counted, where it counts. Prompts then depend on more than the kernel.
    pub counters: bool,
    /// What is decided, in order, in place of what times decide.
    pub decisions: Option<Vec<Decision>>,
    /// The run to go on with; a new one where there is none. The store holds the other options of that run.
    #[serde(skip)]
    pub resume: Option<i64>,
}

impl Options {
    /// Those that a run was started with, for going on with it; what an older version did not keep is as if unsaid.
    #[must_use]
    pub fn of_run(run: &Run) -> Options {
        let kept: Options = serde_json::from_str(&run.of.options).unwrap_or_default();
        Options { resume: Some(run.id), ..kept }
    }
}

impl Environment<'_> {
    /// The device's name in the library, where it has one.
    #[must_use]
    pub fn device_name(&self) -> &str {
        self.device.map_or("", |device| device.name.as_str())
    }

    /// Whether the device can time.
    #[must_use]
    pub fn has_timer(&self) -> bool {
        self.info.features.iter().any(|feature| feature == "timestamps")
    }
}

/// The facts in force: the driver's, and the file's where the driver states none or a larger one.
#[must_use]
pub fn facts_in_force(info: &DeviceInfo, device: Option<&Device>) -> Facts {
    let mut facts: Facts = info.facts.iter().map(|(name, value)| (name.clone(), *value)).collect();
    for (name, value) in device.map(|device| device.facts_for(&info.backend)).unwrap_or_default() {
        let fact = facts.entry(name).or_insert(value);
        *fact = value.min(*fact);
    }
    facts
}

/// The store as the tuner's memory. A store that cannot be read or written costs time, never a result.
pub(super) struct StoreCache<'a> {
    pub store: &'a Store,
    pub fresh: bool,
}

impl Cache for StoreCache<'_> {
    fn get(&mut self, key: &str) -> Option<Measured> {
        if self.fresh { None } else { self.store.measurement(key).ok().flatten() }
    }

    fn put(&mut self, key: &str, measured: &Measured) {
        // The measurement is in the outcome all the same; the next run then measures again.
        let _ = self.store.put_measurement(key, measured);
    }
}
