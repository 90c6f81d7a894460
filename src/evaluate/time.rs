//! The `time` evaluator: median, p20, p80 and the median's interval of repeated runs, and whether wall time agrees.

use super::statistics::{self, Interval};
use crate::runner::{Execute, Failure, FailureClass, Job, TimeOutcome, Timing};
use serde::{Deserialize, Serialize};

/// Device time may exceed wall time by this share: two clocks.
const CLOCK_SHARE: f64 = 0.02;

/// Wall time beyond device time that a submission explains, in nanoseconds a run.
const OVERHEAD_NS: f64 = 2_000_000.0;

/// Wall time beyond device time that is explained whatever the run takes, as a share of device time.
const OVERHEAD_SHARE: f64 = 0.5;

/// What the caches hold when a counted run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Temperature {
    /// What the run before it left: every time is taken so for now.
    Warm,
}

/// Whether wall time agrees with the device's own timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WallCheck {
    /// It does.
    Agrees,
    /// The device claims more time than has passed: its timer's unit is wrong.
    DeviceExceedsWall,
    /// Far more time has passed than the device claims: work where its timer does not look.
    WorkElsewhere,
}

/// Times of one candidate at one choice of execution parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeReport {
    /// Median device time, in nanoseconds.
    pub time_ns_median: f64,
    /// 20th percentile, in nanoseconds.
    pub time_ns_p20: f64,
    /// 80th percentile, in nanoseconds.
    pub time_ns_p80: f64,
    /// 95% interval of the median, in nanoseconds; `None` with fewer than six samples.
    pub median_interval_ns: Option<(f64, f64)>,
    /// Every counted run, in nanoseconds, in order.
    pub samples_ns: Vec<u64>,
    /// What the caches held.
    pub temperature: Temperature,
    /// Whether wall time agrees.
    pub wall: WallCheck,
    /// Whether timing stopped because the candidate could no longer win: the times are then a lower standard.
    pub gave_up: bool,
}

/// Times a job.
///
/// # Errors
/// As [`Execute::time`]; class `launch` where no run was counted.
pub fn evaluate(execute: &mut dyn Execute, job: &Job, timing: &Timing) -> Result<TimeReport, Failure> {
    let outcome = execute.time(job, timing)?;
    report(outcome).ok_or_else(|| Failure::new(FailureClass::Launch, "no run was counted"))
}

/// The report of an outcome; `None` without samples.
#[must_use]
pub fn report(outcome: TimeOutcome) -> Option<TimeReport> {
    let samples = &outcome.samples_ns;
    let quantile = |q| statistics::quantile(samples, q);
    Some(TimeReport {
        time_ns_median: quantile(0.5)?,
        time_ns_p20: quantile(0.2)?,
        time_ns_p80: quantile(0.8)?,
        median_interval_ns: statistics::median_interval(samples).map(|Interval { low, high }| (low, high)),
        temperature: Temperature::Warm,
        wall: check_wall(samples, outcome.wall_ns),
        gave_up: outcome.gave_up,
        samples_ns: outcome.samples_ns,
    })
}

fn check_wall(samples_ns: &[u64], wall_ns: u64) -> WallCheck {
    #[allow(clippy::cast_precision_loss, reason = "nanoseconds and counts are far below 2^53")]
    let (device, wall, runs) = (samples_ns.iter().sum::<u64>() as f64, wall_ns as f64, samples_ns.len() as f64);
    if device > wall * (1.0 + CLOCK_SHARE) {
        WallCheck::DeviceExceedsWall
    } else if wall > device * (1.0 + OVERHEAD_SHARE) + runs * OVERHEAD_NS {
        WallCheck::WorkElsewhere
    } else {
        WallCheck::Agrees
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(samples_ns: &[u64], wall_ns: u64) -> TimeOutcome {
        TimeOutcome { samples_ns: samples_ns.to_vec(), wall_ns, ..TimeOutcome::default() }
    }

    #[test]
    fn the_report_orders_its_numbers() {
        let samples: Vec<u64> = (0..50).map(|i| 1_000_000 + (i * 37) % 1000).collect();
        let report = report(outcome(&samples, 51_000_000)).expect("there are samples");
        assert!(report.time_ns_p20 < report.time_ns_median && report.time_ns_median < report.time_ns_p80);
        let (low, high) = report.median_interval_ns.expect("50 samples are enough");
        assert!(low <= report.time_ns_median && report.time_ns_median <= high);
        assert_eq!(report.wall, WallCheck::Agrees);
    }

    #[test]
    fn wall_time_exposes_wrong_units_and_hidden_work() {
        assert_eq!(check_wall(&[1000; 10], 9000), WallCheck::DeviceExceedsWall);
        assert_eq!(check_wall(&[1000; 10], 1_000_000_000), WallCheck::WorkElsewhere);
        assert_eq!(check_wall(&[1000; 10], 1_000_000), WallCheck::Agrees, "submissions cost something");
    }

    #[test]
    fn no_samples_make_no_report() {
        assert_eq!(report(outcome(&[], 0)), None);
    }
}
