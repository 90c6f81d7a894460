//! No text makes the reader or the translator panic.

use crate::artifact;
use peak_backend_api::{ArgumentValue, Device, LaunchArgument, LaunchSequence, LaunchStep, RuntimeError};
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

/// Cases of each property: `PEAK_FUZZ_CASES`, for long runs, or a few seconds' worth.
fn config() -> ProptestConfig {
    let cases = std::env::var("PEAK_FUZZ_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// A text with some stretches replaced by pieces, or by other stretches of its own.
fn mutate(text: &str, edits: &[(prop::sample::Index, usize, usize, prop::sample::Index)]) -> String {
    let mut mutated = text.to_owned();
    for (at, length, piece, other) in edits {
        let start = mutated.floor_char_boundary(at.index(mutated.len()));
        let end = mutated.floor_char_boundary((start + length).min(mutated.len())).max(start);
        let from = mutated.floor_char_boundary(other.index(mutated.len()));
        let own = mutated[from..].split(|it: char| it.is_whitespace() || it == ',').next().unwrap_or("").to_owned();
        mutated.replace_range(start..end, PIECES.get(*piece).unwrap_or(&own.as_str()));
    }
    mutated
}

/// Runs every entry of a text, if it is a program; nothing but an error may come of it.
fn run(text: &str, entries: &[&str]) {
    let mut device = SimRuntime::default().with_instruction_limit(1 << 14).device();
    let Ok(program) = device.load(&artifact(text)) else { return };
    for name in ["A", "B", "C", "D", "E"] {
        device.allocate(name, 4096).expect("it is small");
        device.fill(name, [3, 0, 0, 0]).expect("it is there");
    }
    let buffer = |name: &str| LaunchArgument { name: name.to_owned(), value: ArgumentValue::Buffer(name.to_owned()) };
    for entry in entries {
        for count in 1..=5 {
            let arguments = ["A", "B", "C", "D", "E"][..count].iter().map(|name| buffer(name)).collect();
            let (grid, block, entry) = ([2, 1, 1], [64, 1, 1], (*entry).to_owned());
            let launch = LaunchStep::Launch {
                entry,
                grid,
                block,
                shared_bytes: 256,
                cluster: None,
                cooperative: false,
                arguments,
            };
            // Most combinations of arguments are refused; what runs may fault.
            let _ = device.run(program, &LaunchSequence { steps: vec![launch] });
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn mutated_texts_are_errors_or_programs(
        text in 0..TEXTS.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..40_usize, 0..2 * PIECES.len(), any::<prop::sample::Index>()), 1..4),
    ) {
        load(&mutate(TEXTS[text], &edits));
    }

    #[test]
    fn mutated_programs_end(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 1..8_usize, PIECES.len()..PIECES.len() + 1, any::<prop::sample::Index>()), 1..3),
        text in 0..2_usize,
    ) {
        let entries = [&["past_end", "misaligned", "shared_past_end", "recurses", "deadlocks", "lane_never_comes"][..], &["lanes", "atomics", "lock"]];
        run(&mutate(TEXTS[text], &edits), entries[text]);
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
