//! `peak list`: what is declared in the standard library and in given files.

use super::output::App;
use crate::error::Result;
use crate::library::Loaded;
use peak_grammar::ir;
use serde_json::json;
use std::path::PathBuf;

/// Lists kernels, transformations, devices, packs, workflows and utilities.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only this kind.
    #[arg(value_enum)]
    kind: Option<Kind>,
    /// Reads this file too; may be given several times.
    #[arg(long = "with", value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// A kind of declaration, in the order in which they are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
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
    #[value(alias = "utilities")]
    Utility,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Kernel => "kernel",
            Kind::Transformation => "transformation",
            Kind::Device => "device",
            Kind::Pack => "pack",
            Kind::Workflow => "workflow",
            Kind::Utility => "utility",
        }
    }
}

/// One declaration.
struct Item {
    kind: Kind,
    name: String,
    title: Option<String>,
    /// Empty: for every backend, or not a matter of backends.
    backends: Vec<String>,
    from: String,
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        let loaded = super::check::load_clean(app, &self.files)?;
        let mut items = items(&loaded);
        items.retain(|item| self.kind.is_none_or(|kind| kind == item.kind));
        let width = items.iter().map(|item| item.name.len()).max().unwrap_or(0);
        let mut last = None;
        for item in &items {
            if last != Some(item.kind) {
                app.print(item.kind.word());
                last = Some(item.kind);
            }
            app.print(&line(item, width));
            app.event("item", fields(item));
        }
        Ok(())
    }
}

fn line(item: &Item, width: usize) -> String {
    let backends = if item.backends.is_empty() { String::new() } else { format!("  [{}]", item.backends.join(", ")) };
    let title = item.title.as_deref().unwrap_or_default();
    format!("  {:<width$}  {title}{backends}", item.name).trim_end().to_owned()
}

fn fields(item: &Item) -> serde_json::Value {
    json!({
        "kind": item.kind.word(),
        "name": item.name,
        "title": item.title,
        "backends": item.backends,
        "from": item.from,
    })
}

/// Every declaration, packs' own included, by kind and then in the order of the files.
fn items(loaded: &Loaded) -> Vec<Item> {
    let ir = &loaded.ir;
    let item = |kind, name: &str, title: &Option<String>, backends: Vec<String>, origin: &ir::Origin| Item {
        kind,
        name: name.to_owned(),
        title: title.clone(),
        backends,
        from: origin.file.clone(),
    };
    let of_kernel = |k: &ir::Kernel| item(Kind::Kernel, &k.name, &k.title, k.code.keys().cloned().collect(), &k.origin);
    let of_transformation =
        |t: &ir::Transformation| item(Kind::Transformation, &t.name, &t.title, t.on.clone(), &t.origin);
    let of_device =
        |d: &ir::Device| item(Kind::Device, &d.name, &d.title, d.speaks.keys().cloned().collect(), &d.origin);
    let of_pack = |p: &ir::Pack| item(Kind::Pack, &p.name, &p.title, Vec::new(), &p.origin);
    let of_workflow =
        |w: &ir::Workflow| item(Kind::Workflow, &w.name, &w.title, w.backend.iter().cloned().collect(), &w.origin);
    let of_utility =
        |u: &ir::Utility| item(Kind::Utility, &u.name, &u.title, u.code.keys().cloned().collect(), &u.origin);
    let own_transformations = ir.packs.values().flat_map(|pack| pack.transformations.values());
    let own_workflows = ir.packs.values().flat_map(|pack| pack.workflows.values());
    ir.kernels
        .values()
        .map(of_kernel)
        .chain(ir.transformations.values().chain(own_transformations).map(of_transformation))
        .chain(ir.devices.values().map(of_device))
        .chain(ir.packs.values().map(of_pack))
        .chain(ir.workflows.iter().chain(own_workflows).map(of_workflow))
        .chain(ir.utilities.values().map(of_utility))
        .collect()
}
