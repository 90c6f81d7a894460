//! Binds a transformation's names, settings and ranges to one kernel context.

use super::{Names, NotApplicable, PlanInputs};
use crate::context::KernelContext;
use indexmap::IndexMap;
use peak_grammar::ir::{
    Application, Expr, KernelSelector, Requirement, SettingValue, Transformation, TuningParameter, Values,
};
use peak_grammar::matching::{self, Bindings};

/// What every name of the transformation stands for.
pub fn names(context: &KernelContext, inputs: &PlanInputs<'_>) -> Result<Names, NotApplicable> {
    let Bindings { arrays, sizes, indices } = bindings(context, inputs.transformation)?;
    let arrays = arrays.into_iter().map(|(name, array)| (name, Expr::Name(array)));
    Ok(Names {
        bound: arrays.chain(sizes).collect(),
        indices,
        renames: inputs.application.renames.clone(),
        settings: settings(inputs.transformation, inputs.application)?,
        facts: inputs.facts.clone(),
    })
}

fn bindings(context: &KernelContext, transformation: &Transformation) -> Result<Bindings, NotApplicable> {
    let KernelSelector::Computing(pattern) = &transformation.kernels else { return Ok(Bindings::default()) };
    matching::bind(pattern, &context.kernel).map_err(|mismatch| NotApplicable::Pattern {
        transformation: transformation.name.clone(),
        kernel: context.kernel.name.clone(),
        reason: mismatch.reason,
    })
}

/// Settings in force: the defaults, and what the workflow says instead.
pub fn settings(
    transformation: &Transformation,
    application: &Application,
) -> Result<IndexMap<String, SettingValue>, NotApplicable> {
    let mut settings: IndexMap<String, SettingValue> =
        transformation.settings.iter().map(|setting| (setting.name.clone(), setting.default.clone())).collect();
    for (name, value) in &application.settings {
        let Some(held) = settings.get_mut(name) else { return Err(unknown_setting(transformation, name)) };
        if std::mem::discriminant(held) != std::mem::discriminant(value) {
            let (transformation, name) = (transformation.name.clone(), name.clone());
            return Err(NotApplicable::SettingType { transformation, name, expected: kind(held) });
        }
        held.clone_from(value);
    }
    Ok(settings)
}

fn unknown_setting(transformation: &Transformation, name: &str) -> NotApplicable {
    let known: Vec<&str> = transformation.settings.iter().map(|setting| setting.name.as_str()).collect();
    NotApplicable::UnknownSetting {
        transformation: transformation.name.clone(),
        name: name.to_owned(),
        known: match known.is_empty() {
            true => "it takes no settings".to_owned(),
            false => format!("it takes: {}", known.join(", ")),
        },
    }
}

fn kind(value: &SettingValue) -> &'static str {
    match value {
        SettingValue::Integer(_) => "a whole number",
        SettingValue::Flag(_) => "`yes` or `no`",
        SettingValue::Text(_) => "a text",
    }
}

/// The parameters introduced, with the workflow's ranges.
pub fn introduces(transformation: &Transformation, application: &Application) -> Vec<TuningParameter> {
    let narrowed = |parameter: &TuningParameter| {
        let mut parameter = TuningParameter { introduced_by: Some(transformation.name.clone()), ..parameter.clone() };
        if let Some(values) = application.ranges.get(&parameter.name) {
            parameter.start = parameter.start.filter(|start| values.contains(*start));
            parameter.values = values.clone();
        }
        parameter
    };
    transformation.introduces.iter().map(narrowed).collect()
}

/// The workflow's ranges of parameters that are there already.
pub fn narrows(
    context: &KernelContext,
    transformation: &Transformation,
    application: &Application,
) -> Result<IndexMap<String, Values>, NotApplicable> {
    let mut narrows = IndexMap::new();
    for (name, values) in &application.ranges {
        if transformation.introduces.iter().any(|parameter| parameter.name == *name) {
            continue;
        }
        if context.parameter(name).is_none() {
            let (transformation, name) = (transformation.name.clone(), name.clone());
            return Err(NotApplicable::UnknownRange { transformation, name });
        }
        narrows.insert(name.clone(), values.clone());
    }
    Ok(narrows)
}

/// A requirement in the kernel's own names.
pub fn requirement(requirement: &Requirement, transformation: &Transformation, names: &Names) -> Requirement {
    Requirement {
        name: requirement.name.clone(),
        condition: names.condition(&requirement.condition),
        added_by: Some(transformation.name.clone()),
    }
}
