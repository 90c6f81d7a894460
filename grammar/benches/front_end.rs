//! How fast the front end reads: text to AST, the standard library checked, a long pack checked, all on one thread. Prints
//! medians and the target beside each; fails where one is missed, unless `PEAK_BENCH_ONLY_PRINT` is set. What is read is
//! generated here. On Linux the rate by processor time stands beside that by the clock: other work on the machine lowers
//! the second, and the first hardly.
//!
//! `cargo bench -p peak-grammar --bench front_end`

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock and the standard library's files")]

use peak_grammar::{SourceFile, load, parse};
use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

/// Runs of which the median counts.
const RUNS: usize = 9;
/// Megabytes of text a second to the AST, at least.
const TEXT_MB_PER_SECOND: f64 = 20.0;
/// The standard library, checked, at most.
const LIBRARY_AT_MOST: Duration = Duration::from_millis(50);
/// A pack of that many lines, checked, at most.
const PACK_AT_MOST: Duration = Duration::from_millis(200);
/// Lines of the long pack.
const PACK_LINES: usize = 10_000;
/// Bytes of the text for the first figure.
const TEXT_BYTES: usize = 8 << 20;

fn main() {
    let mut missed = Vec::new();
    for (name, text) in [("mixed", mixed(TEXT_BYTES)), ("clauses alone", clauses(TEXT_BYTES))] {
        let file = SourceFile::new("generated.peak", &text);
        assert!(parse(&file).1.is_empty(), "what is generated is right");
        let before = processor_time();
        let took = median(|| drop(black_box(parse(&file))));
        let spent =
            processor_time().zip(before).map(|(after, before)| (after - before) / u32::try_from(RUNS).unwrap_or(1));
        #[allow(clippy::cast_precision_loss, reason = "a few megabytes")]
        let megabytes = text.len() as f64 / 1e6;
        let rate = megabytes / took.as_secs_f64();
        let by_processor = spent.map_or_else(String::new, |spent| {
            format!(", {:.1} MB/s of processor time", megabytes / spent.as_secs_f64())
        });
        println!(
            "text to AST, {name}: {rate:.1} MB/s{by_processor} ({megabytes:.1} MB, wanted {TEXT_MB_PER_SECOND} MB/s)"
        );
        if rate < TEXT_MB_PER_SECOND {
            missed.push(name);
        }
    }
    let library = standard_library();
    timed("the standard library, checked", &library, LIBRARY_AT_MOST, &mut missed);
    let mut files = library;
    files.push(SourceFile::new("long.peak", &pack(PACK_LINES)));
    timed("a pack of 10,000 lines and the library, checked", &files, PACK_AT_MOST, &mut missed);
    assert!(missed.is_empty() || std::env::var_os("PEAK_BENCH_ONLY_PRINT").is_some(), "missed: {missed:?}");
}

fn timed(name: &'static str, files: &[SourceFile], at_most: Duration, missed: &mut Vec<&'static str>) {
    let (_, found) = load(files);
    assert!(found.iter().all(|one| !one.is_error()), "{found:#?}");
    let took = median(|| drop(black_box(load(files))));
    let lines: usize = files.iter().map(|file| file.bytes.iter().filter(|byte| **byte == b'\n').count()).sum();
    println!("{name}: {took:.1?} ({lines} lines, wanted at most {at_most:?})");
    if took > at_most {
        missed.push(name);
    }
}

fn median(mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[RUNS / 2]
}

/// What the first thread of this process has had of a processor, where the system says.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds)).filter(|time| !time.is_zero())
}

/// Every `.peak` file of the standard library.
fn standard_library() -> Vec<SourceFile> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stdlib");
    let (mut folders, mut files) = (vec![root], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of the library") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "peak") {
                let text = std::fs::read_to_string(&path).expect("a file of the library");
                files.push(SourceFile::new(&path.display().to_string(), &text));
            }
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

