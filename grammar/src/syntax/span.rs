//! Places in a file.

use serde::Serialize;

/// A range of bytes of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last.
    pub end: usize,
}

impl Span {
    /// From `start` to `end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end: end.max(start) }
    }

    /// From the start of one to the end of the other.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span::new(self.start, other.end)
    }
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// A value and where it was written.
    pub fn new(value: T, span: Span) -> Spanned<T> {
        Spanned { value, span }
    }
}

/// A name as it was written.
pub type Name = Spanned<String>;
