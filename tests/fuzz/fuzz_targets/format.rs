//! A `.peak` file printed in its one form: what is printed is already in it, and nothing of it is lost.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use peak_fuzz::{bound::within_a_second, seeds, text};
use peak_grammar::SourceFile;
use peak_grammar::format::format;

fuzz_target!(|bytes: &[u8]| {
    let file = SourceFile { name: "fuzzed.peak".to_owned(), bytes: bytes.to_vec() };
    let Ok(once) = within_a_second(|| format(&file)) else { return };
    let twice = format(&SourceFile::new("fuzzed.peak", &once));
    assert_eq!(twice.as_deref(), Ok(once.as_str()), "formatting again changes it");
});

fuzz_mutator!(|bytes: &mut [u8], size: usize, max: usize, seed: u32| {
    text::mutate(seeds::peak_files(), bytes, size, max, seed)
});
