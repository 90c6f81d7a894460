//! Launch plans on their own: read, refused, and printed so that they read back as the same plan.

use peak_grammar::ir::{BinaryOp, CompareOp, Condition, ElementType, Expr, Launch, LaunchPlan, PlanStatement};
use peak_grammar::{PlanNames, parse_launch_plan, print_launch_plan};
use proptest::prelude::*;

const PLAN: &str = "\
let tile_rows = BLOCK_Y * 4
scratch partial: array[n, 2 * n] of f32
fill partial with 0
tensor map a_map over A box (64, tile_rows) swizzle 128
reject when n mod tile_rows != 0 and not (n = 7) \"n is no multiple of the tile\"
repeat 2 times
  launch split
    grid ceil(n / tile_rows), n
    block BLOCK_X, BLOCK_Y
    shared (BLOCK_X + 1) * sizeof(element) + 2 KiB bytes
    cluster 2, 1
    arguments a_map, A, partial, n, tile_rows
launch join
  grid 1
  block min(BLOCK_X, device.warp)
  cooperative
  arguments partial, A
";

fn names() -> PlanNames {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    PlanNames {
        arrays: owned(&["A"]),
        scalars: owned(&["n"]),
        tuning: owned(&["BLOCK_X", "BLOCK_Y"]),
        facts: Vec::new(),
    }
}

#[test]
fn a_plan_is_read_and_printed_as_the_same_plan() {
    let plan = parse_launch_plan("plan", PLAN, &names()).expect("the plan is right");
    assert_eq!(plan.launches().len(), 2);
    let printed = print_launch_plan(&plan);
    insta::assert_snapshot!(printed);
    assert_eq!(parse_launch_plan("plan", &printed, &names()), Ok(plan));
}

#[test]
fn every_unknown_name_of_a_plan_is_reported() {
    let text = PLAN.replace("BLOCK_X", "BLOCK_Z").replace("arguments partial, A", "arguments partial, B");
    let found = parse_launch_plan("plan", &text, &names()).expect_err("it names what is not there");
    let places: Vec<(&str, &str)> = found
        .iter()
        .map(|one| (one.code, text.get(one.span.start..one.span.end).expect("a span of the text")))
        .collect();
    let unknown = "peak::unknown-name";
    assert_eq!(places, [(unknown, "BLOCK_Z"), (unknown, "BLOCK_Z"), (unknown, "BLOCK_Z"), (unknown, "B")]);
}

#[test]
fn a_plan_that_does_not_parse_says_where() {
    let found = parse_launch_plan("plan", "launch k\n  grid n,\n  block 1\n  arguments A\n", &names());
    let codes: Vec<&str> = found.expect_err("the grid ends early").iter().map(|one| one.code).collect();
    assert_eq!(codes, ["peak::syntax"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_reads_back(grid in expr(), bytes in expr(), when in condition(), fill in -1e6..1e6f64, cooperative: bool) {
        let launch = Launch {
            kernel: "k".to_owned(),
            grid: vec![grid.clone(), Expr::Integer(1)],
            block: vec![Expr::Integer(32)],
            shared: Some(bytes),
            cluster: cooperative.then(|| vec![Expr::Integer(2)]),
            cooperative,
            arguments: vec!["A".to_owned(), "s".to_owned()],
        };
        let plan = LaunchPlan { statements: vec![
            PlanStatement::Scratch { name: "s".to_owned(), shape: vec![grid.clone()], element: ElementType::F16 },
            PlanStatement::Fill { name: "s".to_owned(), value: fill },
            PlanStatement::Reject { when, why: "so".to_owned() },
            PlanStatement::Repeat { count: grid, body: vec![PlanStatement::Launch(launch)] },
        ] };
        let printed = print_launch_plan(&plan);
        prop_assert_eq!(parse_launch_plan("plan", &printed, &names()), Ok(plan), "{}", printed);
    }
}

fn expr() -> impl Strategy<Value = Expr> {
    let names = proptest::sample::select(vec!["n", "BLOCK_X", "BLOCK_Y"]);
    let leaf = prop_oneof![
        (0..100_000i64).prop_map(Expr::Integer),
        names.prop_map(|name| Expr::Name(name.to_owned())),
        Just(Expr::Fact("warp".to_owned())),
        Just(Expr::SizeOf("element".to_owned())),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let op =
            proptest::sample::select(vec![BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Mod]);
        let pair = (inner.clone(), inner.clone()).prop_map(|(a, b)| (Box::new(a), Box::new(b)));
        prop_oneof![
            inner.clone().prop_map(|one| Expr::Negate(Box::new(one))),
            (op, pair.clone()).prop_map(|(op, (a, b))| Expr::Binary(op, a, b)),
            pair.clone().prop_map(|(a, b)| Expr::CeilDiv(a, b)),
            pair.prop_map(|(a, b)| Expr::FloorDiv(a, b)),
            proptest::collection::vec(inner.clone(), 2..4).prop_map(Expr::Min),
            proptest::collection::vec(inner, 2..4).prop_map(Expr::Max),
        ]
    })
}

fn condition() -> impl Strategy<Value = Condition> {
    let op = proptest::sample::select(vec![
        CompareOp::Equal,
        CompareOp::NotEqual,
        CompareOp::Less,
        CompareOp::LessOrEqual,
        CompareOp::Greater,
        CompareOp::GreaterOrEqual,
    ]);
    let leaf = (op, expr(), expr()).prop_map(|(op, a, b)| Condition::Compare(op, a, b));
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 2..4).prop_map(Condition::And),
            proptest::collection::vec(inner.clone(), 2..4).prop_map(Condition::Or),
            inner.prop_map(|one| Condition::Not(Box::new(one))),
        ]
    })
}