/// Declarations of every kind, with as much prose as the standard library has.
fn mixed(bytes: usize) -> String {
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        kernel(&mut text, number);
        transformation(&mut text, "", number, true);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\ndevice card-{number} \"A card\"\n  speaks cuda sm_90a, hlsl\n  has warp = 32, l2 = 50 MiB\n  peaks at 66.9 TFLOPS f32, 4.8 TB/s memory\n  knows\n    A warp of {{device.warp}} threads reads sectors of 32 bytes.\n\nworkflow flow-{number}\n  start from kernel matmul-{number}\n  validate 8 samples\n  apply tile-{number} with TILE_K_SIZE in 8, 16\n  checkpoint \"tiles\"\n  try tile-{number} or keep going\n  keep best\n"
        );
    }
    text
}

/// Declarations without prose: every line is a clause.
fn clauses(bytes: usize) -> String {
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        kernel(&mut text, number);
        transformation(&mut text, "", number, false);
    }
    text
}

fn kernel(text: &mut String, number: usize) {
    let _ = write!(
        text,
        r#"
kernel matmul-{number} "C = A x B, square, row-major, single precision"
  computes C[i, j] = sum(k in 0..n) A[i, k] * B[k, j]
  element f32, accumulate f32
  input n: int in 2048, 4096; checked at 64, 128, 256, 384
  input A: array[n, n] of f32, random uniform -1 to 1
  input B: array[n, n] of f32, random uniform -1 to 1
  output C: array[n, n] of f32
  tolerance relative to the sum's length
  tune BLOCK_X in powers of 2 from 8 to 64
  tune BLOCK_Y in powers of 2 from 1 to 32
  require fits-block: BLOCK_X * BLOCK_Y <= device.max_threads_per_block
  require whole-tiles: n mod tile_columns = 0 and n mod tile_rows = 0
  device code for cuda from "matmul_f32.cu"
  device code for hlsl from "matmul_f32.hlsl"
  host code
    let tile_rows = BLOCK_Y          # rows and columns of C that one block computes
    let tile_columns = BLOCK_X
    launch matmul
      grid n / tile_columns, n / tile_rows
      block BLOCK_X, BLOCK_Y
      arguments A, B, C, n
"#
    );
}

fn transformation(text: &mut String, indent: &str, number: usize, prose: bool) {
    let mut made = format!(
        r#"
transformation tile-{number} "Thread-block tiling through shared memory"
  for kernels computing OUT[i, j] = sum(k in 0..K) LEFT[i, k] * RIGHT[k, j]
  on cuda, hlsl
  needs tuning BLOCK_X, BLOCK_Y
  takes unrolled: bool = yes
  introduces TILE_K_SIZE in 8, 16, 32, 64 start at 16
  requires whole-k-tiles: K mod TILE_K_SIZE = 0
  requires fits-shared: (BLOCK_X + BLOCK_Y) * TILE_K_SIZE * sizeof(element) <= device.shared_memory_per_block
  expects global_load_bytes to fall by at least 4 times
"#
    );
    if prose {
        made.push_str(
            r"  because
    Neighbouring threads of a block read the same elements again and again. Tiles in shared memory turn the reads of
    an element of {LEFT} by every thread of a row of the block, and of an element of {RIGHT} by every thread of a
    column, into one read from global memory.
  pass split-k-loop
    in device code
      Replace the loop over {k} by an outer loop whose variable `k0` goes from 0 to the same bound and advances by
      {TILE_K_SIZE}, and an inner loop over `kk` from 0 to {TILE_K_SIZE}; the body uses `k0 + kk` where it used {k}.
      The sum is the same, in the same order.
    keeps results
    checks
      device code mentions TILE_K_SIZE
      device code has 2 nested loops
  known failures
    A missing barrier after the inner loop: the next tile overwrites one still in use.
",
        );
    }
    made.push_str(
        r"  pass rename-sum
    in device code
      rename `acc` to `sum`
    in host code
      set grid to BLOCK_X, ceil(K / TILE_K_SIZE)
    checks
      device code mentions TILE_K_SIZE
      device code has 2 nested loops
",
    );
    for line in made.lines() {
        let _ = writeln!(text, "{indent}{line}");
    }
}

/// A pack of at least that many lines.
fn pack(lines: usize) -> String {
    let mut text = String::from("pack long-pack \"Everything for one card\"\n  for devices nvidia-h200\n");
    for number in 0.. {
        if text.lines().count() >= lines {
            break;
        }
        transformation(&mut text, "  ", number, true);
    }
    text
}
