//! The conformance suite as a plain program, for machines with a GPU and without cargo: a line a test, exit code 1 where
//! one fails or nothing can run.
//!
//! `cargo build -p peak-backend-cuda --example conformance`, then copy `target/debug/examples/conformance` there. A skip
//! counts as a failure unless `PEAK_REQUIRE` is set to something else than `cuda`.

use peak_backend_api::conformance::{self, Kernels, Subject};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

const KERNELS: Kernels = Kernels {
    source: include_str!("../tests/kernels/elementwise.cu"),
    broken: include_str!("../tests/kernels/broken.cu"),
    lost_argument: include_str!("../tests/kernels/lost_argument.cu"),
    wrong_block: None,
    shared: include_str!("../tests/kernels/shared.cu"),
};

type Test = (&'static str, fn(&Subject));

const TESTS: &[Test] = &[
    ("sources_compile_and_reflect", conformance::sources_compile_and_reflect),
    ("messages_point_into_their_piece", conformance::messages_point_into_their_piece),
    ("an_unknown_entry_is_a_mismatch", conformance::an_unknown_entry_is_a_mismatch),
    ("a_lost_argument_is_a_mismatch", conformance::a_lost_argument_is_a_mismatch),
    ("a_wrong_block_is_a_mismatch", conformance::a_wrong_block_is_a_mismatch),
    ("limits_are_kept", conformance::limits_are_kept),
    ("garbage_is_an_error", conformance::garbage_is_an_error),
    ("vectors_add", conformance::vectors_add),
    ("scalars_arrive", conformance::scalars_arrive),
    ("steps_see_those_before", conformance::steps_see_those_before),
    ("patterns_fill", conformance::patterns_fill),
    ("bytes_come_back", conformance::bytes_come_back),
    ("buffers_have_bounds", conformance::buffers_have_bounds),
    ("launches_have_limits", conformance::launches_have_limits),
    ("timing_is_sane", conformance::timing_is_sane),
    ("devices_are_described", conformance::devices_are_described),
];

fn main() -> ExitCode {
    if std::env::var_os("PEAK_REQUIRE").is_none() {
        // SAFETY: no other thread runs yet.
        unsafe { std::env::set_var("PEAK_REQUIRE", "cuda") };
    }
    describe();
    let failed = TESTS.iter().filter(|test| !passes(test)).count();
    println!("{} passed, {failed} failed", TESTS.len() - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn describe() {
    let backend = peak_backend_cuda::backend();
    for tool in backend.toolchains() {
        let version = tool.version.as_deref().unwrap_or("none");
        println!("{:<8} {version} {}", tool.name, tool.place);
    }
    for runtime in backend.runtimes() {
        match runtime.devices() {
            Ok(devices) => devices.iter().for_each(|device| println!("{device:#?}")),
            Err(error) => println!("{}: {error}", runtime.name()),
        }
    }
}

fn passes((name, test): &Test) -> bool {
    let subject = Subject { backend: peak_backend_cuda::backend(), kernels: KERNELS };
    // The panic's own words go to standard error.
    let passed = catch_unwind(AssertUnwindSafe(|| test(&subject))).is_ok();
    println!("{} {name}", if passed { "pass" } else { "FAIL" });
    passed
}
