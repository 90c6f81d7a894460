//! NVRTC's text as messages that point into the pieces of the source.
//!
//! A message is `piece(line): severity: words`, or `severity #number-D: words`, then the line of source and a caret, which
//! tells the column. What the assembler says of resources is read elsewhere.

use peak_backend_api::{Severity, SourceMessage, SourcePiece};

/// The most messages that are kept: the first ones explain the rest.
const MESSAGES_MAX: usize = 32;
/// The most characters of one message.
const TEXT_CHARS_MAX: usize = 600;
/// The most lines of a message after its first.
const REST_MAX: usize = 4;
/// What the compiler puts before every quoted line.
const QUOTE_INDENT: usize = 2;

const SEVERITIES: &[(&str, Severity)] = &[
    ("catastrophic error", Severity::Error),
    ("internal error", Severity::Error),
    ("error", Severity::Error),
    ("warning", Severity::Warning),
    ("note", Severity::Note),
    ("remark", Severity::Note),
];

/// Reads a compiler's output. Output without any error becomes one error that quotes it.
pub(crate) fn parse(output: &str, pieces: &[SourcePiece]) -> Vec<SourceMessage> {
    let mut messages = read(output, pieces);
    if !messages.iter().any(|message| message.severity == Severity::Error) {
        let text = if output.trim().is_empty() { "rejected without a message" } else { output };
        messages.insert(0, unplaced(text));
    }
    messages
}

/// An error that belongs to no line.
pub(crate) fn unplaced(text: &str) -> SourceMessage {
    SourceMessage { severity: Severity::Error, piece: None, line: 0, column: 0, text: shortened(text) }
}

fn read(output: &str, pieces: &[SourcePiece]) -> Vec<SourceMessage> {
    let lines: Vec<&str> = output.lines().collect();
    let mut messages = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(mut message) = message(line, pieces).or_else(|| assembler(line)) else { continue };
        let below: Vec<&str> = lines[index + 1..].iter().copied().take_while(|line| !line.trim().is_empty()).collect();
        if let Some((at, column)) = below.iter().enumerate().find_map(|(at, line)| Some((at, caret(line)?))) {
            message.column = if message.line > 0 { column } else { 0 };
            // Between the message and the quoted line stands the rest of what it says.
            let rest = below[..at.saturating_sub(1)].iter().take(REST_MAX).map(|line| line.trim());
            let whole = std::iter::once(message.text.as_str()).chain(rest).collect::<Vec<_>>().join(" ");
            message.text = shortened(&whole);
        }
        if messages.len() < MESSAGES_MAX {
            messages.push(message);
        }
    }
    messages
}

fn message(line: &str, pieces: &[SourcePiece]) -> Option<SourceMessage> {
    let (place, rest) = match line.find("): ") {
        Some(end) => (Some(&line[..end]), &line[end + 3..]),
        None => (None, line),
    };
    let (word, severity) = SEVERITIES.iter().find(|(word, _)| rest.starts_with(word))?;
    let after = rest[word.len()..].trim_start();
    let after = match after.strip_prefix('#') {
        Some(number) => number.split_once(": ")?.1,
        None => after.strip_prefix(": ").or_else(|| after.strip_prefix(':'))?,
    };
    let (file, number) = place.and_then(|place| place.rsplit_once('(')).unwrap_or_default();
    let piece = pieces.iter().find(|piece| piece.name == file).map(|piece| piece.name.clone());
    let mut text = shortened(after);
    if piece.is_none() && !file.is_empty() {
        text = format!("{text} (in {})", file.rsplit('/').next().unwrap_or(file));
    }
    let line = if piece.is_some() { number.parse().unwrap_or(0) } else { 0 };
    Some(SourceMessage { severity: *severity, piece, line, column: 0, text })
}

/// `ptxas application ptx input, line 27; error   : words`: inline assembly that does not assemble.
fn assembler(line: &str) -> Option<SourceMessage> {
    let rest = line.strip_prefix("ptxas")?;
    let (_, words) =
        rest.split_once("; error").or_else(|| rest.split_once("error")).or_else(|| rest.split_once("fatal"))?;
    Some(unplaced(&format!("in assembling: {}", words.trim_start_matches([' ', ':']))))
}

fn caret(line: &str) -> Option<u32> {
    let at = line.find('^')?;
    let alone = line.trim() == "^" && at >= QUOTE_INDENT;
    alone.then(|| u32::try_from(at - QUOTE_INDENT + 1).unwrap_or(0))
}

fn shortened(text: &str) -> String {
    text.trim().chars().take(TEXT_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces() -> Vec<SourcePiece> {
        ["prelude", "device code"].map(|name| SourcePiece { name: name.to_owned(), text: String::new() }).into()
    }

    #[test]
    fn a_message_points_into_its_piece() {
        let output = "device code(2): error: identifier \"x\" is undefined\n  { *a=x;\n       ^\n\n\
                      prelude(3): warning #68-D: integer conversion resulted in a change of sign\n   z\n   ^\n\n\
                      Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n\
                      1 error detected in the compilation of \"source\".\n";
        let messages = parse(output, &pieces());
        assert_eq!(messages.len(), 2, "{messages:?}");
        let first = &messages[0];
        assert_eq!((first.piece.as_deref(), first.line, first.column), (Some("device code"), 2, 6));
        assert_eq!(first.text, "identifier \"x\" is undefined");
        let several = "device code(7): error: more than one conversion applies:\n            function \"a\"\n    x = y;\n        ^\n";
        let message = &parse(several, &pieces())[0];
        assert_eq!((message.text.as_str(), message.column), ("more than one conversion applies: function \"a\"", 7));
        let second = &messages[1];
        assert_eq!((second.severity, second.line, second.column), (Severity::Warning, 3, 2));
    }

    #[test]
    fn words_without_a_place_are_kept() {
        let assembler =
            "ptxas application ptx input, line 27; error   : Not a name of any known instruction: 'bogus'\n";
        assert_eq!(parse(assembler, &pieces())[0].text, "in assembling: Not a name of any known instruction: 'bogus'");
        let header = "/x/include/mma.hpp(7): error: no\n";
        assert_eq!(
            (parse(header, &pieces())[0].line, parse(header, &pieces())[0].text.as_str()),
            (0, "no (in mma.hpp)")
        );
        assert_eq!(parse("segmentation fault", &pieces())[0].text, "segmentation fault");
        assert_eq!(parse("", &pieces())[0].severity, Severity::Error);
    }
}
