//! What there is to list: declarations of the library, and the parts of this build that are named in files and options.

use crate::backends::{BACKENDS, RUNTIMES};
use crate::library::Loaded;
use crate::provider::PROVIDERS;
use crate::tune::strategy::STRATEGIES;
use crate::validate::VALIDATORS;
use peak_grammar::ir::{self, Origin};

/// A kind of thing, in the order in which they are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum Kind {
    #[value(alias = "kernels")]
    Kernel,
    #[value(alias = "transformations")]
    Transformation,
    #[value(alias = "devices")]
    Device,
    #[value(alias = "packs")]
    Pack,
    #[value(alias = "workflows")]
    Workflow,
    #[value(alias = "builds")]
    Build,
    #[value(alias = "utilities")]
    Utility,
    #[value(alias = "validators")]
    Validator,
    #[value(alias = "strategies")]
    Strategy,
    #[value(alias = "providers")]
    Provider,
    #[value(alias = "backends")]
    Backend,
    #[value(alias = "runtimes")]
    Runtime,
}

impl Kind {
    /// The word for one of them.
    pub(in crate::cli) fn word(self) -> &'static str {
        match self {
            Kind::Kernel => "kernel",
            Kind::Transformation => "transformation",
            Kind::Device => "device",
            Kind::Pack => "pack",
            Kind::Workflow => "workflow",
            Kind::Build => "build",
            Kind::Utility => "utility",
            Kind::Validator => "validator",
            Kind::Strategy => "strategy",
            Kind::Provider => "provider",
            Kind::Backend => "backend",
            Kind::Runtime => "runtime",
        }
    }
}

/// One thing that is listed.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Item {
    /// What it is.
    pub(in crate::cli) kind: Kind,
    /// Its name.
    pub(in crate::cli) name: String,
    /// One line.
    pub(in crate::cli) title: Option<String>,
    /// Empty: for every backend, or not a matter of backends.
    pub(in crate::cli) backends: Vec<String>,
    /// Where it was declared; none for a part of the program.
    pub(in crate::cli) origin: Option<Origin>,
    /// The pack that it is seen with alone.
    pub(in crate::cli) pack: Option<String>,
}

/// Every declaration, packs' own included, by kind and then in the order of the files.
pub(in crate::cli) fn declarations(loaded: &Loaded) -> Vec<Item> {
    let ir = &loaded.ir;
    let mut items: Vec<Item> = ir.kernels.values().map(kernel).collect();
    items.extend(ir.transformations.values().map(transformation));
    for pack in ir.packs.values() {
        items.extend(pack.transformations.values().map(|own| transformation(own).of(pack)));
    }
    items.extend(ir.devices.values().map(device));
    items.extend(ir.packs.values().map(|p| item(Kind::Pack, &p.name, &p.title, Vec::new(), &p.origin)));
    items.extend(ir.workflows.iter().map(workflow));
    for pack in ir.packs.values() {
        items.extend(pack.workflows.values().map(|own| workflow(own).of(pack)));
    }
    items.extend(ir.builds.values().map(|own| item(Kind::Build, &own.name, &own.title, Vec::new(), &own.origin)));
    items.extend(ir.utilities.values().map(utility));
    items
}

/// What this build has that files and options name.
pub(in crate::cli) fn parts_of_the_program() -> Vec<Item> {
    let part = |kind, name: &str, title: Option<&str>| Item {
        kind,
        name: name.to_owned(),
        title: title.map(str::to_owned),
        backends: Vec::new(),
        origin: None,
        pack: None,
    };
    let mut items: Vec<Item> =
        VALIDATORS.iter().map(|entry| part(Kind::Validator, entry.name, Some(entry.title))).collect();
    items.extend(STRATEGIES.iter().map(|entry| part(Kind::Strategy, entry.name, Some(entry.title))));
    items.extend(PROVIDERS.iter().map(|entry| part(Kind::Provider, entry.name, Some(entry.summary))));
    for make in BACKENDS {
        let backend = make();
        items.push(part(Kind::Backend, backend.name(), Some(backend.title())));
    }
    for make in BACKENDS {
        let backend = make();
        let own = backend.runtimes();
        let backends = || vec![backend.name().to_owned()];
        items.extend(own.iter().map(|own| Item { backends: backends(), ..part(Kind::Runtime, own.name(), None) }));
    }
    items.extend(RUNTIMES.iter().map(|make| part(Kind::Runtime, make().name(), None)));
    items
}

impl Item {
    fn of(self, pack: &ir::Pack) -> Item {
        Item { pack: Some(pack.name.clone()), ..self }
    }
}

fn item(kind: Kind, name: &str, title: &Option<String>, backends: Vec<String>, origin: &Origin) -> Item {
    let (name, title) = (name.to_owned(), title.clone());
    Item { kind, name, title, backends, origin: Some(origin.clone()), pack: None }
}

fn kernel(of: &ir::Kernel) -> Item {
    item(Kind::Kernel, &of.name, &of.title, of.code.keys().cloned().collect(), &of.origin)
}

fn transformation(of: &ir::Transformation) -> Item {
    item(Kind::Transformation, &of.name, &of.title, of.on.clone(), &of.origin)
}

fn device(of: &ir::Device) -> Item {
    item(Kind::Device, &of.name, &of.title, of.speaks.keys().cloned().collect(), &of.origin)
}

fn workflow(of: &ir::Workflow) -> Item {
    item(Kind::Workflow, &of.name, &of.title, of.backend.iter().cloned().collect(), &of.origin)
}

fn utility(of: &ir::Utility) -> Item {
    item(Kind::Utility, &of.name, &of.title, of.code.keys().cloned().collect(), &of.origin)
}
