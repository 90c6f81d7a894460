//! DXC's text as messages that point into the pieces of the source.
//!
//! A message is `piece:line:column: severity: words`; the quoted source and caret below it are dropped, since whoever
//! reads the message has the source.

use peak_backend_api::{Severity, SourceMessage, SourcePiece};

/// The most messages that are kept: the first ones explain the rest.
const MESSAGES_MAX: usize = 32;
/// The most characters of one message.
const TEXT_CHARS_MAX: usize = 600;

/// What DXC's word on an include lacks.
const NO_INCLUDES: &str = ": a kernel includes no files, everything it needs stands in its regions";

const SEVERITIES: &[(&str, Severity)] = &[
    ("fatal error: ", Severity::Error),
    ("error: ", Severity::Error),
    ("warning: ", Severity::Warning),
    ("note: ", Severity::Note),
];

/// Reads a compiler's output. Output without any message becomes one message that quotes it.
pub(crate) fn parse(output: &str, pieces: &[SourcePiece]) -> Vec<SourceMessage> {
    let messages: Vec<_> = output.lines().filter_map(|line| message(line, pieces)).take(MESSAGES_MAX).collect();
    if messages.iter().any(|message| message.severity == Severity::Error) {
        return messages;
    }
    let text = if output.trim().is_empty() { "rejected without a message" } else { output.trim() };
    vec![SourceMessage { severity: Severity::Error, piece: None, line: 0, column: 0, text: shortened(text) }]
}

fn message(line: &str, pieces: &[SourcePiece]) -> Option<SourceMessage> {
    let located = pieces.iter().find_map(|piece| located(line, piece));
    let (piece, line_number, column, rest) = match located {
        Some((piece, line_number, column, rest)) => (Some(piece), line_number, column, rest),
        None => (None, 0, 0, line),
    };
    let (severity, text) =
        SEVERITIES.iter().find_map(|(word, severity)| Some((*severity, rest.strip_prefix(word)?)))?;
    let mut text = shortened(text);
    if text.ends_with("file not found") {
        text.push_str(NO_INCLUDES);
    }
    Some(SourceMessage { severity, piece, line: line_number, column, text })
}

fn located<'a>(line: &'a str, piece: &SourcePiece) -> Option<(String, u32, u32, &'a str)> {
    let rest = line.strip_prefix(piece.name.as_str())?.strip_prefix(':')?;
    let (line_number, rest) = rest.split_once(':')?;
    let (column, rest) = rest.split_once(": ")?;
    Some((piece.name.clone(), line_number.parse().ok()?, column.parse().ok()?, rest))
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
        let output =
            "device code:3:7: error: use of undeclared identifier 'x'\n  x = 1;\n  ^\nprelude:1:9: note: here\n";
        let messages = parse(output, &pieces());
        assert_eq!(messages.len(), 2);
        assert_eq!((messages[0].piece.as_deref(), messages[0].line, messages[0].column), (Some("device code"), 3, 7));
        assert_eq!(messages[0].text, "use of undeclared identifier 'x'");
        assert_eq!((messages[1].piece.as_deref(), messages[1].severity), (Some("prelude"), Severity::Note));
    }

    #[test]
    fn words_without_a_place_are_kept() {
        assert_eq!(parse("error: missing entry point definition\n", &pieces())[0].line, 0);
        assert_eq!(parse("segmentation fault", &pieces())[0].text, "segmentation fault");
        assert_eq!(parse("", &pieces())[0].severity, Severity::Error);
    }
}
