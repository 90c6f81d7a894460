//! Kernels: arguments, oracle, tuning, requirements, code and launch plan, checked against one another.

use super::index::Index;
use super::plan::{all, element_type};
use super::scope::Scope;
use super::{
    checked_languages, computes, declared, duplicate_clause, duplicate_name_of, missing_clause, once, origin, plan,
    unmet, values,
};
use crate::ir::{
    Argument, ArgumentKind, Code, Computes, Direction, ElementType, Initializer, Kernel, LaunchPlan, Region, Tolerance,
};
use crate::syntax::ast::{ArgumentForm, Assignment, Block, HostCode, KernelClause, PlanStatement};
use crate::syntax::{Name, Report};
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// What an unknown type, which is reported, stands for: the argument is still there for what names it.
const STAND_IN: ElementType = ElementType::F32;

pub(super) fn kernel(block: &Block<KernelClause>, index: &Index<'_>, out: &mut Report<'_>) -> Kernel {
    let mut kernel = Kernel {
        name: declared(&block.header.name, out),
        title: block.header.title.clone(),
        computes: None,
        element: ElementType::F32,
        accumulator: ElementType::F32,
        arguments: Vec::new(),
        tolerance: Tolerance::SumLength,
        tuning: Vec::new(),
        requirements: Vec::new(),
        code: IndexMap::new(),
        host_code: String::new(),
        launch: LaunchPlan::default(),
        origin: origin(block.header.span, out),
    };
    let names = names(block, index);
    declarations(block, &names, &mut kernel, out);
    let forms = block.clauses.iter().filter_map(|clause| match &clause.value {
        KernelClause::Require(form) => Some(form),
        _ => None,
    });
    unmet::check(forms, &kernel.requirements, &kernel.tuning, out);
    types_and_tolerance(block, &mut kernel, out);
    kernel.computes = oracle(block, &names, &kernel.arguments, out);
    sources(block, &mut kernel, out);
    if let Some(host) = host_code(block) {
        kernel.host_code.clone_from(&host.text);
        kernel.launch = plan::plan(&host.statements, without_lets(block, &names), host.span, out);
    }
    complete(block, &kernel, out);
    kernel
}

/// Every name that a kernel's requirements and a transformation for it may use.
pub(super) fn names<'i>(block: &Block<KernelClause>, index: &'i Index<'_>) -> Scope<'i> {
    let mut scope = Scope::new(&index.facts);
    for clause in &block.clauses {
        match &clause.value {
            KernelClause::Argument { name, kind: ArgumentForm::Scalar { .. }, .. } => {
                scope.numbers.insert(name.value.clone());
            }
            KernelClause::Argument { name, kind: ArgumentForm::Array(form, _), .. } => {
                scope.arrays.insert(name.value.clone(), Some(form.shape.len()));
            }
            KernelClause::Tune(form) => {
                scope.numbers.insert(form.name.value.clone());
            }
            _ => {}
        }
    }
    scope.numbers.extend(lets(block));
    scope
}

fn host_code(block: &Block<KernelClause>) -> Option<&HostCode> {
    block.clauses.iter().find_map(|clause| match &clause.value {
        KernelClause::HostCode(host) => Some(host),
        _ => None,
    })
}

fn lets(block: &Block<KernelClause>) -> BTreeSet<String> {
    let statements = host_code(block).map_or(&[][..], |host| &host.statements);
    let names = statements.iter().filter_map(|statement| match &statement.value {
        PlanStatement::Let(name, _) => Some(name.value.clone()),
        _ => None,
    });
    names.collect()
}

/// The scope that the launch plan starts from: it declares its lets itself.
fn without_lets<'i>(block: &Block<KernelClause>, names: &Scope<'i>) -> Scope<'i> {
    let lets = lets(block);
    let mut scope = names.clone();
    let declared: BTreeSet<&str> =
        block.clauses.iter().filter_map(|clause| own_name(&clause.value)).map(|n| n.value.as_str()).collect();
    scope.numbers.retain(|name| !lets.contains(name) || declared.contains(name.as_str()));
    scope
}

