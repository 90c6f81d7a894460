//! Each check, with good and bad answers as files in `tests/suite/response/`.
//!
//! A file: `NAME: VALUE` lines (`region`, `backend`, `checks`, `barriers`, `retires`, `expect` a code or `accepted`, `says` a piece of the message), a
//! line `===`, then a completion. It answers the one pass of the tiling transformation, with no repair allowed.

use super::fixture::{HLSL, Log, Scripted, ScriptedJudge, data, facts, matmul, planned, templates, tiling, words};
use peak::lowering::{AnswerFormat, Lowering, Surroundings, apply_transformation, checks::CHECKS};
use peak_backend_api::Spelling;
use peak_grammar::ir::{Check, Region};
use std::collections::BTreeMap;

static CUDA: Spelling = Spelling { fence: "cuda", barrier: "__syncthreads()", ..HLSL };

struct Case<'a> {
    head: BTreeMap<&'a str, &'a str>,
    completion: &'a str,
}

fn read(text: &str) -> Case<'_> {
    let (head, completion) = text.split_once("===\n").expect("a `===` line");
    let head = head.lines().filter_map(|line| line.split_once(": ")).collect();
    Case { head, completion }
}

/// What becomes of a completion: `accepted`, or a code and a message.
fn outcome(case: &Case<'_>) -> (String, String) {
    let get = |name: &str, otherwise: &'static str| case.head.get(name).copied().unwrap_or(otherwise).to_owned();
    let (mut context, mut transformation) = (matmul(), tiling());
    let region = get("region", "device code");
    let region = Region::ALL.into_iter().find(|known| known.words() == region).expect("a region");
    if region != Region::DeviceCode {
        transformation.passes[0].steps = vec![words(region, &["Do it.\n"])];
        transformation.passes[0].checks.clear();
        transformation.introduces.clear();
        transformation.requires.clear();
        context.regions.macros = "#define SQUARE(x) ((x) * (x))\n".to_owned();
    }
    if get("checks", "") == "none" {
        transformation.passes[0].checks.clear();
    }
    if let Some(retired) = case.head.get("retires") {
        transformation.passes[0].retires = vec![(*retired).to_owned()];
        context.requirements.clear();
        // A region that no step changes would be told of before anybody is asked.
        context.regions.host_code = context.regions.host_code.replace(retired, "8");
    }
    if get("barriers", "") == "2" {
        transformation.passes[0].checks = vec![Check::Barriers { region, count: 2 }];
    }
    let cuda = get("backend", "hlsl") == "cuda";
    if cuda {
        context.backend = "cuda".to_owned();
        context.regions.device_code = data("lowering/matmul.cu");
    }
    let (provider, templates, facts) = (Scripted::new(&[case.completion.to_owned()]), templates(), facts());
    let surroundings = Surroundings { spelling: if cuda { &CUDA } else { &HLSL }, device: None, facts: &facts };
    let (mut judge, mut observer) = (ScriptedJudge::default(), Log::default());
    let (judge, observer) = (&mut judge, &mut observer);
    let (provider, templates, format) = (&provider, &templates, AnswerFormat::default());
    let mut lowering = Lowering { provider, templates, surroundings, judge, observer, repairs: 0, format };
    match apply_transformation(&context, &planned(&context, &transformation), &mut lowering) {
        Ok(_) => ("accepted".to_owned(), String::new()),
        Err(rejected) => {
            let last = rejected.attempts.last().expect("one attempt");
            let code = last.code.clone().unwrap_or_else(|| format!("no check: {}", rejected.failure));
            (code, format!("{}\n{}", rejected.failure.message, rejected.failure.facts.join("\n")))
        }
    }
}

#[test]
fn every_answer_has_its_outcome() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/response");
    let mut wrong = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("readable").path();
        let text = std::fs::read_to_string(&path).expect("readable");
        let case = read(&text);
        let (code, message) = outcome(&case);
        let says = case.head.get("says").copied().unwrap_or_default();
        if code != case.head["expect"] || !message.contains(says) {
            wrong.push(format!("{}: {code}: {message}", path.display()));
        }
        seen.insert(code);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let untried: Vec<&str> = CHECKS.iter().map(|check| check.code).filter(|code| !seen.contains(*code)).collect();
    assert!(untried.is_empty(), "no answer in {folder} is rejected by {untried:?}");
}

#[test]
fn codes_are_distinct_and_named_alike() {
    let codes: std::collections::BTreeSet<&str> = CHECKS.iter().map(|check| check.code).collect();
    assert_eq!(codes.len(), CHECKS.len());
    assert!(codes.iter().all(|code| code.starts_with("peak::answer-")));
}
