//! Strategies: which configurations are measured next. They see times, never code or devices.

mod exhaustive;
mod random;

use super::space::{Space, Survey};
use crate::context::Configuration;

/// A walk through a space.
pub trait Strategy {
    /// The next configurations to measure, at most `count`, none twice; empty when there is nothing left to try.
    fn ask(&mut self, space: &Space<'_>, count: usize) -> Vec<Configuration>;

    /// What a configuration took, in nanoseconds; `None` where it failed. Seeds that others chose are told too.
    fn tell(&mut self, configuration: &Configuration, time_ns: Option<f64>);
}

/// A strategy by name.
#[derive(Clone, Copy, Debug)]
pub struct StrategyEntry {
    /// The name in `tune ... by NAME`.
    pub name: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// Makes one for a surveyed space and a seed.
    pub make: fn(&Survey, u64) -> Box<dyn Strategy>,
}

/// Every strategy, by name.
pub const STRATEGIES: &[StrategyEntry] = &[exhaustive::ENTRY, random::ENTRY];

/// The strategy of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static StrategyEntry> {
    STRATEGIES.iter().find(|entry| entry.name == name)
}

/// Everything where it fits the budget, chance otherwise.
#[must_use]
pub fn default_for(survey: &Survey, budget: usize) -> &'static StrategyEntry {
    if survey.complete && survey.valid.len() <= budget { &exhaustive::ENTRY } else { &random::ENTRY }
}