/// The names of a kernel's tuning parameters.
pub(super) fn tuning(block: &Block<KernelClause>) -> impl Iterator<Item = &Name> {
    block.clauses.iter().filter_map(|clause| match &clause.value {
        KernelClause::Tune(form) => Some(&form.name),
        _ => None,
    })
}

fn own_name(clause: &KernelClause) -> Option<&Name> {
    match clause {
        KernelClause::Argument { name, .. } => Some(name),
        KernelClause::Tune(form) => Some(&form.name),
        _ => None,
    }
}

/// Arguments, tuning parameters and requirements, in the order of the file.
fn declarations(block: &Block<KernelClause>, names: &Scope<'_>, kernel: &mut Kernel, out: &mut Report<'_>) {
    let mut seen = BTreeSet::new();
    let mut scalars = names.clone();
    scalars.numbers.retain(|name| is_scalar(block, name));
    for clause in &block.clauses {
        if let Some(name) = own_name(&clause.value)
            && !seen.insert(name.value.as_str())
        {
            let mut names = block.clauses.iter().filter_map(|clause| own_name(&clause.value));
            let first = names.find(|first| first.value == name.value).map(|first| first.span);
            duplicate_name_of("argument or parameter", name, first, out);
            continue;
        }
        match &clause.value {
            KernelClause::Argument { direction, name, kind } => {
                let kind = argument_kind(kind, *direction, name, &scalars, out);
                let argument = |kind| Argument { name: name.value.clone(), direction: *direction, kind };
                kernel.arguments.extend(kind.map(argument));
            }
            KernelClause::Tune(form) => kernel.tuning.extend(values::parameter(form, None, out)),
            KernelClause::Require(form) => {
                let number = kernel.requirements.len() + 1;
                let Some(requirement) = values::requirement(form, number, None, names, out) else { continue };
                if kernel.requirements.iter().any(|earlier| earlier.name == requirement.name) {
                    duplicate_clause(&format!("the requirement `{}`", requirement.name), clause.span, out);
                }
                kernel.requirements.push(requirement);
            }
            _ => {}
        }
    }
}

fn is_scalar(block: &Block<KernelClause>, name: &str) -> bool {
    block.clauses.iter().any(|clause| match &clause.value {
        KernelClause::Argument { name: own, kind: ArgumentForm::Scalar { .. }, .. } => own.value == name,
        _ => false,
    })
}

fn argument_kind(
    form: &ArgumentForm,
    direction: Direction,
    name: &Name,
    scalars: &Scope<'_>,
    out: &mut Report<'_>,
) -> Option<ArgumentKind> {
    match form {
        ArgumentForm::Scalar { element, values: main, checked } => {
            if direction != Direction::Input {
                let message = format!("`{}` is a scalar, and can only be an input", name.value);
                out.push(
                    out.error("peak::type-mismatch", name.span, message)
                        .label("a number")
                        .help("an output is an array, of one element perhaps: `array[1] of f32`"),
                );
            }
            let element = element_type(element, out);
            let main = values::values(main, out);
            let checked = checked.as_ref().map(|set| values::values(set, out));
            let main = main?.all();
            let checked = checked.map_or_else(|| Some(main.clone()), |set| set.map(|set| set.all()));
            Some(ArgumentKind::Scalar { element: element.unwrap_or(STAND_IN), values: main, checked: checked? })
        }
        ArgumentForm::Array(form, initializer) => {
            let shape = all(&form.shape, scalars, out);
            let element = element_type(&form.element, out);
            if direction == Direction::Output && initializer.is_some() {
                let message = format!("`{}` is an output, and holds nothing before the kernel has run", name.value);
                let help = "declare it `inout` where the kernel reads it, else leave out what it holds";
                out.push(out.error("peak::type-mismatch", name.span, message).label("an output").help(help));
            }
            if direction != Direction::Output && initializer.is_none() {
                let message = format!("nothing says what `{}` holds", name.value);
                let help = "add `, random uniform -1 to 1`, `, random normal`, `, zeros` or `, ones`";
                out.push(out.error("peak::missing-clause", name.span, message).help(help));
            }
            let initializer = initializer.clone().unwrap_or(Initializer::Zeros);
            Some(ArgumentKind::Array { shape: shape?, element: element.unwrap_or(STAND_IN), initializer })
        }
    }
}

