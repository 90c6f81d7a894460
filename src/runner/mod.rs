//! Runs candidates, never in this process: workers, devices, deadlines, locks.
//!
//! The coordinator (this process) starts `peak worker` children and speaks [`protocol`] with them: one compiles, one
//! holds a device. Candidates' code is loaded in children only. What the rest of Peak sees are the traits in
//! [`execute`] and the failures in [`failure`].

pub mod artifact_file;
pub mod coordinator;
pub mod execute;
pub mod failure;
pub mod load;
pub mod paired;
pub mod protocol;
pub mod statistics;
pub mod worker;

pub use coordinator::*;
pub use execute::*;
pub use failure::*;
