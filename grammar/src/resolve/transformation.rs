//! Transformations: what they introduce, need and require, and their passes.

use super::index::Index;
use super::pass::{Surroundings, pass};
use super::scope::Scope;
use super::{
    checked_languages, computes, declared, duplicate_clause, duplicate_name, kernel, lower_snake, missing_clause, once,
    origin, unknown_name, unmet, values,
};
use crate::ir::{
    Effect, Expectation, KernelSelector, Pass, Prose, Requirement, Setting, SettingValue, Transformation,
    TuningParameter,
};
use crate::syntax::ast::{self, Block, TransformationClause as Clause};
use crate::syntax::{Name, Report};
use std::collections::BTreeSet;

pub(super) fn transformation(block: &Block<Clause>, index: &Index<'_>, out: &mut Report<'_>) -> Transformation {
    let name = declared(&block.header.name, out);
    let mut made = Transformation {
        kernels: selector(block, index, out),
        on: Vec::new(),
        needs_tuning: Vec::new(),
        needs_lets: Vec::new(),
        after: Vec::new(),
        conflicts_with: Vec::new(),
        because: Prose::default(),
        settings: Vec::new(),
        introduces: Vec::new(),
        requires: Vec::new(),
        expects: Vec::new(),
        passes: Vec::new(),
        known_failures: Prose::default(),
        origin: origin(block.header.span, out),
        title: block.header.title.clone(),
        name,
    };
    let names = Names::of(block, index);
    heads(block, index, &mut made, out);
    words(block, &names.scope, &mut made, out);
    let forms = block.clauses.iter().filter_map(|clause| match &clause.value {
        Clause::Requires(form) => Some(form),
        _ => None,
    });
    unmet::check(forms, &made.requires, &made.introduces, out);
    let around = names.around(index, &made.on, &made.name);
    let mut passes: Vec<Pass> = Vec::new();
    for clause in &block.clauses {
        let Clause::Pass(form) = &clause.value else { continue };
        if passes.iter().any(|earlier| earlier.name == form.name.value) {
            duplicate_name("pass", &form.name, out);
        }
        passes.push(pass(form, &around, out));
    }
    if passes.is_empty() && !block.clauses.iter().any(|clause| matches!(clause.value, Clause::Pass(_))) {
        missing_clause("transformation", "pass NAME", &block.header, out);
    }
    closed(block, &passes, out);
    made.passes = passes;
    made
}

/// The names that a transformation's requirements, prose and steps may use.
pub(super) struct Names<'i> {
    pub(super) scope: Scope<'i>,
    pub(super) tuning: BTreeSet<String>,
    pub(super) lets: BTreeSet<String>,
}

impl<'i> Names<'i> {
    pub(super) fn of(block: &Block<Clause>, index: &'i Index<'_>) -> Names<'i> {
        let mut names = Names {
            scope: Scope { needs: true, ..Scope::new(&index.facts) },
            tuning: BTreeSet::new(),
            lets: BTreeSet::new(),
        };
        for clause in &block.clauses {
            match &clause.value {
                Clause::ForKernels(kernels) => names.kernels(kernels, index),
                Clause::Computing(statements) => {
                    // Reported where the selector is resolved.
                    let mut unheard = Report::new("");
                    let pattern = computes::pattern(statements, &Scope::open(&index.facts), &mut unheard);
                    computes::bound_names(&pattern, &mut names.scope);
                }
                Clause::NeedsTuning(own) => names.tuning.extend(own.iter().map(|name| name.value.clone())),
                Clause::NeedsLet(own) => names.lets.extend(own.iter().map(|name| name.value.clone())),
                Clause::Introduces(form) => {
                    names.tuning.insert(form.name.value.clone());
                }
                Clause::Takes(setting) => names.setting(setting),
                _ => {}
            }
        }
        names.scope.numbers.extend(names.tuning.iter().chain(&names.lets).cloned());
        names
    }

    /// Adds a tuning parameter.
    pub(super) fn tuning(&mut self, name: &str) {
        self.tuning.insert(name.to_owned());
        self.scope.numbers.insert(name.to_owned());
    }

    fn setting(&mut self, setting: &ast::Setting) {
        let name = &setting.name.value;
        let into = match setting.value.value {
            SettingValue::Text(_) => &mut self.scope.words,
            SettingValue::Integer(_) | SettingValue::Flag(_) => &mut self.scope.numbers,
        };
        into.insert(name.clone());
        if matches!(setting.value.value, SettingValue::Flag(_)) {
            self.scope.flags.insert(name.clone());
        }
    }

    fn kernels(&mut self, kernels: &[Name], index: &'i Index<'_>) {
        for name in kernels {
            let Some((_, block)) = index.kernels.get(name.value.as_str()) else {
                self.scope.partial = true;
                continue;
            };
            let own = kernel::names(block, index);
            self.scope.numbers.extend(own.numbers);
            self.scope.arrays.extend(own.arrays);
            self.tuning.extend(kernel::tuning(block).map(|name| name.value.clone()));
        }
    }

    /// What passes are checked against.
    pub(super) fn around<'s, 'a>(
        &'s self,
        index: &'s Index<'a>,
        on: &'s [String],
        transformation: &'s str,
    ) -> Surroundings<'s, 'i, 'a> {
        Surroundings { index, scope: &self.scope, on, transformation, tuning: &self.tuning, lets: &self.lets }
    }
}

