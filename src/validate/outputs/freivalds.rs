//! Freivalds' check: all of a product, in less time than it takes to compute it.
//!
//! For a vector `r` of random signs, `OUT r = LEFT (RIGHT r)` if `OUT = LEFT RIGHT`: the right side costs a product of
//! matrix and vector twice (Freivalds, *Probabilistic machines can use less running time*, 1977). Columns are taken in
//! blocks, so that what rounding may add up to in a row of a block stays small beside one wrong element, and each block
//! is checked with several vectors.
//!
//! With `e` the errors of a row of a block, `|e r|` of a right output is at most
//!
//! ```text
//! limit = probable sqrt(sum of S^2) + lambda sqrt(sum of b^2)
//! ```
//!
//! where `S` is the scale of each element, bounded by `|row of LEFT| |column of RIGHT|` (Cauchy and Schwarz), `probable`
//! is the tolerance's bound for rounding errors that are independent with mean zero, which bounds their signed sum as
//! well, and `b` bounds each element's other errors (the store, a declared tolerance): signs that are independent of them
//! make their sum exceed `lambda` times its deviation with a probability of at most `2 exp(-lambda^2 / 2)` (Hoeffding).
//! With `lambda = 9` that is 5e-18 for each row of a block.
//!
//! A wrong output: if one element is off by more than `limit`, a vector shows it with a probability of at least 1/2,
//! whatever the others are (of the two signs of that element, one makes the sum at least as large as its error); `v`
//! vectors miss it with at most `2^-v`. If it is the only wrong one of its row in the block and is off by more than
//! twice the limit, every vector shows it. Whole numbers whose sums are exact have a limit of zero.

use super::tolerance::{Bound, LAMBDA, LARGEST_EXACT, largest_whole};
use crate::data::{mix, parallel};
use crate::oracle::{Arrays, Product};
use peak_grammar::ir::Tolerance;
use std::convert::Infallible;

/// Multiplications of one check at most, its preparation among them: a few seconds.
pub const MAX_MULTIPLICATIONS: f64 = 4e9;
/// Columns of a block, where the work allows it.
const BLOCK_COLUMNS: usize = 256;
/// Vectors for each block at most.
pub const MAX_VECTORS: usize = 10;
/// Suspicious rows that are looked at closely, at most.
const MAX_SUSPECTS: usize = 8;
/// Relative error of one operation of the check itself.
const OWN_ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// The check of one output at one size with one data.
#[derive(Debug)]
pub struct Freivalds {
    product: Product,
    bound: Bound,
    vectors: usize,
    /// First column of each block, and the end.
    blocks: Vec<usize>,
    /// The sign of each column, by vector: `signs[vector * columns + column]`.
    signs: Vec<f64>,
    /// `LEFT (RIGHT r)` by batch, row, block, vector.
    expected: Vec<f64>,
    /// Root of the sum of the squares of the scales, by batch, row, block.
    scales: Vec<f64>,
}

/// A row of a block that cannot be right.
#[derive(Debug)]
pub struct Suspect {
    /// Flat indices of its elements.
    pub elements: Vec<usize>,
    /// Whether all of them are finite. Others may be right where the output's type ends.
    pub finite: bool,
}

impl Freivalds {
    /// Prepares the check; `None` where it is more than [`MAX_MULTIPLICATIONS`], or an input is missing.
    #[must_use]
    pub fn new(product: Product, bound: Bound, arrays: &Arrays, seed: u64) -> Option<Freivalds> {
        let (left, right) = (arrays.get(&product.left)?, arrays.get(&product.right)?);
        let (width, vectors) = effort(&product)?;
        let columns = product.columns.len();
        let blocks: Vec<usize> = (0..columns).step_by(width).chain([columns]).collect();
        let sign = |at: usize| if mix(seed ^ mix(at as u64 + 1)) & 1 == 0 { 1.0 } else { -1.0 };
        let signs = (0..vectors * columns).map(sign).collect();
        let mut check = Freivalds { product, bound, vectors, blocks, signs, expected: Vec::new(), scales: Vec::new() };
        check.prepare(left, right);
        Some(check)
    }

    /// Vectors for each block: a wrong element beyond the limit is missed with a probability of at most `2^-vectors`.
    #[must_use]
    pub fn vectors(&self) -> usize {
        self.vectors
    }

    /// The first rows of blocks that cannot be right, a few at most. `actual` is the whole output.
    #[must_use]
    pub fn suspects(&self, actual: &[f64]) -> Vec<Suspect> {
        let rows = self.product.rows.len();
        let mut found: Vec<Vec<Suspect>> = (0..self.product.batches.len() * rows).map(|_| Vec::new()).collect();
        each(&mut found, |at| self.suspects_of_row(at / rows, at % rows, actual));
        found.into_iter().flatten().take(MAX_SUSPECTS).collect()
    }

    fn suspects_of_row(&self, batch: usize, row: usize, actual: &[f64]) -> Vec<Suspect> {
        let start = self.product.batches[batch][2] + self.product.rows[row][1];
        let blocks = self.blocks.len() - 1;
        let line = batch * self.product.rows.len() + row;
        let mut suspects = Vec::new();
        for block in 0..blocks {
            let columns = self.blocks[block]..self.blocks[block + 1];
            let elements: Vec<usize> =
                self.product.columns[columns.clone()].iter().map(|[_, in_out]| start + in_out).collect();
            let values: Vec<f64> = elements.iter().map(|flat| actual[*flat]).collect();
            let limit = self.limit(&values, self.scales[line * blocks + block]);
            let expected = &self.expected[(line * blocks + block) * self.vectors..][..self.vectors];
            let within = expected.iter().enumerate().all(|(vector, expected)| {
                let signs = &self.signs[vector * self.product.columns.len()..][columns.clone()];
                let found: f64 = values.iter().zip(signs).map(|(value, sign)| value * sign).sum();
                self.off(found - expected) <= limit
            });
            if !within {
                suspects.push(Suspect { finite: values.iter().all(|value| value.is_finite()), elements });
            }
        }
        suspects
    }

