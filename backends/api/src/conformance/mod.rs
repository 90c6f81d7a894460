//! What every backend must do, as tests: [`conformance!`](crate::conformance!) instantiates the suite for one.
//!
//! A backend brings the same kernels in its own language ([`Kernels`]); the suite holds the expectations. It never knows
//! a language. Where the toolchain or a device is missing a test prints a counted skip and passes; `PEAK_REQUIRE=hlsl`
//! (a list of backends, separated by commas) turns that skip into a failure.

mod compiling;
mod running;

pub use compiling::*;
pub use running::*;

use crate::{
    Artifact, Backend, CompileError, CompileRequest, Device, EntryArgument, EntryArgumentKind, EntryRequest,
    PreludeSpec, SourcePiece,
};
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};

/// The suite's kernels in one language. Every entry's blocks are `BLOCK_X` by 1 by 1 threads; elements are `ELEMENT`.
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
    /// Two entries: `add` with `C[i] = A[i] + B[i]` and `scale` with `C[i] = A[i] * factor + offset`, both for `i < n`.
    /// `add` takes A, B, C, n; `scale` takes A, C, factor (of `ELEMENT`), n, offset (an int).
    pub source: &'static str,
    /// As `add`, with one error of the language on line 3.
    pub broken: &'static str,
    /// As `add`, without the argument `B` or any mention of it.
    pub lost_argument: &'static str,
    /// As `add`, with twice `BLOCK_X` threads a block, where code fixes them; else `None`.
    pub wrong_block: Option<&'static str>,
    /// As `add`, staged through `ELEMENT` shared memory of `SHARED_ELEMENTS` elements.
    pub shared: &'static str,
}

/// A backend with its kernels.
pub struct Subject {
    /// The backend.
    pub backend: Box<dyn Backend>,
    /// The kernels in its language.
    pub kernels: Kernels,
}

/// Threads a block in every launch of the suite.
pub const BLOCK: u32 = 32;

/// The tests of the suite for one backend: `conformance!(backend(), KERNELS);` in a test file.
#[macro_export]
macro_rules! conformance {
    ($backend:expr, $kernels:expr) => {
        $crate::conformance!(@tests $backend, $kernels;
            sources_compile_and_reflect, messages_point_into_their_piece, an_unknown_entry_is_a_mismatch,
            a_lost_argument_is_a_mismatch, a_wrong_block_is_a_mismatch, limits_are_kept, garbage_is_an_error,
            vectors_add, scalars_arrive, steps_see_those_before, patterns_fill, bytes_come_back,
            buffers_have_bounds, launches_have_limits, timing_is_sane, devices_are_described);
    };
    (@tests $backend:expr, $kernels:expr; $($name:ident),+) => {
        $(
            #[test]
            fn $name() {
                let subject = $crate::conformance::Subject { backend: $backend, kernels: $kernels };
                $crate::conformance::$name(&subject);
            }
        )+
    };
}

/// Prints a counted skip, or fails where the backend is required.
fn skip(subject: &Subject, reason: &str) {
    static SKIPPED: AtomicU32 = AtomicU32::new(0);
    let name = subject.backend.name();
    let required = std::env::var("PEAK_REQUIRE").unwrap_or_default();
    assert!(
        !required.split(',').any(|it| it.trim() == name),
        "PEAK_REQUIRE names {name}, and a test cannot run: {reason}"
    );
    let count = SKIPPED.fetch_add(1, Ordering::Relaxed) + 1;
    // Past the capture of the test harness: a skip is always seen.
    let _ = writeln!(std::io::stderr(), "skipped ({count}) for {name}: {reason}");
}

/// The backend's first device, or a skip.
fn device(subject: &Subject) -> Option<Box<dyn Device>> {
    let runtimes = subject.backend.runtimes();
    let mut reasons = Vec::new();
    for runtime in &runtimes {
        match runtime.open(0) {
            Ok(device) => return Some(device),
            Err(error) => reasons.push(error.to_string()),
        }
    }
    skip(subject, &reasons.join("; "));
    None
}

/// Compiles, or skips where the toolchain is missing.
fn compile(subject: &Subject, request: &CompileRequest) -> Option<Result<Artifact, CompileError>> {
    match subject.backend.compile(request) {
        Err(error @ CompileError::Toolchain { .. }) => {
            skip(subject, &error.to_string());
            None
        }
        result => Some(result),
    }
}

fn compiled(subject: &Subject) -> Option<Artifact> {
    let result = compile(subject, &request(subject, subject.kernels.source, vec![add_entry(), scale_entry()]))?;
    Some(result.unwrap_or_else(|error| panic!("the suite's kernels compile: {error}")))
}

fn request(subject: &Subject, device_code: &str, entries: Vec<EntryRequest>) -> CompileRequest {
    let prelude = subject.backend.prelude(&PreludeSpec {
        element: "f32".to_owned(),
        accumulator: "f32".to_owned(),
        argument_types: ["A", "B", "C"].map(|name| (name.to_owned(), "f32".to_owned())).into(),
        configuration: vec![("BLOCK_X".to_owned(), i64::from(BLOCK)), ("SHARED_ELEMENTS".to_owned(), 1024)],
    });
    let piece = |name: &str, text: &str| SourcePiece { name: name.to_owned(), text: text.to_owned() };
    let target = device_target(subject);
    CompileRequest {
        pieces: vec![piece("prelude", &prelude), piece("macros", ""), piece("device code", device_code)],
        entries,
        target,
        shared_bytes_limit: None,
        threads_limit: None,
    }
}

fn device_target(subject: &Subject) -> String {
    let runtimes = subject.backend.runtimes();
    let devices = runtimes.iter().filter_map(|runtime| runtime.devices().ok()).flatten();
    devices.filter_map(|device| device.target).next().unwrap_or_default()
}

fn add_entry() -> EntryRequest {
    let arguments = vec![array("A", false), array("B", false), array("C", true), scalar("n")];
    EntryRequest { name: "add".to_owned(), block: [BLOCK, 1, 1], arguments }
}

fn scale_entry() -> EntryRequest {
    let arguments = vec![array("A", false), array("C", true), scalar("factor"), scalar("n"), scalar("offset")];
    EntryRequest { name: "scale".to_owned(), block: [BLOCK, 1, 1], arguments }
}

fn array(name: &str, writable: bool) -> EntryArgument {
    EntryArgument { name: name.to_owned(), kind: EntryArgumentKind::Array { element_bytes: 4, writable } }
}

fn scalar(name: &str) -> EntryArgument {
    EntryArgument { name: name.to_owned(), kind: EntryArgumentKind::Scalar { bytes: 4 } }
}
