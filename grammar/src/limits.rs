//! Bounds on what is read, each in this one place. Exceeding one is a diagnostic, never a panic.

/// Bytes of a file.
pub const MAX_FILE_BYTES: usize = 16 << 20;
/// Bytes of a line; nobody writes longer ones by hand.
pub const MAX_LINE_BYTES: usize = 4096;
/// Levels of indentation.
pub const MAX_LEVELS: usize = 32;
/// Nested brackets in a line.
pub const MAX_BRACKETS: usize = 24;
/// Nested operations in an expression, so that later recursive walks and JSON readers stay shallow.
pub const MAX_EXPRESSION_DEPTH: usize = 40;
/// Diagnostics of a file; the rest are counted.
pub const MAX_DIAGNOSTICS: usize = 100;
