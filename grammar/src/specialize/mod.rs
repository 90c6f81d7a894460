//! The library as one device sees it: packs applied to a transformation, the most specific workflow chosen.
//!
//! Reads nothing but the library; binding a transformation to a kernel is [`crate::matching`]'s.

mod error;
mod facts;
mod packs;
mod transformation;
mod workflow;

pub use error::SpecializeError;
pub use facts::with_facts;
pub use packs::{applicable_packs, find_device};
pub use transformation::{Knowledge, Specialized, transformation};
pub use workflow::workflow;
