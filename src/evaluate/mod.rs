//! Judges speed: times of a candidate, how much work it stands for, how much of a multiprocessor it keeps busy, how fast it
//! could be. Never judges results.

pub mod occupancy;
pub mod roofline;
pub mod time;
pub mod vendor;
pub mod work;

pub use crate::runner::statistics;
