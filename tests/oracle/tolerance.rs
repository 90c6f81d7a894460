//! The tolerance is sound: sums in any order pass, a missing term and a narrower type do not.

use super::fake::multiply;
use peak::validate::outputs::compare::Truth;
use peak::validate::outputs::tolerance::Bound;
use peak_grammar::ir::{ElementType, Tolerance};
use proptest::prelude::*;

/// Uniform numbers of f32 in -1..1.
fn noise(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn bound(length: usize) -> Bound {
    Bound {
        tolerance: Tolerance::SumLength,
        element: ElementType::F32,
        accumulator: ElementType::F32,
        inputs: ElementType::F32,
        length: length as f64,
        stores: 0.0,
        whole: false,
        keeps_integers: true,
        output_scale: 0.0,
    }
}

/// The truth about the matrix product of two matrices of f32.
fn truth(n: usize, a: &[f32], b: &[f32]) -> Truth {
    let (mut expected, mut scales) = (vec![0.0; n * n], vec![0.0; n * n]);
    for flat in 0..n * n {
        for k in 0..n {
            let term = f64::from(a[flat / n * n + k]) * f64::from(b[k * n + flat % n]);
            expected[flat] += term;
            scales[flat] += term.abs();
        }
    }
    Truth::new(ElementType::F32, vec![n, n], expected, scales, bound(n))
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|value| f64::from(*value)).collect()
}

fn rounded(values: &[f32], bits: u32) -> Vec<f64> {
    let half = 1u32 << (22 - bits);
    values.iter().map(|value| f64::from(f32::from_bits((value.to_bits() + half) & !(2 * half - 1)))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sums_pass_in_any_order_and_fail_without_a_term(
        order in prop::sample::select(vec![16usize, 48, 96]).prop_flat_map(|n| Just((0..n).collect::<Vec<_>>()).prop_shuffle()),
        seed: u64,
        positive: bool,
    ) {
        let n = order.len();
        let (mut a, mut b) = (noise(n * n, seed), noise(n * n, seed ^ 0x55));
        if positive {
            a.iter_mut().chain(b.iter_mut()).for_each(|value| *value = value.abs());
        }
        let truth = truth(n, &a, &b);
        let comparison = truth.compare(&multiply(n, &wide(&a), &wide(&b), order.iter().copied()));
        prop_assert!(comparison.right(), "{:?} {:?}", comparison.worst, comparison.lost_bits);
        prop_assert!(comparison.share < 0.5, "the limit is near: {}", comparison.share);
        let short = truth.compare(&multiply(n, &wide(&a), &wide(&b), order[1..].iter().copied()));
        prop_assert!(short.wrong.len() * 10 > short.total * 9, "{} of {}", short.wrong.len(), short.total);
    }
}

#[test]
fn narrower_inputs_fail_by_the_distribution_of_errors() {
    for n in [64, 128, 192] {
        let (a, b) = (noise(n * n, 11), noise(n * n, 12));
        let truth = truth(n, &a, &b);
        for (name, bits) in [("f16 or tf32", 10), ("bf16", 7)] {
            let comparison = truth.compare(&multiply(n, &rounded(&a, bits), &rounded(&b, bits), 0..n));
            let (rms, limit) = comparison.lost_bits.expect(name);
            assert!(rms > 3.0 * limit, "{name}, n = {n}: {rms:e} of {limit:e}");
        }
        // 21 bits are as good as 23 in a sum of this length.
        assert!(truth.compare(&multiply(n, &wide(&a), &wide(&b), 0..n)).right());
    }
}

#[test]
fn whole_numbers_must_be_exact_as_long_as_the_type_is() {
    let whole = |accumulator| Bound { whole: true, accumulator, ..bound(100) };
    assert_eq!(whole(ElementType::F32).allowed(7.0, 1000.0), 0.0);
    assert_eq!(whole(ElementType::F16).allowed(7.0, 2048.0), 0.0);
    assert!(whole(ElementType::F16).allowed(7.0, 2049.0) > 0.0);
    assert!(bound(100).allowed(7.0, 1000.0) > 0.0);
}

#[test]
fn each_declared_tolerance_means_what_it_says() {
    let bound = |tolerance| Bound { tolerance, output_scale: 10.0, ..bound(100) };
    assert_eq!(bound(Tolerance::Absolute(0.5)).allowed(3.0, 4.0), 0.5);
    assert_eq!(bound(Tolerance::Relative(0.01)).allowed(0.0, 4.0), 0.1);
    assert_eq!(bound(Tolerance::Relative(0.01)).allowed(-1000.0, 1e3), 10.0);
    assert!(bound(Tolerance::Absolute(0.5)).allowed(1e8, 1e8) > 0.5, "no more is asked for than f32 has");
    assert_eq!(bound(Tolerance::Exact).allowed(0.5, 1e9), 0.0);
    let third = 1.0 / 3.0;
    assert_eq!(bound(Tolerance::Exact).allowed(third, 1e9), (f64::from(third as f32) - third).abs());
    let integer = Bound { element: ElementType::I32, ..bound(Tolerance::SumLength) };
    assert_eq!(integer.allowed(3.0, 1e9), 0.0);
}

#[test]
fn only_the_oracle_may_have_nan_and_infinity() {
    let check = |expected: f64, actual: f64| {
        Truth::new(
            ElementType::F16,
            vec![1],
            vec![expected],
            vec![expected.abs()],
            Bound { element: ElementType::F16, ..bound(1) },
        )
        .compare(&[actual])
        .right()
    };
    assert!(!check(1.0, f64::NAN) && !check(1.0, f64::INFINITY) && !check(f64::NAN, 1.0));
    assert!(check(f64::NAN, f64::NAN) && check(f64::INFINITY, f64::INFINITY));
    assert!(!check(f64::INFINITY, f64::NEG_INFINITY));
    assert!(check(1e6, f64::INFINITY), "beyond the range of f16");
    assert!(!check(1e6, f64::NEG_INFINITY));
}
