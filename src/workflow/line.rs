//! The line of a run: the points that it reached, and which of them is best. Pure bookkeeping, like git's graph.

use crate::context::{Configuration, Inputs, KernelContext};
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// What one input size came to at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeResult {
    /// The scalar inputs.
    pub inputs: Inputs,
    /// The winner.
    pub configuration: Configuration,
    /// Further good configurations, best first, the winner included: incumbents of the next step.
    pub incumbents: Vec<Configuration>,
    /// Median device time in nanoseconds, where there is a timer.
    pub median_ns: Option<f64>,
    /// Its 20th and 80th percentile.
    pub spread_ns: Option<(f64, f64)>,
}

impl SizeResult {
    /// Whether the times of both overlap so far that neither is shown to be faster.
    fn is_level_with(&self, other: &SizeResult) -> bool {
        let (Some(mine), Some(theirs)) = (self.median_ns, other.median_ns) else { return false };
        let (Some((low, high)), Some((other_low, other_high))) = (self.spread_ns, other.spread_ns) else {
            return false;
        };
        let spread = (high - low).max(other_high - other_low);
        low <= other_high && other_low <= high && (mine - theirs).abs() < spread
    }
}

/// Scores that differ by less than this share are the same: medians of one kernel differ by as much from run to run.
pub const SAME_SHARE: f64 = 0.01;

/// How one point compares with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is what its name says")]
pub enum Pace {
    Faster,
    Same,
    Slower,
}

/// A verified kernel context with its times.
#[derive(Clone, Debug)]
pub struct Point {
    /// `baseline` or the transformation that led here.
    pub step: String,
    /// The context.
    pub context: Rc<KernelContext>,
    /// One result an input size.
    pub sizes: Vec<SizeResult>,
    /// The checkpoint's id in the store.
    pub checkpoint: i64,
}

impl Point {
    /// The geometric mean of the medians over the sizes, in nanoseconds; `None` where a size has no time.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        let logs: Option<Vec<f64>> = self.sizes.iter().map(|size| Some(size.median_ns?.ln())).collect();
        let logs = logs.filter(|logs| !logs.is_empty())?;
        #[allow(clippy::cast_precision_loss, reason = "a handful of sizes")]
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        Some(mean.exp())
    }

    /// How this compares with `other`, the same where their times overlap at every size; `None` where either has no time.
    #[must_use]
    pub fn compared_with(&self, other: &Point) -> Option<Pace> {
        let ratio = other.score()? / self.score()?;
        if self.sizes.iter().all(|size| other.at(&size.inputs).is_some_and(|there| size.is_level_with(there))) {
            return Some(Pace::Same);
        }
        Some(match ratio {
            ratio if ratio > 1.0 + SAME_SHARE => Pace::Faster,
            ratio if ratio < 1.0 - SAME_SHARE => Pace::Slower,
            _ => Pace::Same,
        })
    }

    /// The result at some inputs.
    #[must_use]
    pub fn at(&self, inputs: &Inputs) -> Option<&SizeResult> {
        self.sizes.iter().find(|size| size.inputs == *inputs)
    }
}

/// The points of a run, in the order in which they were reached.
#[derive(Debug)]
pub struct Line {
    points: Vec<Point>,
    current: usize,
    accepted: Vec<usize>,
}

impl Line {
    /// A line that starts at the baseline.
    #[must_use]
    pub fn new(baseline: Point) -> Line {
        Line { points: vec![baseline], current: 0, accepted: vec![0] }
    }

    /// Where the run stands.
    #[must_use]
    pub fn current(&self) -> &Point {
        &self.points[self.current]
    }

    /// The index of where the run stands, for [`Line::go_to`].
    #[must_use]
    pub fn position(&self) -> usize {
        self.current
    }

    /// The baseline.
    #[must_use]
    pub fn baseline(&self) -> &Point {
        &self.points[0]
    }

    /// Adds a point and moves there.
    pub fn accept(&mut self, point: Point) {
        self.points.push(point);
        self.current = self.points.len() - 1;
        self.accepted.push(self.current);
    }

    /// Moves to a point that was reached before.
    pub fn go_to(&mut self, position: usize) {
        if position < self.points.len() {
            self.current = position;
        }
    }

    /// The point at a position of [`Line::position`]; where there is none, the current one.
    #[must_use]
    pub fn at(&self, position: usize) -> &Point {
        self.points.get(position).unwrap_or_else(|| self.current())
    }

    /// Moves to the fastest point; to the last accepted where nothing is timed.
    pub fn keep_best(&mut self) {
        self.current = self.best();
    }

    /// The position of the fastest point; of the last accepted where nothing is timed.
    #[must_use]
    pub fn best(&self) -> usize {
        let timed = self.accepted.iter().filter_map(|index| Some((self.points[*index].score()?, *index)));
        let fastest = timed.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, index)| index);
        fastest.or(self.accepted.last().copied()).unwrap_or(0)
    }

    /// The position of the first accepted point with this context.
    #[must_use]
    pub fn with_context(&self, hash: &str) -> Option<usize> {
        self.accepted.iter().copied().find(|index| self.points[*index].context.hash() == hash)
    }

    /// How many points were accepted, the baseline included.
    #[must_use]
    pub fn accepted(&self) -> usize {
        self.accepted.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(median: f64, low: f64, high: f64) -> SizeResult {
        SizeResult {
            inputs: Inputs::new(),
            configuration: Configuration::new(),
            incumbents: Vec::new(),
            median_ns: Some(median),
            spread_ns: Some((low, high)),
        }
    }

    #[test]
    fn times_that_overlap_are_level() {
        assert!(timed(100.0, 90.0, 120.0).is_level_with(&timed(110.0, 95.0, 115.0)));
        assert!(!timed(100.0, 99.0, 101.0).is_level_with(&timed(110.0, 109.0, 111.0)), "apart");
        assert!(!timed(100.0, 99.0, 130.0).is_level_with(&timed(150.0, 129.0, 151.0)), "medians further apart");
        let untimed = SizeResult { median_ns: None, spread_ns: None, ..timed(0.0, 0.0, 0.0) };
        assert!(!untimed.is_level_with(&untimed));
    }
}
