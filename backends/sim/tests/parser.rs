//! No text makes the reader or the translator panic.

use crate::artifact;
use peak_backend_api::{Device, RuntimeError};
use peak_backend_sim::SimRuntime;
use proptest::prelude::*;

const TEXTS: [&str; 4] = [
    include_str!("kernels/faults.ptx"),
    include_str!("kernels/warp.ptx"),
    include_str!("kernels/calls.ptx"),
    include_str!("kernels/block.ptx"),
];

/// What mutations put in: pieces of PTX, and pieces that are none.
const PIECES: [&str; 24] = [
    "{",
    "}",
    ";",
    "%r1",
    "%r99999999",
    "%f1",
    "%p1",
    "[%rd1+8]",
    ".reg .b32 %r<4000000000>;",
    "bra $L__BB0_1;",
    "0x",
    ".local .align 3 .b8 x[9999999999999];",
    "ld.global.v4.f32",
    ", , ",
    "\"",
    "//",
    "/*",
    "call f, ();",
    "@!%p1",
    "0f",
    ".entry",
    "é",
    "shfl.sync.up.b32 %r1|%p1, %r2, %r3, 0, -1;",
    "-9223372036854775808",
];

fn load(text: &str) {
    let mut device = SimRuntime::default().device();
    match device.load(&artifact(text)) {
        Ok(_) => {}
        Err(RuntimeError::Artifact(words)) => assert!(!words.is_empty()),
        Err(other) => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_texts_are_errors_or_programs(
        text in 0..TEXTS.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..40_usize, 0..PIECES.len()), 1..4),
    ) {
        let mut mutated = TEXTS[text].to_owned();
        for (at, length, piece) in edits {
            let start = mutated.floor_char_boundary(at.index(mutated.len()));
            let end = mutated.floor_char_boundary((start + length).min(mutated.len())).max(start);
            mutated.replace_range(start..end, PIECES[piece]);
        }
        load(&mutated);
    }

    #[test]
    fn lines_in_any_order_are_errors_or_programs(text in 0..TEXTS.len(), swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..6)) {
        let mut lines: Vec<&str> = TEXTS[text].lines().collect();
        for (first, second) in swaps {
            let (first, second) = (first.index(lines.len()), second.index(lines.len()));
            lines.swap(first, second);
        }
        load(&lines.join("\n"));
    }

    #[test]
    fn any_text_is_an_error_or_a_program(text in "[ -~\n]{0,300}") {
        load(&text);
    }
}

#[test]
fn deep_and_long_texts_are_errors() {
    let body =
        |inside: &str| format!(".version 8.0\n.target sm_90\n.address_size 64\n.entry k()\n{{\n{inside}\nret;\n}}\n");
    load(&body(&"{".repeat(100_000)));
    load(&body(&"{ mov.u32 ".repeat(10_000)));
    load(&body(&format!("mov.u32 {};", "{".repeat(100_000))));
    load(&body(&format!(".reg .b32 r; add.u32 r, r{};", ", r".repeat(100_000))));
    load(&body(".shared .b8 s[18446744073709551615]; .reg .b64 x; mov.u64 x, s;"));
    load(&body("L: bra L; M: @p bra L;"));
    load(&body(".local .b8 s[4294967296]; .reg .b64 x; mov.u64 x, s; st.local.u8 [x], 1;"));
    load(".extern .func (.param .b32 r) f (.param .b64 a);");
}
