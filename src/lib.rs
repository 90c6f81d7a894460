//! Peak makes GPU kernels fast by transformations written in words.

pub mod context;
pub mod data;
pub mod hash;
pub mod oracle;
pub mod runner;
pub mod validate;
