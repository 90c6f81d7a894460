//! Compiled code as text for people: as it stands, or with the source lines that it was made from between.

use peak_backend_api::{CodeLanguage, CodeLine, Disassembly, SourcePiece, SourcePlace};

/// The text of the code, of one function where one is named. With `sources`, a source line stands before the code that was
/// made from it, as often as the code comes back to it.
#[must_use]
pub fn listing(code: &Disassembly, function: Option<&str>, sources: Option<&[SourcePiece]>) -> String {
    let wanted = |line: &&CodeLine| function.is_none() || line.function.as_deref() == function;
    let mut text = String::new();
    let mut last: Option<&SourcePlace> = None;
    for line in code.lines.iter().filter(wanted) {
        if let Some(sources) = sources {
            // A note of the place, which the source line itself now stands for.
            if is_note(&line.text) {
                continue;
            }
            let at = line.instruction.as_ref().and(line.at.as_ref());
            if let Some(at) = at.filter(|at| last != Some(*at)) {
                text.push_str(&format!("{} {}\n", comment(code.language), source_line(at, sources)));
                last = Some(at);
            }
        }
        text.push_str(line.text.trim_end());
        text.push('\n');
    }
    text
}

/// Whether a line of the text does nothing but name a place in the source.
fn is_note(text: &str) -> bool {
    let text = text.trim_start();
    [".loc\t", ".loc ", ".file\t", ".file ", "//## File ", "OpLine ", "OpNoLine"]
        .iter()
        .any(|mark| text.starts_with(mark))
}

/// How a comment begins.
fn comment(language: CodeLanguage) -> &'static str {
    match language {
        CodeLanguage::Ptx | CodeLanguage::Sass => "//",
        CodeLanguage::Spirv => ";",
    }
}

fn source_line(at: &SourcePlace, sources: &[SourcePiece]) -> String {
    let SourcePlace { piece, line } = at;
    let text = usize::try_from(*line)
        .ok()
        .and_then(|line| line.checked_sub(1))
        .and_then(|index| sources.iter().find(|source| source.name == *piece)?.text.lines().nth(index));
    match text {
        Some(text) => format!("{piece}:{line}: {}", text.trim_end()),
        None => format!("{piece}:{line}"),
    }
}
