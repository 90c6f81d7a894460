//! The front end of Peak: text to a resolved, typed IR.
//!
//! Pure: no files, no network, no clock (`clippy.toml` enforces it). Text comes in with a name, declarations and
//! diagnostics go out.

pub mod ir;
