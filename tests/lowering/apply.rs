//! The driver: passes, checks, judgement, repairs, groups, and what is kept of each attempt.

use super::fixture::{
    Log, Scripted, ScriptedJudge, facts, hlsl_answer, lowering, matmul, pass, planned, split_code, step, templates,
    tiling, words,
};
use peak::lowering::{Applied, MAX_REPAIRS, Rejected, apply_transformation, edits};
use peak::runner::{Failure, FailureClass};
use peak_grammar::ir::{Action, Effect, Insertion, Place, Region, Transformation};

/// A transformation, lowered with scripted answers and verdicts (the first of each list comes first).
struct Scene {
    transformation: Transformation,
    answers: Vec<String>,
    compiles: Vec<Failure>,
    validates: Vec<Failure>,
}

struct Played {
    result: Result<Applied, Box<Rejected>>,
    prompts: Vec<String>,
    repairs: Vec<u32>,
    keys: Vec<String>,
    calls: Vec<&'static str>,
    log: Vec<String>,
}

impl Scene {
    fn new(answers: &[String]) -> Scene {
        Scene { transformation: tiling(), answers: answers.to_vec(), compiles: Vec::new(), validates: Vec::new() }
    }

    fn play(self) -> Played {
        let (provider, templates, facts) = (Scripted::new(&self.answers), templates(), facts());
        let reversed = |mut failures: Vec<Failure>| {
            failures.reverse();
            failures
        };
        let mut judge = ScriptedJudge {
            compiles: reversed(self.compiles),
            validates: reversed(self.validates),
            ..ScriptedJudge::default()
        };
        let mut log = Log::default();
        let (context, plan) = (matmul(), planned(&matmul(), &self.transformation));
        let result =
            apply_transformation(&context, &plan, &mut lowering(&provider, &templates, &facts, &mut judge, &mut log));
        let seen = provider.seen.lock().expect("no test panics while it holds this");
        Played {
            result,
            prompts: seen.iter().map(|request| request.prompt.clone()).collect(),
            repairs: seen.iter().map(|request| request.identity.repair).collect(),
            keys: seen.iter().map(|request| request.key.clone()).collect(),
            calls: judge.calls,
            log: log.0,
        }
    }
}

fn good() -> String {
    hlsl_answer(&split_code())
}

fn compile_error(region: &str) -> Failure {
    Failure::new(FailureClass::Compile, "use of an undeclared identifier").with_fact(format!("{region}, line 3: `kk`"))
}

fn wrong_results() -> Failure {
    Failure::new(FailureClass::Results, "C is wrong").with_fact("off by a factor of 2")
}

#[test]
fn a_good_answer_is_applied_compiled_and_validated() {
    let played = Scene::new(&[good()]).play();
    let applied = played.result.expect("applied");
    assert_eq!(applied.context.applied, ["split-loop"]);
    assert_eq!(applied.context.regions.device_code, split_code());
    assert!(applied.context.parameter("TILE_K_SIZE").is_some());
    assert!(applied.context.requirements.iter().any(|requirement| requirement.name == "whole-tiles"));
    assert_eq!(played.calls, ["compile", "validate"]);
    assert!(matches!(applied.attempts.as_slice(), [attempt] if attempt.succeeded()));
    insta::assert_snapshot!(edits(&matmul(), &applied.context));
}

#[test]
fn a_rejected_answer_is_repaired_with_its_reason() {
    let elided = hlsl_answer(&split_code().replace("C[id.y * n + id.x] = (C_T)sum;", "// rest of the code"));
    let played = Scene::new(&[elided, good()]).play();
    let applied = played.result.expect("repaired");
    let codes: Vec<_> = applied.attempts.iter().map(|attempt| attempt.code.as_deref()).collect();
    assert_eq!(codes, [Some("peak::answer-elided-code"), None]);
    assert_eq!(played.repairs, [0, 1]);
    assert_ne!(played.keys[0], played.keys[1]);
    assert!(played.prompts[1].contains("leaves code out"));
    assert!(played.prompts[1].contains("forgets `k0`"), "the first repair brings the known failures");
    assert_eq!(played.calls, ["compile", "validate"], "a rejected answer is never compiled");
}

#[test]
fn a_compile_error_goes_back_as_facts_and_the_second_repair_has_no_known_failures() {
    let mut scene = Scene::new(&[good(), good(), good()]);
    scene.compiles = vec![compile_error("device code"), compile_error("device code")];
    let played = scene.play();
    let applied = played.result.expect("repaired twice");
    let classes: Vec<_> = applied.attempts.iter().map(|attempt| attempt.class).collect();
    assert_eq!(classes, [Some(FailureClass::Compile), Some(FailureClass::Compile), None]);
    assert!(played.prompts[1].contains("device code, line 3: `kk`"));
    assert!(played.prompts[1].contains("forgets `k0`") && !played.prompts[2].contains("forgets `k0`"));
    assert_eq!(played.calls, ["compile", "compile", "compile", "validate"]);
}

