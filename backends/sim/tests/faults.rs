//! Kernels that go wrong: each ends with a message that names what, who and where.

use crate::{Arg::Buffer, Bench, artifact, scalar};
use peak_backend_api::{Device, RuntimeError};
use peak_backend_sim::SimRuntime;

const FAULTS: &str = include_str!("kernels/faults.ptx");

/// Runs a kernel of one argument, and gives the words of its fault.
fn fault(entry: &str, block: u32, contents: &[u8]) -> String {
    let mut bench = Bench::new(FAULTS);
    bench.buffer("A", contents);
    match bench.try_run(entry, [1, 1, 1], [block, 1, 1], 0, vec![Buffer("A")]) {
        Err(RuntimeError::DeviceLost(words)) => words,
        other => panic!("{entry}: {other:?}"),
    }
}

fn line_of(text: &str) -> u32 {
    let source = include_str!("kernels/faults.cu");
    (1..).zip(source.lines()).find(|(_, line)| line.contains(text)).map(|(number, _)| number).expect("it is there")
}

#[track_caller]
fn assert_says(words: &str, parts: &[&str]) {
    for part in parts {
        assert!(words.contains(part), "`{part}` is not in: {words}");
    }
}

#[test]
fn an_access_past_the_end_names_everything() {
    let mut bench = Bench::new(FAULTS);
    bench.buffer("A", &[0; 4 * 300]);
    let launch = bench.try_run("past_end", [4, 1, 1], [64, 1, 1], 0, vec![Buffer("A"), scalar!(200_i32)]);
    let Err(RuntimeError::DeviceLost(words)) = launch else { panic!("{launch:?}") };
    let line = format!("device code, line {}", line_of("A[i + n]"));
    // Two blocks go wrong; which is first depends on the cores.
    assert_says(&words, &["a 4-byte write out of bounds", "of buffer `A`, which has 300", "thread (", &line]);
    assert!(
        words.contains("block (1, 0, 0), thread (36, 0, 0): a 4-byte write out of bounds: element 300")
            || words.contains("block (2, 0, 0)")
            || words.contains("block (3, 0, 0)"),
        "{words}"
    );
}

#[test]
fn a_misaligned_access_names_its_byte() {
    let words = fault("misaligned", 32, &[0; 64]);
    assert_says(
        &words,
        &["thread (5, 0, 0)", "a 4-byte write that is misaligned: byte 6 of buffer `A`", "device code, line"],
    );
}

#[test]
fn a_null_pointer_is_in_no_buffer() {
    assert_says(&fault("null_read", 1, &[0; 4]), &["a 4-byte read at address 0x8, which is in no buffer"]);
}

#[test]
fn shared_memory_has_an_end() {
    let words = fault("shared_past_end", 64, &[0, 0, 0, 0, 8, 0, 0, 0]);
    assert_says(&words, &["thread (63, 0, 0)", "element 71 of the block's shared memory, which has 64"]);
}

#[test]
fn endless_loops_end() {
    assert_says(&fault("loops", 32, &[0; 4]), &["instructions", "device code, line"]);
    let mut bench = Bench::new(FAULTS);
    bench.buffer("A", &[0; 4]);
    let launch = bench.try_run("loops_quietly", [1, 1, 1], [1, 1, 1], 0, vec![Buffer("A"), scalar!(1_i32)]);
    let Err(RuntimeError::DeviceLost(words)) = launch else { panic!("{launch:?}") };
    assert_says(&words, &["instructions in one thread: a loop without end?"]);
}

#[test]
fn endless_recursion_ends() {
    assert_says(&fault("recurses", 32, &[0; 4]), &["recursion without end?", "thread (0, 0, 0)"]);
}

#[test]
fn a_deadlock_says_who_waits_where() {
    let words = fault("deadlocks", 64, &[0; 4]);
    assert_says(
        &words,
        &["deadlock", "32 threads wait for barrier 1", "32 threads wait for barrier 2", "device code, line"],
    );
    let words = fault("lane_never_comes", 32, &[0; 128]);
    assert_says(
        &words,
        &["deadlock", "16 threads wait for the lanes of mask 0xffffffff", "16 threads wait for barrier 0"],
    );
}

#[test]
fn a_trap_is_a_fault() {
    assert_says(&fault("traps", 32, &[0; 4]), &["the kernel trapped", "thread (0, 0, 0)"]);
}

#[test]
fn memory_has_an_end() {
    let mut device = SimRuntime::default().device();
    let bytes = 200 << 30;
    assert_eq!(device.allocate("A", bytes), Err(RuntimeError::OutOfMemory { name: "A".to_owned(), bytes }));
}

#[test]
fn launches_outside_the_limits_are_refused() {
    let mut bench = Bench::new(FAULTS);
    bench.buffer("A", &[0; 4]);
    let one = [1, 1, 1];
    for (grid, block, shared, word) in [
        (one, [1025, 1, 1], 0, "1024 are allowed"),
        (one, [32, 32, 2], 0, "1024 are allowed"),
        (one, [1, 1, 65], 0, "1024 are allowed"),
        ([1, 65536, 1], one, 0, "a grid of"),
        ([0, 1, 1], one, 0, "a grid of"),
        (one, one, 228 << 10, "232448 are allowed"),
    ] {
        match bench.try_run("traps", grid, block, shared, vec![Buffer("A")]) {
            Err(RuntimeError::Launch(words)) => assert_says(&words, &[word]),
            other => panic!("{other:?}"),
        }
    }
    for arguments in [vec![], vec![scalar!(1_i32)], vec![Buffer("B")]] {
        assert!(bench.try_run("traps", one, one, 0, arguments).is_err());
    }
    assert!(matches!(bench.try_run("nothing", one, one, 0, vec![]), Err(RuntimeError::Launch(_))));
}

#[test]
fn what_is_not_modelled_is_named_with_its_line() {
    let text = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<9>;\n.loc 1 7 1\nmma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r1}, {%r2}, {%r3}, {%r4};\nret;\n}\n.file 1 \"device code\"\n";
    let mut device = SimRuntime::default().device();
    match device.load(&artifact(text)) {
        Err(RuntimeError::Artifact(words)) => {
            assert_says(&words, &["PTX line 8", "mma.sync", "is not modelled", "device code, line 7"])
        }
        other => panic!("{other:?}"),
    }
    let too_much = text
        .replace(
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r1}, {%r2}, {%r3}, {%r4};",
            "st.shared.b32 [s], %r1;",
        )
        .replace(".visible", ".shared .align 4 .b8 s[49156];\n.visible");
    match device.load(&artifact(&too_much)) {
        Err(RuntimeError::Artifact(words)) => {
            assert_says(&words, &["49156 bytes of static shared memory; 49152 are allowed"])
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn it_has_no_timer() {
    let mut bench = Bench::new(FAULTS);
    let sequence = peak_backend_api::LaunchSequence::default();
    assert_eq!(bench.device.time(bench.program, &sequence, 1), Err(RuntimeError::NoTimer));
    let facts = &bench.device.info().facts;
    let named = ["warp", "max_threads_per_block", "max_block_z", "max_grid_x", "shared_memory_per_block_optin"];
    assert_eq!(named.map(|name| facts.get(name).copied()), [32, 1024, 64, i64::from(i32::MAX), 227 << 10].map(Some));
    assert!(!bench.device.info().features.iter().any(|feature| feature == "timestamps"));
}
