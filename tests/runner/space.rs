//! The space against brute force: every assignment, filtered by what a plan takes.

use super::build::{self, binary, compare, int, name, parameter, requirement};
use peak::context::launch::concrete_plan;
use peak::context::scope::Facts;
use peak::context::{Configuration, ExecutionParameters, Inputs, KernelContext};
use peak::tune::Rng;
use peak::tune::space::{Count, Explanation, Space, VISITS_MAX};
use peak_grammar::ir::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const NAMES: [&str; 3] = ["X", "Y", "Z"];

fn inputs() -> Inputs {
    Inputs::from([("n".to_owned(), 24)])
}

fn facts() -> Facts {
    Facts::from([("limit".to_owned(), 40)])
}

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        (-3i64..20).prop_map(Expr::Integer),
        prop::sample::select(vec!["X", "Y", "Z", "n", "tile"]).prop_map(name),
        Just(Expr::Fact("limit".to_owned())),
        Just(Expr::Fact("unstated".to_owned())),
        Just(Expr::SizeOf("element".to_owned())),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        use BinaryOp::*;
        let op = prop::sample::select(vec![Add, Sub, Mul, Div, Mod]);
        prop_oneof![
            (op, inner.clone(), inner.clone()).prop_map(|(op, a, b)| binary(op, a, b)),
            (inner.clone(), inner).prop_map(|(a, b)| Expr::CeilDiv(Box::new(a), Box::new(b))),
        ]
    })
}

fn condition() -> impl Strategy<Value = Condition> {
    use CompareOp::*;
    let op = prop::sample::select(vec![Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual]);
    let leaf = (op, expr(), expr()).prop_map(|(op, a, b)| Condition::Compare(op, a, b)).boxed();
    let two = (leaf.clone(), leaf.clone());
    prop_oneof![
        leaf.clone(),
        two.clone().prop_map(|(a, b)| Condition::And(vec![a, b])),
        two.prop_map(|(a, b)| Condition::Or(vec![a, b])),
        leaf.prop_map(|a| Condition::Not(Box::new(a))),
    ]
}

prop_compose! {
    fn contexts()(
        values in prop::collection::vec(prop::collection::btree_set(1i64..13, 1..6), 3),
        tile in expr(),
        grid in expr(),
        requirements in prop::collection::vec(condition(), 0..3),
        reject in prop::option::of(condition()),
    ) -> KernelContext {
        let mut plan = vec![PlanStatement::Let { name: "tile".to_owned(), value: tile }];
        plan.extend(reject.map(|when| PlanStatement::Reject { when, why: "so".to_owned() }));
        plan.push(build::launch("main", &[grid], &[name("X")], &["A", "C"]));
        let shape = [name("n")];
        let arguments = vec![
            build::scalar("n"),
            build::array("A", Direction::Input, &shape),
            build::array("C", Direction::Output, &shape),
        ];
        let mut context = build::context("host", "", arguments, plan);
        context.tuning = NAMES.iter().zip(&values).map(|(name, values)| {
            parameter(name, &values.iter().copied().collect::<Vec<_>>())
        }).collect();
        context.requirements = requirements.into_iter().enumerate()
            .map(|(index, condition)| requirement(&format!("r{index}"), condition)).collect();
        context
    }
}

