//! Workflows: the names in their steps.

use super::index::Index;
use super::transformation::same_type;
use super::{checked_languages, declared, duplicate_clause, missing_clause, once, origin, unknown_name, values};
use crate::ir::{Application, OnFailure, Workflow, WorkflowStep};
use crate::syntax::ast::{
    self, Adjustment, ArgumentForm, Block, KernelClause, PackClause, SpecializeClause, TransformationClause,
    WorkflowClause as Clause,
};
use crate::syntax::{Name, Report};
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// Configurations validated after each step where the workflow says nothing.
const VALIDATED: u32 = 16;
/// Configurations tuned after each step where the workflow says nothing.
const TUNED: u32 = 128;

pub(super) fn workflow(block: &Block<Clause>, index: &Index<'_>, out: &mut Report<'_>) -> Workflow {
    let mut made = Workflow {
        name: declared(&block.header.name, out),
        title: block.header.title.clone(),
        kernel: String::new(),
        target: None,
        backend: None,
        validate_samples: VALIDATED,
        validators: Vec::new(),
        tune_budget: TUNED,
        tune_strategy: None,
        time_at: IndexMap::new(),
        on_failure: OnFailure::default(),
        steps: Vec::new(),
        origin: origin(block.header.span, out),
    };
    heads(block, index, &mut made, out);
    let mut steps = Steps { index, checkpoints: BTreeSet::new() };
    for clause in &block.clauses {
        if let Clause::Step(form) = &clause.value {
            made.steps.extend(steps.step(form, out));
        }
    }
    let has_steps = block.clauses.iter().any(|clause| matches!(clause.value, Clause::Step(_)));
    if !has_steps {
        missing_clause("workflow", "apply TRANSFORMATION", &block.header, out);
    }
    made
}

fn heads(block: &Block<Clause>, index: &Index<'_>, made: &mut Workflow, out: &mut Report<'_>) {
    let (mut kernel, mut failure, mut validate, mut tune) = (None, None, None, None);
    for clause in &block.clauses {
        let span = clause.span;
        match &clause.value {
            Clause::StartFrom(name) => {
                if !index.kernels.contains_key(name.value.as_str()) {
                    unknown_name("kernel", name, index.kernels.keys().copied(), out);
                }
                once(&mut kernel, name.value.clone(), "`start from kernel`", span, out);
            }
            Clause::Target(name) => {
                if !index.devices.contains_key(name.value.as_str()) {
                    unknown_name("device", name, index.devices.keys().copied(), out);
                }
                once(&mut made.target, name.value.clone(), "`target`", span, out);
            }
            Clause::On(name) => {
                for language in checked_languages(std::slice::from_ref(name), out) {
                    once(&mut made.backend, language, "`on`", span, out);
                }
            }
            Clause::OnFailure(policy) => once(&mut failure, *policy, "`on failure`", span, out),
            Clause::Validate(samples, validators) => {
                let validators: Vec<String> = validators.iter().map(|name| name.value.clone()).collect();
                once(&mut validate, (*samples, validators), "`validate`", span, out);
            }
            Clause::Tune(budget, strategy) => {
                let strategy = strategy.as_ref().map(|name| name.value.clone());
                once(&mut tune, (*budget, strategy), "`tune`", span, out);
            }
            Clause::TimeAt(_) | Clause::Step(_) => {}
        }
    }
    if kernel.is_none() {
        missing_clause("workflow", "start from kernel NAME", &block.header, out);
    }
    made.kernel = kernel.unwrap_or_default();
    made.on_failure = failure.unwrap_or_default();
    (made.validate_samples, made.validators) = validate.unwrap_or((VALIDATED, Vec::new()));
    (made.tune_budget, made.tune_strategy) = tune.unwrap_or((TUNED, None));
    timed(block, index, made, out);
}

fn timed(block: &Block<Clause>, index: &Index<'_>, made: &mut Workflow, out: &mut Report<'_>) {
    let kernel = index.kernels.get(made.kernel.as_str());
    let scalars: Option<Vec<&str>> = kernel.map(|(_, kernel)| scalars(kernel).collect());
    for clause in &block.clauses {
        let Clause::TimeAt(inputs) = &clause.value else { continue };
        for (name, set) in inputs {
            if let Some(scalars) = scalars.as_ref().filter(|scalars| !scalars.contains(&name.value.as_str())) {
                unknown_name(&format!("scalar input of `{}` named", made.kernel), name, scalars.iter().copied(), out);
            }
            let Some(set) = values::values(set, out) else { continue };
            if made.time_at.insert(name.value.clone(), set.all()).is_some() {
                duplicate_clause(&format!("`time at {}`", name.value), name.span, out);
            }
        }
    }
}

/// Names of a kernel's scalar inputs.
pub(super) fn scalars(kernel: &Block<KernelClause>) -> impl Iterator<Item = &str> {
    kernel.clauses.iter().filter_map(|clause| match &clause.value {
        KernelClause::Argument { name, kind: ArgumentForm::Scalar { .. }, .. } => Some(name.value.as_str()),
        _ => None,
    })
}

struct Steps<'s, 'a> {
    index: &'s Index<'a>,
    checkpoints: BTreeSet<String>,
}

