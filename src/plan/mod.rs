//! The plan: a specialized transformation bound to one kernel context. Passes, region requests and mechanical steps in
//! order, with every name resolved.
//!
//! Plain data and pure functions: nothing is asked, edited or run here. [`plan`] also decides whether the
//! transformation applies at all, and says why where it does not ([`NotApplicable`]).

mod applicable;
mod bind;
mod code;
mod names;
mod passes;

pub use applicable::NotApplicable;
pub use names::Names;

use crate::context::KernelContext;
use crate::context::scope::Facts;
use indexmap::IndexMap;
use peak_grammar::ir::{
    Action, Application, Check, Effect, Expectation, Region, Requirement, SettingValue, Transformation,
    TuningParameter, Utility, Values,
};
use peak_grammar::specialize::Knowledge;
use serde::{Deserialize, Serialize};

/// Version of the JSON form of a plan.
pub const PLAN_VERSION: u32 = 1;

/// What a plan is made from. The transformation is specialized for the device already.
#[derive(Clone, Copy, Debug)]
pub struct PlanInputs<'a> {
    /// The transformation, packs applied.
    pub transformation: &'a Transformation,
    /// Knowledge of device and packs, each with the name of what brings it.
    pub knowledge: &'a [Knowledge],
    /// Utilities by name.
    pub utilities: &'a IndexMap<String, Utility>,
    /// How the workflow applies it.
    pub application: &'a Application,
    /// Device facts in force, for prose that names them.
    pub facts: &'a Facts,
}

/// A transformation, bound to a kernel context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransformationPlan {
    /// [`PLAN_VERSION`].
    pub version: u32,
    /// Its name.
    pub transformation: String,
    /// One line.
    pub title: Option<String>,
    /// The kernel's name.
    pub kernel: String,
    /// `hlsl`, `cuda`, ...
    pub backend: String,
    /// Why it helps.
    pub because: Words,
    /// What the names of `for kernels computing ...` stand for, as text.
    pub bindings: IndexMap<String, String>,
    /// Settings in force.
    pub settings: IndexMap<String, SettingValue>,
    /// Tuning parameters that it introduces, ranges as the workflow narrows them.
    pub introduces: Vec<TuningParameter>,
    /// Ranges of parameters that are there already, as the workflow narrows them.
    pub narrows: IndexMap<String, Values>,
    /// Requirements that it adds, in the kernel's own names.
    pub requires: Vec<Requirement>,
    /// Counters or resources to look at afterwards.
    pub expects: Vec<Expectation>,
    /// Knowledge of device and packs, with what brings it.
    pub knowledge: Vec<KnownWords>,
    /// What usually goes wrong.
    pub known_failures: Words,
    /// In order.
    pub passes: Vec<PassPlan>,
}

/// Resolved prose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// For the prompt.
    pub text: String,
    /// For the key of a recording: device facts by name, so that another device does not lose it.
    pub key: String,
}

/// Resolved knowledge of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownWords {
    /// The device, pack or specialization that brings it.
    pub source: String,
    /// The words.
    pub words: Words,
    /// Whether an answer counts only where a model was told so: it is part of a recording's key.
    pub specific: bool,
}

fn known_words(known: &Knowledge, names: &Names) -> KnownWords {
    KnownWords { source: known.source.clone(), words: names.words(&known.prose), specific: known.specific }
}

/// A pass, bound to a kernel context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PassPlan {
    /// Its name.
    pub name: String,
    /// One line.
    pub title: Option<String>,
    /// In order; at most one request a region.
    pub steps: Vec<PlannedStep>,
    /// What may be broken when it ends.
    pub effect: Effect,
    /// Passes of one group are validated together, at the end of the last; from 0.
    pub group: usize,
    /// Whether the group ends with it.
    pub closes_group: bool,
    /// Lines of `checks`.
    pub checks: Vec<Check>,
    /// Requirements that take the place of earlier ones of their names, from this pass on.
    pub replaces: Vec<Requirement>,
    /// Tuning parameters that are gone when it ends.
    pub retires: Vec<String>,
}

impl PassPlan {
    /// The requests, in order.
    pub fn requests(&self) -> impl Iterator<Item = &RegionRequest> {
        self.steps.iter().filter_map(|step| match step {
            PlannedStep::Request(request) => Some(request),
            PlannedStep::Mechanical { .. } => None,
        })
    }
}

/// One step of a pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedStep {
    /// A model is asked.
    Request(RegionRequest),
    /// Carried out without a model. A utility's code is resolved.
    Mechanical {
        /// Where.
        region: Region,
        /// What.
        action: Action,
    },
}

/// All that a pass says in words of one region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionRequest {
    /// The only region that may change.
    pub region: Region,
    /// The words.
    pub words: Words,
}

/// Binds a transformation to a context.
///
/// # Errors
/// Why it does not apply here.
pub fn plan(context: &KernelContext, inputs: &PlanInputs<'_>) -> Result<TransformationPlan, NotApplicable> {
    let transformation = inputs.transformation;
    applicable::check_kernel(context, inputs)?;
    let names = bind::names(context, inputs)?;
    applicable::check(context, inputs)?;
    let requires =
        transformation.requires.iter().map(|requirement| bind::requirement(requirement, transformation, &names));
    let plan = TransformationPlan {
        version: PLAN_VERSION,
        transformation: transformation.name.clone(),
        title: transformation.title.clone(),
        kernel: context.kernel.name.clone(),
        backend: context.backend.clone(),
        because: names.words(&transformation.because),
        bindings: names.bindings(),
        settings: bind::settings(transformation, inputs.application)?,
        introduces: bind::introduces(transformation, inputs.application),
        narrows: bind::narrows(context, transformation, inputs.application)?,
        requires: requires.collect(),
        expects: transformation.expects.clone(),
        knowledge: inputs.knowledge.iter().map(|known| known_words(known, &names)).collect(),
        known_failures: names.words(&transformation.known_failures),
        passes: passes::passes(context, inputs, &names),
    };
    applicable::check_retired(context, &plan)?;
    applicable::check_left_alone(context, &plan)?;
    Ok(plan)
}
