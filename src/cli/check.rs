//! `peak check`: every error of a file, and of what it uses. Runs nothing, asks no model.

use super::output::App;
use crate::error::{Class, Error, Result};
use crate::library::{Loaded, Standard, load};
use crate::session::{conflicts, unfit, unreachable};
use peak_grammar::{Diagnostic, Severity, SourceFile, Sources};
use serde_json::json;
use std::path::PathBuf;

/// Checks `.peak` files, and what they use; without one, the standard library.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak check tiling.peak          every error of a file, and of what it uses\n  \
    peak check --json tiling.peak   one object a diagnostic, for an editor")]
pub struct Arguments {
    /// The files.
    files: Vec<PathBuf>,
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        let mut loaded = load(&self.files, Standard::from_environment());
        if loaded.errors().next().is_none() {
            let found = [conflicts(&loaded), unfit(&loaded), unreachable(&loaded)].concat();
            loaded.diagnostics.extend(found);
        }
        let (errors, warnings) = tell(app, &loaded);
        let what = match self.files.as_slice() {
            [] => "the standard library".to_owned(),
            [file] => file.display().to_string(),
            files => format!("{} files", files.len()),
        };
        app.say(&format!("{what}: {}", counted(errors, warnings)));
        match errors {
            0 => Ok(()),
            _ => Err(Error::told(Class::Input)),
        }
    }
}

/// The standard library and `files`, told of what is wrong with them.
///
/// # Errors
/// Something in them is an error; people and programs were told of each.
pub fn load_clean(app: &App, files: &[PathBuf]) -> Result<Loaded> {
    let loaded = load(files, Standard::from_environment());
    let (errors, _) = tell(app, &loaded);
    match errors {
        0 => Ok(loaded),
        _ => Err(Error::told(Class::Input)),
    }
}

/// Tells people and programs of each diagnostic, and counts errors and warnings.
fn tell(app: &App, loaded: &Loaded) -> (usize, usize) {
    for diagnostic in &loaded.diagnostics {
        tell_one(app, &loaded.sources, diagnostic, || loaded.report(diagnostic));
    }
    let errors = loaded.errors().count();
    (errors, loaded.diagnostics.len() - errors)
}

/// Tells people and programs of what is wrong with one file that was read alone.
pub(super) fn tell_of_file(app: &App, file: &SourceFile, found: &[Diagnostic]) {
    let sources = Sources::new([file]);
    found.iter().for_each(|diagnostic| tell_one(app, &sources, diagnostic, || sources.report(diagnostic)));
}

fn tell_one(app: &App, sources: &Sources, diagnostic: &Diagnostic, report: impl Fn() -> miette::Report) {
    if diagnostic.is_error() || !app.quiet {
        eprint!("{:?}", report());
    }
    app.event("diagnostic", fields(sources, diagnostic));
}

fn fields(sources: &Sources, diagnostic: &Diagnostic) -> serde_json::Value {
    let place = sources.text(&diagnostic.file).map(|_| sources.line_column(&diagnostic.file, diagnostic.span.start));
    let related = diagnostic.related.iter().map(|related| {
        let (line, column) = sources.line_column(&related.file, related.span.start);
        json!({"file": related.file, "line": line, "column": column, "message": related.message})
    });
    let related: Vec<serde_json::Value> = related.collect();
    json!({
        "code": diagnostic.code,
        "severity": match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "file": diagnostic.file,
        "line": place.map(|(line, _)| line),
        "column": place.map(|(_, column)| column),
        "message": diagnostic.message,
        "label": diagnostic.label,
        "help": diagnostic.help,
        "related": related,
    })
}

fn counted(errors: usize, warnings: usize) -> String {
    let count = |number: usize, what: &str| match number {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    };
    match warnings {
        0 => count(errors, "error"),
        _ => format!("{}, {}", count(errors, "error"), count(warnings, "warning")),
    }
}
