//! What goes where: results to standard output, people's words to standard error, one JSON object a line for programs.

use crate::error::{Error, Result};
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

/// What the global flags say; every subcommand is given it.
#[derive(Clone, Debug)]
pub struct App {
    /// One JSON object a line on standard output, in place of text.
    pub json: bool,
    /// No words besides results and errors.
    pub quiet: bool,
    /// The project's folder: the one that was named, else the nearest upwards that has a store, else this one.
    pub project: PathBuf,
    /// Whether results may be coloured.
    pub color: bool,
}

impl App {
    /// From the global flags, the environment and the terminal.
    #[must_use]
    pub fn new(json: bool, quiet: bool, project: Option<PathBuf>) -> App {
        let color = std::io::stdout().is_terminal() && !json && !no_color();
        let here = PathBuf::from(".");
        let found = || crate::store::nearest_project(&here).filter(|_| crate::store::find_file(&here).is_none());
        let project = project.or_else(found).unwrap_or_else(|| here.clone());
        App { json, quiet, project, color }
    }

    /// The store of the project.
    ///
    /// # Errors
    /// There is none, or it cannot be opened.
    pub fn store(&self) -> Result<crate::store::Store> {
        Ok(crate::store::Store::find(&self.project)?)
    }

    /// A result for people; nothing under `--json`.
    pub fn print(&self, text: &str) {
        if !self.json {
            write_line(text);
        }
    }

    /// A result for programs; nothing without `--json`.
    pub fn event(&self, name: &str, fields: Value) {
        if self.json {
            let mut object = json!({ "event": name });
            if let (Value::Object(object), Value::Object(fields)) = (&mut object, fields) {
                object.extend(fields);
            }
            write_line(&object.to_string());
        }
    }

    /// Words for people, to standard error; nothing under `--quiet`.
    pub fn say(&self, text: &str) {
        if !self.quiet {
            eprintln!("{text}");
        }
    }

    /// Shows a diagnostic to people: why a step failed, where the run goes on.
    pub fn report(&self, diagnostic: &(dyn miette::Diagnostic + Send + Sync)) {
        let shown = miette::MietteDiagnostic::new(diagnostic.to_string());
        let shown = match diagnostic.code() {
            Some(code) => shown.with_code(code.to_string()),
            None => shown,
        };
        let shown = match diagnostic.help() {
            Some(help) => shown.with_help(help.to_string()),
            None => shown,
        };
        eprint!("{:?}", miette::Report::new(shown));
    }

    /// Shows an error to programs alone.
    pub fn diagnostic(&self, error: &Error) {
        if let Some(report) = &error.report {
            self.event("diagnostic", diagnostic_fields(report.as_ref()));
        }
    }

    /// Shows an error, to people and to programs.
    pub fn fail(&self, error: &Error) {
        self.diagnostic(error);
        if let Some(report) = &error.report {
            eprint!("{report:?}");
        }
    }
}

/// The fields of a `diagnostic` event for a diagnostic that points into no file.
fn diagnostic_fields(diagnostic: &dyn miette::Diagnostic) -> Value {
    json!({
        "code": diagnostic.code().map(|code| code.to_string()),
        "severity": "error",
        "file": null,
        "line": null,
        "column": null,
        "message": diagnostic.to_string(),
        "help": diagnostic.help().map(|help| help.to_string()),
    })
}

/// Whether the environment asks for no colour (<https://no-color.org>).
#[must_use]
pub fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

fn write_line(text: &str) {
    let mut out = std::io::stdout().lock();
    // A reader that went away (`peak log | head`) has what it wanted.
    let _ = out.write_all(text.as_bytes()).and_then(|()| match text.ends_with('\n') {
        true => Ok(()),
        false => out.write_all(b"\n"),
    });
}