    /// The magnitude of a difference; of integers, which wrap around, modulo two to the type's width.
    fn off(&self, difference: f64) -> f64 {
        match self.bound.element {
            element if element.is_float() || element.bytes() == 8 => difference.abs(),
            element => difference.rem_euclid(256f64.powi(i32::try_from(element.bytes()).unwrap_or(8))),
        }
    }

    /// What the errors of a right row of a block may add up to.
    fn limit(&self, values: &[f64], scale: f64) -> f64 {
        let bound = &self.bound;
        let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        if !bound.element.is_float() {
            // Beyond what a double holds exactly nothing can be said.
            return if scale <= LARGEST_EXACT { 0.0 } else { f64::INFINITY };
        }
        // A number at that limit may be what a larger one was rounded to.
        if bound.exact(scale) && largest < largest_whole(bound.element) {
            return 0.0;
        }
        let own = OWN_ROUNDOFF * (self.product.terms.len() + 2 * values.len()) as f64 * (values.len() as f64).sqrt();
        let others: f64 = values.iter().map(|value| self.other_error(*value).powi(2)).sum();
        (bound.probable() + bound.kept() + own) * scale + LAMBDA * others.sqrt()
    }

    /// How far an element that holds `value` may be off besides the errors of its sum.
    fn other_error(&self, value: f64) -> f64 {
        let declared = match self.bound.tolerance {
            Tolerance::Absolute(absolute) => absolute,
            Tolerance::Relative(relative) => relative * value.abs().max(self.bound.output_scale),
            Tolerance::SumLength | Tolerance::Exact => 0.0,
        };
        let element = self.bound.element;
        let stored = if value.abs() < largest_whole(element) {
            self.bound.store(value)
        } else {
            element.epsilon() * value.abs()
        };
        declared + stored + self.bound.floor()
    }

    fn prepare(&mut self, left: &[f64], right: &[f64]) {
        let (blocks, rows) = (self.blocks.len() - 1, self.product.rows.len());
        for batch in 0..self.product.batches.len() {
            let sides: Vec<Side> = (0..blocks).map(|block| self.side(batch, block, right)).collect();
            let mut lines = vec![Line::default(); rows];
            each(&mut lines, |row| self.line(batch, row, left, &sides));
            for line in lines {
                self.expected.extend(line.expected);
                self.scales.extend(line.scales);
            }
        }
    }

    /// `RIGHT r` for a block, and the sum of the squares of its columns.
    fn side(&self, batch: usize, block: usize, right: &[f64]) -> Side {
        let columns = self.blocks[block]..self.blocks[block + 1];
        let (terms, all) = (self.product.terms.len(), self.product.columns.len());
        let mut side = Side { applied: vec![0.0; terms * self.vectors], squares: 0.0 };
        for (term, [_, in_right]) in self.product.terms.iter().enumerate() {
            let start = self.product.batches[batch][1] + in_right;
            for column in columns.clone() {
                let value = right[start + self.product.columns[column][0]];
                side.squares += value * value;
                for vector in 0..self.vectors {
                    side.applied[vector * terms + term] += value * self.signs[vector * all + column];
                }
            }
        }
        side
    }

    /// `LEFT (RIGHT r)` and the scales of one row, for each block.
    fn line(&self, batch: usize, row: usize, left: &[f64], sides: &[Side]) -> Line {
        let start = self.product.batches[batch][0] + self.product.rows[row][0];
        let values: Vec<f64> = self.product.terms.iter().map(|[in_left, _]| left[start + in_left]).collect();
        let squares: f64 = values.iter().map(|value| value * value).sum();
        let dot = |applied: &[f64]| values.iter().zip(applied).map(|(a, b)| a * b).sum::<f64>();
        Line {
            expected: sides.iter().flat_map(|side| side.applied.chunks(values.len().max(1)).map(dot)).collect(),
            scales: sides.iter().map(|side| (squares * side.squares).sqrt()).collect(),
        }
    }
}

/// The right factor of a block.
struct Side {
    /// By vector, then term.
    applied: Vec<f64>,
    squares: f64,
}

/// What a row should give.
#[derive(Clone, Default)]
struct Line {
    expected: Vec<f64>,
    scales: Vec<f64>,
}

/// Fills each item by its place, on every core.
fn each<T: Send>(items: &mut [T], make: impl Fn(usize) -> T + Sync) {
    parallel::try_chunks(items, |first, chunk| {
        chunk.iter_mut().enumerate().for_each(|(at, item)| *item = make(first + at));
        Ok::<(), Infallible>(())
    })
    .unwrap_or_else(|never| match never {});
}

/// Columns of a block and vectors for each; `None` where even one vector for all columns is too much.
fn effort(product: &Product) -> Option<(usize, usize)> {
    let Product { batches, rows, columns, terms, .. } = product;
    let (batches, rows) = (batches.len() as f64, rows.len() as f64);
    let (width, terms) = (columns.len(), terms.len() as f64);
    let all = width as f64;
    let mut block = BLOCK_COLUMNS.min(width).max(1);
    loop {
        let each = batches * (terms * all + rows * terms * (all / block as f64).ceil() + rows * all);
        let affordable = MAX_MULTIPLICATIONS / each;
        if affordable >= 1.0 {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 1, and cut off")]
            return Some((block, affordable.min(MAX_VECTORS as f64) as usize));
        }
        if block >= width {
            return None;
        }
        block = (2 * block).min(width);
    }
}
