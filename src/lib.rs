//! Peak makes GPU kernels fast by transformations written in words.

pub mod backends;
pub mod context;
pub mod data;
pub mod evaluate;
pub mod hash;
pub mod oracle;
pub mod runner;
pub mod tune;
pub mod validate;
