//! How clauses were written: their tokens as the grammar cut them, and the text that must stay as it is.
//!
//! Kept only for who prints a file back; nothing that decides what a file means reads it.

use super::Span;
use std::collections::{BTreeMap, HashSet};

/// What a formatter needs beside the tree of lines.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Tokens of each clause, by the clause's first byte. A line that the reader skipped has none.
    pub(crate) clauses: BTreeMap<usize, Vec<Token>>,
    /// Text that is data as it stands, such as a host region: lines, comments and blanks alike.
    pub(crate) kept: HashSet<Span>,
}

/// A token of a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// Where it is in the file.
    pub(crate) span: Span,
    /// What it is, as far as spacing cares.
    pub(crate) kind: TokenKind,
}

/// What a token is, as far as spacing cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name, a number or a type: an opening bracket after it belongs to it.
    Name,
    /// A word of the language, or an operator between two sides.
    Word,
    /// Text in quotes or backticks, never touched.
    Quoted,
    /// A sign before its operand.
    Sign,
    /// Punctuation, or another literal of the grammar.
    Mark,
}
