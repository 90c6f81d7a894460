//! Contexts for these tests, built by hand.

use indexmap::IndexMap;
use peak::context::{CONTEXT_VERSION, KernelContext, Regions};
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

pub fn compare(op: CompareOp, left: Expr, right: Expr) -> Condition {
    Condition::Compare(op, left, right)
}

pub fn requirement(name: &str, condition: Condition) -> Requirement {
    Requirement { name: name.to_owned(), condition, added_by: None }
}

pub fn parameter(name: &str, values: &[i64]) -> TuningParameter {
    TuningParameter { name: name.to_owned(), values: Values::List(values.to_vec()), start: None, introduced_by: None }
}

pub fn array(name: &str, direction: Direction, shape: &[Expr]) -> Argument {
    Argument {
        name: name.to_owned(),
        direction,
        kind: ArgumentKind::Array {
            shape: shape.to_vec(),
            element: ElementType::F32,
            initializer: Initializer::Uniform { low: -1.0, high: 1.0 },
        },
    }
}

pub fn scalar(name: &str) -> Argument {
    let kind = ArgumentKind::Scalar { element: ElementType::I32, values: vec![64], checked: Vec::new() };
    Argument { name: name.to_owned(), direction: Direction::Input, kind }
}

pub fn launch(kernel: &str, grid: &[Expr], block: &[Expr], arguments: &[&str]) -> PlanStatement {
    PlanStatement::Launch(Launch {
        kernel: kernel.to_owned(),
        grid: grid.to_vec(),
        block: block.to_vec(),
        shared: None,
        cluster: None,
        cooperative: false,
        arguments: arguments.iter().map(ToString::to_string).collect(),
    })
}

pub fn context(backend: &str, device_code: &str, arguments: Vec<Argument>, plan: Vec<PlanStatement>) -> KernelContext {
    let plan = LaunchPlan { statements: plan };
    let kernel = Kernel {
        name: "test".to_owned(),
        title: None,
        computes: None,
        element: ElementType::F32,
        accumulator: ElementType::F32,
        arguments,
        tolerance: Tolerance::SumLength,
        tuning: Vec::new(),
        requirements: Vec::new(),
        code: IndexMap::new(),
        host_code: String::new(),
        launch: plan.clone(),
        origin: Origin { file: "test.peak".to_owned(), start: 0, end: 0 },
    };
    KernelContext {
        version: CONTEXT_VERSION,
        kernel,
        backend: backend.to_owned(),
        regions: Regions { device_code: device_code.to_owned(), ..Regions::default() },
        plan,
        tuning: Vec::new(),
        requirements: Vec::new(),
        applied: Vec::new(),
    }
}

/// `A` (input), `B` (inout), `C` (output), `n` elements each, and a scratch `S`; one launch whose entry is `main`.
pub fn vectors(device_code: &str) -> KernelContext {
    let shape = [name("n")];
    let arguments = vec![
        scalar("n"),
        array("A", Direction::Input, &shape),
        array("B", Direction::InOut, &shape),
        array("C", Direction::Output, &shape),
    ];
    let scratch = PlanStatement::Scratch { name: "S".to_owned(), shape: shape.to_vec(), element: ElementType::F32 };
    let plan = vec![scratch, launch("main", &[name("n")], &[int(1)], &["A", "B", "C", "S"])];
    context("host", device_code, arguments, plan)
}

/// Square MatMul in naive HLSL, with a block size to tune.
pub fn matmul_hlsl() -> KernelContext {
    let code = "
StructuredBuffer<A_T> A; StructuredBuffer<B_T> B; RWStructuredBuffer<C_T> C;
struct Arguments { int n; };
[[vk::push_constant]] Arguments arguments;
[numthreads(BLOCK, BLOCK, 1)]
void matmul(uint3 at : SV_DispatchThreadID) {
    int n = arguments.n;
    int row = int(at.y), column = int(at.x);
    if (row >= n || column >= n) return;
    ACCUMULATOR sum = 0;
    for (int k = 0; k < n; ++k) sum += A[row * n + k] * B[k * n + column];
    C[row * n + column] = sum;
}
";
    let shape = [name("n"), name("n")];
    let arguments = vec![
        scalar("n"),
        array("A", Direction::Input, &shape),
        array("B", Direction::Input, &shape),
        array("C", Direction::Output, &shape),
    ];
    let blocks = || Expr::CeilDiv(Box::new(name("n")), Box::new(name("BLOCK")));
    let plan = vec![launch("matmul", &[blocks(), blocks()], &[name("BLOCK"), name("BLOCK")], &["A", "B", "C", "n"])];
    let mut context = context("hlsl", code, arguments, plan);
    context.tuning = vec![parameter("BLOCK", &[4, 8, 16, 64])];
    let block = || name("BLOCK");
    let threads = binary(BinaryOp::Mul, block(), block());
    let limit = Expr::Fact("max_threads_per_block".to_owned());
    context.requirements = vec![requirement("block-fits", compare(CompareOp::LessOrEqual, threads, limit))];
    context
}
