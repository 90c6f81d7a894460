//! Bytes to text of the same length, so that every later span holds in the file itself.

use super::{Report, Span};
use std::borrow::Cow;

/// A place that is no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// A NUL byte at this offset.
    Nul(usize),
    /// A byte at this offset that is not UTF-8.
    Utf8(usize),
}

/// The text, with `?` for each byte that is none, and the first defect of each kind with how often it occurs.
#[must_use]
pub fn clean(bytes: &[u8]) -> (Cow<'_, str>, Vec<(Defect, usize)>) {
    let nuls = bytes.iter().filter(|byte| **byte == 0).count();
    if nuls == 0
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return (Cow::Borrowed(text), Vec::new());
    }
    let mut text = String::with_capacity(bytes.len());
    let mut bad = 0;
    let mut first_bad = None;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            first_bad.get_or_insert(text.len());
            bad += 1;
            text.extend(chunk.invalid().iter().map(|_| '?'));
        }
    }
    let first_nul = bytes.iter().position(|byte| *byte == 0).map(Defect::Nul);
    let defects = [(first_nul, nuls), (first_bad.map(Defect::Utf8), bad)];
    let defects = defects.into_iter().filter_map(|(defect, count)| Some((defect?, count))).collect();
    (Cow::Owned(text.replace('\0', "?")), defects)
}

/// Reports what [`clean`] found.
pub(super) fn report(defects: &[(Defect, usize)], out: &mut Report<'_>) {
    for (defect, count) in defects {
        let more = if *count > 1 { format!(" ({count} of them)") } else { String::new() };
        let (code, at, what, help) = match *defect {
            Defect::Nul(at) => ("peak::nul", at, "a NUL byte", "a `.peak` file is plain text: was this one cut short?"),
            Defect::Utf8(at) => ("peak::utf8", at, "bytes that are not UTF-8", "save the file as UTF-8"),
        };
        out.push(out.error(code, Span::new(at, at + 1), format!("the file holds {what}{more}")).help(help));
    }
}
