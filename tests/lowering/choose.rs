//! A choice among transformations: what is asked, which answers count, and what becomes of the others.

use super::fixture::{HLSL, Scripted, facts, matmul, planned, prose, templates, tiling};
use peak::lowering::{Choice, Choosing, LoweringError, Surroundings, choose};
use peak::plan::TransformationPlan;
use peak::provider::{FolderSource, Record, Recorded, Scrubber};
use peak::runner::FailureClass;
use peak_grammar::ir::Expectation;

/// Two transformations, bound to the naive kernel.
fn candidates() -> Vec<TransformationPlan> {
    let mut other = tiling();
    other.name = "stage-rows".to_owned();
    other.title = Some("Stage rows in shared memory".to_owned());
    other.because = prose(&["A row of ", "{LEFT}", " is read by every thread of a block.\n"]);
    other.expects = vec![Expectation { counter: "global_load_bytes".to_owned(), falls: true, factor: 4.0 }];
    other.introduces.clear();
    other.requires.clear();
    let context = matmul();
    vec![planned(&context, &tiling()), planned(&context, &other)]
}

fn asked(provider: &dyn peak::provider::Provider, candidates: &[TransformationPlan], repairs: u32) -> Choice {
    let (context, templates, facts) = (matmul(), templates(), facts());
    choose(&Choosing {
        context: &context,
        candidates,
        provider,
        templates: &templates,
        surroundings: Surroundings { spelling: &HLSL, device: None, facts: &facts },
        known: &["At n = 2048: 17.2 GFLOP.".to_owned()],
        repairs,
    })
}

fn scripted(answers: &[&str], repairs: u32) -> (Choice, Scripted) {
    let provider = Scripted::new(&answers.iter().map(|answer| (*answer).to_owned()).collect::<Vec<_>>());
    (asked(&provider, &candidates(), repairs), provider)
}

#[test]
fn the_prompt_lists_the_candidates_with_why() {
    let (choice, provider) = scripted(&["```text\nstage-rows\n```\n"], 3);
    assert_eq!(choice.chosen.ok(), Some(1));
    let seen = provider.seen.lock().expect("nobody else holds it");
    let request = &seen[0];
    assert_eq!(request.identity.stem(), "choose.split-loop+stage-rows.choice");
    insta::assert_snapshot!(request.prompt);
}

#[test]
fn a_name_counts_in_a_block_in_backticks_or_bare() {
    for answer in
        ["```\nsplit-loop\n```", "`split-loop`", "  split-loop \n", "```text\nsplit-loop\n```\n```notes\nwhy\n```"]
    {
        assert_eq!(scripted(&[answer], 0).0.chosen.ok(), Some(0), "{answer}");
    }
}

#[test]
fn any_other_answer_is_rejected_and_repaired_with_the_word_why() {
    let (choice, provider) = scripted(&["tensor-core", "```text\nsplit-loop, stage-rows\n```", "split-loop"], 3);
    assert_eq!(choice.chosen.ok(), Some(0));
    let classes: Vec<_> = choice.attempts.iter().map(|one| one.failure.as_ref().map(|why| why.class)).collect();
    assert_eq!(classes, [Some(FailureClass::Apply), Some(FailureClass::Apply), None]);
    let seen = provider.seen.lock().expect("nobody else holds it");
    assert!(seen[1].prompt.contains("the answer is `tensor-core`, which is none of: split-loop, stage-rows"));
    assert!(!seen[0].prompt.contains("An earlier answer failed"));
    let keys: Vec<&str> = seen.iter().map(|request| request.key.as_str()).collect();
    assert!(keys[0] != keys[1] && keys[1] != keys[2], "each repair is another question");
}

#[test]
fn repairs_are_bounded() {
    let (choice, provider) = scripted(&["a", "b", "c", "d"], 2);
    let (failure, error) = choice.chosen.expect_err("none is a name");
    assert_eq!((failure.class, choice.attempts.len()), (FailureClass::Apply, 3));
    assert_eq!(provider.seen.lock().expect("nobody else holds it").len(), 3);
    let code = miette::Diagnostic::code(&error).map(|code| code.to_string());
    assert_eq!(code.as_deref(), Some("peak::answer-unknown-choice"));
}

#[test]
fn no_answer_is_the_providers_failure() {
    let (choice, _) = scripted(&[], 2);
    let (failure, error) = choice.chosen.expect_err("nobody answers");
    assert_eq!(failure.class, FailureClass::Provider);
    assert!(matches!(error, LoweringError::Provider(_)), "{error}");
    let (choice, _) = scripted(&["tensor-core"], 2);
    assert!(matches!(choice.chosen.expect_err("no repair comes").1, LoweringError::Unrepaired { .. }));
}

#[test]
fn a_choice_is_recorded_and_replayed_as_other_answers_are() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let scripted = Scripted::new(&["nothing".to_owned(), "stage-rows".to_owned()]);
    let record = Record::new(Box::new(scripted), folder.path(), Scrubber::new([]));
    assert_eq!(asked(&record, &candidates(), 1).chosen.ok(), Some(1));
    let recorded = Recorded::new(vec![Box::new(FolderSource::new(folder.path()))]);
    let replayed = asked(&recorded, &candidates(), 1);
    assert_eq!((replayed.chosen.ok(), replayed.attempts.len()), (Some(1), 2));
    // Another list is another question.
    let mut fewer = candidates();
    fewer.pop();
    let (failure, _) = asked(&recorded, &fewer, 1).chosen.expect_err("nobody recorded it");
    assert!(failure.message.contains("a choice"), "{failure}");
}
