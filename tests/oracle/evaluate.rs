//! The oracle against straightforward references.

use super::build::*;
use peak::oracle::{Alteration, Arrays, Oracle, OracleError};
use peak_grammar::ir::*;
use proptest::prelude::*;

fn arrays(list: &[(&str, Vec<f64>)]) -> Arrays {
    list.iter().map(|(name, values)| ((*name).to_owned(), values.clone())).collect()
}

/// Deterministic numbers without structure.
fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as f64) / f64::from(1u32 << 30) - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn multiply(n: usize, a: &[f64], b: &[f64], terms: std::ops::Range<usize>) -> Vec<f64> {
    let mut c = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            c[i * n + j] = terms.clone().map(|k| a[i * n + k] * b[k * n + j]).sum();
        }
    }
    c
}

fn close(left: &[f64], right: &[f64]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + b.abs()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn matmul_is_matmul(n in 1usize..24, seed: u64, first in 0usize..3, last in 0usize..3) {
        let oracle = Oracle::compile(&matmul()).expect("it compiles");
        let inputs = inputs(&[("n", n as i64)]);
        let (a, b) = (noise(n * n, seed), noise(n * n, seed ^ 1));
        let given = arrays(&[("A", a.clone()), ("B", b.clone())]);
        let reference = multiply(n, &a, &b, 0..n);
        prop_assert!(close(&oracle.evaluate(&inputs, &given).expect("it evaluates")["C"], &reference));

        let absolute = |values: &[f64]| values.iter().map(|value| value.abs()).collect::<Vec<_>>();
        let scales = multiply(n, &absolute(&a), &absolute(&b), 0..n);
        let judged = oracle.judge(&inputs, &given).expect("it evaluates");
        prop_assert!(close(&judged.values["C"], &reference));
        prop_assert!(close(&judged.scales["C"], &scales));

        let points = [n * n - 1, 0, n / 2];
        let sampled = oracle.sample_judged(&inputs, &given, "C", &points).expect("it samples");
        prop_assert!(close(&sampled.values, &points.map(|point| reference[point])));
        prop_assert!(close(&sampled.scales, &points.map(|point| scales[point])));

        let cut = Alteration { drop_first: first as u32, drop_last: last as u32, exchange: None };
        let altered = oracle.evaluate_altered(&inputs, &given, &cut).expect("it evaluates");
        let end = n.saturating_sub(last).max(first.min(n));
        prop_assert!(close(&altered["C"], &multiply(n, &a, &b, first.min(n)..end)));

        let exchange = Alteration { exchange: Some(("A".into(), "B".into())), ..Alteration::default() };
        let altered = oracle.sample_altered(&inputs, &given, &exchange, "C", &points).expect("it samples");
        let swapped = multiply(n, &b, &a, 0..n);
        prop_assert!(close(&altered, &points.map(|point| swapped[point])));
        prop_assert_eq!(oracle.sum_length(&inputs).expect("a length"), n as f64);
    }

    #[test]
    fn integer_expressions_are_those_of_the_language(a in -50i64..50, b in -9i64..9, n in 1i64..6) {
        let pair = || (Box::new(name("a")), Box::new(name("b")));
        let forms = [
            binary(BinaryOp::Add, name("a"), name("b")),
            binary(BinaryOp::Mul, Expr::Negate(Box::new(name("a"))), name("b")),
            binary(BinaryOp::Mod, name("a"), name("b")),
            binary(BinaryOp::Div, name("a"), name("b")),
            Expr::CeilDiv(pair().0, pair().1),
            Expr::FloorDiv(pair().0, pair().1),
            Expr::Min(vec![name("a"), name("b"), int(3)]),
            Expr::Max(vec![name("a"), name("b"), int(3)]),
        ];
        for form in forms {
            let kernel = kernel(
                "one",
                vec![
                    scalar("n", &[1], &[1]),
                    scalar("a", &[1], &[1]),
                    scalar("b", &[1], &[1]),
                    array("y", Direction::Output, ElementType::F64, &[name("n")]),
                ],
                vec![assign("y", &["i"], Value::Integer(binary(BinaryOp::Add, form.clone(), name("i"))))],
            );
            let inputs = inputs(&[("n", n), ("a", a), ("b", b)]);
            let result = Oracle::compile(&kernel).expect("it compiles").evaluate(&inputs, &Arrays::new());
            match form.evaluate(&Names(&inputs)) {
                Ok(value) if b > 0 || !matches!(form, Expr::Binary(BinaryOp::Mod | BinaryOp::Div, ..)
                    | Expr::CeilDiv(..) | Expr::FloorDiv(..)) => {
                    let expected: Vec<f64> = (0..n).map(|i| (value + i) as f64).collect();
                    prop_assert_eq!(&result.expect("a value")["y"], &expected);
                }
                _ => prop_assert!(matches!(result, Err(OracleError::Bounds { .. })), "{} gave {:?}", form, result),
            }
        }
    }
}

