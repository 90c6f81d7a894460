//! Whether a transformation applies to a context, and why not.

use super::{PlanInputs, PlannedStep, TransformationPlan};
use crate::context::KernelContext;
use crate::edit::tokens::{Syntax, find};
use peak_grammar::ir::{Action, Insertion, KernelSelector, Region, Requirement, Transformation};
use std::collections::BTreeSet;

/// Why a transformation does not apply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[allow(missing_docs, reason = "each field is what the message says of it")]
pub enum NotApplicable {
    #[error("`{transformation}` is not for {backend}, only for {on}")]
    #[diagnostic(
        code("peak::wrong-backend"),
        help("choose one of its languages with --backend, or another transformation")
    )]
    Backend { transformation: String, backend: String, on: String },

    #[error("`{transformation}` is for the kernels {kernels}, and this is `{kernel}`")]
    #[diagnostic(code("peak::wrong-kernel"), help("`peak list transformation` shows which ones are for any kernel"))]
    Kernel { transformation: String, kernel: String, kernels: String },

    #[error("what `{kernel}` computes does not match what `{transformation}` is for: {reason}")]
    #[diagnostic(
        code("peak::pattern-does-not-match"),
        help("compare the kernel's `computes` with the transformation's `for kernels computing`")
    )]
    Pattern { transformation: String, kernel: String, reason: String },

    #[error("`{transformation}` needs the tuning parameter `{name}`, which this kernel does not have")]
    #[diagnostic(
        code("peak::needs-tuning"),
        help("apply the transformation that introduces it first, or map a name: `with {name} as OTHER`")
    )]
    NeedsTuning { transformation: String, name: String },

    #[error("`{transformation}` needs `let {name}` in the host code, which is not there")]
    #[diagnostic(code("peak::needs-let"), help("apply the transformation that adds it first, or add it to the kernel"))]
    NeedsLet { transformation: String, name: String },

    #[error("`{transformation}` comes after `{other}`, which has not been applied")]
    #[diagnostic(
        code("peak::needs-earlier"),
        help(
            "apply `{other}` first: `--after {other}` for `peak lower`, a line `apply {other}` before it in a workflow"
        )
    )]
    After { transformation: String, other: String },

    #[error("`{transformation}` conflicts with `{other}`, which has been applied")]
    #[diagnostic(code("peak::conflicts"), help("restore a checkpoint from before `{other}`, or leave one of them out"))]
    Conflict { transformation: String, other: String },

    #[error("`{transformation}` introduces `{name}`, which is there already")]
    #[diagnostic(code("peak::parameter-exists"), help("a transformation that introduces a parameter is applied once"))]
    ParameterExists { transformation: String, name: String },

    #[error("`{transformation}` inserts the utility `{utility}`, which {problem}")]
    #[diagnostic(
        code("peak::utility-missing"),
        help("add `code for` that language to the utility, or correct its name")
    )]
    Utility { transformation: String, utility: String, problem: String },

    #[error("`{transformation}` has no setting `{name}`")]
    #[diagnostic(code("peak::unknown-setting"), help("{known}"))]
    UnknownSetting { transformation: String, name: String, known: String },

    #[error("the setting `{name}` of `{transformation}` takes {expected}")]
    #[diagnostic(
        code("peak::setting-type"),
        help("a whole number, `yes` or `no`, or a quoted text, as its default is")
    )]
    SettingType { transformation: String, name: String, expected: &'static str },

    #[error("`with {name} in ...`: neither the kernel nor `{transformation}` has a tuning parameter `{name}`")]
    #[diagnostic(code("peak::unknown-range"), help("name a tuning parameter that is there or that it introduces"))]
    UnknownRange { transformation: String, name: String },

    #[error("`{transformation}` replaces the requirement `{requirement}`, and no requirement of that name is there")]
    #[diagnostic(code("peak::replaced-requirement-missing"), help("{known}"))]
    ReplacedMissing { transformation: String, requirement: String, known: String },

    #[error("`{transformation}` retires `{parameter}`, which the requirement `{requirement}` still reads")]
    #[diagnostic(
        code("peak::retired-parameter-required"),
        help("add `replace requirement {requirement}: ...` to that pass")
    )]
    RetiredRequired { transformation: String, parameter: String, requirement: String },

    #[error(
        "`{transformation}` retires `{parameter}`, which the {region} still reads, and no step changes the {region}"
    )]
    #[diagnostic(
        code("peak::retired-parameter-read"),
        help("add `in {region}` to that pass, and write there what takes the parameter's place")
    )]
    RetiredRead { transformation: String, parameter: String, region: Region },
}

