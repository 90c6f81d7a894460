//! The conformance suite as a plain program, for machines with a GPU and without cargo: a line a test, exit code 1 where
//! one fails or nothing can run.
//!
//! `cargo build -p peak-backend-cuda --example conformance`, then copy `target/debug/examples/conformance` there. A skip
//! counts as a failure unless `PEAK_REQUIRE` is set to something else than `cuda`.

use peak_backend_api::conformance::{COMPILING, Kernels, RUNNING, Subject, Test};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

const KERNELS: Kernels = Kernels {
    source: include_str!("../tests/kernels/elementwise.cu"),
    broken: include_str!("../tests/kernels/broken.cu"),
    lost_argument: include_str!("../tests/kernels/lost_argument.cu"),
    wrong_block: None,
    shared: include_str!("../tests/kernels/shared.cu"),
    widths: Some(include_str!("../tests/kernels/widths.cu")),
};

fn main() -> ExitCode {
    if std::env::var_os("PEAK_REQUIRE").is_none() {
        // SAFETY: no other thread runs yet.
        unsafe { std::env::set_var("PEAK_REQUIRE", "cuda") };
    }
    describe();
    let tests = || COMPILING.iter().chain(RUNNING);
    let failed = tests().filter(|test| !passes(test)).count();
    println!("{} passed, {failed} failed", tests().count() - failed);
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
    let subject = Subject { backend: peak_backend_cuda::backend(), runtime: None, kernels: KERNELS };
    // The panic's own words go to standard error.
    let passed = catch_unwind(AssertUnwindSafe(|| test(&subject))).is_ok();
    println!("{} {name}", if passed { "pass" } else { "FAIL" });
    passed
}
