//! Whole kernels, as `.peak` files, against straightforward references at small random shapes.

use super::build::inputs;
use peak::oracle::{Arrays, Oracle};
use peak_grammar::ir::Kernel;
use peak_grammar::{SourceFile, load};
use proptest::prelude::*;

/// The kernel of a file under `tests/suite/oracle/`.
pub fn read(name: &str) -> Kernel {
    let path = format!("{}/tests/suite/oracle/{name}.peak", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let (library, diagnostics) = load(&[SourceFile::new(name, &text)]);
    assert!(diagnostics.is_empty(), "{name}: {diagnostics:?}");
    library.kernels[name].clone()
}

/// Deterministic numbers between -1 and 1, exact in f32.
pub fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 41) as f64 / (1u64 << 22) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

struct Case {
    sizes: Vec<(&'static str, usize)>,
    given: Arrays,
}

impl Case {
    fn new(sizes: &[(&'static str, usize)]) -> Case {
        Case { sizes: sizes.to_vec(), given: Arrays::new() }
    }

    fn array(mut self, name: &str, count: usize, seed: u64) -> Case {
        let seed = seed ^ u64::from(name.as_bytes()[0]);
        self.given.insert(name.to_owned(), noise(count, seed));
        self
    }

    fn of(&self, name: &str) -> &[f64] {
        &self.given[name]
    }

    /// Checks outputs in full, at sampled points, and what is said of their scales.
    fn check(&self, kernel: &str, expected: &[(&str, Vec<f64>)]) -> Result<(), TestCaseError> {
        let oracle = Oracle::compile(&read(kernel)).expect("it compiles");
        let sizes: Vec<(&str, i64)> = self.sizes.iter().map(|(name, size)| (*name, *size as i64)).collect();
        let inputs = inputs(&sizes);
        let judged = oracle.judge(&inputs, &self.given).expect("it evaluates");
        let plain = oracle.evaluate(&inputs, &self.given).expect("it evaluates");
        prop_assert_eq!(judged.values.len(), expected.len());
        for (name, expected) in expected {
            let (values, scales) = (&judged.values[*name], &judged.scales[*name]);
            prop_assert!(close(values, expected), "{}: {:?} is not {:?}", name, values, expected);
            prop_assert_eq!(&plain[*name], values);
            let bounded = |(scale, value): (&f64, &f64)| scale.is_finite() && *scale >= 0.9 * value.abs();
            prop_assert!(scales.iter().zip(values).all(bounded), "{}: scales {:?} of {:?}", name, scales, values);
            let points: Vec<usize> = (0..values.len()).step_by(3).collect();
            let sampled = oracle.sample_judged(&inputs, &self.given, name, &points).expect("it samples");
            prop_assert_eq!(sampled.values, points.iter().map(|point| values[*point]).collect::<Vec<_>>());
            prop_assert_eq!(sampled.scales, points.iter().map(|point| scales[*point]).collect::<Vec<_>>());
            let (roundings, stores) = oracle.roundings(name, &inputs).expect("it counts");
            prop_assert!(roundings >= 0.0 && stores >= 0.0);
        }
        let work = peak::evaluate::work::work(&read(kernel), &inputs).expect("it is countable");
        prop_assert!(work.bytes > 0.0 && work.flops.is_finite());
        Ok(())
    }
}

fn close(left: &[f64], right: &[f64]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(a, b)| (a - b).abs() <= 1e-11 * (1.0 + b.abs()))
}

/// `element(row, column)` of every element.
fn matrix(rows: usize, columns: usize, element: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|(i, j)| element(i, j)).collect()
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let high = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = row.iter().map(|x| (x - high).exp()).sum();
    row.iter().map(|x| (x - high).exp() / total).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn matmul(m in 1usize..9, n in 1usize..9, t in 1usize..9, seed: u64) {
        let case = Case::new(&[("m", m), ("n", n), ("t", t)]).array("A", m * t, seed).array("B", t * n, seed);
        let (a, b) = (case.of("A"), case.of("B"));
        let c = matrix(m, n, |i, j| (0..t).map(|k| a[i * t + k] * b[k * n + j]).sum());
        case.check("matmul", &[("C", c)])?;
    }

    #[test]
    fn batched_matmul(s in 1usize..4, m in 1usize..6, n in 1usize..6, t in 1usize..6, seed: u64) {
        let case = Case::new(&[("batches", s), ("m", m), ("n", n), ("t", t)]);
        let case = case.array("A", s * m * t, seed).array("B", s * n * t, seed);
        let (a, b) = (case.of("A"), case.of("B"));
        let c = matrix(s * m, n, |r, j| (0..t).map(|k| a[r * t + k] * b[(r / m * n + j) * t + k]).sum());
        case.check("batched-matmul", &[("C", c)])?;
    }

