//! How many terms a second the oracle computes, and how long Freivalds' check takes: `cargo bench --bench oracle`.
//! It prints figures and asserts nothing.

use peak::context::Inputs;
use peak::oracle::{Arrays, Oracle};
use peak_grammar::{SourceFile, load};
use std::time::Instant;

/// Kernels of `tests/suite/oracle/` with sizes that take about a second.
const KERNELS: [(&str, &[(&str, i64)]); 6] = [
    ("matmul", &[("m", 512), ("n", 512), ("t", 512)]),
    (
        "conv2d",
        &[("batches", 4), ("channels", 16), ("outputs", 16), ("h", 64), ("w", 64), ("r", 3), ("stride", 1), ("pad", 1)],
    ),
    ("softmax", &[("m", 2048), ("n", 2048)]),
    ("attention", &[("m", 512), ("n", 512), ("d", 64)]),
    ("stencil-3d", &[("a", 128), ("b", 128), ("c", 128)]),
    ("scan", &[("n", 8192)]),
];

fn main() {
    println!("{:<12} {:>12} {:>10} {:>14} {:>14}", "kernel", "reads", "seconds", "reads/s", "with scales/s");
    for (name, sizes) in KERNELS {
        let (oracle, inputs) = oracle(name, sizes);
        let arrays = arrays(&oracle, &inputs);
        let reads = oracle.work(&inputs).expect("the work is known");
        let plain = best(|| drop(oracle.evaluate(&inputs, &arrays).expect("it evaluates")));
        let judged = best(|| drop(oracle.judge(&inputs, &arrays).expect("it evaluates")));
        println!("{name:<12} {reads:>12.2e} {plain:>10.3} {:>14.2e} {:>14.2e}", reads / plain, reads / judged);
    }
    let (oracle, inputs) = oracle("softmax", &[("m", 4096), ("n", 4096)]);
    let arrays = arrays(&oracle, &inputs);
    let points: Vec<usize> = (0..256).map(|point| point * 65_535).collect();
    let sampled = best(|| drop(oracle.sample_judged(&inputs, &arrays, "Y", &points).expect("it samples")));
    println!("256 elements of a softmax of 4096 x 4096: {sampled:.3} s");
    freivalds(2048);
}

fn freivalds(n: usize) {
    use peak::validate::outputs::freivalds::Freivalds;
    use peak::validate::outputs::tolerance::Bound;
    use peak_grammar::ir::{ElementType, Tolerance};
    let size = n as i64;
    let (oracle, inputs) = oracle("matmul", &[("m", size), ("n", size), ("t", size)]);
    let arrays = arrays(&oracle, &inputs);
    let product = oracle.product("C", &inputs).expect("the shapes are there").expect("it is a product");
    let float = ElementType::F32;
    let bound = Bound {
        tolerance: Tolerance::SumLength,
        element: float,
        accumulator: float,
        inputs: float,
        length: n as f64,
        stores: 0.0,
        whole: false,
        keeps_integers: true,
        output_scale: 0.0,
    };
    let started = Instant::now();
    let check = Freivalds::new(product, bound, &arrays, 1).expect("it is affordable");
    let prepared = started.elapsed().as_secs_f64();
    let zeros = vec![0.0; n * n];
    let checked = best(|| assert!(!check.suspects(&zeros).is_empty(), "zeros are no product"));
    println!(
        "Freivalds' check, n = {n}: {} vectors, prepared in {prepared:.3} s, an output in {checked:.3} s",
        check.vectors()
    );
}

fn oracle(name: &str, sizes: &[(&str, i64)]) -> (Oracle, Inputs) {
    let path = format!("{}/tests/suite/oracle/{name}.peak", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the kernel is there");
    let (library, _) = load(&[SourceFile::new(name, &text)]);
    let oracle = Oracle::compile(&library.kernels[name]).expect("it compiles");
    (oracle, sizes.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect())
}

fn arrays(oracle: &Oracle, inputs: &Inputs) -> Arrays {
    let mut arrays = Arrays::new();
    for (number, name) in oracle.inputs().enumerate() {
        let count: usize = oracle.shape(name, inputs).expect("the shape is known").iter().product();
        arrays.insert(name.to_owned(), noise(count, number as u64));
    }
    arrays
}

/// Deterministic numbers between -1 and 1.
fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 41) as f64 / (1u64 << 22) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// The shortest of three runs, in seconds.
fn best(run: impl Fn()) -> f64 {
    let one = || {
        let started = Instant::now();
        run();
        started.elapsed().as_secs_f64()
    };
    (0..3).map(|_| one()).fold(f64::INFINITY, f64::min)
}
