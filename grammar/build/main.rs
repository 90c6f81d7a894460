//! Compiles `peak.pest` to plain functions that accept exactly the lines that pest accepts, at a fraction of its cost:
//! no state beyond a position and a list of parts, and no alternative entered whose first byte is not there.
//!
//! Reads the grammar as pest's own generator does, so there is one description of the language. Tells no errors: a line
//! that these functions refuse goes through pest, which does.

#![allow(clippy::disallowed_methods, reason = "a build script writes a file where Cargo says")]

mod bytes;
mod compile;
mod mode;

use std::path::PathBuf;

const GRAMMAR: &str = include_str!("../peak.pest");

fn main() {
    println!("cargo::rerun-if-changed=peak.pest");
    let (_, rules) = pest_meta::unwrap_or_report(pest_meta::parse_and_optimize(GRAMMAR));
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    std::fs::write(folder.join("rules.rs"), compile::compile(&rules)).expect("OUT_DIR can be written to");
}
