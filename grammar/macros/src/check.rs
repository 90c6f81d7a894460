//! Gathered files resolved beside the standard library, and what is wrong with them rendered as `peak check` would.

use crate::gather::Gathering;
use crate::inline::Inline;
use miette::{GraphicalReportHandler, GraphicalTheme, MietteDiagnostic};
use peak_grammar::ir::Library;
use peak_grammar::{Diagnostic, SourceFile, Sources};
use proc_macro2::Span as Place;

/// Columns of a rendered diagnostic.
const WIDTH: usize = 100;

/// Resolves the files and reads the sources that their kernels name.
///
/// # Errors
/// Everything that is wrong with them, rendered, each at the literal that it came of.
pub fn check(gathering: &mut Gathering, inline: Option<&Inline>) -> Result<(), Vec<(String, Place)>> {
    let (library, found) = resolve(gathering);
    gathering.sources(&library);
    let resolved = found.into_iter().filter(Diagnostic::is_error).filter_map(|diagnostic| {
        let file = gathering.files.iter().find(|file| file.name == diagnostic.file)?;
        Some((diagnostic, file.place))
    });
    let resolved: Vec<_> = resolved.collect();
    let all: Vec<_> = std::mem::take(&mut gathering.found).into_iter().chain(resolved).collect();
    if all.is_empty() {
        return Ok(());
    }
    let sources = sources(gathering, inline);
    Err(all.into_iter().map(|(diagnostic, place)| (rendered(&sources, diagnostic, inline), place)).collect())
}

fn resolve(gathering: &Gathering) -> (Library, Vec<Diagnostic>) {
    let standard = peak_stdlib::files().filter(|(path, _)| path.ends_with(".peak"));
    let standard = standard.map(|(path, bytes)| SourceFile { name: format!("stdlib/{path}"), bytes: bytes.to_vec() });
    let mut files: Vec<SourceFile> = standard.collect();
    // A file of the standard library, given by its path, is that file.
    let own = gathering.files.iter().filter(|file| file.declares).map(|file| &file.source);
    let own: Vec<SourceFile> = own.filter(|own| files.iter().all(|file| file.bytes != own.bytes)).cloned().collect();
    files.extend(own);
    peak_grammar::load(&files)
}

fn sources(gathering: &Gathering, inline: Option<&Inline>) -> Sources {
    let mut sources = Sources::new(gathering.files.iter().filter(|file| file.declares).map(|file| &file.source));
    for (path, bytes) in peak_stdlib::files().filter(|(path, _)| path.ends_with(".peak")) {
        sources.insert(&format!("stdlib/{path}"), &String::from_utf8_lossy(bytes));
    }
    if let Some(inline) = inline {
        sources.insert(&inline.file, &inline.shown);
    }
    sources
}

fn rendered(sources: &Sources, mut diagnostic: Diagnostic, inline: Option<&Inline>) -> String {
    if let Some(inline) = inline {
        in_program(&mut diagnostic, inline);
    }
    let report = match sources.text(&diagnostic.file) {
        Some(_) => sources.report(&diagnostic),
        // A file that could not be read has no lines to show.
        None => {
            let plain = MietteDiagnostic::new(&diagnostic.message).with_code(diagnostic.code);
            miette::Report::new(match &diagnostic.help {
                Some(help) => plain.with_help(help),
                None => plain,
            })
        }
    };
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
    let mut text = String::new();
    match handler.with_width(WIDTH).with_links(false).render_report(&mut text, report.as_ref()) {
        Ok(()) => text.trim_end().to_owned(),
        Err(_) => format!("{} ({})", diagnostic.message, report.code().map(|code| code.to_string()).unwrap_or_default()),
    }
}

/// Moves what points into the literal's text to the program's own lines and columns.
fn in_program(diagnostic: &mut Diagnostic, inline: &Inline) {
    let move_to = |file: &mut String, span: &mut peak_grammar::syntax::Span| {
        if *file == inline.name {
            file.clone_from(&inline.file);
            *span = inline.shown_at(*span);
        }
    };
    move_to(&mut diagnostic.file, &mut diagnostic.span);
    diagnostic.related.iter_mut().for_each(|related| move_to(&mut related.file, &mut related.span));
}
