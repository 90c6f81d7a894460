//! A file printed back in the one form that all `.peak` files have: text in, text out.
//!
//! What a file means never changes, nor a comment, nor a word of prose or code: the result is read again and compared.
//! Knows no clause by name. The tree of lines says what stands below what, and the tokens of a clause are those that
//! the grammar cut it into, so a new clause needs nothing here.
//!
//! `page` is the tree with comments and blank lines in it, `print` its text.

mod page;
mod print;
mod same;
mod spacing;

use crate::diagnostics::Diagnostic;
use crate::syntax::parse_written;
use crate::{SourceFile, syntax};

/// Why a file is left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// There are errors in it: all that was found, warnings included.
    Wrong(Vec<Diagnostic>),
    /// The result would not read as the same file: a defect of the formatter, or a line at the limit of its length.
    Changed,
}

/// The text of a file in the one form.
///
/// The file is read alone: names that it has from other files are not looked at. Time is linear in its length.
///
/// # Errors
/// Something in it cannot be read; see [`FormatError`].
pub fn format(file: &SourceFile) -> Result<String, FormatError> {
    let (before, written, diagnostics) = parse_written(file);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(FormatError::Wrong(diagnostics));
    }
    let (text, _) = syntax::clean(&file.bytes);
    let text = print::print(&page::page(&text, &written));
    let again = SourceFile::new(&file.name, &text);
    let (after, diagnostics) = syntax::parse(&again);
    if diagnostics.iter().any(Diagnostic::is_error) || !same::same(&before, &after) {
        return Err(FormatError::Changed);
    }
    Ok(text)
}
