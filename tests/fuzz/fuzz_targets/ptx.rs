//! PTX text: read, translated and, in each entry, run for a few thousand instructions.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use peak_fuzz::{guard::Guarded, ptx};

/// The simulated memory stands between pages that nobody may touch.
#[global_allocator]
static ALLOCATOR: Guarded = Guarded;

fuzz_target!(|bytes: &[u8]| ptx::run(bytes));

fuzz_mutator!(|bytes: &mut [u8], size: usize, max: usize, seed: u32| { ptx::mutate(bytes, size, max, seed) });
