//! Freivalds' check: right products pass, one wrong element does not.

use super::build::inputs;
use super::kernels::{noise, read};
use peak::oracle::{Arrays, Oracle, Product};
use peak::validate::outputs::freivalds::Freivalds;
use peak::validate::outputs::tolerance::{Bound, nearest};
use peak_grammar::ir::{ElementType, Tolerance};
use proptest::prelude::*;

fn bound(element: ElementType, terms: usize) -> Bound {
    Bound {
        tolerance: Tolerance::SumLength,
        element,
        accumulator: if element.is_float() { ElementType::F32 } else { element },
        inputs: element,
        length: terms as f64,
        stores: 0.0,
        whole: !element.is_float(),
        keeps_integers: true,
        output_scale: 0.0,
    }
}

/// The batched product of `tests/suite/oracle/batched-matmul.peak` with its inputs.
fn batched(s: usize, m: usize, n: usize, t: usize, element: ElementType, seed: u64) -> (Product, Arrays) {
    let oracle = Oracle::compile(&read("batched-matmul")).expect("it compiles");
    let sizes = inputs(&[("batches", s as i64), ("m", m as i64), ("n", n as i64), ("t", t as i64)]);
    let product = oracle.product("C", &sizes).expect("the shapes are there").expect("it is a product");
    let round = |values: Vec<f64>| {
        values
            .iter()
            .map(|value| match element.is_float() {
                true => nearest(element, *value),
                false => (value * 1e6).round(),
            })
            .collect()
    };
    let arrays = [("A", s * m * t, seed), ("B", s * n * t, seed ^ 7)];
    (product, arrays.into_iter().map(|(name, count, seed)| (name.to_owned(), round(noise(count, seed)))).collect())
}

/// The product as a device computes it: rounded after every addition, then stored.
fn computed(product: &Product, arrays: &Arrays, bound: &Bound) -> Vec<f64> {
    let (left, right) = (&arrays[&product.left], &arrays[&product.right]);
    let mut out = vec![f64::NAN; product.batches.len() * product.rows.len() * product.columns.len()];
    for [a, b, c] in &product.batches {
        for ([row, out_row], [column, out_column]) in
            product.rows.iter().flat_map(|row| product.columns.iter().map(move |column| (row, column)))
        {
            let mut sum = 0.0;
            for [in_left, in_right] in &product.terms {
                let term = left[a + row + in_left] * right[b + column + in_right];
                sum = nearest(bound.accumulator, sum + nearest(bound.accumulator, term));
            }
            out[c + out_row + out_column] = nearest(bound.element, sum);
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn right_products_pass_and_one_wrong_element_fails(
        (s, m, n, t) in (1usize..3, 1usize..40, 2usize..300, 1usize..120),
        half: bool,
        seed: u64,
        place: prop::sample::Index,
    ) {
        let element = if half { ElementType::F16 } else { ElementType::F32 };
        let (product, arrays) = batched(s, m, n, t, element, seed);
        let bound = bound(element, t);
        let check = Freivalds::new(product.clone(), bound, &arrays, seed).expect("it is small");
        let right = computed(&product, &arrays, &bound);
        prop_assert!(check.suspects(&right).is_empty(), "a right product is refused");
        let (at, mut wrong) = (place.index(right.len()), right.clone());
        // As large as elements typically are.
        wrong[at] += (t as f64).sqrt() / 3.0 * 2.0;
        let suspects = check.suspects(&wrong);
        prop_assert!(suspects.iter().any(|suspect| suspect.elements.contains(&at)), "element {} is off", at);
        wrong[at] = f64::NAN;
        prop_assert!(!check.suspects(&wrong).is_empty(), "NaN passes");
    }

    #[test]
    fn integers_are_exact_and_wrap_around(m in 1usize..20, n in 1usize..300, t in 1usize..60, seed: u64, place: prop::sample::Index) {
        let (product, arrays) = batched(1, m, n, t, ElementType::I32, seed);
        let exact = Bound { accumulator: ElementType::F64, element: ElementType::F64, ..bound(ElementType::I32, t) };
        let wide = computed(&product, &arrays, &exact);
        let mut right: Vec<f64> = wide.iter().map(|value| f64::from(*value as i64 as i32)).collect();
        let check = Freivalds::new(product, bound(ElementType::I32, t), &arrays, seed).expect("it is small");
        prop_assert!(check.suspects(&right).is_empty());
        right[place.index(wide.len())] += 1.0;
        prop_assert!(!check.suspects(&right).is_empty(), "off by one");
    }
}

#[test]
fn errors_that_cancel_are_found_by_one_of_the_vectors() {
    let (product, arrays) = batched(1, 4, 256, 64, ElementType::F32, 1);
    let bound = bound(ElementType::F32, 64);
    let right = computed(&product, &arrays, &bound);
    let mut missed = 0;
    for seed in 0..50 {
        let check = Freivalds::new(product.clone(), bound, &arrays, seed).expect("it is small");
        assert_eq!(check.vectors(), 10);
        let mut wrong = right.clone();
        // Two equal errors of one row cancel where their signs differ: each vector misses them half of the time.
        wrong[10] += 5.0;
        wrong[20] += 5.0;
        missed += usize::from(check.suspects(&wrong).is_empty());
    }
    assert!(missed <= 2, "{missed} of 50 missed: ten vectors miss one in a thousand");
}

/// 2049 is no number of half precision: every output of this right product is 2048, which is as large as whole numbers
/// are exact.
#[test]
fn whole_numbers_that_are_rounded_on_the_way_out_are_right() {
    let (product, mut arrays) = batched(1, 3, 40, 3, ElementType::F16, 5);
    let bound = Bound { whole: true, ..bound(ElementType::F16, 3) };
    arrays[&product.left].fill(1.0);
    let right = product.right.clone();
    for ([_, in_right], value) in product.terms.iter().zip([1024.0, 1024.0, 1.0]) {
        for [column, _] in &product.columns {
            arrays[&right][column + in_right] = value;
        }
    }
    let mut out = computed(&product, &arrays, &bound);
    assert!(out.iter().all(|value| *value == 2048.0), "{out:?}");
    let check = Freivalds::new(product, bound, &arrays, 11).expect("little work");
    assert!(check.suspects(&out).is_empty());
    out[7] = 1024.0;
    assert!(!check.suspects(&out).is_empty(), "half of it is not what it was rounded to");
}

#[test]
fn products_are_recognized_and_other_sums_are_not() {
    let product = |kernel: &str, target: &str, sizes: &[(&str, i64)]| {
        Oracle::compile(&read(kernel)).expect("it compiles").product(target, &inputs(sizes)).expect("shapes")
    };
    let matmul = product("matmul", "C", &[("m", 2), ("n", 3), ("t", 4)]).expect("it is one");
    assert_eq!((matmul.left.as_str(), matmul.right.as_str()), ("A", "B"));
    assert_eq!(matmul.batches, [[0, 0, 0]]);
    assert_eq!(matmul.rows, [[0, 0], [4, 3]]);
    assert_eq!(matmul.columns, [[0, 0], [1, 1], [2, 2]]);
    assert_eq!(matmul.terms, [[0, 0], [1, 3], [2, 6], [3, 9]]);
    assert_eq!(product("transpose", "B", &[("m", 2), ("n", 3)]), None);
    assert_eq!(product("rms-norm", "Y", &[("m", 2), ("n", 3)]), None);
    // Its left factor is a local array.
    assert_eq!(product("two-layers", "Y", &[("m", 2), ("t", 3), ("h", 2), ("n", 2)]), None);
}
