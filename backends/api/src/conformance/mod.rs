//! What every backend must do, as tests: [`conformance!`](crate::conformance!) instantiates the suite for one.
//! [`RUNNING`] is the part that a runtime of no backend must pass too, paired with a backend whose artifacts it takes.
//!
//! A backend brings the same kernels in its own language ([`Kernels`]); the suite holds the expectations. It never knows
//! a language. Where the toolchain or a device is missing a test prints a counted skip and passes; `PEAK_REQUIRE=hlsl`
//! (a list of backends, separated by commas) turns that skip into a failure.

mod compiling;
mod edges;
mod running;

pub use compiling::*;
pub use edges::*;
pub use running::*;

use crate::{
    Artifact, Backend, CompileError, CompileRequest, Device, EntryArgument, EntryArgumentKind, EntryRequest,
    PreludeSpec, Runtime, SourcePiece,
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
    /// An entry `widths` that takes C and the integers a, b, c, d of 1, 2, 4 and 8 bytes, and writes them to the first
    /// elements of C; `None` where the language has not all of these.
    pub widths: Option<&'static str>,
}

/// A backend with its kernels.
pub struct Subject {
    /// The backend.
    pub backend: Box<dyn Backend>,
    /// Where its artifacts run; `None` for the first of its own runtimes that has a device.
    pub runtime: Option<Box<dyn Runtime>>,
    /// The kernels in its language.
    pub kernels: Kernels,
}

/// Threads a block in every launch of the suite.
pub const BLOCK: u32 = 32;

/// A test of the suite, by its name.
pub type Test = (&'static str, fn(&Subject));

crate::conformance!(@with_names tables);

/// The tests of the suite for one backend: `conformance!(backend(), KERNELS);` in a test file.
#[macro_export]
macro_rules! conformance {
    // The list, which both rules below it read.
    (@with_names $rule:ident $($arguments:tt)*) => {
        $crate::conformance!(@$rule [$($arguments)*]
            sources_compile_and_reflect, messages_point_into_their_piece, an_unknown_entry_is_a_mismatch,
            a_lost_argument_is_a_mismatch, a_wrong_block_is_a_mismatch, limits_are_kept, garbage_is_an_error;
            vectors_add, scalars_arrive, scalars_of_every_width_arrive, steps_see_those_before, patterns_fill,
            bytes_come_back, buffers_have_bounds, buffers_of_any_size, launches_have_limits, a_refusal_is_forgotten,
            a_write_past_the_end_stays_there, programs_stand_side_by_side, an_unloaded_program_is_named, timing_is_sane,
            devices_are_described);
    };
    (@tests [$backend:expr, $kernels:expr] $($compiling:ident),+; $($running:ident),+) => {
        $crate::conformance!(@test $backend, $kernels; $($compiling),+, $($running),+);
    };
    (@test $backend:expr, $kernels:expr; $($name:ident),+) => {
        $(
            #[test]
            fn $name() {
                let subject = $crate::conformance::Subject { backend: $backend, runtime: None, kernels: $kernels };
                $crate::conformance::$name(&subject);
            }
        )+
    };
    (@tables [] $($compiling:ident),+; $($running:ident),+) => {
        /// What a compiler must do.
        pub const COMPILING: &[Test] = &[$((stringify!($compiling), $compiling)),+];
        /// What a runtime must do.
        pub const RUNNING: &[Test] = &[$((stringify!($running), $running)),+];
    };
    ($backend:expr, $kernels:expr) => {
        $crate::conformance!(@with_names tests $backend, $kernels);
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

/// Calls `visit` with each runtime of a subject.
fn each_runtime(subject: &Subject, visit: &mut dyn FnMut(&dyn Runtime)) {
    match &subject.runtime {
        Some(runtime) => visit(runtime.as_ref()),
        None => subject.backend.runtimes().iter().for_each(|runtime| visit(runtime.as_ref())),
    }
}

/// The subject's first device, or a skip.
fn device(subject: &Subject) -> Option<Box<dyn Device>> {
    let (mut found, mut reasons) = (None, Vec::new());
    each_runtime(subject, &mut |runtime| {
        if found.is_none() {
            found = runtime.open(0).map_err(|error| reasons.push(error.to_string())).ok();
        }
    });
    if found.is_some() {
        return found;
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
    let mut target = None;
    each_runtime(subject, &mut |runtime| {
        let devices = runtime.devices().unwrap_or_default();
        target = target.take().or_else(|| devices.into_iter().find_map(|device| device.target));
    });
    target.unwrap_or_default()
}

fn add_entry() -> EntryRequest {
    let arguments = vec![array("A", false), array("B", false), array("C", true), scalar("n")];
    EntryRequest { name: "add".to_owned(), block: [BLOCK, 1, 1], arguments }
}

fn scale_entry() -> EntryRequest {
    let arguments = vec![array("A", false), array("C", true), scalar("factor"), scalar("n"), scalar("offset")];
    EntryRequest { name: "scale".to_owned(), block: [BLOCK, 1, 1], arguments }
}

fn widths_entry() -> EntryRequest {
    let scalar =
        |(name, bytes): (&str, u32)| EntryArgument { name: name.to_owned(), kind: EntryArgumentKind::Scalar { bytes } };
    let scalars = [("a", 1), ("b", 2), ("c", 4), ("d", 8)].map(scalar);
    let arguments = std::iter::once(array("C", true)).chain(scalars).collect();
    EntryRequest { name: "widths".to_owned(), block: [BLOCK, 1, 1], arguments }
}

fn array(name: &str, writable: bool) -> EntryArgument {
    EntryArgument { name: name.to_owned(), kind: EntryArgumentKind::Array { element_bytes: 4, writable } }
}

fn scalar(name: &str) -> EntryArgument {
    EntryArgument { name: name.to_owned(), kind: EntryArgumentKind::Scalar { bytes: 4 } }
}
