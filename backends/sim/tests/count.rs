//! Counts of kernels whose every warp can be followed by hand: lanes that part and meet again, loops, guards, calls, samples.

use crate::{Arg::Buffer, Bench, bytes_of, launch_arguments, noise, scalar};
use peak_backend_api::{
    AccessKind, Device, LaunchCounts, LaunchSequence, LaunchStep, MemoryCounts, MemorySpace, RuntimeError, SiteCounts,
};

const MATMUL: &str = include_str!("kernels/matmul.ptx");

const HEAD: &str = ".version 8.6\n.target sm_90\n.address_size 64\n";

fn step(entry: &str, grid: u32, block: [u32; 3], buffers: &[&str], n: Option<u32>) -> LaunchStep {
    let arguments = buffers.iter().map(|name| Buffer(name)).chain(n.map(|n| scalar!(n))).collect();
    LaunchStep::Launch {
        entry: entry.to_owned(),
        grid: [grid, if block[1] > 1 { grid } else { 1 }, 1],
        block,
        shared_bytes: 0,
        cluster: None,
        cooperative: false,
        arguments: launch_arguments(arguments),
    }
}

fn counted(bench: &mut Bench, step: LaunchStep, blocks_max: Option<u64>) -> LaunchCounts {
    let sequence = LaunchSequence { steps: vec![step] };
    let counts = bench.device.count(bench.program, &sequence, blocks_max).unwrap_or_else(|error| panic!("{error}"));
    let [launch] = &counts[..] else { panic!("{} launches", counts.len()) };
    launch.clone()
}

/// The body of an entry of one warp a block, with `%r1` the lane; `%rd1` points to a buffer of 4096 bytes.
fn warp(body: &str, functions: &str) -> LaunchCounts {
    let text = format!(
        "{HEAD}{functions}\n.visible .entry k(.param .u64 p)\n{{\n.reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<8>;\n.shared \
         .align 4 .b8 s[4096];\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n{body}\nret;\n}}\n"
    );
    let mut bench = Bench::new(&text);
    bench.buffer("p", &[0; 4096]);
    counted(&mut bench, step("k", 1, [32, 1, 1], &["p"], None), None)
}

/// Warps and threads of the only instruction of an opcode.
fn of(counts: &LaunchCounts, opcode: &str) -> (u64, u64) {
    let found: Vec<&SiteCounts> = counts.sites.iter().filter(|site| site.opcode == opcode).collect();
    let [site] = &found[..] else { panic!("{} sites of {opcode}", found.len()) };
    (site.warps, site.threads)
}

fn memory(counts: &LaunchCounts, space: MemorySpace, access: AccessKind) -> Vec<&MemoryCounts> {
    let all = counts.sites.iter().flat_map(|site| &site.memory);
    all.filter(|it| (it.space, it.access) == (space, access)).collect()
}

#[test]
fn lanes_leave_a_loop_one_after_the_other() {
    let counts = warp(
        "mov.u32 %r2, 0;\nHEAD:\nsetp.ge.u32 %p1, %r2, %r1;\n@%p1 bra DONE;\nadd.u32 %r2, %r2, 1;\nbra HEAD;\nDONE:",
        "",
    );
    assert_eq!(of(&counts, "setp.ge.u32"), (32, 32 * 33 / 2));
    assert_eq!(of(&counts, "add.u32"), (31, 31 * 32 / 2));
    assert_eq!(of(&counts, "ret"), (1, 32));
}

