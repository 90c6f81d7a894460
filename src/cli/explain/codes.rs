//! What `spec/diagnostics.md` says of each code: the one place for it. The front end's own words stand in where the
//! reference lacks a section.

use peak_grammar::diagnostics::CODES;

const REFERENCE: &str = include_str!("../../../spec/diagnostics.md");

/// Every code with its words, the reference's first.
pub(super) fn explanations() -> impl Iterator<Item = (&'static str, &'static str)> {
    reference().chain(CODES.iter().map(|entry| (entry.code, entry.explanation)))
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

/// The words on a code, its example with them.
pub(super) fn explanation(code: &str) -> Option<String> {
    let (_, text) = explanations().find(|(known, _)| *known == code)?;
    // What an example is marked with is for the test that reads it.
    Some(text.replace(&format!("```peak error={code}"), "```peak"))
}