    #[test]
    fn conv2d(
        (s, channels, outputs) in (1usize..3, 1usize..3, 1usize..3),
        (h, w, r, stride, pad) in (3usize..7, 3usize..7, 1usize..4, 1usize..3, 0usize..3),
        seed: u64,
    ) {
        let sizes = [("batches", s), ("channels", channels), ("outputs", outputs), ("h", h), ("w", w), ("r", r),
            ("stride", stride), ("pad", pad)];
        let case = Case::new(&sizes).array("X", s * channels * h * w, seed).array("W", outputs * channels * r * r, seed);
        let (x, weights) = (case.of("X"), case.of("W"));
        let (high, wide) = ((h + 2 * pad - r) / stride + 1, (w + 2 * pad - r) / stride + 1);
        let at = |b: usize, c: usize, i: usize, j: usize| match (i.checked_sub(pad), j.checked_sub(pad)) {
            (Some(i), Some(j)) if i < h && j < w => x[((b * channels + c) * h + i) * w + j],
            _ => 0.0,
        };
        let mut y = Vec::new();
        for (b, o) in (0..s).flat_map(|b| (0..outputs).map(move |o| (b, o))) {
            y.extend(matrix(high, wide, |i, j| {
                let mut sum = 0.0;
                for (c, tap) in (0..channels).flat_map(|c| (0..r * r).map(move |tap| (c, tap))) {
                    let (p, q) = (tap / r, tap % r);
                    sum += at(b, c, stride * i + p, stride * j + q) * weights[((o * channels + c) * r + p) * r + q];
                }
                sum
            }));
        }
        case.check("conv2d", &[("Y", y)])?;
    }

    #[test]
    fn softmax_of_rows(m in 1usize..6, n in 1usize..12, seed: u64) {
        let case = Case::new(&[("m", m), ("n", n)]).array("X", m * n, seed);
        let y = case.of("X").chunks(n).flat_map(softmax).collect();
        case.check("softmax", &[("Y", y)])?;
    }

    #[test]
    fn norms(m in 1usize..6, n in 1usize..12, seed: u64) {
        let case = Case::new(&[("m", m), ("n", n)]).array("X", m * n, seed).array("G", n, seed).array("B", n, seed);
        let (x, g, b) = (case.of("X"), case.of("G"), case.of("B"));
        let row = |i: usize| &x[i * n..(i + 1) * n];
        let mean = |i: usize| row(i).iter().sum::<f64>() / n as f64;
        let variance = |i: usize| row(i).iter().map(|x| (x - mean(i)).powi(2)).sum::<f64>() / n as f64;
        let y = matrix(m, n, |i, j| (row(i)[j] - mean(i)) / (variance(i) + 1e-5).sqrt() * g[j] + b[j]);
        case.check("layer-norm", &[("Y", y)])?;
        let square = |i: usize| row(i).iter().map(|x| x * x).sum::<f64>() / n as f64;
        let y = matrix(m, n, |i, j| row(i)[j] / (square(i) + 1e-6).sqrt() * g[j]);
        case.check("rms-norm", &[("Y", y)])?;
    }

    #[test]
    fn attention(m in 1usize..6, n in 1usize..8, d in 1usize..5, seed: u64) {
        let attend = |case: &Case, m: usize, seen: &dyn Fn(usize) -> usize| {
            let (q, k, v) = (case.of("Q"), case.of("K"), case.of("V"));
            let score = |i: usize, j: usize| (0..d).map(|c| q[i * d + c] * k[j * d + c]).sum::<f64>() / (d as f64).sqrt();
            let weights: Vec<Vec<f64>> =
                (0..m).map(|i| softmax(&(0..seen(i)).map(|j| score(i, j)).collect::<Vec<_>>())).collect();
            matrix(m, d, |i, c| weights[i].iter().enumerate().map(|(j, weight)| weight * v[j * d + c]).sum())
        };
        let case = Case::new(&[("m", m), ("n", n), ("d", d)]);
        let case = case.array("Q", m * d, seed).array("K", n * d, seed).array("V", n * d, seed);
        case.check("attention", &[("OUT", attend(&case, m, &|_| n))])?;
        let case = Case::new(&[("n", n), ("d", d)]);
        let case = case.array("Q", n * d, seed).array("K", n * d, seed).array("V", n * d, seed);
        case.check("causal-attention", &[("OUT", attend(&case, n, &|i| i + 1))])?;
    }

    #[test]
    fn reductions(m in 1usize..6, n in 1usize..12, seed: u64) {
        let case = Case::new(&[("m", m), ("n", n)]).array("X", m * n, seed);
        let rows = || case.of("X").chunks(n);
        let high = |row: &[f64]| row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        case.check("row-reductions", &[
            ("S", rows().map(|row| row.iter().sum()).collect()),
            ("HIGH", rows().map(high).collect()),
            ("LOW", rows().map(|row| row.iter().copied().fold(f64::INFINITY, f64::min)).collect()),
            ("AT", rows().map(|row| row.iter().position(|x| *x == high(row)).expect("one") as f64).collect()),
        ])?;
        case.check("total", &[("Y", vec![case.of("X").iter().map(|x| x * x).sum()])])?;
    }

