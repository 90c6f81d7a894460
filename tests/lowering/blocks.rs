//! Search/replace blocks as a format that is asked for: only for long regions, and with another word on what failed.

use super::fixture::{Log, Scripted, ScriptedJudge, facts, lowering, matmul, planned, templates, tiling};
use peak::context::KernelContext;
use peak::lowering::{AnswerFormat, LONG_REGION_LINES, apply_transformation};
use peak::session::ProviderChoice;
use std::collections::BTreeMap;

/// The naive kernel, made long by functions that it does not use.
fn long() -> KernelContext {
    let mut context = matmul();
    let unused: String =
        (0..LONG_REGION_LINES).map(|index| format!("float unused_{index}() {{ return {index}; }}\n")).collect();
    context.regions.device_code = format!("{unused}{}", context.regions.device_code);
    context
}

/// The prompts of a model that is asked for blocks and answers so.
fn prompts(context: &KernelContext, format: AnswerFormat, answers: &[String]) -> (Vec<String>, Option<KernelContext>) {
    let (provider, templates, facts) = (Scripted::new(answers), templates(), facts());
    let (mut judge, mut log) = (ScriptedJudge::default(), Log::default());
    let plan = planned(context, &tiling());
    let mut lowering = lowering(&provider, &templates, &facts, &mut judge, &mut log);
    lowering.format = format;
    let result = apply_transformation(context, &plan, &mut lowering);
    let seen = provider.seen.lock().expect("no test panics while it holds this");
    (seen.iter().map(|request| request.prompt.clone()).collect(), result.ok().map(|applied| applied.context))
}

fn block(search: &str, replace: &str) -> String {
    format!("<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n")
}

const LOOP: &str = "    for (uint k = 0; k < n; ++k) {\n        sum += A[id.y * n + k] * B[k * n + id.x];\n    }\n";
const SPLIT: &str = "    for (uint k0 = 0; k0 < n; k0 += TILE_K_SIZE) {\n        for (uint k = k0; k < k0 + TILE_K_SIZE; ++k) {\n            sum += A[id.y * n + k] * B[k * n + id.x];\n        }\n    }\n";

#[test]
fn a_long_region_is_asked_for_in_blocks_and_a_short_one_whole() {
    let (asked, _) = prompts(&matmul(), AnswerFormat::Blocks, &[]);
    let (whole, _) = prompts(&matmul(), AnswerFormat::Whole, &[]);
    assert_eq!(asked, whole, "a short region reads the same in either format");
    let (asked, _) = prompts(&long(), AnswerFormat::Blocks, &[]);
    let (rules, _) = asked[0].split_once("# 2. ").expect("the second part");
    insta::assert_snapshot!(rules);
}

#[test]
fn blocks_apply_to_a_long_region_and_a_failed_search_is_told_with_the_nearest_lines() {
    let wrong = format!("```hlsl\n{}```\n", block(&LOOP.replace("sum +=", "total +="), SPLIT));
    let right = format!("```hlsl\n{}```\n", block(LOOP, SPLIT));
    let (asked, after) = prompts(&long(), AnswerFormat::Blocks, &[wrong, right]);
    let expected = long().regions.device_code.replace(LOOP, SPLIT);
    assert_eq!(after.expect("the second answer is right").regions.device_code, expected);
    let (_, repair) = asked[1].split_once("# An earlier answer failed").expect("the repair");
    insta::assert_snapshot!(repair);
}

#[test]
fn the_configuration_says_which_model_is_asked_how() {
    let formats = BTreeMap::from([("a-large-model".to_owned(), AnswerFormat::Blocks)]);
    let choice = |model: Option<&str>| ProviderChoice {
        model: model.map(str::to_owned),
        formats: formats.clone(),
        ..ProviderChoice::default()
    };
    assert_eq!(choice(Some("a-large-model")).format(), AnswerFormat::Blocks);
    assert_eq!([choice(Some("another")).format(), choice(None).format()], [AnswerFormat::Whole; 2]);
}

#[test]
fn a_search_that_stands_there_twice_is_told_with_its_places() {
    let mut context = long();
    context.regions.device_code = format!("float twice;\n{}float twice;\n", context.regions.device_code);
    let answer = format!("```hlsl\n{}```\n", block("float twice;\n", "float once;\n"));
    let (asked, after) = prompts(&context, AnswerFormat::Blocks, &[answer]);
    assert!(after.is_none(), "nobody repairs it");
    let last = context.regions.device_code.lines().count();
    assert!(asked[1].contains(&format!("stands 2 times in the device code: at lines 1, {last}")), "{}", asked[1]);
}
