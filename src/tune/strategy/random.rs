//! Valid configurations at random, none twice: a shuffle where the space was walked to its end, else by rejection.

use super::{Strategy, StrategyEntry};
use crate::context::Configuration;
use crate::tune::Rng;
use crate::tune::space::Space;
use std::collections::HashSet;

/// Assignments drawn for one configuration, at most.
const TRIES_MAX: u32 = 20_000;

/// `random`.
pub const ENTRY: StrategyEntry = StrategyEntry {
    name: "random",
    title: "valid configurations at random, the same ones for the same seed",
    make: |survey, seed| {
        let mut rng = Rng::new(seed);
        let shuffled = survey.complete.then(|| {
            let mut valid = survey.valid.clone();
            rng.shuffle(&mut valid);
            valid.into_iter()
        });
        Box::new(Random { rng, shuffled, seen: HashSet::new() })
    },
};

struct Random {
    rng: Rng,
    /// Every valid assignment, where they are known.
    shuffled: Option<std::vec::IntoIter<Vec<i64>>>,
    seen: HashSet<Vec<i64>>,
}

impl Random {
    fn draw(&mut self, space: &Space<'_>) -> Option<Configuration> {
        for _ in 0..TRIES_MAX {
            let configuration = space.sample(&mut self.rng, TRIES_MAX)?;
            if self.seen.insert(configuration.values().copied().collect()) {
                return Some(configuration);
            }
        }
        None
    }
}

impl Strategy for Random {
    fn ask(&mut self, space: &Space<'_>, count: usize) -> Vec<Configuration> {
        match &mut self.shuffled {
            Some(valid) => valid.by_ref().take(count).map(|values| space.configuration(&values)).collect(),
            None => (0..count).map_while(|_| self.draw(space)).collect(),
        }
    }

    fn tell(&mut self, _: &Configuration, _: Option<f64>) {}
}
