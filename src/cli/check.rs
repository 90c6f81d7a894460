//! `peak check`: every error of a file, and of what it uses. Runs nothing, asks no model.

use super::output::App;
use crate::error::{Class, Error, Result};
use crate::library::{Loaded, Standard, load};
use crate::session::{conflicts, unreachable};
use peak_grammar::{Diagnostic, Severity};
use serde_json::json;
use std::path::PathBuf;

/// Checks `.peak` files, and what they use; without one, the standard library.
#[derive(clap::Args)]
pub struct Arguments {
    /// The files.
    files: Vec<PathBuf>,
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        let mut loaded = load(&self.files, Standard::from_environment());
        if loaded.errors().next().is_none() {
            let found = [conflicts(&loaded), unreachable(&loaded)].concat();
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
        if diagnostic.is_error() || !app.quiet {
            eprint!("{:?}", loaded.report(diagnostic));
        }
        app.event("diagnostic", fields(loaded, diagnostic));
    }
    let errors = loaded.errors().count();
    (errors, loaded.diagnostics.len() - errors)
}

fn fields(loaded: &Loaded, diagnostic: &Diagnostic) -> serde_json::Value {
    let place = loaded
        .sources
        .text(&diagnostic.file)
        .map(|_| loaded.sources.line_column(&diagnostic.file, diagnostic.span.start));
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
        "help": diagnostic.help,
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
