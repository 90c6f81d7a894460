//! Plans: names bound, ranges and settings of the workflow, and each reason why a transformation does not apply.

use super::fixture::{facts, matmul, pass, plain_application, planned, prose, step, tiling, words};
use indexmap::IndexMap;
use peak::context::KernelContext;
use peak::plan::{NotApplicable, PlanInputs, PlannedStep, TransformationPlan, plan};
use peak_grammar::ir::{
    Action, Application, Effect, Insertion, KernelSelector, Origin, Place, Region, Requirement, Setting, SettingValue,
    Transformation, Utility, Values,
};

fn attempt(
    context: &KernelContext,
    transformation: &Transformation,
    application: &Application,
) -> Result<TransformationPlan, NotApplicable> {
    let (utilities, facts) = (IndexMap::new(), facts());
    plan(context, &PlanInputs { transformation, knowledge: &[], utilities: &utilities, application, facts: &facts })
}

fn refused(change: impl FnOnce(&mut KernelContext, &mut Transformation, &mut Application)) -> NotApplicable {
    let (mut context, mut transformation) = (matmul(), tiling());
    let mut application = plain_application("split-loop");
    change(&mut context, &mut transformation, &mut application);
    let refused = attempt(&context, &transformation, &application).expect_err("it does not apply");
    let code = miette::Diagnostic::code(&refused).map(|code| code.to_string());
    assert_eq!(code.as_deref(), Some(refused.stable_code()), "one code, wherever it is told");
    refused
}

#[test]
fn a_retired_parameter_that_a_region_left_alone_reads_is_told_of_before_anybody_is_asked() {
    let why = refused(|context, transformation, _| {
        transformation.passes[0].retires = vec!["BLOCK_Y".to_owned()];
        context.requirements.clear();
    });
    assert!(matches!(&why, NotApplicable::RetiredRead { parameter, .. } if parameter == "BLOCK_Y"), "{why}");
}

#[test]
fn names_of_the_pattern_become_the_kernels_own() {
    let plan = planned(&matmul(), &tiling());
    assert_eq!(plan.because.text, "Tiles of `A` and `B` can then be staged.");
    assert_eq!(plan.requires[0].condition.to_string(), "n mod TILE_K_SIZE = 0");
    assert_eq!(plan.bindings["OUT"], "C");
    assert_eq!(plan.requires[0].added_by.as_deref(), Some("split-loop"));
}

#[test]
fn facts_stand_in_the_prompt_by_value_and_in_the_key_by_name() {
    let mut transformation = tiling();
    transformation.because = prose(&["At most ", "{max_threads_per_block}", " threads.\n"]);
    let plan = planned(&matmul(), &transformation);
    assert_eq!(plan.because.text, "At most 1024 threads.");
    assert_eq!(plan.because.key, "At most `max_threads_per_block` threads.");
}

#[test]
fn all_prose_of_a_region_is_one_request_and_mechanical_steps_keep_their_place() {
    let mut transformation = tiling();
    let code = Action::Insert { what: Insertion::Code("#define X 1".to_owned()), place: Place::Top };
    transformation.passes = vec![pass(
        "both",
        vec![
            words(Region::DeviceCode, &["First.\n"]),
            step(Region::Macros, code),
            words(Region::DeviceCode, &["Second.\n"]),
            words(Region::Macros, &["Third.\n"]),
        ],
        Effect::KeepsResults,
    )];
    let plan = planned(&matmul(), &transformation);
    let requests: Vec<_> = plan.passes[0].requests().map(|r| (r.region, r.words.text.as_str())).collect();
    assert_eq!(requests, [(Region::DeviceCode, "First.\n\nSecond."), (Region::Macros, "Third.")]);
    assert!(matches!(plan.passes[0].steps[1], PlannedStep::Mechanical { region: Region::Macros, .. }));
}

#[test]
fn groups_end_where_results_are_kept_and_at_the_end() {
    let mut transformation = tiling();
    let of = |name: &str, effect| pass(name, vec![words(Region::DeviceCode, &["Do it.\n"])], effect);
    transformation.passes = vec![
        of("a", Effect::MayBreakResults),
        of("b", Effect::KeepsResults),
        of("c", Effect::MayBreakBuild),
        of("d", Effect::MayBreakResults),
    ];
    let plan = planned(&matmul(), &transformation);
    let groups: Vec<_> = plan.passes.iter().map(|pass| (pass.group, pass.closes_group)).collect();
    assert_eq!(groups, [(0, false), (0, true), (1, false), (1, true)]);
}

#[test]
fn steps_for_other_languages_are_left_out() {
    let mut transformation = tiling();
    transformation.passes[0].steps[0].on = vec!["cuda".to_owned()];
    assert_eq!(planned(&matmul(), &transformation).passes[0].steps, []);
}

