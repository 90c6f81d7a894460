//! Concrete edits to one region: spans with a precondition, applied all or nothing, and the steps that need no model.
//!
//! A model never writes a region itself: its answer, and every mechanical step, becomes an [`EditScript`]. Nothing here
//! touches a file, asks a model or judges whether an edit is good.

mod diff;
mod error;
mod host;
mod mechanical;
mod script;
pub mod tokens;

pub use diff::{rewrite, unified};
pub use error::EditError;
pub use mechanical::mechanical;
pub use script::{Edit, EditScript};
