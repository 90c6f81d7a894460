//! Doubles to the bytes of an element type, and back. All cores for large buffers.

use super::numbers::Numbers;
use super::parallel;
use half::{bf16, f16};
use peak_grammar::ir::ElementType;

/// Writes every number in the element type, little endian.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "conversion to the type is asked for")]
pub(super) fn encode_all(element: ElementType, numbers: &Numbers, bytes: &mut [u8]) {
    match element {
        ElementType::F16 => encode(numbers, bytes, |value| f16::from_f64(value).to_le_bytes()),
        ElementType::Bf16 => encode(numbers, bytes, |value| bf16::from_f64(value).to_le_bytes()),
        ElementType::F32 => encode(numbers, bytes, |value| (value as f32).to_le_bytes()),
        ElementType::F64 => encode(numbers, bytes, f64::to_le_bytes),
        ElementType::I8 => encode(numbers, bytes, |value| (value as i8).to_le_bytes()),
        ElementType::U8 => encode(numbers, bytes, |value| (value as u8).to_le_bytes()),
        ElementType::I32 => encode(numbers, bytes, |value| (value as i32).to_le_bytes()),
        ElementType::U32 => encode(numbers, bytes, |value| (value as u32).to_le_bytes()),
        ElementType::I64 => encode(numbers, bytes, |value| (value as i64).to_le_bytes()),
        ElementType::U64 => encode(numbers, bytes, |value| (value as u64).to_le_bytes()),
    }
}

fn encode<const N: usize>(numbers: &Numbers, bytes: &mut [u8], convert: impl Fn(f64) -> [u8; N] + Sync) {
    parallel::chunks(bytes, N, |first, chunk| {
        for (offset, slot) in chunk.as_chunks_mut::<N>().0.iter_mut().enumerate() {
            *slot = convert(numbers.at(first / N + offset));
        }
    });
}

/// The numbers in `bytes`, as doubles. 64-bit integers beyond 2^53 are rounded; a tail shorter than an element is not
/// read.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "documented: 64-bit integers are rounded")]
pub fn decode(element: ElementType, bytes: &[u8]) -> Vec<f64> {
    match element {
        ElementType::F16 => convert(bytes, |bytes| f16::from_le_bytes(bytes).to_f64()),
        ElementType::Bf16 => convert(bytes, |bytes| bf16::from_le_bytes(bytes).to_f64()),
        ElementType::F32 => convert(bytes, |bytes| f64::from(f32::from_le_bytes(bytes))),
        ElementType::F64 => convert(bytes, f64::from_le_bytes),
        ElementType::I8 => convert(bytes, |bytes| f64::from(i8::from_le_bytes(bytes))),
        ElementType::U8 => convert(bytes, |bytes| f64::from(u8::from_le_bytes(bytes))),
        ElementType::I32 => convert(bytes, |bytes| f64::from(i32::from_le_bytes(bytes))),
        ElementType::U32 => convert(bytes, |bytes| f64::from(u32::from_le_bytes(bytes))),
        ElementType::I64 => convert(bytes, |bytes| i64::from_le_bytes(bytes) as f64),
        ElementType::U64 => convert(bytes, |bytes| u64::from_le_bytes(bytes) as f64),
    }
}

fn convert<const N: usize>(bytes: &[u8], read: impl Fn([u8; N]) -> f64 + Sync) -> Vec<f64> {
    let elements = bytes.as_chunks::<N>().0;
    let mut values = vec![0.0; elements.len()];
    parallel::chunks(&mut values, 1, |first, chunk| {
        for (value, element) in chunk.iter_mut().zip(&elements[first..]) {
            *value = read(*element);
        }
    });
    values
}