#[test]
fn repairs_are_bounded_and_every_attempt_is_kept() {
    let answers: Vec<String> = (0..10).map(|_| good()).collect();
    let mut scene = Scene::new(&answers);
    scene.validates = (0..10).map(|_| wrong_results()).collect();
    let played = scene.play();
    let rejected = played.result.expect_err("the repairs are used up");
    assert_eq!(rejected.attempts.len(), 1 + MAX_REPAIRS as usize);
    assert!(rejected.attempts.iter().all(|attempt| attempt.class == Some(FailureClass::Results)));
    assert_eq!(rejected.failure.class, FailureClass::Results);
    assert_eq!(rejected.diagnostic.to_string(), "pass `split-k-loop` failed after 3 repairs: C is wrong");
    let code = miette::Diagnostic::code(&rejected.diagnostic).expect("a code").to_string();
    assert_eq!(code, "peak::failed-results");
    assert_eq!(played.repairs, [0, 1, 2, 3]);
}

#[test]
fn no_answer_ends_it_at_once() {
    let played = Scene::new(&[]).play();
    let rejected = played.result.expect_err("no answer");
    assert_eq!(rejected.failure.class, FailureClass::Provider);
    assert!(matches!(rejected.attempts.as_slice(), [attempt] if attempt.completion.is_none()));
    assert_eq!(miette::Diagnostic::code(&rejected.diagnostic).expect("a code").to_string(), "peak::mailbox-timeout");
}

/// Two regions in one pass, and a mechanical step between them.
fn two_regions() -> Transformation {
    let mut transformation = tiling();
    let insert = Action::Insert { what: Insertion::Code("#define HALF(x) ((x) / 2)\n".to_owned()), place: Place::Top };
    transformation.passes[0].steps.push(step(Region::Macros, insert));
    transformation.passes[0].steps.push(words(Region::Macros, &["Add a macro for the row.\n"]));
    transformation
}

fn macros(name: &str) -> String {
    hlsl_answer(&format!("#define HALF(x) ((x) / 2)\n#define {name}(row) ((row) * n)\n"))
}

#[test]
fn a_failure_blames_the_region_that_its_message_names() {
    let mut scene = Scene::new(&[good(), macros("ROW"), macros("ROW_OF")]);
    scene.transformation = two_regions();
    scene.compiles = vec![compile_error("macros")];
    let played = scene.play();
    let applied = played.result.expect("repaired");
    let regions: Vec<_> = applied.attempts.iter().map(|attempt| (attempt.region, attempt.succeeded())).collect();
    assert_eq!(regions, [(Region::DeviceCode, true), (Region::Macros, false), (Region::Macros, true)]);
    assert!(applied.context.regions.macros.contains("ROW_OF"));
    assert_eq!(applied.context.regions.device_code, split_code(), "the other region stands");
    assert!(played.prompts[2].contains("k0 += TILE_K_SIZE"), "the repair sees the other region as it stands now");
}

#[test]
fn a_repair_of_the_first_region_keeps_the_second() {
    let mut scene = Scene::new(&[good(), macros("ROW"), good()]);
    scene.transformation = two_regions();
    scene.validates = vec![wrong_results()];
    let applied = scene.play().result.expect("repaired");
    assert!(applied.context.regions.macros.contains("#define ROW(row)"));
    assert_eq!(applied.context.regions.macros.matches("HALF").count(), 1, "the mechanical step is done once");
}

/// Two passes: the first may break results, the second mends them.
fn group(first: Effect) -> Transformation {
    let mut transformation = tiling();
    let mut split = transformation.passes.remove(0);
    split.effect = first;
    let mend = pass("mend", vec![words(Region::Macros, &["Add a macro.\n"])], Effect::KeepsResults);
    transformation.passes = vec![split, mend];
    transformation
}

#[test]
fn a_group_is_validated_where_it_ends() {
    let mut scene = Scene::new(&[good(), macros("ROW")]);
    scene.transformation = group(Effect::MayBreakResults);
    assert_eq!(scene.play().calls, ["compile", "compile", "validate"]);
    let mut scene = Scene::new(&[good(), macros("ROW")]);
    scene.transformation = group(Effect::MayBreakBuild);
    let played = scene.play();
    assert_eq!(played.calls, ["compile", "validate"]);
    assert!(played.prompts[0].contains("a later one mends them"));
}

#[test]
fn a_group_that_fails_at_its_end_repairs_that_pass_then_starts_once_more() {
    let answers = [good(), macros("R0"), macros("R1"), macros("R2"), macros("R3"), good(), macros("R4")];
    let mut scene = Scene::new(&answers);
    scene.transformation = group(Effect::MayBreakResults);
    scene.validates = (0..4).map(|_| wrong_results()).collect();
    let played = scene.play();
    let applied = played.result.expect("the second run of the group holds");
    assert_eq!(applied.attempts.len(), 7);
    assert!(played.log.contains(&"restarted at split-k-loop".to_owned()));
    assert!(played.prompts[5].contains("off by a factor of 2"), "the first pass is told how the group failed");
    assert_ne!(played.keys[5], played.keys[0], "and its recording is another one");
    assert_eq!(played.repairs, [0, 0, 1, 2, 3, 1, 0]);
}

