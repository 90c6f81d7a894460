//! `peak bench` on Mesa's device: contenders are validated, take turns and get a verdict, and what does not compute the same
//! is refused. Nothing here is said of how fast anything is.

use crate::program::{folder, peak};
use crate::vulkan;

const INPUT: i32 = 1;
const USAGE: i32 = 2;

const SMALL: [&str; 4] = ["--backend", "hlsl", "--at", "n=64"];

#[test]
fn contenders_take_turns_with_warm_caches_and_cold() {
    if vulkan::device().is_none() {
        return;
    }
    let home = folder(&[]);
    let arguments = [&["bench", "matmul-f32", "matmul-f32", "--no-validation", "--json"][..], &SMALL].concat();
    let outcome = peak(home.path(), &arguments);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let events = outcome.events();
    let told: Vec<(&str, &str, bool)> = events
        .iter()
        .map(|event| {
            let text = |field: &str| event[field].as_str().expect("text");
            (text("contender"), text("caches"), event["verdict"].is_null())
        })
        .collect();
    let both = |caches| [("matmul-f32", caches, true), ("matmul-f32", caches, false)];
    assert_eq!(told, [both("warm"), both("cold")].concat());
    for event in &events {
        assert!(event["time_ns_median"].as_f64().is_some_and(|time| time > 0.0), "{event}");
        assert!(event["rounds"].as_u64().is_some_and(|rounds| rounds >= 16), "{event}");
        assert!(event["before"].is_null(), "Mesa's device tells no clocks: {event}");
    }
}

#[test]
fn what_does_not_compute_the_same_is_refused() {
    if vulkan::device().is_none() {
        return;
    }
    let home = folder(&[]);
    for (contenders, code, words) in [
        (&["cublas"][..], USAGE, "a library alone does not say what to compute"),
        (&["matmul-f32", "matmul-f33"], INPUT, "there is no kernel or checkpoint `matmul-f33`"),
        (&["matmul-f32", "--at", "m=3"], INPUT, "there is no scalar input `m`"),
    ] {
        let outcome = peak(home.path(), &[&["bench"][..], contenders, &["--backend", "hlsl"]].concat());
        assert_eq!(outcome.code, code, "{contenders:?}: {}", outcome.err);
        assert!(outcome.err.contains(words), "{contenders:?}: {}", outcome.err);
    }
}

#[test]
fn a_library_that_is_not_there_says_so() {
    if vulkan::device().is_none() {
        return;
    }
    let home = folder(&[]);
    let arguments = [&["bench", "matmul-f32", "cublas", "--no-validation"][..], &SMALL].concat();
    let outcome = peak(home.path(), &arguments);
    assert!(outcome.code != 0 && outcome.err.contains("runtime vulkan does not take"), "{}", outcome.err);
}
