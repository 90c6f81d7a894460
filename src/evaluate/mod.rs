//! Judges speed: times of a candidate, and how much work it stands for. Never judges results.

pub mod time;
pub mod work;

pub use crate::runner::statistics;
