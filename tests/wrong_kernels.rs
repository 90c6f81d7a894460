//! Five wrong kernels and their right twin on a real device: each is caught, with words on the pattern of its error.

use crate::vulkan;
use peak::context::KernelContext;
use peak::library::{Loaded, Standard, load};
use peak::runner::{Failure, FailureClass};
use peak::session::{Machine, start_context};
use peak::validate::outputs::CheckPlan;
use peak::validate::{Candidate, OutputsValidator, Validator, Verified};
use peak_backend_api::DeviceKind;
use std::path::PathBuf;
use std::time::Duration;

fn library() -> Loaded {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/wrong/wrong.peak"));
    let loaded = load(&[file], Standard::from_environment());
    assert!(loaded.errors().next().is_none(), "{:?}", loaded.diagnostics);
    loaded
}

fn context(loaded: &Loaded, kernel: &str) -> KernelContext {
    start_context(loaded, kernel, "hlsl").expect("the suite has its source")
}

/// What the validator says of a kernel whose right twin is the reference; `None` without a device.
fn judged(kernel: &str) -> Option<Result<Verified, Failure>> {
    let loaded = library();
    let mut machine = vulkan::machine(&loaded.ir)?;
    Some(validated(&mut machine, &context(&loaded, "tiled"), &context(&loaded, kernel)))
}

fn validated(machine: &mut Machine, twin: &KernelContext, context: &KernelContext) -> Result<Verified, Failure> {
    let plan = CheckPlan::default();
    let mut validator = OutputsValidator::new(twin, &twin.start(), plan).expect("the oracle compiles");
    let parts = machine.parts();
    let configurations = [context.start()];
    let candidate = Candidate {
        context,
        configurations: &configurations,
        timed: &[],
        backend: parts.backend,
        facts: parts.facts,
        deadline: Duration::from_secs(60),
    };
    validator.validate(&candidate, parts.compile, parts.execute)
}

/// The words of a failure, one a line.
fn words(kernel: &str) -> Option<String> {
    let failure = judged(kernel)?.expect_err("it is wrong");
    assert_eq!(failure.class, FailureClass::Results, "{failure:?}");
    Some(format!("{}\n{}", failure.message, failure.facts.join("\n")))
}

#[test]
fn the_right_twin_passes() {
    let Some(verdict) = judged("tiled") else { return };
    let verified = verdict.expect("it is right");
    assert!(verified.samples >= 4 && verified.seeds >= 2, "{verified:?}");
    assert!(verified.largest_error <= 1.0, "{verified:?}");
    assert!(verified.notes.is_empty(), "{verified:?}");
}

#[test]
fn the_last_tile_dropped() {
    let Some(words) = words("last-tile-dropped") else { return };
    insta::assert_snapshot!(words);
}

#[test]
fn zeros_stored() {
    let Some(words) = words("zeros") else { return };
    insta::assert_snapshot!(words);
}

#[test]
fn operands_swapped() {
    let Some(words) = words("operands-swapped") else { return };
    insta::assert_snapshot!(words);
}

#[test]
fn one_row_out_of_bounds() {
    let Some(words) = words("row-out-of-bounds") else { return };
    insta::assert_snapshot!(words);
}

/// What a race leaves differs from device to device: on a software device it is told as one, elsewhere it is wrong.
#[test]
fn a_barrier_left_out() {
    let Some(words) = words("barrier-left-out") else { return };
    let software = vulkan::device().is_some_and(|(_, device)| device.kind == DeviceKind::Software);
    assert!(words.contains("barrier is missing") || words.contains("a missing barrier") || !software, "{words}");
}
