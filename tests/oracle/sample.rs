//! Sampled elements cost what lies behind them, and no more.

use super::build::inputs;
use super::kernels::{noise, read};
use peak::oracle::{Arrays, Oracle, OracleError};
use peak_grammar::ir::Kernel;

fn given(list: &[(&str, usize)]) -> Arrays {
    list.iter().zip(1..).map(|((name, count), seed)| ((*name).to_owned(), noise(*count, seed))).collect()
}

fn from_text(computes: &str, arguments: &str) -> Kernel {
    let text = format!(
        "kernel k\n  computes\n{}\n  element f32\n{}\n  device code for cuda from \"k.cu\"\n  host code\n    launch k\n      grid 1\n      block 1\n      arguments n\n",
        computes.lines().map(|line| format!("    {line}\n")).collect::<String>(),
        arguments.lines().map(|line| format!("  {line}\n")).collect::<String>(),
    );
    let (library, diagnostics) = peak_grammar::load(&[peak_grammar::SourceFile::new("k", &text)]);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    library.kernels["k"].clone()
}

#[test]
fn a_point_of_softmax_costs_a_row() {
    // In full, 4096 rows of 4096 columns are 84 million reads; four points are four rows.
    let oracle = Oracle::compile(&read("softmax")).expect("it compiles");
    let (m, n) = (4096, 4096);
    let sizes = inputs(&[("m", m), ("n", n)]);
    let arrays = given(&[("X", (m * n) as usize)]);
    let points = [0, 5000, 4096 * 2000 + 17, (m * n - 1) as usize];
    let y = oracle.sample(&sizes, &arrays, "Y", &points).expect("it samples");
    for (point, value) in points.iter().zip(y) {
        let row = &arrays["X"][point / 4096 * 4096..][..4096];
        let total: f64 = row.iter().map(|x| (x - row[point % 4096]).exp()).sum();
        assert!((value - 1.0 / total).abs() < 1e-12 * value, "{value} at {point}");
    }
}

#[test]
fn a_large_attention_is_sampled_and_not_computed() {
    let oracle = Oracle::compile(&read("causal-attention")).expect("it compiles");
    let (n, d) = (2048usize, 32usize);
    let sizes = inputs(&[("n", n as i64), ("d", d as i64)]);
    let arrays = given(&[("Q", n * d), ("K", n * d), ("V", n * d)]);
    let (row, column) = (1500, 7);
    let found = oracle.sample_judged(&sizes, &arrays, "OUT", &[row * d + column]).expect("it samples");
    let of = |name: &str, i: usize, c: usize| arrays[name][i * d + c];
    let score = |j: usize| (0..d).map(|c| of("Q", row, c) * of("K", j, c)).sum::<f64>() / (d as f64).sqrt();
    let weights: Vec<f64> = (0..=row).map(|j| score(j).exp()).collect();
    let total: f64 = weights.iter().sum();
    let expected = weights.iter().enumerate().map(|(j, weight)| weight / total * of("V", j, column)).sum::<f64>();
    assert!((found.values[0] - expected).abs() < 1e-12, "{} is not {expected}", found.values[0]);
    assert!(found.scales[0] > expected.abs() && found.scales[0] < 100.0, "{}", found.scales[0]);
    assert!(oracle.work(&sizes).expect("it counts") > 1e8, "in full it would be much more");
}

#[test]
fn too_many_reads_are_refused_by_name() {
    // Every element depends on every other, three times over.
    let kernel = from_text(
        "T[i, j] = sum(k in 0..n, l in 0..n) X[k, l] * X[l, i] * X[k, j]\nY[i, j] = sum(k in 0..n, l in 0..n) T[k, l] * T[i, j]",
        "input n: int in 64\ninput X: array[n, n] of f32, ones\noutput Y: array[n, n] of f32",
    );
    let oracle = Oracle::compile(&kernel).expect("it compiles");
    let n = 1024usize;
    let arrays = given(&[("X", n * n)]);
    let error = oracle.sample(&inputs(&[("n", n as i64)]), &arrays, "Y", &[0]).expect_err("it is too much");
    assert!(matches!(error, OracleError::Limit { .. }), "{error}");
    insta::assert_snapshot!(error.to_string());
}

