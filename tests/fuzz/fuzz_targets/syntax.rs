//! Bytes as a `.peak` file: cut into lines and tokens, parsed, and resolved together with nothing else.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use peak_fuzz::{bound::within_a_second, seeds, text};
use peak_grammar::SourceFile;

fuzz_target!(|bytes: &[u8]| {
    let files = [SourceFile { name: "fuzzed.peak".to_owned(), bytes: bytes.to_vec() }];
    let (_, parsed) = within_a_second(|| peak_grammar::parse(&files[0]));
    let (_, loaded) = within_a_second(|| peak_grammar::load(&files));
    for diagnostic in parsed.iter().chain(&loaded) {
        assert!(!diagnostic.message.is_empty(), "{diagnostic:?}");
        assert!(diagnostic.span.end <= bytes.len().max(1), "{diagnostic:?} points outside of the file");
    }
});

fuzz_mutator!(|bytes: &mut [u8], size: usize, max: usize, seed: u32| {
    text::mutate(seeds::peak_files(), bytes, size, max, seed)
});
