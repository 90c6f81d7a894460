//! Peak makes GPU kernels fast by transformations written in words.
//!
//! A program that embeds it writes recipes with [`include!`], [`transformation!`] and their siblings, which are checked
//! when the program is compiled, or puts them together with [`author`]; [`Session`] runs a workflow of them. See
//! `spec/embedding.md`.

pub mod backends;
pub mod cli;
pub mod context;
pub mod data;
pub mod edit;
pub mod error;
pub mod evaluate;
pub mod hash;
pub mod inspect;
pub mod library;
pub mod lowering;
pub mod oracle;
pub mod plan;
pub mod provider;
pub mod report;
pub mod runner;
pub mod scrub;
pub mod session;
pub mod store;
pub mod tune;
pub mod validate;
pub mod workflow;

pub use peak_grammar::author;
pub use peak_macros::{device, include, kernel, pack, recipes, transformation, utility, workflow};
pub use session::{Session, worker};