impl Steps<'_, '_> {
    fn step(&mut self, form: &ast::WorkflowStep, out: &mut Report<'_>) -> Option<WorkflowStep> {
        Some(match form {
            ast::WorkflowStep::Apply(application) => WorkflowStep::Apply(self.application(application, out)?),
            ast::WorkflowStep::Try(application) => WorkflowStep::Try(self.application(application, out)?),
            ast::WorkflowStep::ChooseBest(branches) => {
                WorkflowStep::ChooseBest(branches.iter().map(|branch| self.steps(branch, out)).collect())
            }
            ast::WorkflowStep::Repeat { times, until_gain_below, body } => WorkflowStep::Repeat {
                times: *times,
                until_gain_below_percent: *until_gain_below,
                body: self.steps(body, out),
            },
            ast::WorkflowStep::LetModelChoose(from) => WorkflowStep::LetModelChoose(self.applications(from, out)),
            ast::WorkflowStep::Search { from, strategy, width, model_calls } => WorkflowStep::Search {
                from: self.applications(from, out),
                strategy: strategy.clone(),
                width: *width,
                model_calls: *model_calls,
            },
            ast::WorkflowStep::Checkpoint(name) => {
                self.checkpoints.insert(name.clone());
                WorkflowStep::Checkpoint(name.clone())
            }
            ast::WorkflowStep::Restore(name) => {
                if !self.checkpoints.contains(&name.value) {
                    unknown_name("earlier checkpoint", name, self.checkpoints.iter().map(String::as_str), out);
                }
                WorkflowStep::Restore(name.value.clone())
            }
            ast::WorkflowStep::CompareWith(name) => WorkflowStep::CompareWith(name.value.clone()),
            ast::WorkflowStep::KeepBest => WorkflowStep::KeepBest,
        })
    }

    fn steps(&mut self, forms: &[ast::WorkflowStep], out: &mut Report<'_>) -> Vec<WorkflowStep> {
        forms.iter().filter_map(|form| self.step(form, out)).collect()
    }

    /// What is chosen from: each name once, since it is the answer.
    fn applications(&self, forms: &[ast::Application], out: &mut Report<'_>) -> Vec<Application> {
        for (at, form) in forms.iter().enumerate() {
            let name = &form.transformation;
            if forms[..at].iter().any(|earlier| earlier.transformation.value == name.value) {
                let message = format!("`{}` is listed twice", name.value);
                let diagnostic = out.error("peak::duplicate-name", name.span, message).label("again");
                out.push(diagnostic.help("one of a list is chosen by its name: keep one of the two"));
            }
        }
        forms.iter().filter_map(|form| self.application(form, out)).collect()
    }

    fn application(&self, form: &ast::Application, out: &mut Report<'_>) -> Option<Application> {
        let name = &form.transformation;
        let Some(block) = self.index.transformation(&name.value) else {
            unknown_name("transformation", name, self.index.transformation_names(), out);
            return None;
        };
        let mut made = Application {
            transformation: name.value.clone(),
            ranges: IndexMap::new(),
            settings: IndexMap::new(),
            renames: IndexMap::new(),
        };
        for adjustment in &form.adjustments {
            match adjustment {
                Adjustment::Narrow(parameter, set) => {
                    self.known(block, "tuning parameter", parameter, out);
                    made.ranges.extend(values::values(set, out).map(|set| (parameter.value.clone(), set)));
                }
                Adjustment::Give(setting, value) => {
                    self.known(block, "setting", setting, out);
                    same_type(block, setting, value, out);
                    made.settings.insert(setting.value.clone(), value.clone());
                }
                Adjustment::Rename(parameter, other) => {
                    self.known(block, "needed parameter", parameter, out);
                    made.renames.insert(parameter.value.clone(), other.value.clone());
                }
            }
        }
        Some(made)
    }

    /// Reports a name that the transformation, as it stands or as a pack specializes it, does not have.
    fn known(&self, block: &Block<TransformationClause>, kind: &str, name: &Name, out: &mut Report<'_>) {
        let mut names = BTreeSet::new();
        for clause in &block.clauses {
            match &clause.value {
                TransformationClause::Introduces(form) if kind == "tuning parameter" => {
                    names.insert(form.name.value.as_str());
                }
                TransformationClause::Takes(form) if kind == "setting" => {
                    names.insert(form.name.value.as_str());
                }
                // A needed parameter's range may be narrowed too.
                TransformationClause::NeedsTuning(own) if kind != "setting" => {
                    names.extend(own.iter().map(|name| name.value.as_str()));
                }
                _ => {}
            }
        }
        if kind == "tuning parameter" {
            names.extend(self.specialized(&block.header.name.value));
        }
        if !names.contains(name.value.as_str()) {
            unknown_name(&format!("{kind} of `{}` named", block.header.name.value), name, names, out);
        }
    }

    fn specialized(&self, transformation: &str) -> Vec<&str> {
        let clauses = self.index.packs.values().flat_map(|(_, pack)| &pack.clauses);
        let of_it = clauses.filter_map(|clause| match &clause.value {
            PackClause::Specialize { transformation: own, clauses } if own.value == transformation => Some(clauses),
            _ => None,
        });
        let introduced = of_it.flatten().filter_map(|clause| match &clause.value {
            SpecializeClause::Introduces(form) => Some(form.name.value.as_str()),
            _ => None,
        });
        introduced.collect()
    }
}
