//! The tolerance of several statements is sound: what a device computes in single precision passes, and what a fault
//! leaves does not.

use super::build::inputs;
use super::kernels::{noise, read};
use peak::oracle::{Arrays, Oracle};
use peak::validate::outputs::compare::Truth;
use peak::validate::outputs::tolerance::{Bound, nearest};
use peak_grammar::ir::{ElementType, Tolerance};
use proptest::prelude::*;

/// What an output of one of the kernels under `tests/suite/oracle/` should hold, with inputs of f32.
fn truth(kernel: &str, target: &str, sizes: &[(&str, usize)], arrays: &Arrays, element: ElementType) -> Truth {
    let oracle = Oracle::compile(&read(kernel)).expect("it compiles");
    let sizes: Vec<(&str, i64)> = sizes.iter().map(|(name, size)| (*name, *size as i64)).collect();
    let sizes = inputs(&sizes);
    let mut judged = oracle.judge(&sizes, arrays).expect("it evaluates");
    let (length, stores) = oracle.roundings(target, &sizes).expect("it counts");
    let bound = Bound {
        tolerance: Tolerance::SumLength,
        element,
        accumulator: ElementType::F32,
        inputs: element,
        length,
        stores,
        whole: false,
        keeps_integers: false,
        output_scale: 0.0,
    };
    let values = judged.values.swap_remove(target).expect("it is computed");
    let scales = judged.scales.swap_remove(target).expect("it is judged");
    Truth::new(element, vec![values.len()], values, scales, bound)
}

fn arrays(list: &[(&str, usize)], element: ElementType, seed: u64) -> Arrays {
    let one = |(at, (name, count)): (usize, &(&str, usize))| {
        let values = noise(*count, seed ^ at as u64).iter().map(|value| nearest(element, *value)).collect();
        ((*name).to_owned(), values)
    };
    list.iter().enumerate().map(one).collect()
}

fn single(values: &[f64]) -> Vec<f32> {
    values.iter().map(|value| *value as f32).collect()
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|value| f64::from(*value)).collect()
}

/// Softmax of a row over its first `summed` terms, the weights kept in `element`.
fn weights(row: &[f32], summed: usize, element: ElementType) -> Vec<f32> {
    let high = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let raised: Vec<f32> = row.iter().map(|x| nearest(element, f64::from((x - high).exp())) as f32).collect();
    let total: f32 = raised[..summed].iter().sum();
    raised.iter().map(|x| x / total).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn softmax_in_single_precision(m in 1usize..5, n in 2usize..400, seed: u64) {
        let float = ElementType::F32;
        let given = arrays(&[("X", m * n)], float, seed);
        let truth = truth("softmax", "Y", &[("m", m), ("n", n)], &given, float);
        let x = single(&given["X"]);
        let compute = |summed: usize| wide(&x.chunks(n).flat_map(|row| weights(row, summed, float)).collect::<Vec<_>>());
        let right = truth.compare(&compute(n));
        prop_assert!(right.right() && right.share < 0.9, "{:?}", right.worst);
        prop_assert!(!truth.compare(&compute(n - 1)).right(), "a term is missing");
    }

    #[test]
    fn layer_norm_in_single_precision(m in 1usize..5, n in 2usize..400, seed: u64, equal: bool) {
        let float = ElementType::F32;
        let mut given = arrays(&[("X", m * n), ("G", n), ("B", n)], float, seed);
        if equal {
            // No variance but what rounding leaves of it.
            given.insert("X".to_owned(), vec![0.3f32.into(); m * n]);
        }
        let truth = truth("layer-norm", "Y", &[("m", m), ("n", n)], &given, float);
        let (x, g, b) = (single(&given["X"]), single(&given["G"]), single(&given["B"]));
        let compute = |divisor: f32| {
            let row = |row: &[f32]| -> Vec<f32> {
                let mean = row.iter().sum::<f32>() / n as f32;
                let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / divisor;
                let factor = 1.0 / (variance + 1e-5).sqrt();
                row.iter().zip(&g).zip(&b).map(|((x, g), b)| (x - mean) * factor * g + b).collect()
            };
            wide(&x.chunks(n).flat_map(row).collect::<Vec<f32>>())
        };
        let right = truth.compare(&compute(n as f32));
        prop_assert!(right.right(), "{:?}", right.worst);
        if !equal {
            prop_assert!(!truth.compare(&compute(n as f32 - 1.0)).right(), "the variance of a sample, not of all");
        }
    }

    #[test]
    fn causal_attention_with_weights_in_half_precision(n in 2usize..64, d in 1usize..32, seed: u64) {
        let half = ElementType::F16;
        let given = arrays(&[("Q", n * d), ("K", n * d), ("V", n * d)], half, seed);
        let truth = truth("causal-attention", "OUT", &[("n", n), ("d", d)], &given, half);
        let (q, k, v) = (single(&given["Q"]), single(&given["K"]), single(&given["V"]));
        let compute = |seen: &dyn Fn(usize) -> usize, kept: ElementType| {
            let mut out = Vec::new();
            for i in 0..n {
                let score = |j: usize| (0..d).map(|c| q[i * d + c] * k[j * d + c]).sum::<f32>() / (d as f32).sqrt();
                let row: Vec<f32> = (0..seen(i)).map(score).collect();
                let weights = weights(&row, row.len(), kept);
                let value = |c: usize| weights.iter().enumerate().map(|(j, weight)| weight * v[j * d + c]).sum::<f32>();
                out.extend((0..d).map(|c| nearest(half, f64::from(value(c)))));
            }
            out
        };
        for kept in [ElementType::F32, half] {
            let right = truth.compare(&compute(&|i| i + 1, kept));
            prop_assert!(right.right(), "{kept}: {:?}", right.worst);
        }
        prop_assert!(!truth.compare(&compute(&|i| (i + 2).min(n), ElementType::F32)).right(), "it looks ahead");
    }

    #[test]
    fn gelu_in_single_precision(n in 8usize..200, seed: u64) {
        let float = ElementType::F32;
        let given = arrays(&[("X", n)], float, seed);
        let truth = truth("gelu", "Y", &[("n", n)], &given, float);
        let x = single(&given["X"]);
        let exact: Vec<f32> = x.iter().map(|x| 0.5 * x * (1.0 + libm::erff(x * 0.70710677))).collect();
        let right = truth.compare(&wide(&exact));
        prop_assert!(right.right(), "{:?}", right.worst);
        let tanh = |x: &f32| 0.5 * x * (1.0 + (0.7978846 * (x + 0.044715 * x * x * x)).tanh());
        prop_assert!(!truth.compare(&wide(&x.iter().map(tanh).collect::<Vec<_>>())).right(), "an approximation");
    }
}
