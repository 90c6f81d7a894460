//! `peak fmt`: `.peak` files in their one form. Changes how they look and never what they mean; a file with errors is left
//! alone.

use super::check::tell_of_file;
use super::diff::{paint, unified};
use super::output::App;
use super::{counted, usage};
use crate::error::{Class, Error, Result};
use crate::library::{peak_files, read_file};
use peak_grammar::SourceFile;
use peak_grammar::format::{FormatError, format};
use serde_json::json;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// What `-` is called in messages.
const STDIN: &str = "standard input";

/// Writes `.peak` files in their one form: two spaces a level, one blank between words, one line between declarations.
///
/// Comments, prose, code and the host region stay as they are written, and what a file means never changes. A file with
/// errors is left alone, and the errors are shown.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak fmt                      every .peak file below this folder\n  \
    peak fmt tiling.peak --diff   show what would change, and change nothing\n  \
    peak fmt --check .            for a build: fails where a file is not in form\n  \
    peak fmt - < tiling.peak      from standard input to standard output")]
pub struct Arguments {
    /// Files, or folders with `.peak` files in them; `-` is standard input. Without one, the working folder.
    paths: Vec<PathBuf>,
    /// Change nothing; name the files that are not in form, and exit with 1 if there are any.
    #[arg(long)]
    check: bool,
    /// Change nothing; show what would change.
    #[arg(long)]
    diff: bool,
}

/// What became of a file.
enum Outcome {
    Unchanged,
    Changed(String),
    Wrong,
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        if self.paths.iter().any(|path| path == Path::new("-")) {
            return self.standard_input(app);
        }
        let paths = if self.paths.is_empty() { vec![PathBuf::from(".")] } else { self.paths.clone() };
        let files = peak_files(&paths)?;
        let (mut changed, mut wrong) = (0, 0);
        for path in &files {
            let file = read_file(path)?;
            match formatted(app, &file)? {
                Outcome::Unchanged => self.tell(app, &file, None),
                Outcome::Wrong => wrong += 1,
                Outcome::Changed(text) => {
                    changed += 1;
                    if !self.check && !self.diff {
                        write(path, &text)?;
                    }
                    self.tell(app, &file, Some(&text));
                }
            }
        }
        app.say(&self.summary(files.len(), changed, wrong));
        match wrong > 0 || (self.check && changed > 0) {
            true => Err(Error::told(Class::Input)),
            false => Ok(()),
        }
    }

    /// From standard input to standard output.
    fn standard_input(&self, app: &App) -> Result<()> {
        if self.paths.len() > 1 {
            return Err(usage("`-` stands alone: its text goes to standard output", "name files, or `-`"));
        }
        let mut bytes = Vec::new();
        let limit = peak_grammar::limits::MAX_FILE_BYTES as u64 + 1;
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes).map_err(|error| {
            let message = format!("{STDIN} cannot be read: {error}");
            Error::plain(Class::Input, "peak::unreadable-file", message, "pass the text of a .peak file")
        })?;
        let file = SourceFile { name: STDIN.to_owned(), bytes };
        match formatted(app, &file)? {
            Outcome::Wrong => Err(Error::told(Class::Input)),
            Outcome::Unchanged => {
                self.pass_on(app, &file, None);
                Ok(())
            }
            Outcome::Changed(text) => {
                self.pass_on(app, &file, Some(&text));
                if self.check { Err(Error::told(Class::Input)) } else { Ok(()) }
            }
        }
    }

    fn pass_on(&self, app: &App, file: &SourceFile, changed: Option<&str>) {
        if self.check || self.diff {
            return self.tell(app, file, changed);
        }
        let same = String::from_utf8_lossy(&file.bytes);
        let text = changed.unwrap_or(&same);
        // An empty text has no line to print.
        if !text.is_empty() {
            app.print(text);
        }
        app.event("formatted", json!({"file": null, "changed": changed.is_some(), "text": text, "diff": null}));
    }

    /// Tells of one file: its name or its difference for people, all of it for programs.
    fn tell(&self, app: &App, file: &SourceFile, changed: Option<&str>) {
        let diff = changed.filter(|_| self.diff).map(|text| {
            let header = format!("--- {0}\n+++ {0}, formatted\n", file.name);
            header + &unified(&String::from_utf8_lossy(&file.bytes), text)
        });
        match (&diff, changed) {
            (Some(diff), _) => app.print(&paint(diff, app.color)),
            (None, Some(_)) => app.print(&file.name),
            (None, None) => {}
        }
        let fields = json!({"file": file.name, "changed": changed.is_some(), "text": null, "diff": diff});
        app.event("formatted", fields);
    }

    fn summary(&self, files: usize, changed: usize, wrong: usize) -> String {
        let verb = if self.check || self.diff { "would change" } else { "changed" };
        let left =
            if wrong > 0 { format!(", {} left alone for their errors", counted(wrong, "file")) } else { String::new() };
        match files {
            0 => "no .peak files there".to_owned(),
            _ => format!("{changed} of {} {verb}{left}", counted(files, "file")),
        }
    }
}

fn formatted(app: &App, file: &SourceFile) -> Result<Outcome> {
    match format(file) {
        Ok(text) if text.as_bytes() == file.bytes => Ok(Outcome::Unchanged),
        Ok(text) => Ok(Outcome::Changed(text)),
        Err(FormatError::Wrong(found)) => {
            tell_of_file(app, file, &found);
            Ok(Outcome::Wrong)
        }
        Err(FormatError::Changed) => Err(Error::plain(
            Class::Bug,
            "peak::format-changes",
            format!("the form of {} would not read as the same file; it was left alone", file.name),
            "a line at the limit of its length? Break it; else please report it with the file",
        )),
    }
}

/// Puts a new text in the place of a file at once, so that no half of it is ever there.
fn write(path: &Path, text: &str) -> Result<()> {
    let failed = |error: std::io::Error| {
        let message = format!("{} cannot be written: {error}", path.display());
        Error::plain(Class::Input, "peak::cannot-write", message, "are you allowed to write it, and is there room?")
    };
    // A link stays a link: what it leads to is written.
    let place = path.canonicalize().map_err(failed)?;
    let folder = place.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    new.write_all(text.as_bytes()).map_err(failed)?;
    let permissions = std::fs::metadata(&place).map_err(failed)?.permissions();
    new.as_file().set_permissions(permissions).map_err(failed)?;
    new.persist(&place).map_err(|error| failed(error.error))?;
    Ok(())
}
