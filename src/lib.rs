//! Peak makes GPU kernels fast by transformations written in words.

pub mod context;
pub mod hash;
pub mod runner;
