//! `peak list`: what is declared in the standard library and in given files, what this build has, and what applies to a
//! kernel.

mod applies;
mod items;

pub(super) use items::{Item, Kind, declarations};

use super::output::App;
use super::usage;
use crate::error::Result;
use crate::library::{Loaded, STANDARD_PREFIX};
use applies::Subject;
use serde_json::json;
use std::path::PathBuf;

/// Lists what there is: kernels, transformations, devices, packs, workflows, and the parts of this build.
///
/// Without a kind, everything that is declared in the standard library and in the files that `--with` names.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak list                                what there is to start with\n  \
    peak list transformations --with my.peak those of a file of yours too\n  \
    peak list --for matmul-f32               what applies to a kernel, and why the rest does not\n  \
    peak list providers                      who can be asked for completions")]
pub struct Arguments {
    /// Only this kind; the plural does too.
    #[arg(value_enum)]
    kind: Option<Kind>,
    /// Reads this file too; may be given several times.
    #[arg(long = "with", visible_alias = "use", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Transformations alone, and whether each applies to this kernel as it is declared.
    #[arg(long = "for", value_name = "KERNEL")]
    kernel: Option<String>,
    /// With `--for`: the kernel's code in this language.
    #[arg(long, requires = "kernel")]
    backend: Option<String>,
    /// With `--for`: packs of this device of the library applied.
    #[arg(long, requires = "kernel")]
    device: Option<String>,
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        let loaded = super::check::load_clean(app, &self.files)?;
        if let Some(kernel) = &self.kernel {
            if self.kind.is_some_and(|kind| kind != Kind::Transformation) {
                return Err(usage("`--for` lists transformations", "leave the kind out"));
            }
            let subject = Subject::new(&loaded, kernel, self.backend.as_deref(), self.device.as_deref())?;
            show_applicable(app, &loaded, kernel, &subject);
            return Ok(());
        }
        let mut items = declarations(&loaded);
        if self.kind.is_some() {
            items.extend(items::parts_of_the_program());
        }
        items.retain(|item| self.kind.is_none_or(|kind| kind == item.kind));
        if items.is_empty() {
            app.say(&nothing(self.kind));
        }
        show(app, &loaded, &items);
        Ok(())
    }
}

fn nothing(kind: Option<Kind>) -> String {
    match kind {
        Some(kind) => format!("no {} is declared", kind.word()),
        None => "nothing is declared".to_owned(),
    }
}

fn show(app: &App, loaded: &Loaded, items: &[Item]) {
    let width = items.iter().map(|item| item.name.len()).max().unwrap_or(0);
    let mut last = None;
    for item in items {
        if last != Some(item.kind) {
            app.print(item.kind.word());
            last = Some(item.kind);
        }
        app.print(&line(item, width));
        app.event("item", fields(loaded, item));
    }
}

/// Those that apply first, then the others with the reason.
fn show_applicable(app: &App, loaded: &Loaded, kernel: &str, subject: &Subject<'_>) {
    let transformations = declarations(loaded).into_iter().filter(|item| item.kind == Kind::Transformation);
    let judged: Vec<(Item, Option<String>)> =
        transformations.map(|item| (subject.why_not(&item.name), item)).map(|(why, item)| (item, why)).collect();
    let width = judged.iter().map(|(item, _)| item.name.len()).max().unwrap_or(0);
    for (applies, heading) in [(true, "apply to"), (false, "do not apply to")] {
        let mut first = true;
        for (item, why) in judged.iter().filter(|(_, why)| why.is_none() == applies) {
            if std::mem::take(&mut first) {
                app.print(&format!("{heading} {kernel} in {}", subject.backend()));
            }
            match why {
                None => app.print(&line(item, width)),
                Some(why) => app.print(&format!("  {:<width$}  {why}", item.name)),
            }
            let mut fields = fields(loaded, item);
            fields["applies"] = json!(applies);
            fields["why"] = json!(why);
            app.event("item", fields);
        }
    }
}

fn line(item: &Item, width: usize) -> String {
    let backends = if item.backends.is_empty() { String::new() } else { format!("  [{}]", item.backends.join(", ")) };
    let title = item.title.as_deref().unwrap_or_default();
    let pack = item.pack.as_ref().map(|pack| format!("  (pack {pack})")).unwrap_or_default();
    format!("  {:<width$}  {title}{backends}{pack}{}", item.name, place(item)).trim_end().to_owned()
}

/// The file that a person brought it from; the standard library goes without saying.
fn place(item: &Item) -> String {
    match &item.origin {
        Some(origin) if !origin.file.starts_with(STANDARD_PREFIX) => format!("  {}", origin.file),
        _ => String::new(),
    }
}

fn fields(loaded: &Loaded, item: &Item) -> serde_json::Value {
    let line = item.origin.as_ref().map(|origin| loaded.sources.line_column(&origin.file, origin.start).0);
    json!({
        "kind": item.kind.word(),
        "name": item.name,
        "title": item.title,
        "backends": item.backends,
        "from": item.origin.as_ref().map(|origin| &origin.file),
        "line": line,
        "pack": item.pack,
    })
}
