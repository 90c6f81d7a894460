//! Every declaration of all files, by kind and name, before anything is resolved.

use super::scope::STANDARD_FACTS;
use crate::diagnostics::Diagnostic;
use crate::syntax::ast::{
    Block, BuildClause, Declaration, DeviceClause, File, Header, KernelClause, PackClause, TransformationClause,
    UtilityClause, WorkflowClause,
};
use crate::syntax::{Report, Span};
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// A declaration and the number of its file.
pub(super) type Entry<'a, C> = (usize, &'a Block<C>);
/// Declarations of one kind.
pub(super) type Table<'a, C> = IndexMap<&'a str, Entry<'a, C>>;

/// All declarations.
#[derive(Debug, Default)]
pub(super) struct Index<'a> {
    pub(super) kernels: Table<'a, KernelClause>,
    pub(super) utilities: Table<'a, UtilityClause>,
    /// Outside packs.
    pub(super) transformations: Table<'a, TransformationClause>,
    pub(super) devices: Table<'a, DeviceClause>,
    pub(super) packs: Table<'a, PackClause>,
    /// Inside packs; the names may repeat among unrelated packs.
    pub(super) pack_transformations: Table<'a, TransformationClause>,
    pub(super) builds: Table<'a, BuildClause>,
    /// Names of workflows, in and outside packs; several may share one.
    pub(super) workflows: BTreeSet<&'a str>,
    /// The standard facts and those that a device states.
    pub(super) facts: BTreeSet<String>,
}

impl<'a> Index<'a> {
    /// Collects declarations; a name that is declared twice is reported where it comes again.
    pub(super) fn new(trees: &'a [File], reports: &mut [Report<'_>]) -> Index<'a> {
        let mut index =
            Index { facts: STANDARD_FACTS.iter().map(|fact| (*fact).to_owned()).collect(), ..Index::default() };
        let mut workflows = IndexMap::new();
        for (at, tree) in trees.iter().enumerate() {
            let add = |seen: Option<(usize, &Header)>, kind: &str, header: &Header, reports: &mut [Report<'_>]| {
                let first = seen.map(|(file, header)| (trees[file].name.as_str(), header.name.span));
                twice(first, kind, header, &mut reports[at]);
            };
            for declaration in &tree.declarations {
                match declaration {
                    Declaration::Kernel(block) => {
                        add(insert(&mut index.kernels, at, block), "kernel", &block.header, reports);
                    }
                    Declaration::Utility(block) => {
                        add(insert(&mut index.utilities, at, block), "utility", &block.header, reports);
                    }
                    Declaration::Transformation(block) => {
                        let seen = insert(&mut index.transformations, at, block);
                        add(seen, "transformation", &block.header, reports);
                    }
                    Declaration::Device(block) => {
                        add(insert(&mut index.devices, at, block), "device", &block.header, reports);
                        index.facts.extend(facts(block));
                    }
                    Declaration::Pack(block) => {
                        add(insert(&mut index.packs, at, block), "pack", &block.header, reports);
                        index.facts.extend(pack_facts(block));
                        index.nested(at, block);
                    }
                    Declaration::Workflow(block) => {
                        let key = (block.header.name.value.as_str(), place(block));
                        index.workflows.insert(key.0);
                        let seen = workflows.get(&key).copied();
                        workflows.entry(key).or_insert((at, &block.header));
                        add(seen, "workflow", &block.header, reports);
                    }
                    Declaration::Build(block) => {
                        add(insert(&mut index.builds, at, block), "build", &block.header, reports);
                    }
                }
            }
        }
        index
    }

    fn nested(&mut self, at: usize, pack: &'a Block<PackClause>) {
        for clause in &pack.clauses {
            match &clause.value {
                PackClause::Transformation(block) => {
                    self.pack_transformations.entry(&block.header.name.value).or_insert((at, block));
                }
                PackClause::Workflow(block) => {
                    self.workflows.insert(&block.header.name.value);
                }
                _ => {}
            }
        }
    }

    /// A transformation, in or outside packs.
    pub(super) fn transformation(&self, name: &str) -> Option<&'a Block<TransformationClause>> {
        self.transformations.get(name).or_else(|| self.pack_transformations.get(name)).map(|(_, block)| *block)
    }

    /// The name of every transformation.
    pub(super) fn transformation_names(&self) -> impl Iterator<Item = &'a str> {
        self.transformations.keys().chain(self.pack_transformations.keys()).copied()
    }
}

fn insert<'a, C>(table: &mut Table<'a, C>, at: usize, block: &'a Block<C>) -> Option<(usize, &'a Header)> {
    let seen = table.get(block.header.name.value.as_str()).map(|(file, block)| (*file, &block.header));
    if seen.is_none() {
        table.insert(&block.header.name.value, (at, block));
    }
    seen
}

fn twice(first: Option<(&str, Span)>, kind: &str, header: &Header, out: &mut Report<'_>) {
    let Some((file, span)) = first else { return };
    let message = format!("the {kind} `{}` is declared twice", header.name.value);
    let diagnostic: Diagnostic = out.error("peak::duplicate-name", header.name.span, message).label("again");
    let help = match kind {
        "workflow" => "workflows may share a name if they differ in `target` or `on`",
        _ => "rename or remove one",
    };
    out.push(diagnostic.help(help).related(file, span, "first declared here"));
}

/// What a workflow is for: two of one name must differ in it.
fn place(block: &Block<WorkflowClause>) -> (Option<&str>, Option<&str>) {
    let mut place = (None, None);
    for clause in &block.clauses {
        match &clause.value {
            WorkflowClause::Target(name) => place.0 = Some(name.value.as_str()),
            WorkflowClause::On(name) => place.1 = Some(name.value.as_str()),
            _ => {}
        }
    }
    place
}

fn pack_facts(block: &Block<PackClause>) -> impl Iterator<Item = String> + '_ {
    block.clauses.iter().flat_map(|clause| match &clause.value {
        PackClause::Has { facts, .. } => facts.iter().map(|(name, _)| name.value.clone()).collect(),
        _ => Vec::new(),
    })
}

fn facts(block: &Block<DeviceClause>) -> impl Iterator<Item = String> + '_ {
    block.clauses.iter().flat_map(|clause| match &clause.value {
        DeviceClause::Has { facts, .. } => facts.iter().map(|(name, _)| name.value.clone()).collect(),
        _ => Vec::new(),
    })
}
