//! A `.peak` file printed in its one form: what is printed is already in it, nothing of it is lost, and it means the same.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use peak_fuzz::{bound::within_a_second, grow, seeds};
use peak_grammar::format::{FormatError, format};
use peak_grammar::ir::Library;
use peak_grammar::{SourceFile, load};
use serde_json::Value;

/// What formatting may change: places in the file, and the host region as it was written.
const WRITTEN: [&str; 2] = ["origin", "host_code"];

fuzz_target!(|bytes: &[u8]| {
    let file = SourceFile { name: "fuzzed.peak".to_owned(), bytes: bytes.to_vec() };
    let once = match within_a_second(|| format(&file)) {
        Ok(once) => SourceFile::new("fuzzed.peak", &once),
        Err(FormatError::Changed) => return assert!(has_long_line(bytes), "the formatter changed it"),
        Err(FormatError::Wrong(_)) => return,
    };
    let twice = format(&once);
    assert_eq!(twice.as_deref().map(str::as_bytes), Ok(once.bytes.as_slice()), "formatting again changes it");
    let (before, after) = (meaning(&file), meaning(&once));
    assert_eq!(before.1, after.1, "other diagnostics");
    assert_eq!(before.0, after.0, "another meaning");
});

/// A line near the limit of its length may pass it when it is printed.
fn has_long_line(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == b'\n').any(|line| line.len() > peak_grammar::limits::MAX_LINE_BYTES / 2)
}

/// The IR without what formatting may change, and what is said of the file.
fn meaning(file: &SourceFile) -> (Value, Vec<(&'static str, String)>) {
    let (library, found): (Library, _) = load(std::slice::from_ref(file));
    let mut value = serde_json::to_value(&library).expect("it can be written");
    strip(&mut value);
    (value, found.into_iter().map(|diagnostic| (diagnostic.code, diagnostic.message)).collect())
}

fn strip(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::Object(fields) => {
            WRITTEN.iter().for_each(|field| drop(fields.remove(*field)));
            fields.values_mut().for_each(strip);
        }
        _ => {}
    }
}

fuzz_mutator!(|bytes: &mut [u8], size: usize, max: usize, seed: u32| {
    grow::mutate(seeds::peak_files(), bytes, size, max, seed)
});
