//! Inputs: values at the edges in every combination, and random ones.

use crate::bench::BLOCK;
use crate::list::{Instruction, Kind};

/// Random triples beside those at the edges.
const RANDOM: usize = 4096;

const INTEGERS: [u64; 17] =
    [0, 1, 2, 7, 15, 16, 31, 32, 33, 63, 64, 0x7FFF, 0x8000, 0x7FFF_FFFF, 0x8000_0000, u64::MAX >> 1, u64::MAX];

const FLOATS: [f64; 22] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    -3.5,
    0.1,
    65504.0,
    1.0e-7,
    6.0e-8,
    3.0e38,
    -3.0e38,
    1.0e-38,
    1.0e-45,
    -1.0e-40,
    2.2e38,
    1.0e300,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// Inputs of an instruction, in whole blocks.
pub fn inputs(instruction: &Instruction, seed: u64) -> Vec<[u64; 3]> {
    let edges = edges(instruction.inputs);
    let pool = |at: usize| if instruction.widths[at] == 0 { &[0][..] } else { &edges[..] };
    let mut inputs = Vec::new();
    for a in pool(1) {
        for b in pool(2) {
            inputs.extend(pool(3).iter().map(|c| [*a, *b, *c]));
        }
    }
    let mut random = Random(seed);
    inputs.extend((0..RANDOM).map(|_| [0; 3].map(|_| random.value(instruction.inputs))));
    inputs.resize(inputs.len().next_multiple_of(BLOCK), [0; 3]);
    inputs
}

/// Random inputs of random programs.
pub fn random(seed: u64, threads: usize) -> Vec<[u64; 3]> {
    let mut random = Random(seed ^ 0x5EED);
    (0..threads).map(|_| [random.value(Kind::Integer), random.value(Kind::F32), random.value(Kind::F64)]).collect()
}

/// Values at the edges; halves stand twice in a word, so that packed instructions see them too.
fn edges(kind: Kind) -> Vec<u64> {
    match kind {
        Kind::Integer => INTEGERS.to_vec(),
        _ => FLOATS.iter().map(|value| encode(kind, *value)).collect(),
    }
}

fn encode(kind: Kind, value: f64) -> u64 {
    let twice = |bits: u16| u64::from(bits) << 16 | u64::from(bits);
    match kind {
        Kind::Integer => value as i64 as u64,
        Kind::F16 => twice(half::f16::from_f64(value).to_bits()),
        Kind::Bf16 => twice(half::bf16::from_f64(value).to_bits()),
        Kind::F32 => u64::from((value as f32).to_bits()),
        Kind::F64 => value.to_bits(),
    }
}

/// Numbers from a counter (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// Below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Any bits, or a number of ordinary size.
    pub fn value(&mut self, kind: Kind) -> u64 {
        let bits = self.next();
        match (kind, bits & 3) {
            (Kind::Integer, 0) => bits >> 2 & 0x3F,
            (Kind::Integer, 1) => (bits as i64 >> 48) as u64,
            (Kind::Integer, _) | (_, 0) => self.next(),
            (_, _) => {
                let fraction = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
                encode(kind, (fraction - 0.5) * f64::from(1 << (bits >> 2 & 15)))
            }
        }
    }
}