    #[test]
    fn stencils(a in 1usize..6, b in 1usize..6, c in 1usize..6, seed: u64) {
        let case = Case::new(&[("m", a), ("n", b)]).array("X", a * b, seed);
        let x = |i: usize, j: usize| case.of("X")[i * b + j];
        let y = matrix(a, b, |i, j| match i > 0 && i + 1 < a && j > 0 && j + 1 < b {
            true => x(i - 1, j) + x(i + 1, j) + x(i, j - 1) + x(i, j + 1) - 4.0 * x(i, j),
            false => x(i, j),
        });
        case.check("stencil-2d", &[("Y", y)])?;
        let case = Case::new(&[("a", a), ("b", b), ("c", c)]).array("X", a * b * c, seed);
        let x = |i: usize, j: usize, k: usize| case.of("X")[(i % a * b + j % b) * c + k % c];
        let y = matrix(a * b, c, |ij, k| {
            let (i, j) = (ij / b, ij % b);
            0.5 * x(i, j, k) + x(i + 1, j, k) - x(i + a - 1, j, k) + x(i, j + 1, k) - x(i, j + b - 1, k) + x(i, j, k + 1)
                - x(i, j, k + c - 1)
        });
        case.check("stencil-3d", &[("Y", y)])?;
    }

    #[test]
    fn moves_and_scans(m in 1usize..8, n in 1usize..8, seed: u64) {
        let case = Case::new(&[("m", m), ("n", n)]).array("A", m * n, seed);
        case.check("transpose", &[("B", matrix(n, m, |i, j| case.of("A")[j * n + i]))])?;
        let case = Case::new(&[("n", n)]).array("X", n, seed);
        let x = case.of("X");
        case.check("scan", &[
            ("INCLUSIVE", (0..n).map(|i| x[..=i].iter().sum()).collect()),
            ("EXCLUSIVE", (0..n).map(|i| x[..i].iter().sum()).collect()),
            ("HIGHEST", (0..n).map(|i| x[..=i].iter().copied().fold(f64::NEG_INFINITY, f64::max)).collect()),
        ])?;
    }

    #[test]
    fn histogram(n in 1usize..40, bins in 1usize..9, seed: u64) {
        let mut case = Case::new(&[("n", n), ("bins", bins)]);
        let values: Vec<f64> = noise(n, seed).iter().map(|x| ((x + 1.0) * 4.0).floor()).collect();
        let count = |bin: usize| values.iter().filter(|value| **value == bin as f64).count() as f64;
        let counts: Vec<f64> = (0..bins).map(count).collect();
        case.given.insert("X".to_owned(), values.clone());
        case.check("histogram", &[("COUNT", counts)])?;
    }

    #[test]
    fn elementwise(n in 1usize..30, seed: u64) {
        let case = Case::new(&[("n", n)]).array("X", n, seed);
        let x = || case.of("X").iter().copied();
        case.check("gelu", &[("Y", x().map(|x| 0.5 * x * (1.0 + libm::erf(x * std::f64::consts::FRAC_1_SQRT_2))).collect())])?;
        let y = x().enumerate().map(|(i, x)| {
            let h: f64 = if x > 0.0 { x } else { 0.1 * x };
            1.0 / (1.0 + (-h).exp()) + x.tanh() * x.cos() - x.sin() + (4.0 * x).floor() + x.ceil()
                + x.max(-0.5).max((i % 3) as f64) + (x.abs() + 1.0).ln()
        });
        case.check("activations", &[("Y", y.collect())])?;
    }

    #[test]
    fn in_place_and_in_two_steps(m in 1usize..6, t in 1usize..6, h in 1usize..6, n in 1usize..6, seed: u64) {
        let case = Case::new(&[("n", n)]).array("A", n * n, seed).array("B", n * n, seed).array("C", n * n, seed);
        let (a, b, c) = (case.of("A"), case.of("B"), case.of("C"));
        let out = matrix(n, n, |i, j| {
            2.0 * (0..n).map(|k| a[i * n + k] * b[k * n + j]).sum::<f64>() + 3.0 * c[i * n + j]
        });
        case.check("gemm", &[("C", out)])?;
        let case = Case::new(&[("m", m), ("t", t), ("h", h), ("n", n)]);
        let case = case.array("X", m * t, seed).array("A", t * h, seed).array("B", h * n, seed);
        let (x, a, b) = (case.of("X"), case.of("A"), case.of("B"));
        let hidden = matrix(m, h, |i, j| (0..t).map(|k| x[i * t + k] * a[k * h + j]).sum::<f64>().max(0.0));
        let y = matrix(m, n, |i, j| (0..h).map(|k| hidden[i * h + k] * b[k * n + j]).sum());
        case.check("two-layers", &[("Y", y)])?;
    }
}
