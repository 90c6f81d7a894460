//! Small builders of IR values.

use indexmap::IndexMap;
use peak::context::{CONTEXT_VERSION, Inputs, KernelContext, Regions};
use peak_grammar::ir::*;

pub fn name(name: &str) -> Expr {
    Expr::Name(name.to_owned())
}

pub fn int(value: i64) -> Expr {
    Expr::Integer(value)
}

pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::Binary(op, Box::new(left), Box::new(right))
}

pub fn element(array: &str, indices: &[Expr]) -> Value {
    Value::Element { array: array.to_owned(), indices: indices.to_vec() }
}

pub fn reduce(op: ReduceOp, variable: &str, low: Expr, high: Expr, body: Value) -> Value {
    Value::Reduce { op, variable: variable.to_owned(), low, high, filter: None, body: Box::new(body) }
}

pub fn sum(variable: &str, high: Expr, body: Value) -> Value {
    reduce(ReduceOp::Sum, variable, int(0), high, body)
}

pub fn op(op: ValueOp, left: Value, right: Value) -> Value {
    Value::Binary(op, Box::new(left), Box::new(right))
}

pub fn assign(target: &str, indices: &[&str], value: Value) -> Assignment {
    local(target, indices, &[], value)
}

/// Of a local array.
pub fn local(target: &str, indices: &[&str], extents: &[Expr], value: Value) -> Assignment {
    let indices = indices.iter().map(ToString::to_string).collect();
    Assignment { target: target.to_owned(), indices, extents: extents.to_vec(), value }
}

pub fn scalar(name: &str, values: &[i64], checked: &[i64]) -> Argument {
    Argument {
        name: name.to_owned(),
        direction: Direction::Input,
        kind: ArgumentKind::Scalar { element: ElementType::I32, values: values.to_vec(), checked: checked.to_vec() },
    }
}

pub fn array(name: &str, direction: Direction, element: ElementType, shape: &[Expr]) -> Argument {
    let initializer = match direction {
        Direction::Output => Initializer::Zeros,
        _ => Initializer::Uniform { low: -1.0, high: 1.0 },
    };
    Argument {
        name: name.to_owned(),
        direction,
        kind: ArgumentKind::Array { shape: shape.to_vec(), element, initializer },
    }
}

pub fn kernel(name: &str, arguments: Vec<Argument>, statements: Vec<Assignment>) -> Kernel {
    Kernel {
        name: name.to_owned(),
        title: None,
        computes: (!statements.is_empty()).then_some(Computes { statements }),
        element: ElementType::F32,
        accumulator: ElementType::F32,
        arguments,
        tolerance: Tolerance::SumLength,
        tuning: Vec::new(),
        requirements: Vec::new(),
        code: IndexMap::new(),
        host_code: String::new(),
        launch: LaunchPlan::default(),
        origin: Origin { file: "test.peak".to_owned(), start: 0, end: 0 },
    }
}

/// `C[i, j] = sum(k in 0..n) A[i, k] * B[k, j]`.
pub fn matmul() -> Kernel {
    let n = || name("n");
    let product = op(ValueOp::Mul, element("A", &[name("i"), name("k")]), element("B", &[name("k"), name("j")]));
    kernel(
        "matmul-f32",
        vec![
            scalar("n", &[192], &[32, 64, 96, 128]),
            array("A", Direction::Input, ElementType::F32, &[n(), n()]),
            array("B", Direction::Input, ElementType::F32, &[n(), n()]),
            array("C", Direction::Output, ElementType::F32, &[n(), n()]),
        ],
        vec![assign("C", &["i", "j"], sum("k", n(), product))],
    )
}

pub fn inputs(values: &[(&str, i64)]) -> Inputs {
    values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

/// A context that launches `matmul` with tuning parameters BLOCK_X, BLOCK_Y and TILE_K_SIZE.
pub fn context(kernel: Kernel) -> KernelContext {
    let parameter = |name: &str, start: i64| TuningParameter {
        name: name.to_owned(),
        values: Values::List(vec![8, 16, 32]),
        start: Some(start),
        introduced_by: None,
    };
    let divides = |name_of: &str| Requirement {
        name: format!("whole-{}", name_of.to_lowercase()),
        condition: Condition::Compare(CompareOp::Equal, binary(BinaryOp::Mod, name("n"), name(name_of)), int(0)),
        added_by: None,
    };
    let arguments = kernel.arguments.iter().map(|argument| argument.name.clone()).collect();
    KernelContext {
        version: CONTEXT_VERSION,
        plan: LaunchPlan {
            statements: vec![PlanStatement::Launch(Launch {
                kernel: "matmul".to_owned(),
                grid: vec![
                    binary(BinaryOp::Div, name("n"), name("BLOCK_X")),
                    binary(BinaryOp::Div, name("n"), name("BLOCK_Y")),
                ],
                block: vec![name("BLOCK_X"), name("BLOCK_Y")],
                shared: None,
                cluster: None,
                cooperative: false,
                arguments,
            })],
        },
        tuning: vec![parameter("BLOCK_X", 16), parameter("BLOCK_Y", 8), parameter("TILE_K_SIZE", 32)],
        requirements: vec![divides("BLOCK_X"), divides("BLOCK_Y")],
        kernel,
        backend: "test".to_owned(),
        regions: Regions::default(),
        applied: Vec::new(),
    }
}
