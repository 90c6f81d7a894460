//! What kernels execute on the simulator, against numbers that were worked out by hand; what `peak profile` makes of it.

#[path = "count/cases.rs"]
mod cases;

use crate::program::{folder, peak};
use cases::{Case, cases, cuda, open};
use peak::inspect::{METRICS, Standing, executed, metric};
use peak_backend_api::Backend;
use std::path::Path;

/// CUDA's compiler; without it a counted skip, or a failure where `PEAK_REQUIRE` holds `cuda`.
fn compiler() -> Option<Box<dyn Backend>> {
    match cuda() {
        Ok(cuda) => Some(cuda),
        Err(lacking) => {
            let required = std::env::var("PEAK_REQUIRE").unwrap_or_default();
            assert!(!required.split(',').any(|name| name == "cuda"), "PEAK_REQUIRE names cuda: there is no {lacking}");
            eprintln!("skipped (1): there is no {lacking}");
            None
        }
    }
}

fn all() -> Vec<Case> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/count"));
    cases(folder).unwrap_or_else(|error| panic!("{error}"))
}

/// Every metric of a case: by name, expected, found.
fn compared(case: &Case, cuda: &dyn Backend) -> Vec<(&'static str, u64, u64)> {
    let mut sim = open(cuda, "sim").expect("it is always there");
    let (program, plan) = case.set_up(cuda, sim.as_mut()).unwrap_or_else(|error| panic!("{error}"));
    let launches = sim.count(program, &plan.sequence, None).unwrap_or_else(|error| panic!("{}: {error}", case.name()));
    let [entry] = &executed(&launches)[..] else { panic!("{}: one entry", case.name()) };
    let listed = |name: &str| case.entry.counts.get(name).copied();
    let same = METRICS.iter().filter(|it| it.standing == Standing::Same && !it.name.ends_with("_bytes"));
    let other = METRICS.iter().filter(|it| it.standing != Standing::Same && listed(it.name).is_some());
    same.chain(other).map(|it| (it.name, listed(it.name).unwrap_or(0), entry.sum(it))).collect()
}

#[test]
fn kernels_execute_what_was_worked_out_by_hand() {
    let Some(cuda) = compiler() else { return };
    let mut wrong = Vec::new();
    for case in all() {
        if let Some(unknown) = case.entry.counts.keys().find(|name| metric(name).is_none()) {
            panic!("{}: there is no metric {unknown}", case.name());
        }
        for (name, expected, found) in compared(&case, cuda.as_ref()) {
            if expected != found {
                wrong.push(format!("{}: {name} is {found}, expected {expected}", case.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_metric_is_in_a_case_and_in_the_reference() {
    let cases = all();
    let spec = include_str!("../spec/simulator.md");
    for it in METRICS {
        let row =
            format!("| `{}` | {} |", it.name, if it.ncu.is_empty() { "-".to_owned() } else { format!("`{}`", it.ncu) });
        assert!(spec.contains(&row), "spec/simulator.md lacks: {row} {} |", it.what);
        let counted = cases.iter().any(|case| case.entry.counts.contains_key(it.name));
        assert!(counted || it.standing != Standing::Same || it.name.ends_with("_bytes"), "no case counts {}", it.name);
    }
}

fn profile(arguments: &[&str]) -> String {
    let home = folder(&[]);
    let all = [&["profile", "matmul-f32", "--backend", "cuda", "--device", "nvidia-h200", "--at", "n=256"], arguments]
        .concat();
    let outcome = peak(home.path(), &all);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    outcome.out
}

const TILED: [&str; 2] = ["--after", "refactor,tb-tiling"];
const BLOCK: [&str; 4] = ["--config", "BLOCK_X=16", "--config", "BLOCK_Y=16"];

#[test]
fn a_profile_says_what_to_do_next() {
    if compiler().is_none() {
        return;
    }
    let naive = profile(&BLOCK);
    let at = |text: &str, words: &str| text.find(words).unwrap_or_else(|| panic!("no `{words}` in {text}"));
    at(&naive, "the same data is read again and again");
    assert!(!naive.contains("branch apart"), "no thread waits for another: {naive}");
    let tiled = profile(&[&TILED[..], &BLOCK, &["--annotate"]].concat());
    at(&tiled, "Let each thread compute several results");
    insta::assert_snapshot!("profile_executed_naive", naive);
    insta::assert_snapshot!("profile_executed_tiled", tiled);
}

#[test]
fn programs_get_what_was_executed() {
    if compiler().is_none() {
        return;
    }
    let text = profile(&[&BLOCK[..], &["--json", "--blocks", "4"]].concat());
    let event: serde_json::Value = serde_json::from_str(text.trim()).expect("one event");
    let executed = &event["executed"];
    assert_eq!(
        (&executed["source"], &executed["blocks"], &executed["blocks_counted"]),
        (&"simulated".into(), &256.into(), &4.into())
    );
    assert_eq!(executed["metrics"]["fma_f32"], 256_u64.pow(3));
    // A warp is 2 rows of 16 threads: 2 sectors of A and 2 of B for each k.
    assert_eq!(executed["metrics"]["global_load_sectors"], 4 * 256_u64.pow(3) / 32);
    assert!(executed["lines"].as_array().is_some_and(|lines| !lines.is_empty()));
    assert!(executed["findings"].as_array().is_some_and(|found| !found.is_empty()));
    let text = profile(&[&BLOCK[..], &["--json", "--static"]].concat());
    let event: serde_json::Value = serde_json::from_str(text.trim()).expect("one event");
    assert!(event["executed"].is_null() && event["not_executed"].is_null());
}