#[test]
fn a_group_starts_again_only_once() {
    let answers: Vec<String> = std::iter::once(good())
        .chain((0..4).map(|i| macros(&format!("P{i}"))))
        .chain(std::iter::once(good()))
        .chain((0..4).map(|i| macros(&format!("Q{i}"))))
        .collect();
    let mut scene = Scene::new(&answers);
    scene.transformation = group(Effect::MayBreakResults);
    scene.validates = (0..20).map(|_| wrong_results()).collect();
    let rejected = scene.play().result.expect_err("twice in vain");
    assert_eq!(rejected.attempts.len(), 10);
}

#[test]
fn a_mechanical_transformation_asks_nobody() {
    let mut scene = Scene::new(&[]);
    let code = "#define TILES (TILE_K_SIZE)\n".to_owned();
    let insert = Action::Insert { what: Insertion::Code(code), place: Place::Top };
    scene.transformation.passes = vec![pass("add", vec![step(Region::Macros, insert)], Effect::KeepsResults)];
    let applied = scene.play().result.expect("applied");
    assert_eq!(applied.attempts, []);
    assert_eq!(applied.context.regions.macros, "#define TILES (TILE_K_SIZE)\n");
}

#[test]
fn a_mechanical_step_that_cannot_be_carried_out_says_why() {
    let mut scene = Scene::new(&[]);
    let rename = Action::Rename { from: "nothing".to_owned(), to: "something".to_owned() };
    scene.transformation.passes = vec![pass("rename", vec![step(Region::DeviceCode, rename)], Effect::KeepsResults)];
    let rejected = scene.play().result.expect_err("it cannot be done");
    assert_eq!(rejected.failure.class, FailureClass::Apply);
    assert_eq!(rejected.diagnostic.to_string(), "pass `rename`: there is no identifier `nothing` in the device code");
}

#[test]
fn requirements_are_replaced_and_parameters_retired() {
    use peak_grammar::ir::{CompareOp, Condition, Expr, Requirement};
    let mut scene = Scene::new(&[good(), good(), good(), good()]);
    let condition = Condition::Compare(CompareOp::LessOrEqual, super::fixture::name("TILE_K_SIZE"), Expr::Integer(32));
    let new = Requirement { name: "requirement-1".to_owned(), condition, added_by: None };
    scene.transformation.passes[0].replaces = vec![new];
    scene.transformation.passes[0].retires = vec!["BLOCK_Y".to_owned()];
    // A region that no pass changes would be told of before anybody is asked.
    let mut host = scene.transformation.passes[0].clone();
    (host.replaces, host.retires, host.checks) = (Vec::new(), Vec::new(), Vec::new());
    host.name = "host".to_owned();
    host.steps = vec![super::fixture::words(peak_grammar::ir::Region::HostCode, &["Leave BLOCK_Y out.\n"])];
    scene.transformation.passes.push(host);
    let rejected = scene.play().result.expect_err("the kernel still uses it");
    assert_eq!(rejected.attempts[0].code.as_deref(), Some("peak::answer-uses-retired"));
    assert!(rejected.failure.message.contains("`BLOCK_Y`"), "{}", rejected.failure.message);
}

#[test]
fn a_repair_that_does_not_come_tells_both_failures() {
    let mut scene = Scene::new(&[good()]);
    scene.compiles = vec![compile_error("device code")];
    let rejected = scene.play().result.expect_err("no repair comes");
    let classes: Vec<_> = rejected.attempts.iter().filter_map(|attempt| attempt.class).collect();
    assert_eq!(classes, [FailureClass::Compile, FailureClass::Provider]);
    let told = rejected.diagnostic.to_string();
    assert!(told.contains("use of an undeclared identifier") && told.contains("no repair came"), "{told}");
}

#[test]
fn hostile_answers_are_rejected_and_do_not_take_forever() {
    for piece in ["(", "enum ", "a<b> ", "#define X", "// ...\n", "for(;;){", "\"", "/*", "A_T ", "{}\n", "\u{0}"] {
        let flood = hlsl_answer(&format!("{}\n", piece.repeat((200 << 10) / piece.len())));
        let mut scene = Scene::new(&[flood]);
        scene.transformation.known_failures = super::fixture::prose(&[]);
        let rejected = scene.play().result.expect_err("no kernel");
        let first = rejected.attempts.first().expect("one attempt");
        assert_eq!(first.class, Some(FailureClass::Apply), "{piece:?}");
        assert!(first.message.as_ref().is_some_and(|message| message.len() < 2000), "{piece:?}");
    }
}
