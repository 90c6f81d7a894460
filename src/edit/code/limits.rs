//! Bounds on patterns and on the code that they are looked for in, each in this one place.

/// Bytes of a pattern or a replacement.
pub const MAX_PATTERN_BYTES: usize = 2048;
/// Depth of a pattern's tree.
pub const MAX_PATTERN_DEPTH: usize = 120;
/// Bytes of the code that is searched, and of what becomes of it.
pub const MAX_CODE_BYTES: usize = 16 << 20;
/// Comparisons of a node with a part of a pattern, in one search: some seconds.
pub const MAX_MATCH_STEPS: u64 = 50_000_000;
/// Matches of one pattern.
pub const MAX_MATCHES: usize = 200_000;
/// Times that the parser asks whether to go on, once in a hundred of its operations: some seconds.
pub const MAX_PARSER_CHECKS: u64 = 2_000_000;
/// Pieces of code that are compared where nothing matches, to name the nearest.
pub const MAX_NEAREST: usize = 20_000;
/// Characters of code that a message shows.
pub const MAX_SHOWN_CHARS: usize = 120;