struct Names<'a>(&'a peak::context::Inputs);

impl Scope for Names<'_> {
    fn value(&self, name: &str) -> Option<i64> {
        self.0.get(name).copied()
    }
    fn fact(&self, _: &str) -> Option<i64> {
        None
    }
    fn size_of(&self, _: &str) -> Option<i64> {
        None
    }
}

/// `y[i] = ...` of length n over an input `x` of length n.
fn unary(statements: Vec<Assignment>) -> Kernel {
    kernel(
        "unary",
        vec![
            scalar("n", &[8], &[8]),
            array("x", Direction::Input, ElementType::F32, &[name("n")]),
            array("y", Direction::Output, ElementType::F32, &[name("n")]),
        ],
        statements,
    )
}

#[test]
fn softmax_in_three_statements_with_local_arrays() {
    let exp = Value::Call(
        Function::Exp,
        vec![op(
            ValueOp::Sub,
            element("x", &[name("i")]),
            reduce(ReduceOp::Max, "k", int(0), name("n"), element("x", &[name("k")])),
        )],
    );
    let total = sum("k", name("n"), element("e", &[name("k")]));
    let kernel = unary(vec![
        local("e", &["i"], &[name("n")], exp),
        assign("y", &["i"], op(ValueOp::Div, element("e", &[name("i")]), total)),
    ]);
    let oracle = Oracle::compile(&kernel).expect("it compiles");
    let x = noise(8, 4);
    let judged = oracle.judge(&inputs(&[("n", 8)]), &arrays(&[("x", x.clone())])).expect("it evaluates");
    let largest = x.iter().copied().fold(f64::MIN, f64::max);
    let e: Vec<f64> = x.iter().map(|x| (x - largest).exp()).collect();
    let total: f64 = e.iter().sum();
    let expected: Vec<f64> = e.iter().map(|e| e / total).collect();
    assert!(close(&judged.values["y"], &expected));
    assert!(!judged.values.contains_key("e"), "a local array is no output");
    let bounded =
        judged.scales["y"].iter().zip(&expected).all(|(scale, value)| *scale > *value && *scale < 50.0 * value);
    assert!(bounded, "{:?}", judged.scales["y"]);
    assert!(!oracle.keeps_integers());
}

#[test]
fn a_scan_has_bounds_that_depend_on_the_index() {
    let prefix = sum("k", binary(BinaryOp::Add, name("i"), int(1)), element("x", &[name("k")]));
    let oracle = Oracle::compile(&unary(vec![assign("y", &["i"], prefix)])).expect("it compiles");
    let x = vec![1.0, 2.0, 3.0];
    let y = oracle.evaluate(&inputs(&[("n", 3)]), &arrays(&[("x", x)])).expect("it evaluates");
    assert_eq!(y["y"], [1.0, 3.0, 6.0]);
    assert_eq!(oracle.sum_length(&inputs(&[("n", 3)])).expect("a length"), 3.0);
}

#[test]
fn where_reads_only_the_chosen_side() {
    let before = element("x", &[binary(BinaryOp::Sub, name("i"), int(1))]);
    let guarded = Value::Where {
        condition: Box::new(Predicate::Compare(CompareOp::Greater, Value::Integer(name("i")), Value::Integer(int(0)))),
        then: Box::new(before.clone()),
        otherwise: Box::new(Value::Number(0.0)),
    };
    let given = arrays(&[("x", vec![5.0, 6.0, 7.0])]);
    let oracle = Oracle::compile(&unary(vec![assign("y", &["i"], guarded)])).expect("it compiles");
    assert_eq!(oracle.evaluate(&inputs(&[("n", 3)]), &given).expect("it evaluates")["y"], [0.0, 5.0, 6.0]);

    let oracle = Oracle::compile(&unary(vec![assign("y", &["i"], before)])).expect("it compiles");
    let error = oracle.evaluate(&inputs(&[("n", 3)]), &given).expect_err("x[-1] is read");
    insta::assert_snapshot!(error.to_string(), @"`computes`, at y[0]: x[i - 1] is outside x");
}

