//! The numbers that buffers hold: one generator for the worker and the coordinator alike, and the way back to doubles.
//!
//! Counter-based: element `i` depends only on the seed, the buffer's name, its declaration and `i`, so two processes
//! (or two threads) agree without exchanging a byte. It never reads a clock or the system's randomness.

mod bits;
mod codec;
mod numbers;
pub mod parallel;

pub(crate) use bits::mix;
pub use codec::decode;

use crate::context::launch::{BufferRole, BufferSpec};
use crate::runner::{Fill, POISON};
use bits::Bits;
use numbers::Numbers;

/// The bytes that a buffer holds before a run, little endian and dense: data for inputs and inouts, the poison of
/// [`POISON`] for outputs and scratch.
#[must_use]
pub fn fill_buffer(spec: &BufferSpec, fill: Fill) -> Vec<u8> {
    let mut bytes = vec![0u8; spec.bytes()];
    match &spec.role {
        BufferRole::Input(initializer) | BufferRole::InOut(initializer) => {
            let bits = Bits::new(fill.seed, &spec.name);
            let numbers = Numbers::new(initializer, spec.element, fill.distribution, &spec.shape, bits);
            codec::encode_all(spec.element, &numbers, &mut bytes);
        }
        BufferRole::Output | BufferRole::Scratch => parallel::chunks(&mut bytes, POISON.len(), |_, chunk| {
            for (byte, poison) in chunk.iter_mut().zip(POISON.iter().cycle()) {
                *byte = *poison;
            }
        }),
    }
    bytes
}
