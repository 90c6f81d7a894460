//! The conformance suite's running half, for every backend on every runtime of no backend that takes its artifacts: CUDA's
//! kernels on the simulator. A backend on its own runtime is tested in its own crate.

use peak::backends::{BACKENDS, RUNTIMES};
use peak_backend_api::conformance::{Kernels, RUNNING, Subject, Test};
use std::panic::{AssertUnwindSafe, catch_unwind};

const CUDA: Kernels = Kernels {
    source: include_str!("../backends/cuda/tests/kernels/elementwise.cu"),
    broken: include_str!("../backends/cuda/tests/kernels/broken.cu"),
    lost_argument: include_str!("../backends/cuda/tests/kernels/lost_argument.cu"),
    wrong_block: None,
    shared: include_str!("../backends/cuda/tests/kernels/shared.cu"),
    widths: Some(include_str!("../backends/cuda/tests/kernels/widths.cu")),
};

/// The suite's kernels in a backend's language.
fn kernels(backend: &str) -> Kernels {
    match backend {
        "cuda" => CUDA,
        other => panic!("a runtime takes {other}'s artifacts: give its kernels here"),
    }
}

#[test]
fn runtimes_of_no_backend_conform() {
    let mut failed = Vec::new();
    for make in BACKENDS {
        for runtime in RUNTIMES {
            let (backend, runtime) = (make(), runtime());
            if !backend.artifacts().iter().any(|kind| runtime.accepts(*kind)) {
                continue;
            }
            let pair = format!("{} on {}", backend.name(), runtime.name());
            let kernels = kernels(backend.name());
            let subject = Subject { backend, runtime: Some(runtime), kernels };
            failed.extend(
                RUNNING.iter().filter(|test| !passes(test, &subject)).map(|(name, _)| format!("{pair}: {name}")),
            );
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

/// The panic's own words go to standard error.
fn passes((_, test): &Test, subject: &Subject) -> bool {
    catch_unwind(AssertUnwindSafe(|| test(subject))).is_ok()
}