#[test]
fn lanes_that_branch_in_different_rounds_do_not_meet() {
    // Odd lanes take the branch in odd rounds, even ones in even rounds: half of the warp, in each of 6 rounds.
    let counts = warp(
        "mov.u32 %r2, 0;\nHEAD:\nadd.u32 %r3, %r1, %r2;\nand.b32 %r3, %r3, 1;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra NEXT;\n\
         xor.b32 %r4, %r2, 7;\nst.global.u32 [%rd1], %r4;\nNEXT:\nadd.s32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 6;\n\
         @%p2 bra HEAD;",
        "",
    );
    assert_eq!(of(&counts, "xor.b32"), (6, 6 * 16));
    assert_eq!(of(&counts, "add.s32"), (6, 6 * 32));
    let [store] = memory(&counts, MemorySpace::Global, AccessKind::Store)[..] else { panic!("{counts:?}") };
    assert_eq!((store.requests, store.threads, store.sectors, store.addresses), (6, 96, 6, 6));
}

#[test]
fn a_guard_keeps_threads_away_and_not_the_warp() {
    let counts =
        warp("setp.lt.u32 %p1, %r1, 5;\n@%p1 xor.b32 %r4, %r1, 7;\n@!%p1 not.b32 %r5, %r1;\nneg.s32 %r6, %r5;", "");
    assert_eq!(of(&counts, "xor.b32"), (1, 5));
    assert_eq!(of(&counts, "not.b32"), (1, 27));
    assert_eq!(of(&counts, "neg.s32"), (1, 32));
}

#[test]
fn rounds_of_inner_loops_begin_anew() {
    // Outer round o has (lane + o) mod 3 inner ones: the most that any lane has is 2 in each of 4 outer rounds.
    let counts = warp(
        "mov.u32 %r2, 0;\nOUTER:\nadd.u32 %r3, %r1, %r2;\nrem.u32 %r3, %r3, 3;\nINNER:\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra NEXT;\n\
         sub.u32 %r3, %r3, 1;\nbra INNER;\nNEXT:\nadd.s32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 4;\n@%p2 bra OUTER;",
        "",
    );
    let inner: u64 = (0..32).flat_map(|lane| (0..4).map(move |outer| (lane + outer) % 3)).sum();
    assert_eq!(of(&counts, "sub.u32"), (4 * 2, inner));
}

#[test]
fn functions_are_counted_where_they_stand() {
    let function =
        ".func twice(.param .b32 a)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [a];\nmul.lo.u32 %r2, %r1, 3;\nret;\n}";
    let call = "{ .param .b32 a; st.param.b32 [a], %r1; call.uni twice, (a); }";
    let counts = warp(&format!("setp.lt.u32 %p1, %r1, 8;\n@%p1 bra OVER;\n{call}\nOVER:\n{call}"), function);
    assert_eq!(of(&counts, "mul.lo.u32").1, 24 + 32);
    let site = counts.sites.iter().find(|site| site.opcode == "mul.lo.u32").expect("it is there");
    assert_eq!(site.function, "twice");
}

#[test]
fn a_result_that_nobody_reads_makes_a_reduction() {
    let counts =
        warp("atom.global.add.u32 %r2, [%rd1], 1;\natom.shared.add.u32 %r3, [s], 1;\nadd.u32 %r4, %r3, 1;", "");
    let [reduction] = memory(&counts, MemorySpace::Global, AccessKind::Reduction)[..] else { panic!("{counts:?}") };
    assert_eq!((reduction.requests, reduction.threads, reduction.addresses), (1, 32, 1));
    let [atomic] = memory(&counts, MemorySpace::Shared, AccessKind::Atomic)[..] else { panic!("{counts:?}") };
    assert_eq!((atomic.requests, atomic.wavefronts, atomic.conflicts), (1, 32, 31));
}

#[test]
fn memory_is_told_apart_by_its_address() {
    let counts = warp(
        "mov.u32 %r2, s;\ncvta.shared.u64 %rd2, s;\nsetp.lt.u32 %p1, %r1, 8;\nselp.b64 %rd3, %rd1, %rd2, %p1;\n\
         ld.u32 %r3, [%rd3];\nst.shared.u32 [%r2], %r3;",
        "",
    );
    let [global] = memory(&counts, MemorySpace::Global, AccessKind::Load)[..] else { panic!("{counts:?}") };
    let [shared] = memory(&counts, MemorySpace::Shared, AccessKind::Load)[..] else { panic!("{counts:?}") };
    assert_eq!((global.threads, global.sectors, shared.threads, shared.wavefronts), (8, 1, 24, 1));
}

