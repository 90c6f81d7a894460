//! Random bits by counter: SplitMix64's finalizer over a key and an index (Steele, Lea, Flood, OOPSLA 2014).

/// The odd number nearest to 2^64 over the golden ratio: SplitMix64's step.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// A stream of random bits, read at any index.
#[derive(Clone, Copy, Debug)]
pub struct Bits {
    key: u64,
}

impl Bits {
    /// The stream of a seed and a buffer's name.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Bits {
        let named = name.bytes().fold(GOLDEN, |key, byte| mix(key ^ u64::from(byte)));
        Bits { key: mix(named ^ mix(seed.wrapping_add(GOLDEN))) }
    }

    /// 64 bits at an index.
    #[inline]
    #[must_use]
    pub fn at(self, index: u64) -> u64 {
        mix(self.key.wrapping_add(index.wrapping_mul(GOLDEN)))
    }

    /// A number in [0, 1) of 32 random bits, and the 32 bits that it does not use.
    #[inline]
    #[must_use]
    pub fn unit_and_rest(self, index: u64) -> (f64, u32) {
        let bits = self.at(index);
        (f64::from((bits >> 32) as u32) * 2f64.powi(-32), bits as u32)
    }
}

/// A bijection of 64 bits in which every output bit depends on every input bit.
#[inline]
#[must_use]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
