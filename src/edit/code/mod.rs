//! Code looked for and changed by its syntax tree: patterns with metavariables, matched against macros and device code.
//!
//! Built on tree-sitter's grammars, which know no preprocessor: the body of each `#define` is parsed apart. A match is
//! exact, token for token, so that what a rewrite does not name is never dropped; only comments between tokens do not
//! count. Bounded in bytes, depth and steps ([`limits`]), without recursion over the code itself. Nothing here compiles
//! or judges what a change means.

mod document;
mod language;
pub mod limits;
mod matching;
mod nearest;
mod pattern;
mod precedence;
mod rename;
mod rewriting;
mod select;
mod template;
mod tree;

pub use document::Document;
pub use language::{CodeLanguage, TooLarge, parse};
pub use nearest::{Nearest, nearest};
pub use pattern::{Pattern, PatternProblem};
pub(in crate::edit) use rename::is_parameter;
pub use rename::{Occurrence, is_identifier, occurrences};
pub use rewriting::{CodeEdit, RewriteError, rewrite_code, rewrites};
pub use select::{Found, SelectError, select};
pub use template::Template;