#[test]
fn a_workflow_narrows_ranges_and_sets_settings() {
    let (context, mut transformation) = (matmul(), tiling());
    transformation.settings = vec![Setting { name: "stages".to_owned(), default: SettingValue::Integer(2) }];
    transformation.because = prose(&["{stages}", " stages.\n"]);
    let mut application = plain_application("split-loop");
    application.ranges.insert("TILE_K_SIZE".to_owned(), Values::List(vec![32, 64]));
    application.ranges.insert("BLOCK_X".to_owned(), Values::List(vec![16]));
    application.settings.insert("stages".to_owned(), SettingValue::Integer(3));
    let plan = attempt(&context, &transformation, &application).expect("applies");
    assert_eq!(plan.introduces[0].values, Values::List(vec![32, 64]));
    assert_eq!(plan.introduces[0].start_value(), Some(32), "a start outside the range is dropped");
    assert_eq!(plan.narrows["BLOCK_X"], Values::List(vec![16]));
    assert_eq!(plan.because.text, "3 stages.");
    let prepared = peak::lowering::prepared(&context, &plan);
    assert_eq!(prepared.parameter("BLOCK_X").map(|p| &p.values), Some(&Values::List(vec![16])));
    assert_eq!(prepared.tuning.len(), 3);
}

#[test]
fn needed_parameters_may_go_by_other_names() {
    let (mut context, mut transformation) = (matmul(), tiling());
    context.tuning[0].name = "THREADS_X".to_owned();
    transformation.because = prose(&["{BLOCK_X}", " reads.\n"]);
    let mut application = plain_application("split-loop");
    application.renames.insert("BLOCK_X".to_owned(), "THREADS_X".to_owned());
    let plan = attempt(&context, &transformation, &application).expect("applies");
    assert_eq!(plan.because.text, "`THREADS_X` reads.");
}

#[test]
fn each_reason_has_its_own_words() {
    let reasons = [
        refused(|_, transformation, _| transformation.on = vec!["cuda".to_owned()]),
        refused(|_, transformation, _| transformation.kernels = KernelSelector::Named(vec!["softmax".to_owned()])),
        refused(|_, transformation, _| transformation.needs_tuning = vec!["WARP_X_DIM".to_owned()]),
        refused(|_, transformation, _| transformation.needs_lets = vec!["tile_rows".to_owned()]),
        refused(|_, transformation, _| transformation.after = vec!["refactor".to_owned()]),
        refused(|context, transformation, _| {
            context.applied = vec!["split-k".to_owned()];
            transformation.conflicts_with = vec!["split-k".to_owned()];
        }),
        refused(|_, transformation, _| transformation.introduces[0].name = "BLOCK_Y".to_owned()),
        refused(|_, transformation, _| transformation.passes[0].steps = vec![utility_step()]),
        refused(|_, _, application| {
            application.settings.insert("depth".to_owned(), SettingValue::Flag(true));
        }),
        refused(|_, _, application| {
            application.ranges.insert("TILE_M".to_owned(), Values::List(vec![1]));
        }),
        refused(|_, transformation, _| transformation.passes[0].retires = vec!["TILE_K_SIZE".to_owned()]),
        refused(|_, transformation, _| {
            let condition = transformation.requires[0].condition.clone();
            let replaced = Requirement { name: "whole-tile".to_owned(), condition, added_by: None };
            transformation.passes[0].replaces = vec![replaced];
        }),
    ];
    let told: Vec<String> = reasons
        .iter()
        .map(|reason| {
            format!("{}: {reason}", miette::Diagnostic::code(reason).map(|c| c.to_string()).unwrap_or_default())
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"));
}

fn utility_step() -> peak_grammar::ir::Step {
    let what = Insertion::Utility("copy-tile".to_owned());
    step(Region::Macros, Action::Insert { what, place: Place::Top })
}

#[test]
fn a_kernel_that_computes_something_else_is_told_so() {
    let (mut context, transformation) = (matmul(), tiling());
    context.kernel.computes = None;
    let refused = attempt(&context, &transformation, &plain_application("split-loop")).expect_err("does not match");
    assert!(matches!(refused, NotApplicable::Pattern { .. }), "{refused}");
}

#[test]
fn a_utility_needs_code_for_the_language() {
    let (context, mut transformation, facts) = (matmul(), tiling(), facts());
    transformation.passes[0].steps = vec![utility_step()];
    let mut utility = Utility {
        name: "copy-tile".to_owned(),
        title: None,
        takes: Vec::new(),
        code: IndexMap::from([("cuda".to_owned(), "#define COPY".to_owned())]),
        origin: Origin::default(),
    };
    let application = plain_application("split-loop");
    let with = |utility: &Utility| {
        let utilities = IndexMap::from([("copy-tile".to_owned(), utility.clone())]);
        let inputs = PlanInputs {
            transformation: &transformation,
            knowledge: &[],
            utilities: &utilities,
            application: &application,
            facts: &facts,
        };
        plan(&context, &inputs)
    };
    assert!(matches!(with(&utility), Err(NotApplicable::Utility { .. })));
    utility.code.insert("hlsl".to_owned(), "#define COPY_TILE".to_owned());
    let planned = with(&utility).expect("applies");
    let code = Insertion::Code("#define COPY_TILE".to_owned());
    assert!(
        matches!(&planned.passes[0].steps[0], PlannedStep::Mechanical { action: Action::Insert { what, .. }, .. } if *what == code)
    );
}
