//! Steps over grids, and sums whose order is free: in double precision, with the sizes of all that was added as scales.

use super::{All, Expected, Given, Reference, exact};

pub const LIST: &[(&str, Reference)] = &[("jacobi-f32", jacobi_f32), ("mutual-locks-f64", mutual_locks_f64)];

/// Steps that `jacobi-f32` takes.
const STEPS: usize = 8;

fn jacobi_f32(given: &Given) -> All {
    let (m, n) = (given.size("m"), given.size("n"));
    let mut values = given.numbers("G");
    let mut scales: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    for _ in 0..STEPS {
        values = step(&values, m, n);
        scales = step(&scales, m, n);
    }
    // Each step adds four terms.
    vec![("G", Expected::Close { values, scales, terms: 4.0 * STEPS as f64 })]
}

fn step(from: &[f64], m: usize, n: usize) -> Vec<f64> {
    let at = |i: usize, j: usize| from[i * n + j];
    let next = |place: usize| match (place / n, place % n) {
        (i, j) if i == 0 || j == 0 || i == m - 1 || j == n - 1 => from[place],
        (i, j) => 0.25 * (at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1)),
    };
    (0..m * n).map(next).collect()
}

fn mutual_locks_f64(given: &Given) -> All {
    let x = given.numbers("X");
    let of_bin = |bin: usize| x.iter().skip(bin).step_by(4);
    let sums: Vec<f64> = (0..4).map(|bin| of_bin(bin).sum()).collect();
    let scales = (0..4).map(|bin| of_bin(bin).map(|x| x.abs()).sum()).collect();
    let counts = (0..4).map(|bin| u32::try_from(of_bin(bin).count()).unwrap_or(u32::MAX));
    vec![("SUMS", Expected::Close { values: sums, scales, terms: (x.len() / 4 + 1) as f64 }), ("COUNTS", exact(counts))]
}
