//! Blocks that wait for each other: cooperative launches and clusters, their limits and faults.

use crate::{Arg, Arg::Buffer, Bench, bytes_of, noise, numbers_of, scalar};
use peak_backend_api::{ArgumentValue, LaunchArgument, LaunchStep, RuntimeError, TensorElement, TensorMap};

const KERNELS: &str = include_str!("kernels/cooperative.ptx");

/// What a launch has beside its arguments.
struct Shape {
    grid: [u32; 3],
    block: u32,
    cluster: Option<[u32; 3]>,
    cooperative: bool,
}

fn clusters(grid: [u32; 3], block: u32, cluster: [u32; 3]) -> Shape {
    Shape { grid, block, cluster: Some(cluster), cooperative: false }
}

fn cooperative(blocks: u32, block: u32) -> Shape {
    Shape { grid: [blocks, 1, 1], block, cluster: None, cooperative: true }
}

fn launch(bench: &mut Bench, entry: &str, shape: Shape, arguments: Vec<Arg<'_>>) -> Result<(), RuntimeError> {
    let Shape { grid, block, cluster, cooperative } = shape;
    let (entry, arguments) = (entry.to_owned(), crate::launch_arguments(arguments));
    let block = [block, 1, 1];
    bench.step(LaunchStep::Launch { entry, grid, block, shared_bytes: 0, cluster, cooperative, arguments })
}

fn words(error: Result<(), RuntimeError>) -> String {
    error.expect_err("it is refused or faults").to_string()
}

#[test]
fn a_grid_larger_than_the_cores_waits_for_itself() {
    let (n, rounds) = (5000, 7_i32);
    let start: Vec<u32> = (0..n).map(|at: u32| at.wrapping_mul(2_654_435_761)).collect();
    let mut bench = Bench::new(KERNELS);
    bench.buffer("a", &bytes_of(&start)).buffer("b", &bytes_of(&vec![0_u32; n as usize]));
    let arguments = || vec![Buffer("a"), Buffer("b"), scalar!(n.cast_signed()), scalar!(rounds)];
    launch(&mut bench, "grid_rounds", cooperative(61, 64), arguments()).expect("it completes");
    let (mut from, mut to) = (start.clone(), vec![0; n as usize]);
    for round in 1..=rounds as usize {
        for at in 0..n as usize {
            to[at] = 3_u32.wrapping_mul(from[at]).wrapping_add(from[(at + 257 * round) % n as usize]);
        }
        std::mem::swap(&mut from, &mut to);
    }
    assert_eq!(numbers_of::<u32>(&bench.read("b")), from, "an odd number of rounds ends in `b`");
    assert_eq!(numbers_of::<u32>(&bench.read("a")), to);
    // Blocks of many threads: more than one core keeps under way otherwise.
    bench.buffer("a", &bytes_of(&start));
    launch(&mut bench, "grid_rounds", cooperative(20, 1024), arguments()).expect("it completes");
    assert_eq!(numbers_of::<u32>(&bench.read("b")), from);
}

#[test]
fn a_grid_that_waits_for_itself_must_be_launched_so_and_fit() {
    let mut bench = Bench::new(KERNELS);
    bench.buffer("a", &[0; 64]).buffer("b", &[0; 64]);
    let arguments = || vec![Buffer("a"), Buffer("b"), scalar!(16_i32), scalar!(1_i32)];
    let plain = launch(&mut bench, "grid_rounds", Shape { cooperative: false, ..cooperative(2, 64) }, arguments());
    assert!(words(plain).contains("trapped"), "cooperative groups find no workspace");
    let device = words(launch(&mut bench, "grid_rounds", cooperative(133, 2048 / 2), arguments()));
    assert!(
        device.contains("a cooperative launch of 133 blocks of 1024 threads") && device.contains("24 of them"),
        "{device}"
    );
    let beyond = words(launch(&mut bench, "grid_rounds", cooperative(132 * 32 + 1, 32), arguments()));
    assert!(beyond.contains("4225 blocks, and 4224 fit on the device"), "{beyond}");
    launch(&mut bench, "grid_rounds", cooperative(2, 64), arguments()).expect("the device goes on");
}

#[test]
fn blocks_of_a_cluster_read_each_others_memory() {
    for size in [1, 2, 3, 8, 16] {
        let (blocks, count) = (3 * size, 3 * size as usize * 64);
        let a: Vec<f32> = (0..count).map(|at| ((at * 37) % 101) as f32).collect();
        let mut bench = Bench::new(KERNELS);
        bench.buffer("a", &bytes_of(&a)).buffer("c", &bytes_of(&vec![0_f32; count])).buffer("d", &[0; 12]);
        let shape = clusters([blocks, 1, 1], 64, [size, 1, 1]);
        launch(&mut bench, "cluster_sum", shape, vec![Buffer("a"), Buffer("c"), Buffer("d")]).expect("it completes");
        let span = size as usize * 64;
        let sum =
            |at: usize| (0..size as usize).map(|rank| a[at / span * span + rank * 64 + 63 - at % 64]).sum::<f32>();
        assert_eq!(numbers_of::<f32>(&bench.read("c")), (0..count).map(sum).collect::<Vec<_>>(), "clusters of {size}");
        let visits = (1..=size).map(|rank| rank * 64).sum::<u32>();
        assert_eq!(numbers_of::<u32>(&bench.read("d")), [visits; 3]);
    }
}