fn matmul(entry: &str, n: u32, blocks_max: Option<u64>) -> LaunchCounts {
    let mut bench = Bench::new(MATMUL);
    let values = bytes_of::<f32>(&noise((n * n) as usize, 1));
    bench.buffer("A", &values).buffer("B", &values).buffer("C", &values);
    let before = bench.device.executed_instructions();
    let counts = counted(&mut bench, step(entry, n / 16, [16, 16, 1], &["A", "B", "C"], Some(n)), blocks_max);
    let executed = bench.device.executed_instructions() - before;
    let threads: u64 = counts.sites.iter().map(|site| site.threads).sum();
    // Guards aside, each instruction that ran is counted once.
    assert!(threads <= executed && threads * 100 >= executed * 95, "{threads} of {executed}");
    counts
}

#[test]
fn a_naive_product_is_counted_exactly() {
    let n = 64;
    let counts = matmul("matmul_naive", n, None);
    let (n, warps) = (u64::from(n), u64::from(n * n / 32));
    let fma: u64 = counts.sites.iter().filter(|site| site.opcode.starts_with("fma.")).map(|site| site.threads).sum();
    assert_eq!(fma, n * n * n);
    let loads = memory(&counts, MemorySpace::Global, AccessKind::Load);
    // A warp is 2 rows of 16 threads: 2 elements of A, 64 bytes of B.
    assert_eq!(loads.iter().map(|it| it.requests).sum::<u64>(), 2 * n * warps);
    assert_eq!(loads.iter().map(|it| it.sectors).sum::<u64>(), 4 * n * warps);
    let stores = memory(&counts, MemorySpace::Global, AccessKind::Store);
    assert_eq!(stores.iter().map(|it| (it.requests, it.sectors)).collect::<Vec<_>>(), [(warps, 4 * warps)]);
}

#[test]
fn a_tiled_product_shares_words() {
    let n = 64;
    let counts = matmul("matmul_tiled", n, None);
    let (n, warps) = (u64::from(n), u64::from(n * n / 32));
    let loads = memory(&counts, MemorySpace::Global, AccessKind::Load);
    assert_eq!(loads.iter().map(|it| it.requests).sum::<u64>(), 2 * (n / 16) * warps);
    let shared = memory(&counts, MemorySpace::Shared, AccessKind::Load);
    assert!(shared.iter().all(|it| it.conflicts == 0), "{shared:?}");
    let barriers: u64 = counts.sites.iter().filter(|site| site.opcode.starts_with("bar")).map(|site| site.warps).sum();
    assert_eq!(barriers, 2 * (n / 16) * warps);
}

#[test]
fn a_sample_runs_no_other_block() {
    let (all, some) = (matmul("matmul_naive", 128, None), matmul("matmul_naive", 128, Some(8)));
    assert_eq!((all.blocks, all.blocks_counted, some.blocks, some.blocks_counted), (64, 64, 64, 8));
    let warps = |counts: &LaunchCounts| counts.sites.iter().map(|site| site.warps).sum::<u64>();
    assert_eq!(warps(&all), 8 * warps(&some), "every block does the same");
}

#[test]
fn a_fault_ends_the_count() {
    let mut bench = Bench::new(MATMUL);
    for name in ["A", "B", "C"] {
        bench.buffer(name, &[0; 64]);
    }
    let sequence = LaunchSequence { steps: vec![step("matmul_naive", 1, [16, 16, 1], &["A", "B", "C"], Some(16))] };
    let fault = bench.device.count(bench.program, &sequence, None);
    assert!(matches!(fault, Err(RuntimeError::Fault(_))), "{fault:?}");
    let valid = bench.device.count(bench.program, &LaunchSequence::default(), None);
    assert_eq!(valid, Ok(Vec::new()));
}
