//! Sorting, selection and moves, exact: Rust's own sorts.

use super::{All, Element, Given, Reference, exact};

pub const LIST: &[(&str, Reference)] = &[
    ("argmax-f32", argmax_f32),
    ("compaction-i32", compaction_i32),
    ("reverse-inout-f32", reverse_inout_f32),
    ("sort-bitonic-u32", |given| sorted::<u32>(given, given.size("n"))),
    ("sort-local-i32", |given| sorted::<i32>(given, 16)),
    ("top-k-f32", top_k_f32),
];

/// Elements of a row that `top-k-f32` keeps.
const KEPT: usize = 4;

fn sorted<T: Element + Ord>(given: &Given, length: usize) -> All {
    let mut x: Vec<T> = given.read("X");
    x.chunks_mut(length).for_each(<[T]>::sort_unstable);
    vec![("Y", exact(x))]
}

fn top_k_f32(given: &Given) -> All {
    let mut x: Vec<f32> = given.read("X");
    let rows = x.chunks_mut(given.size("n")).flat_map(|row| {
        row.sort_unstable_by(|a, b| b.total_cmp(a));
        row[..KEPT].to_vec()
    });
    vec![("Y", exact(rows))]
}

fn argmax_f32(given: &Given) -> All {
    let x: Vec<f32> = given.read("X");
    let first_best = |row: &[f32]| {
        let place = (1..row.len()).fold(0, |best, at| if row[at] > row[best] { at } else { best });
        (row[place], i32::try_from(place).unwrap_or(i32::MAX))
    };
    let (largest, places): (Vec<f32>, Vec<i32>) = x.chunks(given.size("n")).map(first_best).unzip();
    vec![("LARGEST", exact(largest)), ("PLACE", exact(places))]
}

/// What no negative number takes keeps the seven that the plan fills it with.
fn compaction_i32(given: &Given) -> All {
    let x: Vec<i32> = given.read("X");
    let mut kept: Vec<i32> = x.iter().copied().filter(|x| *x < 0).collect();
    let count = i32::try_from(kept.len()).unwrap_or(i32::MAX);
    kept.resize(x.len(), 7);
    vec![("Y", exact(kept)), ("KEPT", exact([count]))]
}

fn reverse_inout_f32(given: &Given) -> All {
    vec![("X", exact(given.read::<f32>("X").into_iter().rev().map(|x| 2.0 * x)))]
}
