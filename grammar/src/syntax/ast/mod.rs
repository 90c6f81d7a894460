//! The tree of a file as it was written: every clause in order, with spans, nothing resolved.
//!
//! Plain data; `--emit ast` prints it as JSON. Numbers are read and units folded, names are only text.

mod declaration;
mod expression;
mod kernel;
mod plan;
mod transformation;
mod workflow;

pub use declaration::*;
pub use expression::*;
pub use kernel::*;
pub use plan::*;
pub use transformation::*;
pub use workflow::*;
