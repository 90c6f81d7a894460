//! Single instructions of PTX, exact, as the instruction set's manual defines them.

use super::{All, Given, Reference, exact};

pub const LIST: &[(&str, Reference)] = &[("assembly-u32", assembly_u32)];

fn assembly_u32(given: &Given) -> All {
    let (a, b): (Vec<u32>, Vec<u32>) = (given.read("A"), given.read("B"));
    let each = |of: fn(usize, u32, u32) -> u32| exact((0..a.len()).map(|at| of(at, a[at], b[at])));
    vec![
        ("FIELD", each(|_, a, b| field(a) ^ inserted(a, b))),
        ("LOGIC", each(|_, a, b| a ^ b ^ field(a) ^ if a < b { 0x5A5A_5A5A } else { 0 })),
        ("HIGH", each(|_, a, b| product_high(a, b).wrapping_add(a).wrapping_add(b).wrapping_add(carry(a, b)))),
        ("LOW", each(|at, a, b| a.wrapping_add(b).wrapping_add(permuted(a, b)).wrapping_add(shifted(at, a, b)))),
        ("LANE", each(|at, _, b| (lane(at) << 8) ^ highest_bit(b >> (at % 32)))),
    ]
}

/// `bfe.u32 a, 5, 11`
fn field(a: u32) -> u32 {
    (a >> 5) & 0x7FF
}

/// `bfi.b32 a, b, 20, 9`
fn inserted(a: u32, b: u32) -> u32 {
    let mask = 0x1FF << 20;
    (b & !mask) | ((a << 20) & mask)
}

fn carry(a: u32, b: u32) -> u32 {
    u32::from(a.checked_add(b).is_none())
}

fn product_high(a: u32, b: u32) -> u32 {
    u32::try_from((u64::from(a) * u64::from(b)) >> 32).expect("the high half of 64 bits")
}

/// `prmt.b32 a, b, 0x3715`: bytes 5, 1, 7 and 3 of `b` above `a`.
fn permuted(a: u32, b: u32) -> u32 {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    u32::from_le_bytes([b[1], a[1], b[3], a[3]])
}

/// `shf.r.clamp.b32 a, b, at mod 64`: `b` above `a` to the right, by 32 at most.
fn shifted(at: usize, a: u32, b: u32) -> u32 {
    let both = u64::from(b) << 32 | u64::from(a);
    let [b0, b1, b2, b3, ..] = (both >> (at % 64).min(32)).to_le_bytes();
    u32::from_le_bytes([b0, b1, b2, b3])
}

fn lane(at: usize) -> u32 {
    u32::try_from(at % 32).expect("below 32")
}

/// `bfind.u32`: all ones where there is none.
fn highest_bit(x: u32) -> u32 {
    31u32.wrapping_sub(x.leading_zeros())
}
