//! What the lanes of a warp tell each other, exact.

use super::{All, Given, Reference, exact};

pub const LIST: &[(&str, Reference)] = &[("bit-transpose-u32", bit_transpose_u32), ("votes-u32", votes_u32)];

const WARP: usize = 32;

/// Blocks are whole warps, so lanes are neighbours; only the last warp lacks some.
fn votes_u32(given: &Given) -> All {
    let x: Vec<u32> = given.read("X");
    let mask = |warp: &[u32], holds: &dyn Fn(u32) -> bool| {
        warp.iter().enumerate().filter(|(_, x)| holds(**x)).fold(0u32, |mask, (lane, _)| mask | 1 << lane)
    };
    let each = |of: &dyn Fn(usize, &[u32], u32) -> u32| {
        let warps = x.chunks(WARP).enumerate();
        exact(warps.flat_map(|(at, warp)| warp.iter().map(move |x| of(at * WARP, warp, *x)).collect::<Vec<_>>()))
    };
    let mixed = |first: usize, warp: &[u32]| {
        let exclusive = warp.iter().enumerate().fold(0, |all, (lane, x)| all ^ x << ((first + lane) % 20));
        let same = warp.iter().all(|x| x >> 4 == warp[0] >> 4);
        exclusive ^ if same { mask(warp, &|_| true).wrapping_add(1) } else { 0 }
    };
    vec![
        ("ANY", each(&|_, warp, _| u32::from(warp.contains(&11)))),
        ("ALL", each(&|_, warp, _| u32::from(warp.iter().all(|x| *x > 0)))),
        ("BALLOT", each(&|_, warp, _| mask(warp, &|x| x & 1 == 1))),
        ("MATCH", each(&|_, warp, x| mask(warp, &|other| other == x))),
        ("SUM", each(&|_, warp, _| warp.iter().sum())),
        ("LEAST", each(&|_, warp, _| warp.iter().copied().min().unwrap_or(0))),
        ("MIXED", each(&|first, warp, _| mixed(first, warp))),
    ]
}

fn bit_transpose_u32(given: &Given) -> All {
    let x: Vec<u32> = given.read("X");
    let column = |rows: &[u32], j: usize| (0..WARP).fold(0u32, |bits, i| bits | (rows[i] >> j & 1) << i);
    let transposed = x.chunks(WARP).flat_map(|rows| (0..WARP).map(|j| column(rows, j)).collect::<Vec<_>>());
    vec![("Y", exact(transposed))]
}
