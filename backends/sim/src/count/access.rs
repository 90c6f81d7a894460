//! How one request of a warp meets sectors and banks, as compute capability 7.0 and later do it. Pure functions.
//!
//! - Global memory: a request touches sectors of 32 bytes; lanes in one sector share it.
//! - Shared memory: 32 banks of 4 bytes give one word each in a pass. Lanes that want the same word share it. Accesses of 8
//!   bytes are made by half warps, of 16 bytes by quarters. Loads of two such parts are one pass where every lane reads what
//!   its neighbour (lane xor 1, or lane xor 2, for all lanes alike) reads: the registers that return are then half as many.

use peak_backend_api::SECTOR_BYTES;

/// Lanes of a warp.
const LANES: usize = 32;
/// Banks, and bytes of a bank's word.
const BANKS: u64 = 32;
const WORD_BYTES: u64 = 4;

/// The addresses of a request, by lane; those of lanes outside the mask mean nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes {
    pub mask: u32,
    pub addresses: [u64; LANES],
}

/// Passes over the banks, and how many of them two words in one bank caused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Passes {
    pub wavefronts: u64,
    pub conflicts: u64,
}

impl Lanes {
    fn active(&self) -> impl Iterator<Item = u64> {
        (0..LANES).filter(|lane| self.mask >> lane & 1 == 1).map(|lane| self.addresses[lane])
    }

    /// Distinct sectors. Accesses are aligned, so each is in one.
    pub fn sectors(&self) -> u64 {
        distinct(self.active().map(|address| address / SECTOR_BYTES))
    }

    /// Distinct addresses.
    pub fn addresses(&self) -> u64 {
        distinct(self.active())
    }

    /// The distance that most lanes have to the next one, and how many have it.
    pub fn stride(&self) -> Option<(i64, u64)> {
        let both = |lane: &usize| self.mask >> lane & 3 == 3;
        let distance = |lane: usize| self.addresses[lane + 1].wrapping_sub(self.addresses[lane]).cast_signed();
        let mut distances: Vec<i64> = (0..LANES - 1).filter(both).map(distance).collect();
        distances.sort_unstable();
        let runs = distances.chunk_by(|a, b| a == b);
        runs.max_by_key(|run| run.len()).map(|run| (run[0], run.len() as u64))
    }

    /// Passes of a load or a store of `bytes` bytes a thread.
    pub fn passes(&self, bytes: u32, loads: bool) -> Passes {
        let parts = (u64::from(bytes) / WORD_BYTES).clamp(1, 8) as usize;
        let size = LANES / parts;
        let mut passes = Passes::default();
        let mut at = 0;
        while at < LANES {
            let pair = parts > 1 && loads && at % (2 * size) == 0 && self.shares(at, 2 * size);
            let lanes = if pair { 2 * size } else { size };
            passes = passes.and(self.group(at, lanes, bytes));
            at += lanes;
        }
        passes
    }

    /// Passes of an atomic operation: lanes that want one bank wait for each other, whatever word it is.
    pub fn atomic_passes(&self) -> Passes {
        let mut busy = [0_u64; BANKS as usize];
        self.active().for_each(|address| busy[(address / WORD_BYTES % BANKS) as usize] += 1);
        Passes::of(busy.into_iter().max().unwrap_or(0))
    }

    /// Whether all lanes of a range read what their neighbours read, for one kind of neighbour.
    fn shares(&self, from: usize, lanes: usize) -> bool {
        let active = |lane: usize| self.mask >> lane & 1 == 1;
        let same = |lane: usize, other: usize| {
            !active(lane) || !active(other) || self.addresses[lane] == self.addresses[other]
        };
        [1, 2].into_iter().any(|bit| (from..from + lanes).all(|lane| same(lane, lane ^ bit)))
    }

    fn group(&self, from: usize, lanes: usize, bytes: u32) -> Passes {
        let mut words: Vec<u64> = (from..from + lanes)
            .filter(|lane| self.mask >> lane & 1 == 1)
            .flat_map(|lane| {
                let first = self.addresses[lane] / WORD_BYTES;
                first..first + u64::from(bytes).div_ceil(WORD_BYTES)
            })
            .collect();
        words.sort_unstable();
        words.dedup();
        let mut busy = [0_u64; BANKS as usize];
        words.iter().for_each(|word| busy[(word % BANKS) as usize] += 1);
        Passes::of(busy.into_iter().max().unwrap_or(0))
    }
}

