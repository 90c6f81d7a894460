//! What lanes of a warp do together, gathered while they run one after the other. Bounded: what has waited for its last lane
//! through too many others is given up as it is.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Gathered things of one warp, of one age, at most. A thing waits for its lanes for that many others, and at most for twice
/// as many.
const GENERATION: usize = 1 << 12;

/// Gathered things beyond which a thread that begins another lets the others run first.
const PATIENCE: usize = 1 << 10;

/// A number in the code, and the rounds of the loops around it.
pub(super) type Key = (u32, u64);

/// A thing that lanes add to.
pub(super) trait Gathered: Default {
    /// The lanes that have come.
    fn mask(&self) -> u32;
}

/// The things of one warp that wait for lanes.
#[derive(Debug)]
pub(super) struct Gather<T> {
    /// The warp's lanes.
    full: u32,
    young: Table<T>,
    old: Table<T>,
}

type Table<T> = HashMap<Key, T, BuildHasherDefault<Mix>>;

impl<T: Gathered> Gather<T> {
    /// For a warp of these lanes.
    pub fn new(full: u32) -> Gather<T> {
        Gather { full, young: Table::default(), old: Table::default() }
    }

    /// A lane adds to a thing; what is complete or given up goes to `done`. Whether others had better run first.
    pub fn add(&mut self, key: Key, lane: usize, add: impl FnOnce(&mut T), mut done: impl FnMut(Key, T)) -> bool {
        let bit = 1_u32 << lane;
        let table = if self.old.contains_key(&key) { &mut self.old } else { &mut self.young };
        let thing = table.entry(key).or_default();
        // A lane that comes again begins anew: rounds of recursion are not told apart.
        if thing.mask() & bit != 0 {
            done(key, std::mem::take(thing));
        }
        let is_new = thing.mask() == 0;
        add(thing);
        if thing.mask() == self.full {
            if let Some(thing) = table.remove(&key) {
                done(key, thing);
            }
            return false;
        }
        if self.young.len() >= GENERATION {
            self.old.drain().for_each(|(key, thing)| done(key, thing));
            std::mem::swap(&mut self.young, &mut self.old);
        }
        is_new && self.young.len() + self.old.len() > PATIENCE
    }

    /// Gives up all that waits.
    pub fn finish(&mut self, mut done: impl FnMut(Key, T)) {
        for (key, thing) in self.old.drain().chain(self.young.drain()) {
            done(key, thing);
        }
    }
}

/// A hash of a few numbers: keys are mixed already, and nobody chooses them to collide but in their own counts.
#[derive(Default)]
pub(super) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = mix(self.0, value);
    }
}

/// Folds a number into a hash.
pub(super) fn mix(hash: u64, value: u64) -> u64 {
    let hash = (hash ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash ^ hash >> 29
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Gathered for u32 {
        fn mask(&self) -> u32 {
            *self
        }
    }

    #[test]
    fn lanes_meet_whatever_order_they_come_in() {
        let mut gather = Gather::<u32>::new(0b111);
        let mut done = Vec::new();
        for lane in [2, 0, 1] {
            for round in 0..100 {
                gather.add((7, round), lane, |mask| *mask |= 1 << lane, |key, mask| done.push((key.1, mask)));
            }
        }
        assert_eq!(done, (0..100).map(|round| (round, 0b111)).collect::<Vec<_>>());
    }

    #[test]
    fn what_never_completes_is_given_up_once() {
        let mut gather = Gather::<u32>::new(0b11);
        let (mut done, mut waits) = (0_u64, 0);
        for round in 0..100_000 {
            waits += u64::from(gather.add((1, round), 0, |mask| *mask |= 1, |_, _| done += 1));
        }
        assert!(done >= 100_000 - 2 * GENERATION as u64 && waits > 90_000);
        gather.finish(|_, _| done += 1);
        assert_eq!(done, 100_000);
    }

    #[test]
    fn a_lane_that_comes_again_begins_anew() {
        let mut gather = Gather::<u32>::new(0b11);
        let mut done = Vec::new();
        for lane in [0, 0, 1] {
            gather.add((1, 1), lane, |mask| *mask |= 1 << lane, |_, mask| done.push(mask));
        }
        assert_eq!(done, [0b01, 0b11]);
    }
}