impl NotApplicable {
    /// The stable code, as the diagnostic has it.
    #[must_use]
    pub fn stable_code(&self) -> &'static str {
        match self {
            NotApplicable::Backend { .. } => "peak::wrong-backend",
            NotApplicable::Kernel { .. } => "peak::wrong-kernel",
            NotApplicable::Pattern { .. } => "peak::pattern-does-not-match",
            NotApplicable::NeedsTuning { .. } => "peak::needs-tuning",
            NotApplicable::NeedsLet { .. } => "peak::needs-let",
            NotApplicable::After { .. } => "peak::needs-earlier",
            NotApplicable::Conflict { .. } => "peak::conflicts",
            NotApplicable::ParameterExists { .. } => "peak::parameter-exists",
            NotApplicable::Utility { .. } => "peak::utility-missing",
            NotApplicable::UnknownSetting { .. } => "peak::unknown-setting",
            NotApplicable::SettingType { .. } => "peak::setting-type",
            NotApplicable::UnknownRange { .. } => "peak::unknown-range",
            NotApplicable::ReplacedMissing { .. } => "peak::replaced-requirement-missing",
            NotApplicable::RetiredRequired { .. } => "peak::retired-parameter-required",
            NotApplicable::RetiredRead { .. } => "peak::retired-parameter-read",
        }
    }

    /// Whether nothing that is applied before can mend it: it is between the transformation, the kernel and the
    /// language.
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        matches!(
            self,
            NotApplicable::Backend { .. }
                | NotApplicable::Kernel { .. }
                | NotApplicable::Pattern { .. }
                | NotApplicable::Utility { .. }
                | NotApplicable::UnknownSetting { .. }
                | NotApplicable::SettingType { .. }
        )
    }

    /// Whether another language would do.
    #[must_use]
    pub fn is_of_language(&self) -> bool {
        matches!(self, NotApplicable::Backend { .. } | NotApplicable::Utility { .. })
    }
}

/// What the context as it stands must hold, after [`check_kernel`].
pub fn check(context: &KernelContext, inputs: &PlanInputs<'_>) -> Result<(), NotApplicable> {
    check_history(context, inputs.transformation)?;
    check_names(context, inputs)
}

/// The language, the kernel's name and the utilities: what stays as it is, whatever is applied before.
pub fn check_kernel(context: &KernelContext, inputs: &PlanInputs<'_>) -> Result<(), NotApplicable> {
    check_selectors(context, inputs.transformation)?;
    check_utilities(context, inputs)
}

fn check_selectors(context: &KernelContext, transformation: &Transformation) -> Result<(), NotApplicable> {
    let name = transformation.name.clone();
    if !transformation.on.is_empty() && !transformation.on.contains(&context.backend) {
        let (backend, on) = (context.backend.clone(), transformation.on.join(", "));
        return Err(NotApplicable::Backend { transformation: name, backend, on });
    }
    match &transformation.kernels {
        KernelSelector::Named(kernels) if !kernels.contains(&context.kernel.name) => Err(NotApplicable::Kernel {
            transformation: name,
            kernel: context.kernel.name.clone(),
            kernels: kernels.join(", "),
        }),
        _ => Ok(()),
    }
}

fn check_history(context: &KernelContext, transformation: &Transformation) -> Result<(), NotApplicable> {
    let name = || transformation.name.clone();
    if let Some(other) = transformation.after.iter().find(|other| !context.applied.contains(other)) {
        return Err(NotApplicable::After { transformation: name(), other: other.clone() });
    }
    match transformation.conflicts_with.iter().find(|other| context.applied.contains(other)) {
        Some(other) => Err(NotApplicable::Conflict { transformation: name(), other: other.clone() }),
        None => Ok(()),
    }
}

