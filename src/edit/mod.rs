//! Concrete edits to one region: spans with a precondition, applied all or nothing, and the steps that need no model.
//!
//! A model never writes a region itself: its answer, and every mechanical step, becomes an [`EditScript`]. Nothing here
//! touches a file, asks a model or judges whether an edit is good.

pub mod code;
mod diff;
mod error;
mod host;
mod insert;
mod mechanical;
mod rename;
mod script;
pub mod tokens;

pub use diff::{rewrite, unified};
pub use error::EditError;
pub use mechanical::{mechanical, mechanical_again};
pub use script::{Edit, EditScript};
