//! Kernels that go wrong: each ends with a message that names what, who and where.

use crate::{Arg::Buffer, Bench, artifact, scalar};
use peak_backend_api::{Caches, Device, RuntimeError};
use peak_backend_sim::SimRuntime;

const FAULTS: &str = include_str!("kernels/faults.ptx");

/// Runs a kernel of one argument, and gives the words of its fault.
fn fault(entry: &str, block: u32, contents: &[u8]) -> String {
    let mut bench = Bench::new(FAULTS);
    bench.buffer("A", contents);
    match bench.try_run(entry, [1, 1, 1], [block, 1, 1], 0, vec![Buffer("A")]) {
        Err(RuntimeError::Fault(words)) => words,
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
    let Err(RuntimeError::Fault(words)) = launch else { panic!("{launch:?}") };
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
    let Err(RuntimeError::Fault(words)) = launch else { panic!("{launch:?}") };
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

/// A module with the entry `good`, which stores 7, and the entry `k` with one instruction.
fn beside_a_good_one(instruction: &str) -> String {
    format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .b32 %r<9>;\n\
         .reg .f32 %f<9>;\n.reg .b64 %rd<9>;\n.loc 1 7 1\n{instruction}\nret;\n}}\n\
         .visible .entry good(.param .u64 p)\n{{\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n\
         st.global.u32 [%rd1], 7;\nret;\n}}\n.file 1 \"device code\"\n"
    )
}

#[test]
fn what_is_not_modelled_is_named_with_its_line_and_the_other_entries_run() {
    for (instruction, name) in [
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r1}, {%r2}, {%r3}, {%r4};", "mma.sync.aligned"),
        ("tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd1, {%r1}];", "tex.1d.v4.f32.s32"),
        ("@%p1 cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r1}], [%r2];", "cp.async.bulk.tensor"),
        ("wgmma.fence.sync.aligned;", "wgmma.fence"),
        (".reg .b128 %q<2>;\nmov.b128 %q1, {%rd1, %rd2};", "b128"),
        ("add.sat.u32 %r1, %r2, %r3;", "add.sat.u32"),
        ("add.u32 %r1, %r2, [%r3, {%r4}];", "add.u32"),
    ] {
        let mut bench = Bench::new(&beside_a_good_one(instruction));
        bench.buffer("A", &[0; 4]);
        let Err(RuntimeError::Artifact(words)) = bench.try_run("k", [1; 3], [1; 3], 0, vec![Buffer("A")]) else {
            panic!("{instruction} is not modelled");
        };
        assert_says(&words, &["`k`", "PTX line", name]);
        if !instruction.starts_with('.') {
            assert_says(&words, &["device code, line 7"]);
        }
        bench.run("good", [1; 3], [1; 3], 0, vec![Buffer("A")]);
        assert_eq!(bench.read("A"), [7, 0, 0, 0]);
    }
    let alone = beside_a_good_one("tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd1, {%r1}];")
        .replace("st.global.u32 [%rd1]", "st.nowhere.u32 [%rd1]");
    match SimRuntime::default().device().load(&artifact(&alone)) {
        Err(RuntimeError::Artifact(words)) => assert_says(&words, &["`k`", "a GPU runs what the simulator lacks"]),
        other => panic!("without any entry it is refused at once: {other:?}"),
    }
}

#[test]
fn an_entry_beyond_the_limits_does_not_keep_others_from_running() {
    let text = beside_a_good_one("st.shared.b32 [s], %r1;").replacen(
        ".visible",
        ".shared .align 4 .b8 s[49156];\n.visible",
        1,
    );
    let mut bench = Bench::new(&text);
    bench.buffer("A", &[0; 4]);
    match bench.try_run("k", [1; 3], [1; 3], 0, vec![Buffer("A")]) {
        Err(RuntimeError::Artifact(words)) => {
            assert_says(&words, &["`k`", "49156 bytes of static shared memory; 49152 are allowed"]);
        }
        other => panic!("{other:?}"),
    }
    bench.run("good", [1; 3], [1; 3], 0, vec![Buffer("A")]);
}

#[test]
fn calls_that_branch_out_without_a_loop_end() {
    let mut text = ".version 9.0\n.target sm_90\n.address_size 64\n.func f0()\n{\nret;\n}\n".to_owned();
    for level in 1..40 {
        let below = level - 1;
        text.push_str(&format!(".func f{level}()\n{{\ncall.uni f{below}, ();\ncall.uni f{below}, ();\nret;\n}}\n"));
    }
    text.push_str(".visible .entry k()\n{\ncall.uni f39, ();\nret;\n}\n");
    let mut bench = Bench::new(&text);
    match bench.try_run("k", [1; 3], [1; 3], 0, vec![]) {
        Err(RuntimeError::Fault(words)) => assert_says(&words, &["instructions in one thread"]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_argument_larger_than_a_call_passes_is_refused() {
    let text = ".version 9.0\n.target sm_90\n.address_size 64\n.func f(.param .align 4 .b8 a[8192])\n{\n.reg .b32 %r<2>;\n\
                ld.param.u32 %r1, [a+8000];\nret;\n}\n.visible .entry k()\n{\n{\n.param .align 4 .b8 p[8192];\n\
                call.uni f, (p);\n}\nret;\n}\n";
    match SimRuntime::default().device().load(&artifact(text)) {
        Err(RuntimeError::Artifact(words)) => assert_says(&words, &["an argument of over 4096 bytes"]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn it_has_no_timer() {
    let mut bench = Bench::new(FAULTS);
    let sequence = peak_backend_api::LaunchSequence::default();
    assert_eq!(bench.device.time(bench.program, &sequence, 1, Caches::Warm), Err(RuntimeError::NoTimer));
    let facts = &bench.device.info().facts;
    let named = ["warp", "max_threads_per_block", "max_block_z", "max_grid_x", "shared_memory_per_block_optin"];
    assert_eq!(named.map(|name| facts.get(name).copied()), [32, 1024, 64, i64::from(i32::MAX), 227 << 10].map(Some));
    assert!(!bench.device.info().features.iter().any(|feature| feature == "timestamps"));
}