impl Passes {
    fn of(wavefronts: u64) -> Passes {
        Passes { wavefronts, conflicts: wavefronts.saturating_sub(1) }
    }

    fn and(self, other: Passes) -> Passes {
        Passes { wavefronts: self.wavefronts + other.wavefronts, conflicts: self.conflicts + other.conflicts }
    }
}

/// Units that `threads` accesses of `bytes` bytes take at least, side by side.
pub(super) fn ideal(threads: u64, bytes: u32, unit: u64) -> u64 {
    (threads * u64::from(bytes)).div_ceil(unit)
}

/// Bytes that all banks give in one pass.
pub(super) const PASS_BYTES: u64 = BANKS * WORD_BYTES;

fn distinct(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.dedup();
    values.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(address: impl Fn(u64) -> u64) -> Lanes {
        Lanes { mask: u32::MAX, addresses: std::array::from_fn(|lane| address(lane as u64)) }
    }

    #[test]
    fn sectors_are_shared() {
        assert_eq!(lanes(|lane| 4 * lane).sectors(), 4);
        assert_eq!(lanes(|lane| 4 * lane + 4).sectors(), 5, "off by a word");
        assert_eq!(lanes(|lane| 8 * lane).sectors(), 8);
        assert_eq!(lanes(|lane| 16 * lane).sectors(), 16);
        assert_eq!(lanes(|lane| 8192 * lane).sectors(), 32);
        assert_eq!(lanes(|_| 64).sectors(), 1);
        assert_eq!(Lanes { mask: 0, ..lanes(|_| 0) }.sectors(), 0);
        assert_eq!(Lanes { mask: 0xFF, ..lanes(|lane| 4 * lane) }.sectors(), 1);
    }

    #[test]
    fn words_of_one_bank_wait() {
        let wavefronts = |bytes: u32, address: &dyn Fn(u64) -> u64| lanes(address).passes(bytes, true).wavefronts;
        for degree in [1, 2, 4, 8, 16, 32] {
            assert_eq!(wavefronts(4, &|lane| 4 * degree * lane), degree);
        }
        assert_eq!(wavefronts(4, &|lane| 4 * 33 * lane), 1, "a padded column");
        assert_eq!(wavefronts(4, &|_| 8), 1, "all lanes share a word");
        assert_eq!(wavefronts(2, &|lane| 2 * lane), 1, "two lanes share each word");
        assert_eq!(wavefronts(1, &|lane| 128 * lane), 32);
    }

    #[test]
    fn wide_accesses_go_in_parts() {
        let of = |bytes: u32, loads: bool, address: &dyn Fn(u64) -> u64| lanes(address).passes(bytes, loads);
        let passes = |wavefronts, conflicts| Passes { wavefronts, conflicts };
        assert_eq!(of(8, true, &|lane| 8 * lane), passes(2, 0));
        assert_eq!(of(16, true, &|lane| 16 * lane), passes(4, 0));
        assert_eq!(of(16, true, &|lane| 32 * lane), passes(8, 4), "every second quarter of the banks");
        assert_eq!(of(16, true, &|_| 0), passes(2, 0), "neighbours share, so parts go in pairs");
        assert_eq!(of(16, false, &|_| 0), passes(4, 0), "stores never do");
        assert_eq!(of(8, true, &|lane| 8 * (lane / 2)), passes(1, 0));
        assert_eq!(of(8, true, &|lane| 8 * (lane % 16)), passes(2, 0), "not what a neighbour reads");
    }

    #[test]
    fn atomics_of_one_bank_wait_even_for_one_word() {
        assert_eq!(lanes(|_| 0).atomic_passes().wavefronts, 32);
        assert_eq!(lanes(|lane| 4 * lane).atomic_passes().wavefronts, 1);
    }

    #[test]
    fn the_most_frequent_distance_is_told() {
        assert_eq!(lanes(|lane| 8192 * lane).stride(), Some((8192, 31)));
        assert_eq!(lanes(|lane| 4 * (lane % 16)).stride(), Some((4, 30)));
        assert_eq!(Lanes { mask: 1, ..lanes(|_| 0) }.stride(), None);
    }
}