fn check_names(context: &KernelContext, inputs: &PlanInputs<'_>) -> Result<(), NotApplicable> {
    let transformation = inputs.transformation;
    let renamed = |name: &String| inputs.application.renames.get(name).unwrap_or(name).clone();
    if let Some(name) = transformation.needs_tuning.iter().find(|name| context.parameter(&renamed(name)).is_none()) {
        return Err(NotApplicable::NeedsTuning { transformation: transformation.name.clone(), name: renamed(name) });
    }
    let has_let = |name: &String| context.plan.lets().any(|(known, _)| known == name);
    if let Some(name) = transformation.needs_lets.iter().find(|name| !has_let(name)) {
        return Err(NotApplicable::NeedsLet { transformation: transformation.name.clone(), name: name.clone() });
    }
    match transformation.introduces.iter().find(|parameter| context.parameter(&parameter.name).is_some()) {
        Some(parameter) => Err(NotApplicable::ParameterExists {
            transformation: transformation.name.clone(),
            name: parameter.name.clone(),
        }),
        None => Ok(()),
    }
}

fn check_utilities(context: &KernelContext, inputs: &PlanInputs<'_>) -> Result<(), NotApplicable> {
    let steps = inputs.transformation.passes.iter().flat_map(|pass| &pass.steps);
    for step in steps.filter(|step| step.on.is_empty() || step.on.contains(&context.backend)) {
        let Action::Insert { what: Insertion::Utility(name), .. } = &step.action else { continue };
        let problem = match inputs.utilities.get(name) {
            None => "does not exist".to_owned(),
            Some(utility) if !utility.code.contains_key(&context.backend) => {
                format!("has no code for {}", context.backend)
            }
            Some(_) => continue,
        };
        let transformation = inputs.transformation.name.clone();
        return Err(NotApplicable::Utility { transformation, utility: name.clone(), problem });
    }
    Ok(())
}

/// What a pass replaces is there, and no requirement reads a parameter that a pass retires.
pub fn check_retired(context: &KernelContext, plan: &TransformationPlan) -> Result<(), NotApplicable> {
    let mut held: Vec<&Requirement> = context.requirements.iter().chain(&plan.requires).collect();
    for pass in &plan.passes {
        if let Some(new) = pass.replaces.iter().find(|new| held.iter().all(|old| old.name != new.name)) {
            let known: Vec<&str> = held.iter().map(|requirement| requirement.name.as_str()).collect();
            return Err(NotApplicable::ReplacedMissing {
                transformation: plan.transformation.clone(),
                requirement: new.name.clone(),
                known: match known.is_empty() {
                    true => "there are no requirements: add it with `requires`".to_owned(),
                    false => format!("there are: {}; add a new one with `requires`", known.join(", ")),
                },
            });
        }
        held.retain(|old| pass.replaces.iter().all(|new| new.name != old.name));
        held.extend(&pass.replaces);
        for parameter in &pass.retires {
            let reads = |requirement: &&&Requirement| {
                let mut names = BTreeSet::new();
                requirement.condition.collect_names(&mut names);
                names.contains(parameter)
            };
            if let Some(requirement) = held.iter().find(reads) {
                return Err(NotApplicable::RetiredRequired {
                    transformation: plan.transformation.clone(),
                    parameter: parameter.clone(),
                    requirement: requirement.name.clone(),
                });
            }
        }
    }
    Ok(())
}

/// No region that the transformation leaves alone reads a parameter that one of its passes retires. What a step changes
/// is judged when it is changed.
pub fn check_left_alone(context: &KernelContext, plan: &TransformationPlan) -> Result<(), NotApplicable> {
    let steps = || plan.passes.iter().flat_map(|pass| &pass.steps);
    let changes = |region: Region| {
        steps().any(|step| match step {
            PlannedStep::Request(request) => request.region == region,
            // An identifier is renamed wherever it means the same.
            PlannedStep::Mechanical { region: own, action } => {
                *own == region || matches!(action, Action::Rename { .. })
            }
        })
    };
    let reads = |region: Region, name: &str| !find(context.regions.get(region), name, Syntax::of(region)).is_empty();
    for parameter in plan.passes.iter().flat_map(|pass| &pass.retires) {
        if let Some(region) = Region::ALL.into_iter().find(|region| !changes(*region) && reads(*region, parameter)) {
            let (transformation, parameter) = (plan.transformation.clone(), parameter.clone());
            return Err(NotApplicable::RetiredRead { transformation, parameter, region });
        }
    }
    Ok(())
}
