//! Peak makes GPU kernels fast by transformations written in words.

pub mod context;
pub mod edit;
pub mod hash;
pub mod lowering;
pub mod plan;
pub mod provider;
pub mod runner;