#[test]
fn what_cannot_be_is_an_error_that_names_it() {
    let message = |statements: Vec<Assignment>| match Oracle::compile(&unary(statements)) {
        Err(error) => error.to_string(),
        Ok(oracle) => oracle
            .evaluate(&inputs(&[("n", 3)]), &arrays(&[("x", vec![1.0; 3])]))
            .expect_err("it cannot be evaluated")
            .to_string(),
    };
    let huge = binary(BinaryOp::Mul, name("i"), int(i64::MAX));
    let all = [
        message(vec![]),
        message(vec![assign("y", &["i"], element("z", &[name("i")]))]),
        message(vec![assign("y", &["i"], element("x", &[name("i"), name("i")]))]),
        message(vec![assign("y", &["i"], element("x", &[name("m")]))]),
        message(vec![assign("y", &["i"], Value::Integer(Expr::Fact("warp".into())))]),
        message(vec![assign("y", &["i"], element("y", &[name("i")]))]),
        message(vec![assign("t", &["q"], Value::Number(1.0)), assign("y", &["i"], element("t", &[name("i")]))]),
        message(vec![assign("y", &["i"], element("x", &[huge]))]),
        Oracle::compile(&matmul())
            .expect("it compiles")
            .evaluate(&inputs(&[("n", 2)]), &arrays(&[("A", vec![0.0; 4]), ("B", vec![0.0; 3])]))
            .expect_err("B is short")
            .to_string(),
        Oracle::compile(&matmul()).expect("it compiles").shape("C", &inputs(&[("n", -1)])).expect_err("n").to_string(),
        Oracle::compile(&matmul())
            .expect("it compiles")
            .shape("C", &inputs(&[("n", 1 << 31)]))
            .expect_err("n")
            .to_string(),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn a_matmul_of_512_takes_about_a_second_at_most() {
    let oracle = Oracle::compile(&matmul()).expect("it compiles");
    let n = 512;
    let given = arrays(&[("A", noise(n * n, 1)), ("B", noise(n * n, 2))]);
    let started = std::time::Instant::now();
    let c = oracle.judge(&inputs(&[("n", n as i64)]), &given).expect("it evaluates");
    let seconds = started.elapsed().as_secs_f64();
    eprintln!("oracle, values and scales, n = 512: {seconds:.3} s");
    assert_eq!(c.values["C"].len(), n * n);
    // A loaded machine is allowed ten times what is promised.
    assert!(seconds < 10.0, "{seconds} s");
}

#[test]
fn an_oracle_crosses_threads() {
    fn crosses<T: Send + Sync>(_: &T) {}
    crosses(&Oracle::compile(&matmul()).expect("it compiles"));
}

#[test]
fn a_convolution_nests_its_sums() {
    let n = || name("n");
    let padded = binary(BinaryOp::Add, n(), int(2));
    let window = element("x", &[name("c"), binary(BinaryOp::Add, name("i"), name("k"))]);
    let product = op(ValueOp::Mul, window, element("w", &[name("c"), name("k")]));
    let kernel = kernel(
        "convolution",
        vec![
            scalar("n", &[8], &[8]),
            array("x", Direction::Input, ElementType::F32, &[int(2), padded]),
            array("w", Direction::Input, ElementType::F32, &[int(2), int(3)]),
            array("y", Direction::Output, ElementType::F32, &[n()]),
        ],
        vec![assign("y", &["i"], sum("c", int(2), sum("k", int(3), product)))],
    );
    let oracle = Oracle::compile(&kernel).expect("it compiles");
    let (x, w) = (noise(20, 1), noise(6, 2));
    let y =
        oracle.evaluate(&inputs(&[("n", 8)]), &arrays(&[("x", x.clone()), ("w", w.clone())])).expect("it evaluates");
    let at = |i: usize| {
        (0..2).flat_map(|c| (0..3).map(move |k| (c, k))).map(|(c, k)| x[c * 10 + i + k] * w[c * 3 + k]).sum()
    };
    assert!(close(&y["y"], &(0..8).map(at).collect::<Vec<f64>>()));
    assert_eq!(oracle.sum_length(&inputs(&[("n", 8)])).expect("a length"), 6.0);
    assert_eq!(oracle.work(&inputs(&[("n", 8)])).expect("work"), 8.0 * 6.0 * 2.0);
    assert!(oracle.keeps_integers());
}