#[test]
fn what_is_read_under_conditions_is_there() {
    // A condition on a local array: what it reads is known only once it is computed.
    let kernel = from_text(
        "M[i] = max(j in 0..n) X[i, j]\nT[i, j] = 2 * X[i, j]\nY[i, j] = T[i, j - 1] where j > 0 and X[i, j] < M[i] else sum(k in 0..n where T[i, k] > M[i]) T[k, j]",
        "input n: int in 64\ninput X: array[n, n] of f32, ones\noutput Y: array[n, n] of f32",
    );
    let oracle = Oracle::compile(&kernel).expect("it compiles");
    let n = 9usize;
    let arrays = given(&[("X", n * n)]);
    let sizes = inputs(&[("n", n as i64)]);
    let whole = oracle.judge(&sizes, &arrays).expect("it evaluates");
    let points: Vec<usize> = (0..n * n).rev().collect();
    let sampled = oracle.sample_judged(&sizes, &arrays, "Y", &points).expect("it samples");
    assert_eq!(sampled.values, points.iter().map(|point| whole.values["Y"][*point]).collect::<Vec<f64>>());
    assert_eq!(sampled.scales, points.iter().map(|point| whole.scales["Y"][*point]).collect::<Vec<f64>>());
    for point in points {
        let one = oracle.sample(&sizes, &arrays, "Y", &[point]).expect("it samples");
        assert_eq!(one, [whole.values["Y"][point]]);
    }
}

#[test]
fn roundings_compose_through_local_arrays() {
    let roundings = |kernel: &Kernel, target: &str, sizes: &[(&str, i64)]| {
        Oracle::compile(kernel).expect("it compiles").roundings(target, &inputs(sizes)).expect("it counts")
    };
    // n products and n - 1 additions, of which n stand in a row.
    assert_eq!(roundings(&read("matmul"), "C", &[("m", 4), ("n", 4), ("t", 100)]), (100.0, 0.0));
    // exp(x - m) rounds twice, its sum n - 1 times, the division once; numerator and denominator are both behind it,
    // one through M and E, the other through M, E and S.
    assert_eq!(roundings(&read("softmax"), "Y", &[("m", 4), ("n", 100)]), (2.0 + 2.0 + 99.0 + 1.0, 5.0));
    // A sum of sums is one sum.
    assert_eq!(roundings(&read("total"), "Y", &[("m", 10), ("n", 100)]).0, 1000.0);
    assert_eq!(roundings(&read("transpose"), "B", &[("m", 10), ("n", 100)]), (0.0, 0.0));
    // A rectifier between two sums keeps them apart: 8 and 1 behind it, then 16 in a row.
    assert_eq!(
        roundings(&read("two-layers"), "Y", &[("m", 2), ("t", 8), ("h", 16), ("n", 2)]),
        (8.0 + 1.0 + 15.0, 1.0)
    );
}

#[test]
fn sums_of_integers_wrap_around_as_on_a_device() {
    use peak::validate::outputs::compare::Truth;
    use peak::validate::outputs::tolerance::Bound;
    use peak_grammar::ir::{ElementType, Tolerance};
    let bound = Bound {
        tolerance: Tolerance::SumLength,
        element: ElementType::I32,
        accumulator: ElementType::I32,
        inputs: ElementType::I32,
        length: 8.0,
        stores: 0.0,
        whole: true,
        keeps_integers: true,
        output_scale: 0.0,
    };
    let truth = |element: ElementType, value: f64| {
        let bound = Bound { element, ..bound };
        Truth::new(element, vec![1], vec![value], vec![value.abs()], bound).expected[0]
    };
    assert_eq!(truth(ElementType::I32, 2f64.powi(31)), -(2f64.powi(31)));
    assert_eq!(truth(ElementType::U32, -1.0), 2f64.powi(32) - 1.0);
    assert_eq!(truth(ElementType::I8, 300.0), 44.0);
    assert_eq!(truth(ElementType::I64, 2f64.powi(40)), 2f64.powi(40));
    assert_eq!(truth(ElementType::F32, 2f64.powi(40)), 2f64.powi(40));
}

#[test]
fn work_counts_every_statement() {
    let work = |kernel: &str, sizes: &[(&str, i64)]| {
        peak::evaluate::work::work(&read(kernel), &inputs(sizes)).expect("it is countable")
    };
    let (m, n) = (8.0, 32.0);
    let softmax = work("softmax", &[("m", 8), ("n", 32)]);
    // For each element: a comparison, a subtraction, exp, an addition, a division.
    assert_eq!(softmax.flops, 5.0 * m * n);
    assert_eq!(softmax.bytes, 2.0 * 4.0 * m * n, "local arrays need not move");
    // Running sums: half the square each.
    let scan = work("scan", &[("n", 32)]);
    assert_eq!(scan.flops, 33.0 * 16.0 + 31.0 * 16.0 + 33.0 * 16.0);
    assert_eq!(work("histogram", &[("n", 32), ("bins", 4)]).flops, 32.0 * 4.0);
}
