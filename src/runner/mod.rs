//! Runs candidates, never in this process: workers, devices, deadlines, locks.

pub mod execute;
pub mod failure;

pub use execute::*;
pub use failure::*;
