//! Tuning spaces: counted, drawn from and explained, and in small ones every configuration tried.

#![no_main]

use indexmap::IndexSet;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use peak::context::launch::{Invalid, check_requirement, concrete_plan};
use peak::context::scope::{ContextScope, Facts};
use peak::context::{Configuration, ExecutionParameters, Inputs, KernelContext};
use peak::tune::Rng;
use peak::tune::space::{Count, Space, VISITS_MAX};
use peak_fuzz::bound::within_a_second;
use peak_fuzz::context::{context, facts, inputs};
use peak_fuzz::{grow, seeds};
use peak_grammar::{Diagnostic, SourceFile, load};

/// Configurations, valid or not, that are tried one by one, at most.
const MAX_TRIED: u128 = 20_000;
/// Configurations that are drawn.
const MAX_DRAWS: u32 = 20;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (library, found) = load(&[SourceFile::new("fuzzed.peak", text)]);
    if found.iter().any(Diagnostic::is_error) {
        return;
    }
    let facts = facts(&library);
    for kernel in library.kernels.values().take(2) {
        judge(&context(kernel, "cuda", ""), &inputs(kernel), &facts);
    }
});

fn judge(context: &KernelContext, inputs: &Inputs, facts: &Facts) {
    let space = Space::new(context, inputs, facts);
    let count = within_a_second(|| space.count());
    draws(&space, context, inputs, facts, count);
    if count == Count::Exact(0) {
        let why = within_a_second(|| space.explain());
        assert!(!why.conflict.is_empty() || space.product() == 0, "nothing is valid, and nothing says why");
    }
    match space.product() {
        product if product <= MAX_TRIED => tried(&space, context, inputs, facts, count),
        _ => drop(within_a_second(|| space.survey(VISITS_MAX))),
    }
}

/// Each draw is valid; where some are counted, some are drawn.
fn draws(space: &Space<'_>, context: &KernelContext, inputs: &Inputs, facts: &Facts, count: Count) {
    let mut rng = Rng::new(1);
    for _ in 0..MAX_DRAWS {
        let drawn = within_a_second(|| space.sample(&mut rng, 20));
        match (drawn, count) {
            (Some(configuration), _) => {
                let plan = concrete_plan(context, &parameters(inputs, &configuration), facts);
                assert!(plan.is_ok(), "drawn and not valid: {configuration:?}: {plan:?}");
                assert_ne!(count, Count::Exact(0), "drawn from nothing: {configuration:?}");
            }
            (None, Count::Exact(valid)) => assert_eq!(valid, 0, "counted and not drawn"),
            (None, Count::Estimate { .. }) => {}
        }
    }
}

/// The count, the walk and what is explained, against every configuration.
fn tried(space: &Space<'_>, context: &KernelContext, inputs: &Inputs, facts: &Facts, count: Count) {
    let all = assignments(context);
    assert_eq!(space.product(), all.len() as u128, "the product");
    let outcomes: Vec<(Configuration, Result<(), Invalid>)> = all
        .iter()
        .map(|values| {
            let configuration = space.configuration(values);
            let plan = concrete_plan(context, &parameters(inputs, &configuration), facts);
            (configuration, plan.map(drop))
        })
        .collect();
    let valid: Vec<&Vec<i64>> =
        all.iter().zip(&outcomes).filter(|(_, (_, plan))| plan.is_ok()).map(|it| it.0).collect();
    assert_eq!(count, Count::Exact(valid.len() as u128), "counted against tried");
    let survey = space.survey(u64::MAX);
    assert!(survey.complete && survey.valid.iter().eq(valid.iter().copied()), "walked against tried");
    let excluded: u128 = survey.excluded.values().sum();
    assert_eq!(excluded + survey.valid.len() as u128, survey.product, "who excludes how many: {:?}", survey.excluded);
    explained(space, context, inputs, facts, &outcomes);
}

/// What each requirement excludes alone, and that those said to conflict do.
fn explained(
    space: &Space<'_>,
    context: &KernelContext,
    inputs: &Inputs,
    facts: &Facts,
    outcomes: &[(Configuration, Result<(), Invalid>)],
) {
    let why = space.explain();
    let broken = |name: &str, configuration: &Configuration| {
        let parameters = parameters(inputs, configuration);
        let scope = ContextScope::new(context, &parameters, facts);
        let mut named = context.requirements.iter().filter(|requirement| requirement.name == name);
        named.any(|requirement| check_requirement(requirement, &scope).is_err())
    };
    for (reason, excluded) in &why.alone {
        let Some(name) = reason.strip_prefix("requirement ") else { continue };
        if name.ends_with("is not a whole number") {
            continue;
        }
        let found = outcomes.iter().filter(|(configuration, _)| broken(name, configuration)).count();
        assert_eq!(*excluded, Count::Exact(found as u128), "what {reason} excludes");
    }
    let nothing = outcomes.iter().all(|(_, plan)| plan.is_err());
    assert_eq!(why.conflict.is_empty(), !nothing || outcomes.is_empty(), "a conflict: {:?}", why.conflict);
    let names: Option<Vec<&str>> = why.conflict.iter().map(|reason| reason.strip_prefix("requirement ")).collect();
    if let Some(names) = names.filter(|names| !names.is_empty()) {
        let met = outcomes.iter().find(|(configuration, _)| !names.iter().any(|name| broken(name, configuration)));
        assert!(met.is_none(), "{names:?} are said to conflict, and {met:?} meets them");
    }
}

/// Every assignment, the last parameter varying first; each value once.
fn assignments(context: &KernelContext) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for parameter in &context.tuning {
        let values: IndexSet<i64> = parameter.values.all().into_iter().collect();
        let with = |held: &Vec<i64>, value: i64| [held.as_slice(), &[value]].concat();
        all = all.iter().flat_map(|held| values.iter().map(|value| with(held, *value))).collect();
    }
    all
}

fn parameters(inputs: &Inputs, configuration: &Configuration) -> ExecutionParameters {
    ExecutionParameters { inputs: inputs.clone(), configuration: configuration.clone() }
}

fuzz_mutator!(|bytes: &mut [u8], size: usize, max: usize, seed: u32| {
    grow::mutate(seeds::kernels(), bytes, size, max, seed)
});
