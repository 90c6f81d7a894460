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
        Err(_) => {
            format!("{} ({})", diagnostic.message, report.code().map(|code| code.to_string()).unwrap_or_default())
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of `recipes/start.peak` of a package with these files.
    fn said(files: &[(&str, &str)]) -> Vec<String> {
        let home = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(home.path().join("recipes")).expect("made");
        for (name, text) in files {
            std::fs::write(home.path().join(name), text).expect("written");
        }
        let mut gathering = Gathering::new(home.path().to_owned());
        gathering.file("recipes/./start.peak", Place::call_site(), None);
        let found = check(&mut gathering, None).err().unwrap_or_default();
        found.into_iter().map(|(rendered, _)| rendered).collect()
    }

    #[test]
    fn a_wrong_file_is_told_of_with_its_name_and_line() {
        let text = "# A comment.\ntransformation t\n  after refacto\n  pass p\n    in device code\n      Do it.\n";
        let [said] = said(&[("recipes/start.peak", text)]).try_into().expect("one error");
        assert!(said.contains("[recipes/start.peak:3:9]") && said.contains("did you mean `refactor`?"), "{said}");
        assert!(said.starts_with("peak::unknown-name") && !said.contains('\u{1b}'), "{said}");
    }

    #[test]
    fn what_a_file_uses_is_read_beside_it() {
        let right = "transformation t\n  pass p\n    in device code\n      Do it.\n";
        let start = "use \"../tiles.peak\"\nworkflow w\n  start from kernel matmul-f32\n  apply t\n";
        assert_eq!(said(&[("recipes/start.peak", start), ("tiles.peak", right)]), [""; 0]);
        let wrong = said(&[("recipes/start.peak", start)]);
        assert!(wrong[0].contains("there is no file `tiles.peak`") && wrong[0].contains("[recipes/start.peak:1:5]"));
        let circle = "use \"recipes/start.peak\"\ntransformation t\n  pass p\n    in device code\n      Do it.\n";
        let [circle] = said(&[("recipes/start.peak", start), ("tiles.peak", circle)]).try_into().expect("one error");
        assert!(circle.starts_with("peak::cycle") && circle.contains("[tiles.peak:1:5]"), "{circle}");
    }

    #[test]
    fn a_kernels_source_is_read_beside_its_file() {
        let kernel = "kernel copy\n  computes B[i] = A[i]\n  element f32\n  input n: int in 1024\n  \
            input A: array[n] of f32, ones\n  output B: array[n] of f32\n  device code for cuda from \"copy.cu\"\n  \
            host code\n    launch copy\n      grid 4\n      block 256\n      arguments A, B, n\n";
        assert_eq!(said(&[("recipes/start.peak", kernel), ("recipes/copy.cu", "// code")]), [""; 0]);
        let [missing] = said(&[("recipes/start.peak", kernel)]).try_into().expect("one error");
        assert!(
            missing.starts_with("peak::missing-file") && missing.contains("[recipes/start.peak:7:29]"),
            "{missing}"
        );
        assert!(missing.contains("there is no file `recipes/copy.cu`"), "{missing}");
    }

    #[test]
    fn what_is_no_text_is_told_of() {
        let [missing] = said(&[]).try_into().expect("one error");
        assert!(missing.contains("there is no file `recipes/start.peak`"), "{missing}");
    }
}
