//! What validators, evaluators and tuners ask of a runner: run this, time that, compile those.

use super::paired::{Pairing, Turns};
use super::{Failure, FailureClass};
use crate::context::launch::ConcretePlan;
use indexmap::IndexMap;
use peak_backend_api::{Artifact, CompileRequest, DeviceInfo, LaunchCounts, RuntimeError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// Compiles, in worker processes. Shared by threads.
pub trait Compile: Sync {
    /// The artifact for a request; equal requests may share one.
    ///
    /// # Errors
    /// Class `compile` (with the compiler's messages as facts), `timeout` or `crash`.
    fn compile(&self, request: &CompileRequest) -> Result<Arc<Artifact>, Failure>;
}

/// Runs and times on one device, in a worker process.
pub trait Execute {
    /// The device.
    fn device(&self) -> &DeviceInfo;

    /// Fills inputs, poisons outputs and scratch, runs once, reads back.
    ///
    /// # Errors
    /// Class `launch`, `timeout` or `crash`; the next call starts on a fresh worker where the last one died.
    fn run(&mut self, job: &Job) -> Result<RunOutcome, Failure>;

    /// Fills inputs, warms up, times repeatedly.
    ///
    /// # Errors
    /// As [`Execute::run`].
    fn time(&mut self, job: &Job, timing: &Timing) -> Result<TimeOutcome, Failure>;

    /// Times several candidates that take turns, all of them resident at once, and reads back what their last runs left in
    /// the outputs. The deadline is the first one's.
    ///
    /// # Errors
    /// As [`Execute::run`].
    fn take_turns(&mut self, jobs: &[Job], how: &Pairing) -> Result<TurnsOutcome, Failure>;

    /// Fills inputs, runs once, and counts what is executed, as [`peak_backend_api::Device::count`].
    ///
    /// # Errors
    /// As [`Execute::run`]; class `launch` where the device counts nothing.
    fn count(&mut self, job: &Job, blocks_max: Option<u64>) -> Result<Vec<LaunchCounts>, Failure> {
        let _ = (job, blocks_max);
        Err(Failure::new(FailureClass::Launch, RuntimeError::NoCounters.to_string()))
    }
}

/// Times of candidates that took turns, and what they left behind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnsOutcome {
    /// The times.
    pub turns: Turns,
    /// By candidate: the bytes of every output and inout buffer after its last timed run.
    pub outputs: Vec<IndexMap<String, Vec<u8>>>,
}

/// One compiled candidate at one choice of execution parameters, and its data.
#[derive(Clone, Debug)]
pub struct Job {
    /// Compiled code.
    pub artifact: Arc<Artifact>,
    /// Buffers and launches.
    pub plan: ConcretePlan,
    /// What the inputs hold.
    pub fill: Fill,
    /// How long the whole call may take; the worker is killed then.
    pub deadline: Duration,
}

/// What the inputs hold: the same seed and distribution give the same bytes in every process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fill {
    /// Seed of the generator.
    pub seed: u64,
    /// Which numbers.
    pub distribution: Distribution,
}

/// Which numbers the inputs hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// As the kernel declares.
    Declared,
    /// Small whole numbers, mostly non-zero, whose partial sums are exact: one missing term shows.
    ExactIntegers,
    /// The declared numbers times 2^10.
    Large,
    /// The declared numbers times 2^-10.
    Tiny,
    /// A value that depends on the position, so that a shift or a swap shows.
    Structured,
    /// Mostly zeros, with a few values of large magnitude.
    Spiky,
}

/// What one run left behind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunOutcome {
    /// The bytes of every output and inout buffer.
    pub outputs: IndexMap<String, Vec<u8>>,
    /// Input buffers whose bytes changed.
    pub changed_inputs: Vec<String>,
    /// Wall time of the launch and wait, in nanoseconds.
    pub wall_ns: u64,
}

/// The four bytes that poison an output before a run: a NaN in every float type, an unlikely number in every integer.
pub const POISON: [u8; 4] = [0xFA, 0xFF, 0xFA, 0xFF];

/// How to time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Runs not counted, at least; more until two in a row differ by under 5%, at most four times this.
    pub warmup: u32,
    /// Device time of the runs not counted, at least, in nanoseconds: the clocks of a GPU rise only under load.
    pub warmup_ns: u64,
    /// Counted runs, at least.
    pub min_repeats: u32,
    /// Counted runs, at most.
    pub max_repeats: u32,
    /// Stops when the 95% interval of the median is narrower than this share of it.
    pub relative_interval: f64,
    /// Stops after this many nanoseconds of device time (but not before `min_repeats`).
    pub budget_ns: u64,
    /// Gives up after the first counted run that exceeds this, where the candidate can no longer win.
    pub give_up_ns: Option<u64>,
}

/// Times of one candidate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeOutcome {
    /// Device time of each counted run, in nanoseconds, in order.
    pub samples_ns: Vec<u64>,
    /// Runs that warmed up.
    pub warmup: u32,
    /// Whether it gave up early.
    pub gave_up: bool,
    /// Wall time of the counted runs together, in nanoseconds: never much below the sum of the samples.
    #[serde(default)]
    pub wall_ns: u64,
}

impl TimeOutcome {
    /// A quantile of the samples (0.5 is the median), in nanoseconds; `None` without samples.
    #[must_use]
    pub fn quantile_ns(&self, q: f64) -> Option<f64> {
        super::statistics::quantile(&self.samples_ns, q)
    }
}