#[test]
fn without_clusters_each_block_is_one() {
    let a = noise(128, 9);
    let mut bench = Bench::new(KERNELS);
    bench.buffer("a", &bytes_of(&a)).buffer("c", &[0; 512]).buffer("d", &[0; 8]);
    let shape = Shape { cluster: None, ..clusters([2, 1, 1], 64, [1; 3]) };
    launch(&mut bench, "cluster_sum", shape, vec![Buffer("a"), Buffer("c"), Buffer("d")]).expect("it completes");
    let mirrored: Vec<f32> = (0..128).map(|at| a[at / 64 * 64 + 63 - at % 64]).collect();
    assert_eq!(numbers_of::<f32>(&bench.read("c")), mirrored);
    assert_eq!(numbers_of::<u32>(&bench.read("d")), [64, 64]);
}

#[test]
fn the_clusters_own_space_and_numbers() {
    let (grid, cluster) = ([4_u32, 6, 1], [2_u32, 3, 1]);
    let mut bench = Bench::new(KERNELS);
    bench.buffer("out", &[0; 4 * 8 * 24]);
    launch(&mut bench, "cluster_pass", clusters(grid, 32, cluster), vec![Buffer("out")]).expect("it completes");
    let found = numbers_of::<u32>(&bench.read("out"));
    for (at, own) in found.chunks(8).enumerate() {
        let (x, y) = (at as u32 % 4, at as u32 / 4);
        let (inner, outer) = ([x % 2, y % 3], [x / 2, y / 3]);
        let rank = inner[0] + 2 * inner[1];
        let (next, last) = ((rank + 1) % 6, (rank + 5) % 6);
        // Passed by the block before; the sum of its threads' numbers; what was passed on; whose memory that is.
        let expected = [rank, 100 + last, 31 * 16, 100 + rank, next];
        assert_eq!(own[..5], expected, "block ({x}, {y})");
        let numbers = [inner[0] + 10 * inner[1], 32, outer[0] + 10 * outer[1] + 100 * 2 + 1000 * 2];
        assert_eq!(own[5..], numbers, "block ({x}, {y})");
    }
}

#[test]
fn blocks_of_a_cluster_wait_by_looking() {
    let mut bench = Bench::new(KERNELS);
    bench.buffer("out", &[0; 4 * 8]);
    // The code itself demands clusters of four.
    let shape = Shape { cluster: None, ..clusters([8, 1, 1], 64, [1; 3]) };
    launch(&mut bench, "cluster_flag", shape, vec![Buffer("out")]).expect("it completes");
    assert_eq!(numbers_of::<u32>(&bench.read("out")), [0, 1, 2, 3, 0, 1, 2, 3]);
    let other = launch(&mut bench, "cluster_flag", clusters([8, 1, 1], 64, [2, 1, 1]), vec![Buffer("out")]);
    assert!(words(other).contains("it requires [4, 1, 1]"));
}

#[test]
fn clusters_have_limits() {
    let mut bench = Bench::new(KERNELS);
    let mut refused = |grid, cluster| words(launch(&mut bench, "cluster_stuck", clusters(grid, 32, cluster), vec![]));
    assert!(refused([32, 1, 1], [32, 1, 1]).contains("clusters of 32 blocks; 1 to 16"));
    assert!(refused([6, 1, 1], [4, 1, 1]).contains("can't be cut into clusters of [4, 1, 1]"));
    assert!(refused([6, 1, 1], [0, 1, 1]).contains("clusters of 0 blocks"));
}

#[test]
fn faults_of_clusters_are_said() {
    let mut bench = Bench::new(KERNELS);
    bench.buffer("out", &[0; 256]);
    let pair = || clusters([2, 1, 1], 64, [2, 1, 1]);
    let stuck = words(launch(&mut bench, "cluster_stuck", pair(), vec![]));
    assert!(stuck.contains("waits at the cluster's barrier, to which it has not come"), "{stuck}");
    let half = words(launch(&mut bench, "cluster_half", pair(), vec![Buffer("out")]));
    assert!(half.contains("deadlock") && half.contains("32 threads wait for barrier 1"), "{half}");
    assert!(half.contains("32 threads wait for the other threads of the cluster"), "{half}");
    let mut beyond = |rank: i32, at: i32| {
        words(launch(&mut bench, "cluster_beyond", pair(), vec![Buffer("out"), scalar!(rank), scalar!(at)]))
    };
    let far = beyond(0, 64);
    assert!(far.contains("element 64 of the shared memory of block 0 of the cluster, which has 64"), "{far}");
    let none = beyond(2, 0);
    assert!(none.contains("of the shared memory of block 2 of the cluster, which has 2"), "{none}");
    launch(&mut bench, "cluster_beyond", pair(), vec![Buffer("out"), scalar!(1_i32), scalar!(63_i32)])
        .expect("the device goes on");
}

#[test]
fn a_tensor_map_is_refused_with_the_instruction_that_is_missing() {
    let mut bench = Bench::new(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry f(.param .align 128 .b8 m[128])\n{ ret; }",
    );
    bench.buffer("a", &[0; 64]);
    let map = TensorMap::dense("a", TensorElement::F32, &[16], &[16], 0);
    let arguments = vec![LaunchArgument { name: "a_map".to_owned(), value: ArgumentValue::TensorMap(map) }];
    let (entry, one) = ("f".to_owned(), [1; 3]);
    let launch = LaunchStep::Launch {
        entry,
        grid: one,
        block: one,
        shared_bytes: 0,
        cluster: None,
        cooperative: false,
        arguments,
    };
    let refused = bench.step(launch);
    let Err(RuntimeError::Launch(words)) = refused else { panic!("{refused:?}") };
    assert!(words.contains("`a_map` is a tensor map") && words.contains("cp.async.bulk.tensor"), "{words}");
}
