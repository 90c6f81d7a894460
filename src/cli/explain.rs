//! `peak explain`: more on a diagnostic's code. The words are the front end's own, else those of `spec/diagnostics.md`.

use super::output::App;
use crate::error::{Class, Error, Result};
use peak_grammar::diagnostics::CODES;
use serde_json::json;

const REFERENCE: &str = include_str!("../../spec/diagnostics.md");

/// Tells more about the code of a diagnostic: what it means, and what to do.
#[derive(clap::Args)]
pub struct Arguments {
    /// The code, with or without `peak::`.
    code: String,
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        let code = if self.code.contains("::") { self.code } else { format!("peak::{}", self.code) };
        let text = explanation(&code).ok_or_else(|| unknown(&code))?;
        app.print(&format!("{code}\n\n{text}"));
        app.event("explanation", json!({"code": code, "text": text}));
        Ok(())
    }
}

/// Every code with its words.
fn explanations() -> impl Iterator<Item = (&'static str, &'static str)> {
    CODES.iter().map(|entry| (entry.code, entry.explanation)).chain(reference())
}

/// Every code of the reference with its words, in order.
fn reference() -> impl Iterator<Item = (&'static str, &'static str)> {
    REFERENCE.split("\n### `").skip(1).filter_map(|section| {
        let (code, text) = section.split_once("`\n")?;
        // A heading of a higher level ends the last section of a group.
        let text = text.split("\n## ").next().unwrap_or(text);
        Some((code, text.trim()))
    })
}

/// The words on a code.
#[must_use]
pub fn explanation(code: &str) -> Option<&'static str> {
    explanations().find(|(known, _)| *known == code).map(|(_, text)| text)
}

fn unknown(code: &str) -> Error {
    let near = explanations()
        .map(|(known, _)| (strsim::jaro_winkler(code, known), known))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(likeness, _)| *likeness > 0.8);
    let help = match near {
        Some((_, known)) => format!("did you mean `{known}`?"),
        None => "codes stand in square brackets or before the message of a diagnostic".to_owned(),
    };
    Error::plain(Class::Input, "peak::unknown-code", format!("there is no diagnostic `{code}`"), help)
}