fn types_and_tolerance(block: &Block<KernelClause>, kernel: &mut Kernel, out: &mut Report<'_>) {
    let (mut element, mut accumulator, mut tolerance) = (None, None, None);
    for clause in &block.clauses {
        match &clause.value {
            KernelClause::Elements { element: own, accumulate } => {
                if let Some(own) = own.as_ref() {
                    once(&mut element, element_type(own, out), "`element`", clause.span, out);
                }
                if let Some(own) = accumulate.as_ref() {
                    once(&mut accumulator, element_type(own, out), "`accumulate`", clause.span, out);
                }
            }
            KernelClause::Tolerance(value) => once(&mut tolerance, *value, "`tolerance`", clause.span, out),
            _ => {}
        }
    }
    if element.is_none() {
        missing_clause("kernel", "element TYPE", &block.header, out);
    }
    kernel.element = element.flatten().unwrap_or(ElementType::F32);
    kernel.accumulator = accumulator.flatten().unwrap_or(kernel.element);
    kernel.tolerance = tolerance.unwrap_or(Tolerance::SumLength);
}

fn oracle(
    block: &Block<KernelClause>,
    names: &Scope<'_>,
    arguments: &[Argument],
    out: &mut Report<'_>,
) -> Option<Computes> {
    let mut oracle = None;
    let mut scope = names.clone();
    scope.numbers.retain(|name| is_scalar(block, name));
    for clause in &block.clauses {
        let KernelClause::Computes(statements) = &clause.value else { continue };
        once(&mut oracle, computes::computes(statements, &scope, arguments, out), "`computes`", clause.span, out);
        all_computed(block, statements, out);
    }
    oracle
}

/// An output that no statement defines would be checked against nothing.
fn all_computed(block: &Block<KernelClause>, statements: &[Assignment], out: &mut Report<'_>) {
    for clause in &block.clauses {
        let KernelClause::Argument { direction, name, .. } = &clause.value else { continue };
        let defined = statements.iter().any(|statement| statement.target.value == name.value);
        if *direction != Direction::Input && !defined {
            let message = format!("`computes` does not say what `{}` holds", name.value);
            let help = format!("add a statement `{}[...] = VALUE`", name.value);
            out.push(out.error("peak::not-computed", name.span, message).help(help));
        }
    }
}

fn sources(block: &Block<KernelClause>, kernel: &mut Kernel, out: &mut Report<'_>) {
    for clause in &block.clauses {
        let KernelClause::Source { region, languages, code } = &clause.value else { continue };
        for language in checked_languages(languages, out) {
            let regions: &mut IndexMap<Region, Code> = kernel.code.entry(language.clone()).or_default();
            if regions.insert(*region, code.clone()).is_some() {
                duplicate_clause(&format!("{region} for {language}"), clause.span, out);
            }
        }
    }
}

/// What a kernel cannot be without.
fn complete(block: &Block<KernelClause>, kernel: &Kernel, out: &mut Report<'_>) {
    let header = &block.header;
    if !kernel.code.values().any(|regions| regions.contains_key(&Region::DeviceCode)) {
        missing_clause("kernel", "device code for LANGUAGE from \"FILE\"", header, out);
    }
    if kernel.arguments.iter().all(|argument| argument.direction == Direction::Input) {
        missing_clause("kernel", "output NAME: array[SHAPE] of TYPE", header, out);
    }
    let mut hosts = block.clauses.iter().filter(|clause| matches!(clause.value, KernelClause::HostCode(_)));
    if hosts.next().is_none() {
        missing_clause("kernel", "host code", header, out);
    }
    if let Some(second) = hosts.next() {
        duplicate_clause("`host code`", second.span, out);
    }
}
