//! Finds the configuration that is fastest on a device: the space under its requirements, strategies that walk it, and
//! the tuner that compiles ahead and times.
//!
//! Never judges results: a winner is validated by whoever asked.

mod error;
mod measure;
mod outcome;
mod pipeline;
mod rng;
pub mod space;
pub mod strategy;
mod tuner;

pub use error::TuneError;
pub use measure::{Cache, HARNESS_VERSION, NoCache};
pub use outcome::{Measured, NOISY_SHARE, SpaceSize, Times, TuneEvent, TuneOutcome};
pub use rng::Rng;
pub use tuner::{Bench, TuneRequest, TuneTiming, tune};
