//! Atomic operations that are a loop on the host.

use super::half::{BF16, HalfOp, PACKED, half};
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

/// What [`atomic`] does; the numbers are part of generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the instruction of its name")]
pub(crate) enum Atomic {
    AddF32 = 0,
    AddF64 = 1,
    AddF16 = 2,
    AddBf16 = 3,
    AddF16x2 = 4,
    AddBf16x2 = 5,
    Inc = 6,
    Dec = 7,
}

/// Changes memory, and gives what was there.
///
/// `pointer` is a checked address of the host: aligned, and within an allocation that the launch keeps.
pub(crate) extern "C" fn atomic(kind: u32, pointer: u64, value: u64) -> u64 {
    let word = value as u32;
    let packed = |flags: u32| move |old: u32| half(HalfOp::Add as u32 | flags, old, word, 0);
    match kind {
        0 => word32(pointer, |old| (f32::from_bits(old) + f32::from_bits(word)).to_bits()),
        1 => word64(pointer, |old| (f64::from_bits(old) + f64::from_bits(value)).to_bits()),
        2 => word16(pointer, packed(0)),
        3 => word16(pointer, packed(BF16)),
        4 => word32(pointer, packed(PACKED)),
        5 => word32(pointer, packed(PACKED | BF16)),
        6 => word32(pointer, |old| if old >= word { 0 } else { old + 1 }),
        _ => word32(pointer, |old| if old == 0 || old > word { word } else { old - 1 }),
    }
}

fn word16(pointer: u64, change: impl Fn(u32) -> u32) -> u64 {
    // SAFETY: see `atomic`.
    let cell = unsafe { AtomicU16::from_ptr(pointer as *mut u16) };
    let change = |old: u16| Some(change(u32::from(old)) as u16);
    u64::from(cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, change).unwrap_or_else(|old| old))
}

fn word32(pointer: u64, change: impl Fn(u32) -> u32) -> u64 {
    // SAFETY: see `atomic`.
    let cell = unsafe { AtomicU32::from_ptr(pointer as *mut u32) };
    let old = cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |old| Some(change(old)));
    u64::from(old.unwrap_or_else(|old| old))
}

fn word64(pointer: u64, change: impl Fn(u64) -> u64) -> u64 {
    // SAFETY: see `atomic`.
    let cell = unsafe { AtomicU64::from_ptr(pointer as *mut u64) };
    cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |old| Some(change(old))).unwrap_or_else(|old| old)
}