fn selector(block: &Block<Clause>, index: &Index<'_>, out: &mut Report<'_>) -> KernelSelector {
    let mut selector = None;
    for clause in &block.clauses {
        let found = match &clause.value {
            Clause::ForKernels(names) => {
                for name in names.iter().filter(|name| !index.kernels.contains_key(name.value.as_str())) {
                    unknown_name("kernel", name, index.kernels.keys().copied(), out);
                }
                KernelSelector::Named(names.iter().map(|name| name.value.clone()).collect())
            }
            Clause::Computing(statements) => {
                KernelSelector::Computing(computes::pattern(statements, &Scope::open(&index.facts), out))
            }
            _ => continue,
        };
        once(&mut selector, found, "`for kernels`", clause.span, out);
    }
    selector.unwrap_or(KernelSelector::Any)
}

/// The clauses that are lists of names.
fn heads(block: &Block<Clause>, index: &Index<'_>, made: &mut Transformation, out: &mut Report<'_>) {
    let text = |names: &[Name]| names.iter().map(|name| name.value.clone()).collect::<Vec<_>>();
    for clause in &block.clauses {
        match &clause.value {
            Clause::On(languages) => made.on.extend(checked_languages(languages, out)),
            Clause::NeedsTuning(names) => {
                names.iter().for_each(|name| drop(super::upper_snake(name, out)));
                made.needs_tuning.extend(text(names));
            }
            Clause::NeedsLet(names) => made.needs_lets.extend(text(names)),
            Clause::After(names) | Clause::ConflictsWith(names) => {
                for name in names.iter().filter(|name| index.transformation(&name.value).is_none()) {
                    unknown_name("transformation", name, index.transformation_names(), out);
                }
                let after = matches!(clause.value, Clause::After(_));
                let into = if after { &mut made.after } else { &mut made.conflicts_with };
                into.extend(text(names));
            }
            Clause::Expects { counter, falls, factor } => {
                made.expects.push(Expectation { counter: counter.value.clone(), falls: *falls, factor: factor.value });
            }
            _ => {}
        }
    }
}

/// Settings, parameters, requirements and prose.
fn words(block: &Block<Clause>, scope: &Scope<'_>, made: &mut Transformation, out: &mut Report<'_>) {
    let (mut because, mut failures) = (None, None);
    for clause in &block.clauses {
        match &clause.value {
            Clause::Because(prose) => once(&mut because, scope.prose(prose, out), "`because`", clause.span, out),
            Clause::KnownFailures(prose) => {
                once(&mut failures, scope.prose(prose, out), "`known failures`", clause.span, out);
            }
            Clause::Takes(form) => setting(form, &mut made.settings, out),
            Clause::Introduces(form) => {
                introduced(form, &made.name, &mut made.introduces, out);
                if made.needs_tuning.contains(&form.name.value) {
                    duplicate_name("needed parameter", &form.name, out);
                }
            }
            Clause::Requires(form) => required(form, &made.name, scope, &mut made.requires, out),
            _ => {}
        }
    }
    made.because = because.unwrap_or_default();
    made.known_failures = failures.unwrap_or_default();
}

/// Reports a value of another type than the setting's default, which a pack or a workflow gives in its place.
pub(super) fn same_type(block: &Block<Clause>, name: &Name, value: &SettingValue, out: &mut Report<'_>) {
    let own = block.clauses.iter().find_map(|clause| match &clause.value {
        Clause::Takes(form) if form.name.value == name.value => Some(&form.value.value),
        _ => None,
    });
    let Some(own) = own.filter(|own| std::mem::discriminant(*own) != std::mem::discriminant(value)) else { return };
    let kind = match own {
        SettingValue::Integer(_) => "a whole number",
        SettingValue::Flag(_) => "`yes` or `no`",
        SettingValue::Text(_) => "a quoted text",
    };
    let message = format!("the setting `{}` of `{}` takes {kind}", name.value, block.header.name.value);
    out.push(out.error("peak::type-mismatch", name.span, message).help("give a value of the type of its default"));
}

pub(super) fn setting(form: &ast::Setting, into: &mut Vec<Setting>, out: &mut Report<'_>) {
    let name = lower_snake(&form.name, out);
    if into.iter().any(|earlier| earlier.name == name) {
        duplicate_name("setting", &form.name, out);
    }
    into.push(Setting { name, default: form.value.value.clone() });
}

pub(super) fn introduced(form: &ast::Introduced, by: &str, into: &mut Vec<TuningParameter>, out: &mut Report<'_>) {
    if into.iter().any(|earlier| earlier.name == form.name.value) {
        duplicate_name("tuning parameter", &form.name, out);
    }
    into.extend(values::parameter(form, Some(by), out));
}

pub(super) fn required(
    form: &ast::Requirement,
    by: &str,
    scope: &Scope<'_>,
    into: &mut Vec<Requirement>,
    out: &mut Report<'_>,
) {
    let Some(requirement) = values::requirement(form, into.len() + 1, Some(by), scope, out) else { return };
    if into.iter().any(|earlier| earlier.name == requirement.name) {
        let span = form.name.as_ref().map_or(form.condition.span, |name| name.span);
        duplicate_clause(&format!("the requirement `{}`", requirement.name), span, out);
    }
    into.push(requirement);
}

/// The last pass closes every group.
fn closed(block: &Block<Clause>, passes: &[Pass], out: &mut Report<'_>) {
    let Some(last) = passes.last().filter(|pass| pass.effect != Effect::KeepsResults) else { return };
    let forms = block.clauses.iter().filter_map(|clause| match &clause.value {
        Clause::Pass(form) => Some(form),
        _ => None,
    });
    let span = forms.fold(None, |_, form| Some(form)).map_or(block.header.name.span, |form| form.name.span);
    let message = format!("`{}` is the last pass, and leaves something broken", last.name);
    out.push(
        out.error("peak::open-group", span, message).help("it is validated after it all the same: `keeps results`"),
    );
}
