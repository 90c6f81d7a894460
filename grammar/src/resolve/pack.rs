//! Packs: devices, specializations, and transformations and workflows of their own.

use super::index::Index;
use super::scope::Scope;
use super::transformation::{Names, introduced, required, same_type, setting};
use super::{
    declared, device, duplicate_name, missing_clause, once, origin, pass, transformation, unknown_name, workflow,
};
use crate::ir::{Pack, Prose, Specialization, Workflow};
use crate::syntax::ast::{Block, PackClause, SpecializeClause, TransformationClause};
use crate::syntax::{Name, Report, Spanned};
use indexmap::IndexMap;

pub(super) fn pack(block: &Block<PackClause>, index: &Index<'_>, out: &mut Report<'_>) -> Pack {
    let mut pack = Pack {
        name: declared(&block.header.name, out),
        title: block.header.title.clone(),
        extends: None,
        devices: Vec::new(),
        facts: IndexMap::new(),
        backend_facts: IndexMap::new(),
        knows: Prose::default(),
        specializations: Vec::new(),
        transformations: IndexMap::new(),
        workflows: IndexMap::new(),
        origin: origin(block.header.span, out),
    };
    let scope = Scope::new(&index.facts);
    let mut knows = None;
    for clause in &block.clauses {
        match &clause.value {
            PackClause::Devices(names) => devices(names, index, &mut pack, out),
            PackClause::Extends(name) => {
                if !index.packs.contains_key(name.value.as_str()) {
                    unknown_name("pack", name, index.packs.keys().copied(), out);
                }
                once(&mut pack.extends, name.value.clone(), "`extends`", clause.span, out);
            }
            PackClause::Has { languages, facts } => {
                device::has(languages, facts, &mut pack.facts, &mut pack.backend_facts, out);
            }
            PackClause::Knows(prose) => once(&mut knows, scope.prose(prose, out), "`knows`", clause.span, out),
            PackClause::Specialize { transformation, clauses } => {
                if pack.specializations.iter().any(|earlier| earlier.transformation == transformation.value) {
                    duplicate_name("specialization of", transformation, out);
                }
                let made = specialization(transformation, clauses, index, out);
                pack.specializations
                    .extend(made.map(|made| Specialization { origin: origin(clause.span, out), ..made }));
            }
            PackClause::Transformation(block) => own_transformation(block, index, &mut pack, out),
            PackClause::Workflow(block) => {
                let made = workflow::workflow(block, index, out);
                own_workflow(made, &block.header.name, &mut pack, out);
            }
        }
    }
    pack.knows = knows.unwrap_or_default();
    let placed = |clause: &PackClause| matches!(clause, PackClause::Devices(_) | PackClause::Extends(_));
    if !block.clauses.iter().any(|clause| placed(&clause.value)) {
        missing_clause("pack", "for devices NAME", &block.header, out);
    }
    pack
}

fn devices(names: &[Name], index: &Index<'_>, pack: &mut Pack, out: &mut Report<'_>) {
    for name in names {
        if !index.devices.contains_key(name.value.as_str()) {
            unknown_name("device", name, index.devices.keys().copied(), out);
        } else if pack.devices.contains(&name.value) {
            duplicate_name("device of the pack,", name, out);
        } else {
            pack.devices.push(name.value.clone());
        }
    }
}

fn own_transformation(block: &Block<TransformationClause>, index: &Index<'_>, pack: &mut Pack, out: &mut Report<'_>) {
    let name = &block.header.name;
    let made = transformation::transformation(block, index, out);
    let outside = index.transformations.contains_key(name.value.as_str());
    if outside || pack.transformations.insert(made.name.clone(), made).is_some() {
        let message = format!("the transformation `{}` is declared twice", name.value);
        let help =
            if outside { "change the one that is there with `specialize`, or rename this" } else { "rename one" };
        out.push(out.error("peak::duplicate-name", name.span, message).label("again").help(help));
    }
}

/// Workflows of one pack may share a name where they differ in `target` or `on`, as those outside do.
fn own_workflow(made: Workflow, name: &Name, pack: &mut Pack, out: &mut Report<'_>) {
    let same = |own: &Workflow| own.name == made.name && own.target == made.target && own.backend == made.backend;
    if pack.workflows.values().any(same) {
        duplicate_name("workflow", name, out);
        return;
    }
    let key = match pack.workflows.contains_key(&made.name) {
        false => made.name.clone(),
        true => [Some(&made.name), made.target.as_ref(), made.backend.as_ref()]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(" "),
    };
    pack.workflows.insert(key, made);
}

fn specialization(
    name: &Name,
    clauses: &[Spanned<SpecializeClause>],
    index: &Index<'_>,
    out: &mut Report<'_>,
) -> Option<Specialization> {
    let Some(block) = index.transformation(&name.value) else {
        unknown_name("transformation", name, index.transformation_names(), out);
        return None;
    };
    let mut made = Specialization {
        transformation: name.value.clone(),
        passes: Vec::new(),
        introduces: Vec::new(),
        settings: Vec::new(),
        requires: Vec::new(),
        knows: Prose::default(),
        origin: crate::ir::Origin::default(),
    };
    let mut names = Names::of(block, index);
    for clause in clauses {
        if let SpecializeClause::Introduces(form) = &clause.value {
            introduced(form, &name.value, &mut made.introduces, out);
            names.tuning(&form.name.value);
        }
    }
    let mut knows = None;
    for clause in clauses {
        match &clause.value {
            SpecializeClause::Introduces(_) => {}
            SpecializeClause::ReplacePass(form) => {
                if made.passes.iter().any(|earlier| earlier.name == form.name.value) {
                    duplicate_name("replaced pass", &form.name, out);
                }
                known(block, "pass", &form.name, out);
                made.passes.push(pass::pass(form, &names.around(index, &on(block), &name.value), out));
            }
            SpecializeClause::Requires(form) => required(form, &name.value, &names.scope, &mut made.requires, out),
            SpecializeClause::Takes(form) => {
                known(block, "setting", &form.name, out);
                same_type(block, &form.name, &form.value.value, out);
                setting(form, &mut made.settings, out);
            }
            SpecializeClause::Knows(prose) => {
                once(&mut knows, names.scope.prose(prose, out), "`knows`", clause.span, out);
            }
        }
    }
    made.knows = knows.unwrap_or_default();
    Some(made)
}

/// Reports a pass or setting that the transformation does not have.
fn known(block: &Block<TransformationClause>, kind: &str, name: &Name, out: &mut Report<'_>) {
    let names: Vec<&str> = block
        .clauses
        .iter()
        .filter_map(|clause| match &clause.value {
            TransformationClause::Pass(form) if kind == "pass" => Some(form.name.value.as_str()),
            TransformationClause::Takes(form) if kind == "setting" => Some(form.name.value.as_str()),
            _ => None,
        })
        .collect();
    if !names.contains(&name.value.as_str()) {
        unknown_name(&format!("{kind} of `{}` named", block.header.name.value), name, names, out);
    }
}

fn on(block: &Block<TransformationClause>) -> Vec<String> {
    let languages = block.clauses.iter().flat_map(|clause| match &clause.value {
        TransformationClause::On(names) => names.as_slice(),
        _ => &[],
    });
    languages.map(|name| name.value.clone()).collect()
}
