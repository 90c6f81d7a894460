//! Operations and bytes, counted from what a kernel computes.

use super::build::{self, int, name};
use peak::context::Inputs;
use peak::evaluate::work::work;
use peak_grammar::ir::*;

fn element(array: &str, indices: &[&str]) -> Value {
    Value::Element { array: array.to_owned(), indices: indices.iter().map(|index| name(index)).collect() }
}

fn sum(high: Expr, body: Value) -> Value {
    let variable = "k".to_owned();
    Value::Reduce { op: ReduceOp::Sum, variable, low: int(0), high, filter: None, body: Box::new(body) }
}

fn kernel(shape: &[Expr], indices: &[&str], value: Value) -> Kernel {
    let arguments = vec![
        build::scalar("n"),
        build::array("A", Direction::Input, shape),
        build::array("B", Direction::Input, shape),
        build::array("C", Direction::Output, shape),
    ];
    let indices = indices.iter().map(ToString::to_string).collect();
    let statements = vec![Assignment { target: "C".to_owned(), indices, extents: Vec::new(), value }];
    Kernel { computes: Some(Computes { statements }), ..build::context("host", "", arguments, Vec::new()).kernel }
}

fn inputs(n: i64) -> Inputs {
    Inputs::from([("n".to_owned(), n)])
}

fn times(left: Value, right: Value) -> Value {
    Value::Binary(ValueOp::Mul, Box::new(left), Box::new(right))
}

#[test]
fn a_matmul_is_two_n_cubed() {
    let shape = [name("n"), name("n")];
    let value = sum(name("n"), times(element("A", &["i", "k"]), element("B", &["k", "j"])));
    let found = work(&kernel(&shape, &["i", "j"], value), &inputs(2048)).expect("it is countable");
    assert_eq!(found.flops, 2.0 * 2048f64.powi(3));
    assert_eq!(found.bytes, 3.0 * 4.0 * 2048f64.powi(2));
    let (flops, _) = found.per_second(1e9);
    assert_eq!(flops, found.flops);
}

#[test]
fn a_triangle_counts_its_own_points() {
    let value = sum(name("i"), element("A", &["k"]));
    let found = work(&kernel(&[name("n")], &["i"], value), &inputs(100)).expect("it is countable");
    assert_eq!(found.flops, 99.0 * 100.0 / 2.0);
}

#[test]
fn a_kernel_that_does_not_say_has_no_count() {
    let silent = Kernel { computes: None, ..kernel(&[name("n")], &["i"], Value::Number(1.0)) };
    assert_eq!(work(&silent, &inputs(8)), None);
    let unknown = kernel(&[name("m")], &["i"], Value::Number(1.0));
    assert_eq!(work(&unknown, &inputs(8)), None);
}
