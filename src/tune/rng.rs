//! A small generator (SplitMix64) for choices that must repeat from a seed. Not for data, not for secrets.

/// The state; equal seeds give equal choices.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator.
    #[must_use]
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, each equally likely; 0 for a bound of 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        if bound == 0 {
            return 0;
        }
        // Numbers of an incomplete last round would favour the low ones.
        let whole = u64::MAX - u64::MAX % bound;
        loop {
            let drawn = self.next();
            if drawn < whole {
                #[allow(clippy::cast_possible_truncation, reason = "below a usize")]
                return (drawn % bound) as usize;
            }
        }
    }

    /// A number below `bound`, each equally likely; 0 for a bound of 0.
    pub fn below_u128(&mut self, bound: u128) -> u128 {
        if bound == 0 {
            return 0;
        }
        let whole = u128::MAX - u128::MAX % bound;
        loop {
            let drawn = u128::from(self.next()) << 64 | u128::from(self.next());
            if drawn < whole {
                return drawn % bound;
            }
        }
    }

    /// Orders `items` at random, each order equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_below_the_bound_comes_equally_often() {
        let mut rng = Rng::new(1);
        let mut counts = [0u32; 6];
        (0..60_000).for_each(|_| counts[rng.below(6)] += 1);
        assert!(counts.iter().all(|count| (9_600..10_400).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_seed_repeats_and_another_differs() {
        let draw = |seed| {
            let mut items: Vec<u32> = (0..20).collect();
            Rng::new(seed).shuffle(&mut items);
            items
        };
        assert_eq!(draw(5), draw(5));
        assert_ne!(draw(5), draw(6));
    }
}