/// Every assignment that a plan takes.
fn brute_force(context: &KernelContext) -> Vec<Vec<i64>> {
    let mut all: Vec<Vec<i64>> = vec![Vec::new()];
    for parameter in &context.tuning {
        let longer = |values: &Vec<i64>| {
            let values = values.clone();
            let with = move |value| values.iter().copied().chain([value]).collect();
            parameter.values.all().into_iter().map(with).collect::<Vec<Vec<i64>>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    let valid = |values: &Vec<i64>| {
        let configuration = NAMES.iter().zip(values).map(|(name, value)| ((*name).to_owned(), *value)).collect();
        concrete_plan(context, &ExecutionParameters { inputs: inputs(), configuration }, &facts()).is_ok()
    };
    all.retain(valid);
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_survey_finds_what_brute_force_finds(context in contexts()) {
        let (inputs, facts) = (inputs(), facts());
        let space = Space::new(&context, &inputs, &facts);
        let survey = space.survey(VISITS_MAX);
        prop_assert!(survey.complete);
        prop_assert_eq!(&survey.valid, &brute_force(&context));
        let excluded: u128 = survey.excluded.values().sum();
        prop_assert_eq!(excluded + survey.valid.len() as u128, survey.product);
        prop_assert_eq!(space.count(), Count::Exact(survey.valid.len() as u128));
        if survey.valid.is_empty() {
            is_enough(&context, &space.explain());
        }
    }

    #[test]
    fn samples_are_valid_and_found_where_there_are_any(context in contexts(), seed in any::<u64>()) {
        let (inputs, facts) = (inputs(), facts());
        let space = Space::new(&context, &inputs, &facts);
        let valid: BTreeSet<Vec<i64>> = brute_force(&context).into_iter().collect();
        match space.sample(&mut Rng::new(seed), 2500) {
            Some(configuration) => {
                prop_assert!(space.plan(&configuration).is_ok());
                prop_assert!(valid.contains(&configuration.values().copied().collect::<Vec<_>>()));
            }
            // With one valid assignment in 125, 2500 draws miss it less than once in 10^8.
            None => prop_assert!(valid.is_empty()),
        }
    }
}

/// What cannot be met together is enough by itself: without the other requirements nothing is valid either.
fn is_enough(context: &KernelContext, why: &Explanation) {
    assert!(!why.conflict.is_empty(), "an empty space has a reason: {why:?}");
    let mut less = context.clone();
    less.requirements.retain(|own| why.conflict.contains(&format!("requirement {}", own.name)));
    let (inputs, facts) = (inputs(), facts());
    assert_eq!(Space::new(&less, &inputs, &facts).count(), Count::Exact(0), "{why:?}");
}

/// X, Y and Z from 1 to 30 each, with a product of 30 exactly.
fn product_of_30() -> KernelContext {
    let mut context = build::vectors("valley");
    let values: Vec<i64> = (1..=30).collect();
    context.tuning = NAMES.iter().map(|name| parameter(name, &values)).collect();
    let product = binary(BinaryOp::Mul, binary(BinaryOp::Mul, name("X"), name("Y")), name("Z"));
    let divides = binary(BinaryOp::Mod, int(30), name("X"));
    context.requirements = vec![
        requirement("x-divides", compare(CompareOp::Equal, divides, int(0))),
        requirement("product", compare(CompareOp::Equal, product, int(30))),
    ];
    context
}

#[test]
fn sampling_is_uniform_over_valid_assignments() {
    let context = product_of_30();
    let (inputs, facts) = (inputs(), facts());
    let space = Space::new(&context, &inputs, &facts);
    let valid = space.survey(VISITS_MAX).valid;
    // Ordered factorizations of 30 = 2 * 3 * 5 in three: 3^3.
    assert_eq!(valid.len(), 27);
    let mut rng = Rng::new(11);
    let mut counts: BTreeMap<Vec<i64>, u32> = BTreeMap::new();
    for _ in 0..540 {
        let drawn: Configuration = space.sample(&mut rng, 1_000_000).expect("there are some");
        *counts.entry(drawn.values().copied().collect()).or_default() += 1;
    }
    assert_eq!(counts.len(), 27);
    assert!(counts.values().all(|count| (4..=45).contains(count)), "{counts:?}");
}

#[test]
fn a_subtree_is_pruned_where_its_requirement_is_known() {
    let context = product_of_30();
    let (inputs, facts) = (inputs(), facts());
    let survey = Space::new(&context, &inputs, &facts).survey(VISITS_MAX);
    // 8 of 30 values of X divide 30; the other 22 cut 900 assignments each.
    assert_eq!(survey.excluded["requirement x-divides"], 22 * 900);
    assert_eq!(survey.excluded["requirement product"], 8 * 900 - 27);
}

#[test]
fn a_survey_stops_at_its_bound_and_says_so() {
    let context = product_of_30();
    let (inputs, facts) = (inputs(), facts());
    let space = Space::new(&context, &inputs, &facts);
    let survey = space.survey(100);
    assert!(!survey.complete && survey.product == 27_000);
}

#[test]
fn a_space_too_large_to_walk_is_sampled() {
    let mut context = build::vectors("valley");
    let values: Vec<i64> = (1..=1000).collect();
    let names: Vec<String> = (0..12).map(|index| format!("P{index}")).collect();
    context.tuning = names.iter().map(|name| parameter(name, &values)).collect();
    context.requirements = vec![requirement("order", compare(CompareOp::Less, name("P0"), name("P11")))];
    let (inputs, facts) = (inputs(), facts());
    let space = Space::new(&context, &inputs, &facts);
    assert_eq!(space.product(), 10u128.pow(36));
    assert!(!space.survey(1000).complete);
    let drawn = space.sample(&mut Rng::new(1), 100).expect("half of them are valid");
    assert!(drawn["P0"] < drawn["P11"]);
}

/// Twenty parameters of ten values in a chain: 10^20 configurations, each next to its neighbours.
fn chain() -> KernelContext {
    let mut context = build::vectors("valley");
    let values: Vec<i64> = (1..=10).collect();
    let names: Vec<String> = (0..20).map(|index| format!("P{index:02}")).collect();
    context.tuning = names.iter().map(|name| parameter(name, &values)).collect();
    let ordered = |pair: &[String]| {
        requirement(
            &format!("{} {}", pair[0], pair[1]),
            compare(CompareOp::LessOrEqual, name(&pair[0]), name(&pair[1])),
        )
    };
    context.requirements = names.windows(2).map(ordered).collect();
    context
}

#[test]
fn a_chain_far_too_long_to_walk_is_counted_exactly_and_sampled_evenly() {
    let context = chain();
    let (inputs, facts) = (inputs(), facts());
    let space = Space::new(&context, &inputs, &facts);
    assert_eq!(space.product(), 10u128.pow(20));
    // Sequences of 20 that never fall, of 10 values: 29 over 9.
    assert_eq!(space.count(), Count::Exact(10_015_005));
    let mut rng = Rng::new(3);
    let mut firsts = [0u32; 11];
    for _ in 0..2000 {
        let drawn = space.sample(&mut rng, 1).expect("there are some");
        firsts[usize::try_from(drawn["P00"]).expect("from 1 to 10")] += 1;
    }
    // Those that start at 1: 28 over 9 of them, 69%; at 2: 27 over 8 of 10,015,005, 22%.
    assert!((1300..1460).contains(&firsts[1]) && (380..510).contains(&firsts[2]), "{firsts:?}");
}

#[test]
fn what_cannot_be_counted_is_estimated_and_says_how_well() {
    let mut context = build::vectors("valley");
    let values: Vec<i64> = (1..=100).collect();
    let names: Vec<String> = (0..5).map(|index| format!("P{index}")).collect();
    context.tuning = names.iter().map(|name| parameter(name, &values)).collect();
    // One clause over all of them: every value stays in view, and there are far too many sums of squares.
    let square = |of: &String| binary(BinaryOp::Mul, name(of), name(of));
    let sum = names.iter().skip(1).fold(square(&names[0]), |sum, next| binary(BinaryOp::Add, sum, square(next)));
    context.requirements =
        vec![requirement("rest", compare(CompareOp::Equal, binary(BinaryOp::Mod, sum, int(3)), int(1)))];
    let (inputs, facts) = (inputs(), facts());
    let space = Space::new(&context, &inputs, &facts);
    let Count::Estimate { valid, error_share } = space.count() else { panic!("it is an estimate") };
    // 67 of 100 squares leave 1, the others 0: one or four of the five must leave 1.
    let truth = 5.0 * 67.0 * 33f64.powi(4) + 5.0 * 67f64.powi(4) * 33.0;
    assert!((valid / truth - 1.0).abs() < 3.0 * error_share && error_share < 0.1, "{valid} {error_share}");
    assert!(space.count().to_string().contains("estimated"));
    let drawn = space.sample(&mut Rng::new(1), 1000).expect("a third of them is valid");
    assert!(space.plan(&drawn).is_ok());
}

#[test]
fn a_tensor_map_excludes_what_no_device_takes_and_nothing_else() {
    let mut context = product_of_30();
    context.requirements.clear();
    let map = |side: Expr| PlanStatement::TensorMap {
        name: "TILE".to_owned(),
        array: "A".to_owned(),
        box_shape: vec![side],
        swizzle: 0,
    };
    context.plan.statements.insert(0, map(name("X")));
    context
        .plan
        .statements
        .push(PlanStatement::Repeat { count: int(2), body: vec![map(binary(BinaryOp::Div, name("Y"), int(3)))] });
    let (inputs, facts) = (inputs(), facts());
    let space = Space::new(&context, &inputs, &facts);
    // A box's row has a multiple of 16 bytes: X is 4, 8, ..., 28, and Y is 12 or 24.
    assert_eq!(space.count(), Count::Exact(7 * 2 * 30));
    let valid = space.survey(VISITS_MAX).valid;
    assert_eq!(valid.len(), 7 * 2 * 30);
    assert!(space.sample(&mut Rng::new(1), 1).is_some());
    let excluded =
        |reason: &str| space.explain().alone.into_iter().find(|(own, _)| own == reason).expect("it is there").1;
    assert_eq!(excluded("the box of TILE is not a whole number"), Count::Exact(20 * 900));
}

#[test]
fn an_empty_space_says_what_excludes_it_and_what_cannot_be_met_together() {
    let mut context = product_of_30();
    context.requirements.push(requirement("large", compare(CompareOp::GreaterOrEqual, name("Z"), int(31))));
    let over = requirement("no-warp", compare(CompareOp::Less, name("X"), Expr::Fact("limit".to_owned())));
    context.requirements.push(over);
    let (inputs, facts) = (inputs(), facts());
    let why = Space::new(&context, &inputs, &facts).explain();
    assert_eq!(why.conflict, ["requirement large"], "the others can be met");
    assert_eq!(why.alone[0], ("requirement large".to_owned(), Count::Exact(27_000)));
    let x_divides = ("requirement x-divides".to_owned(), Count::Exact(22 * 900));
    assert!(why.alone.contains(&x_divides), "{why:?}");
    assert!(why.alone.iter().all(|(reason, _)| reason != "requirement no-warp"), "it excludes nothing");
    context.requirements[2] = requirement("large", compare(CompareOp::Greater, name("Z"), name("X")));
    context.requirements[3] = requirement("small", compare(CompareOp::Less, name("Z"), name("X")));
    let why = Space::new(&context, &inputs, &facts).explain();
    assert_eq!(why.conflict, ["requirement large", "requirement small"], "each of them can be met alone");
}

#[test]
fn incumbents_are_adapted() {
    let mut context = product_of_30();
    context.tuning[0].start = Some(5);
    let (inputs, facts) = (inputs(), facts());
    let space = Space::new(&context, &inputs, &facts);
    let known = Configuration::from([("X".to_owned(), 99), ("Y".to_owned(), 3), ("GONE".to_owned(), 7)]);
    let adapted: Vec<(String, i64)> = space.adapt(&known).into_iter().collect();
    assert_eq!(adapted, [("X".to_owned(), 5), ("Y".to_owned(), 3), ("Z".to_owned(), 1)]);
}
