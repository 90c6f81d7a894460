//! Builds: the kernels, sizes, devices and the workflow that they name, and how many combinations these make.

use super::index::Index;
use super::{declared, duplicate_clause, duplicate_name, missing_clause, once, origin, unknown_name, values, workflow};
use crate::ir::Build;
use crate::syntax::ast::{Block, BuildClause as Clause};
use crate::syntax::{Name, Report};
use indexmap::IndexMap;

pub(super) fn build(block: &Block<Clause>, index: &Index<'_>, out: &mut Report<'_>) -> Build {
    let mut made = Build {
        name: declared(&block.header.name, out),
        title: block.header.title.clone(),
        kernels: Vec::new(),
        sizes: IndexMap::new(),
        devices: Vec::new(),
        workflow: String::new(),
        output: None,
        combinations: 0,
        origin: origin(block.header.span, out),
    };
    let mut using = None;
    for clause in &block.clauses {
        match &clause.value {
            Clause::Kernels(names) => listed("kernel", names, &mut made.kernels, &index.kernels, out),
            Clause::Devices(names) => listed("device", names, &mut made.devices, &index.devices, out),
            Clause::Sizes(_) => {}
            Clause::Using(name) => {
                if !index.workflows.contains(name.value.as_str()) {
                    unknown_name("workflow", name, index.workflows.iter().copied(), out);
                }
                once(&mut using, name.value.clone(), "`using workflow`", clause.span, out);
            }
            Clause::Output(folder) => once(&mut made.output, folder.value.clone(), "`output`", clause.span, out),
        }
    }
    made.workflow = using.unwrap_or_default();
    sizes(block, index, &mut made, out);
    complete(block, out);
    made.combinations = combinations(&made, index);
    if made.combinations == 0 {
        return made;
    }
    let message = format!("`build` is checked ({} combinations), and not carried out yet", made.combinations);
    let diagnostic = out.error("peak::not-built", block.header.name.span, message).as_warning();
    out.push(diagnostic.help("run its workflow for one kernel and device at a time: `peak run NAME --device DEVICE`"));
    made
}

fn listed<T>(kind: &str, names: &[Name], into: &mut Vec<String>, known: &IndexMap<&str, T>, out: &mut Report<'_>) {
    for name in names {
        if !known.contains_key(name.value.as_str()) {
            unknown_name(kind, name, known.keys().copied(), out);
        } else if into.contains(&name.value) {
            duplicate_name(&format!("{kind} of the build,"), name, out);
        } else {
            into.push(name.value.clone());
        }
    }
}

/// Every size is of a scalar input that one of the kernels has.
fn sizes(block: &Block<Clause>, index: &Index<'_>, made: &mut Build, out: &mut Report<'_>) {
    let kernels = made.kernels.iter().filter_map(|name| index.kernels.get(name.as_str()));
    let known: Vec<&str> = kernels.flat_map(|(_, kernel)| workflow::scalars(kernel)).collect();
    for clause in &block.clauses {
        let Clause::Sizes(sized) = &clause.value else { continue };
        for (name, set) in sized {
            if !known.contains(&name.value.as_str()) {
                unknown_name("scalar input of these kernels named", name, known.iter().copied(), out);
            }
            let Some(set) = values::values(set, out) else { continue };
            if made.sizes.insert(name.value.clone(), set.all()).is_some() {
                duplicate_clause(&format!("`sizes {}`", name.value), name.span, out);
            }
        }
    }
}

fn complete(block: &Block<Clause>, out: &mut Report<'_>) {
    let has = |wanted: fn(&Clause) -> bool| block.clauses.iter().any(|clause| wanted(&clause.value));
    if !has(|clause| matches!(clause, Clause::Kernels(_))) {
        missing_clause("build", "kernels NAME", &block.header, out);
    }
    if !has(|clause| matches!(clause, Clause::Devices(_))) {
        missing_clause("build", "for devices NAME", &block.header, out);
    }
    if !has(|clause| matches!(clause, Clause::Using(_))) {
        missing_clause("build", "using workflow NAME", &block.header, out);
    }
}

/// Sizes of inputs that a kernel lacks do not multiply its combinations.
fn combinations(made: &Build, index: &Index<'_>) -> u64 {
    let of_kernel = |name: &String| {
        let Some((_, kernel)) = index.kernels.get(name.as_str()) else { return 0 };
        let own = workflow::scalars(kernel).filter_map(|scalar| made.sizes.get(scalar));
        own.fold(1u64, |product, values| product.saturating_mul(values.len() as u64))
    };
    let sizes = made.kernels.iter().map(of_kernel).fold(0u64, u64::saturating_add);
    sizes.saturating_mul(made.devices.len() as u64)
}
