//! Every valid configuration, in the order of the declaration. Ends with what the survey found.

use super::{Strategy, StrategyEntry};
use crate::context::Configuration;
use crate::tune::space::Space;

/// `exhaustive`.
pub const ENTRY: StrategyEntry = StrategyEntry {
    name: "exhaustive",
    title: "every valid configuration, in order",
    make: |survey, _| Box::new(Exhaustive { valid: survey.valid.clone().into_iter() }),
};

struct Exhaustive {
    valid: std::vec::IntoIter<Vec<i64>>,
}

impl Strategy for Exhaustive {
    fn ask(&mut self, space: &Space<'_>, count: usize) -> Vec<Configuration> {
        self.valid.by_ref().take(count).map(|values| space.configuration(&values)).collect()
    }

    fn tell(&mut self, _: &Configuration, _: Option<f64>) {}
}
