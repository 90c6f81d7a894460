//! How fast a space of 10^9 raw configurations under five dependent requirements is counted and sampled. Prints the
//! figures; fails where counting takes a second or more, unless `PEAK_BENCH_ONLY_PRINT` is set.
//!
//! `cargo bench --bench space` (or `cargo bench --profile dev --bench space`, where a release build is too dear)

use peak::context::scope::Facts;
use peak::context::{CONTEXT_VERSION, Inputs, KernelContext, Regions};
use peak::tune::Rng;
use peak::tune::space::{Count, Space};
use peak_grammar::{SourceFile, load};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Counting takes at most this long.
const AT_MOST: Duration = Duration::from_secs(1);
/// Runs of which the median counts.
const RUNS: usize = 5;
/// Configurations that are drawn.
const DRAWS: u32 = 10_000;

/// Nine parameters of ten values; every requirement joins some, all nine hang together.
const KERNEL: &str = r"
kernel nine
  element f32
  input n: int in 2520
  input A: array[n] of f32, ones
  output B: array[n] of f32
  tune P1 in 1 to 10
  tune P2 in 1 to 10
  tune P3 in 1 to 10
  tune P4 in 1 to 10
  tune P5 in 1 to 10
  tune P6 in 1 to 10
  tune P7 in 1 to 10
  tune P8 in 1 to 10
  tune P9 in 1 to 10
  require whole-tiles: n mod (P1 * P2 * P3) = 0
  require fits-shared: (P3 + P4) * P5 * sizeof(element) <= device.shared_memory_per_block
  require fits-block: P5 * P6 <= device.max_threads_per_block
  require whole-steps: (P6 * 12) mod P7 = 0
  require ordered: P7 <= P8 and P8 * P9 <= 60
  device code for hlsl
    ```hlsl
    ```
  host code
    launch nine
      grid n
      block P1
      arguments A, B
";

fn main() {
    let (library, found) = load(&[SourceFile::new("nine.peak", KERNEL)]);
    assert!(found.is_empty(), "{found:?}");
    let kernel = library.kernels["nine"].clone();
    let context = KernelContext {
        version: CONTEXT_VERSION,
        backend: "hlsl".to_owned(),
        regions: Regions { host_code: kernel.host_code.clone(), ..Regions::default() },
        plan: kernel.launch.clone(),
        tuning: kernel.tuning.clone(),
        requirements: kernel.requirements.clone(),
        applied: Vec::new(),
        kernel,
    };
    let inputs = Inputs::from([("n".to_owned(), 2520)]);
    let facts = Facts::from([("shared_memory_per_block".to_owned(), 320), ("max_threads_per_block".to_owned(), 48)]);
    let mut times: Vec<(Duration, Count)> = (0..RUNS).map(|_| count(&context, &inputs, &facts)).collect();
    times.sort_by_key(|(took, _)| *took);
    let (took, valid) = times[RUNS / 2];
    let space = Space::new(&context, &inputs, &facts);
    println!("counted: {valid} of {} configurations valid, in {took:.1?} (wanted under {AT_MOST:?})", space.product());
    let mut rng = Rng::new(1);
    let start = Instant::now();
    for _ in 0..DRAWS {
        black_box(space.sample(&mut rng, 1)).expect("there are some");
    }
    println!("sampled: {DRAWS} of them, counting included, in {:.1?}", start.elapsed());
    assert!(matches!(valid, Count::Exact(_)), "the count is exact");
    assert!(took < AT_MOST || std::env::var_os("PEAK_BENCH_ONLY_PRINT").is_some(), "too slow: {took:?}");
}

fn count(context: &KernelContext, inputs: &Inputs, facts: &Facts) -> (Duration, Count) {
    let start = Instant::now();
    let valid = black_box(Space::new(context, inputs, facts).count());
    (start.elapsed(), valid)
}
