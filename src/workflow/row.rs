//! One row of a run: what a step came to at one input size. The `step` event of `--json` is this, field by field.

use crate::context::{Configuration, Inputs};
use crate::evaluate::occupancy::Limiter;
use crate::runner::FailureClass;
use crate::tune::NOISY_SHARE;
use serde::{Deserialize, Serialize};

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Valid, and the run goes on from it.
    Accepted,
    /// Valid, and not kept.
    Rejected,
    /// No valid attempt.
    Failed,
    /// Nothing was done, for the reason given: nothing to choose from, a library that does not run here.
    Skipped,
    /// Timed beside the step where the run stands, and no part of the run: a vendor's library.
    Compared,
}

impl Verdict {
    /// The word in tables and events.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Accepted => "accepted",
            Verdict::Rejected => "rejected",
            Verdict::Failed => "failed",
            Verdict::Skipped => "skipped",
            Verdict::Compared => "compared",
        }
    }
}

/// A step at one input size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Order of the step in the run; the baseline is 0. Branches count on.
    pub index: usize,
    /// `baseline` or the transformation.
    pub name: String,
    /// Scalar inputs that were timed.
    pub inputs: Inputs,
    /// What became of it.
    pub verdict: Verdict,
    /// Why it failed.
    pub failure_class: Option<FailureClass>,
    /// Validators that the winner passed.
    pub verified_by: Vec<String>,
    /// The winner.
    pub configuration: Configuration,
    /// Device time of one run, in nanoseconds.
    pub time_ns_median: Option<f64>,
    /// The 20th percentile, in nanoseconds.
    pub time_ns_p20: Option<f64>,
    /// The 80th percentile, in nanoseconds.
    pub time_ns_p80: Option<f64>,
    /// Floating-point operations a second.
    pub flops: Option<f64>,
    /// Share of the device's documented peak, where it states one.
    pub peak_share: Option<f64>,
    /// Registers a thread of the winner's code, where the compiler tells.
    pub registers: Option<u32>,
    /// Its static shared memory a block, in bytes.
    pub shared_bytes: Option<u64>,
    /// Bytes that it spills a thread.
    pub spill_bytes: Option<u32>,
    /// Warps that a multiprocessor holds at once, as a share of those that fit, 0 to 1; the lowest of its launches.
    pub occupancy: Option<f64>,
    /// What limits that.
    pub occupancy_limiters: Option<Vec<Limiter>>,
    /// Times faster than the step before.
    pub speedup_step: Option<f64>,
    /// Times faster than the baseline.
    pub speedup_total: Option<f64>,
    /// Configurations measured, of how many valid ones.
    pub configurations_measured: usize,
    /// Valid configurations in all, where they were counted.
    pub configurations_valid: Option<u64>,
    /// Model answers that the step took, repairs included.
    pub model_calls: usize,
    /// Of those, repairs.
    pub repairs: usize,
    /// `hlsl`, ...
    pub backend: String,
    /// `vulkan`, ...
    pub runtime: String,
    /// The driver's name for the device.
    pub device: String,
    /// The checkpoint, where the step made one.
    pub checkpoint: Option<String>,
    /// Why it failed, was not kept, or was kept though slower, in words.
    pub reason: Option<String>,
    /// What validation left out, in words: sizes that no configuration fits. And that its times vary.
    pub notes: Vec<String>,
}

impl Row {
    /// From the 20th to the 80th percentile, as a share of the median, where that is too much for a quiet device.
    #[must_use]
    pub fn noise(&self) -> Option<f64> {
        let spread = (self.time_ns_p80? - self.time_ns_p20?) / self.time_ns_median?;
        (spread > NOISY_SHARE).then_some(spread)
    }
}
