//! What tuning found, as it goes and at the end. Plain data.

use crate::context::Configuration;
use crate::runner::{Failure, TimeOutcome};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// One configuration and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The configuration.
    pub configuration: Configuration,
    /// Its times, unless it failed.
    pub times: Option<Times>,
    /// How it failed, if it did.
    pub failure: Option<Failure>,
    /// Whether its times come from an earlier measurement.
    #[serde(default)]
    pub reused: bool,
}

impl Measured {
    /// The median, in nanoseconds, of a configuration that was timed to the end of its protocol.
    #[must_use]
    pub fn time_ns(&self) -> Option<f64> {
        self.times.as_ref().filter(|times| !times.gave_up).map(|times| times.time_ns_median)
    }
}

/// Times of a configuration, in nanoseconds of device time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Median.
    pub time_ns_median: f64,
    /// 20th percentile.
    pub time_ns_p20: f64,
    /// 80th percentile.
    pub time_ns_p80: f64,
    /// Counted runs.
    pub samples: u32,
    /// Whether it was stopped because it could no longer win: the times are those of the first runs.
    pub gave_up: bool,
    /// Whether this is the long timing that only the best few get.
    pub thorough: bool,
}

/// Times whose 20th and 80th percentile are further apart than this share of the median were disturbed.
pub const NOISY_SHARE: f64 = 0.10;

impl Times {
    /// From the 20th to the 80th percentile, as a share of the median.
    #[must_use]
    pub fn spread(&self) -> f64 {
        (self.time_ns_p80 - self.time_ns_p20) / self.time_ns_median.max(f64::MIN_POSITIVE)
    }

    /// Whether something else used the device meanwhile, as far as the times show it.
    #[must_use]
    pub fn is_noisy(&self) -> bool {
        self.spread() > NOISY_SHARE
    }

    /// The times of an outcome; `None` without samples.
    #[must_use]
    pub fn of(outcome: &TimeOutcome, thorough: bool) -> Option<Times> {
        Some(Times {
            time_ns_median: outcome.quantile_ns(0.5)?,
            time_ns_p20: outcome.quantile_ns(0.2)?,
            time_ns_p80: outcome.quantile_ns(0.8)?,
            samples: u32::try_from(outcome.samples_ns.len()).unwrap_or(u32::MAX),
            gave_up: outcome.gave_up,
            thorough,
        })
    }
}

/// How large the space is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceSize {
    /// Assignments, valid or not; saturates.
    pub product: u128,
    /// Valid ones; `None` where they could only be estimated.
    pub valid: Option<usize>,
}

/// What tuning found.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneOutcome {
    /// The fastest; `None` where every one failed.
    pub best: Option<Measured>,
    /// Every configuration that was tried, in order; the best few with their long timing.
    pub measured: Vec<Measured>,
    /// How many assignments each reason excluded.
    pub excluded: IndexMap<String, u128>,
    /// The space.
    pub space: SpaceSize,
    /// The strategy's name.
    pub strategy: &'static str,
    /// How many of `measured` came from earlier measurements.
    pub reused: usize,
    /// Whether it was cancelled: then this is what was found until then.
    pub cancelled: bool,
}

/// Progress.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TuneEvent<'a> {
    /// The space was surveyed.
    Surveyed {
        /// Its size.
        space: SpaceSize,
        /// Configurations that will be tried, at most.
        planned: usize,
        /// The strategy's name.
        strategy: &'static str,
    },
    /// A configuration was measured, or failed.
    Measured {
        /// What became of it.
        measured: &'a Measured,
        /// Measured so far.
        done: usize,
        /// To be measured, at most.
        of: usize,
        /// The fastest so far, in nanoseconds.
        best_ns: Option<f64>,
    },
    /// One of the best few was timed at length.
    Finalist {
        /// What became of it.
        measured: &'a Measured,
        /// Finalists so far.
        done: usize,
        /// Finalists, at most.
        of: usize,
    },
}
