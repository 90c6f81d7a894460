//! Kernels as NVRTC compiles them, against references computed here.

use crate::{Arg::Buffer, Bench, bytes_of, noise, numbers_of, scalar};
use half::{bf16, f16};

const ELEMENTWISE: &str = include_str!("kernels/elementwise.ptx");
const MATMUL: &str = include_str!("kernels/matmul.ptx");
const BLOCK: &str = include_str!("kernels/block.ptx");
const WARP: &str = include_str!("kernels/warp.ptx");
const CALLS: &str = include_str!("kernels/calls.ptx");

fn f32s(bytes: &[u8]) -> Vec<f32> {
    numbers_of::<f32>(bytes)
}

fn assert_close(found: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (f64::from(*found) - expected).abs();
        assert!(error <= tolerance * expected.abs().max(1.0), "element {at}: {found} where {expected} is expected");
    }
}

#[test]
fn axpy_in_every_float_type() {
    let n = 1000;
    let (x, y) = (noise(n, 1), noise(n, 2));
    let mut bench = Bench::new(ELEMENTWISE);
    bench.buffer("x", &bytes_of::<f32>(&x)).buffer("y", &bytes_of::<f32>(&y));
    bench.run(
        "axpy_f32",
        [3, 1, 1],
        [128, 1, 1],
        0,
        vec![Buffer("x"), Buffer("y"), scalar!(1.5_f32), scalar!(n as i32)],
    );
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 1.5_f32.mul_add(*x, *y)).collect();
    assert_eq!(f32s(&bench.read("y")), expected);

    let (u, v): (Vec<f64>, Vec<f64>) =
        (x.iter().map(|x| f64::from(*x) / 3.0).collect(), y.iter().map(|y| f64::from(*y)).collect());
    bench.buffer("x", &bytes_of::<f64>(&u)).buffer("y", &bytes_of::<f64>(&v));
    bench.run(
        "axpy_f64",
        [8, 1, 1],
        [128, 1, 1],
        0,
        vec![Buffer("x"), Buffer("y"), scalar!(0.1_f64), scalar!(n as i32)],
    );
    let expected: Vec<f64> = u.iter().zip(&v).map(|(x, y)| 0.1_f64.mul_add(*x, *y)).collect();
    assert_eq!(numbers_of::<f64>(&bench.read("y")), expected);

    let (h, g): (Vec<f16>, Vec<f16>) =
        (x.iter().map(|x| f16::from_f32(*x)).collect(), y.iter().map(|y| f16::from_f32(*y)).collect());
    bench.buffer("x", &bytes_of::<f16>(&h)).buffer("y", &bytes_of::<f16>(&g));
    let a = f16::from_f32(0.3);
    bench.run(
        "axpy_f16",
        [4, 1, 1],
        [128, 1, 1],
        0,
        vec![Buffer("x"), Buffer("y"), scalar!(a), scalar!((n / 2) as i32)],
    );
    // Exact in a double, so rounded once.
    let fused = |x: &f16, y: &f16| f16::from_f32(a.to_f32() * x.to_f32() + y.to_f32());
    let found = numbers_of::<f16>(&bench.read("y"));
    for ((found, x), y) in found.iter().zip(&h).zip(&g) {
        let near = fused(x, y).to_bits().abs_diff(found.to_bits());
        assert!(near <= 1, "{found} for {x} and {y}");
    }

    let (h, g): (Vec<bf16>, Vec<bf16>) =
        (x.iter().map(|x| bf16::from_f32(*x)).collect(), y.iter().map(|y| bf16::from_f32(*y)).collect());
    bench.buffer("x", &bytes_of::<bf16>(&h)).buffer("y", &bytes_of::<bf16>(&g));
    let a = bf16::from_f32(0.3);
    bench.run("axpy_bf16", [8, 1, 1], [128, 1, 1], 0, vec![Buffer("x"), Buffer("y"), scalar!(a), scalar!(n as i32)]);
    let found = numbers_of::<bf16>(&bench.read("y"));
    for ((found, x), y) in found.iter().zip(&h).zip(&g) {
        let expected = bf16::from_f64(a.to_f64() * x.to_f64() + y.to_f64());
        assert!(expected.to_bits().abs_diff(found.to_bits()) <= 1, "{found} for {x} and {y}");
    }
}

#[test]
fn vectors_of_floats() {
    let n = 1024;
    let x: Vec<f32> = noise(n, 3).iter().map(|x| x * 3.0).collect();
    let mut bench = Bench::new(ELEMENTWISE);
    bench.buffer("x", &bytes_of::<f32>(&x)).buffer("y", &bytes_of::<f32>(&vec![0.0; n]));
    bench.run("gelu", [2, 1, 1], [128, 1, 1], 0, vec![Buffer("x"), Buffer("y"), scalar!((n / 4) as i32)]);
    let gelu = |x: &f32| {
        let x = f64::from(*x);
        0.5 * x * (1.0 + (0.797_884_560_8 * (x + 0.044_715 * x * x * x)).tanh())
    };
    assert_close(&f32s(&bench.read("y")), &x.iter().map(gelu).collect::<Vec<_>>(), 1e-5);
}

#[test]
fn integers_of_all_widths() {
    let n = 500;
    let a: Vec<i32> = (0..n).map(|i: i32| i.wrapping_mul(0x3504_F333) ^ (i << 7)).collect();
    let b: Vec<u64> = (0..n as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    let e: Vec<i16> = (0..n).map(|i| (i * 77) as i16).collect();
    let mut bench = Bench::new(ELEMENTWISE);
    bench.buffer("a", &bytes_of::<i32>(&a)).buffer("b", &bytes_of::<u64>(&b)).buffer("e", &bytes_of::<i16>(&e));
    bench.buffer("c", &[0; 2000]).buffer("d", &[0; 500]);
    let arguments = vec![Buffer("a"), Buffer("b"), Buffer("c"), Buffer("d"), Buffer("e"), scalar!(n)];
    bench.run("integers", [4, 1, 1], [128, 1, 1], 0, arguments);
    let (c, d) = (numbers_of::<i32>(&bench.read("c")), bench.read("d"));
    let found_e = numbers_of::<i16>(&bench.read("e"));
    for at in 0..n as usize {
        let (x, y, i) = (a[at], b[at], at as i32);
        let first_set = if x == 0 { 0 } else { x.trailing_zeros() as i32 + 1 };
        let sum = [
            x / (i + 1),
            x % 7,
            -(x >> 3),
            x.count_ones() as i32,
            x.leading_zeros() as i32,
            first_set,
            (y / 1_000_003) as i32,
            (y % 97) as i32,
        ];
        assert_eq!(c[at], sum.iter().fold(0_i32, |sum, it| sum.wrapping_add(*it)), "element {at}");
        assert_eq!(d[at], x.wrapping_add(i) as u8);
        assert_eq!(found_e[at], (x.wrapping_mul(3) as i16).wrapping_sub(e[at]));
    }
}

#[test]
fn functions_of_the_library() {
    let n = 300;
    let x: Vec<f32> = noise(n, 4).iter().map(|x| x * 8.0).collect();
    let u: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
    let mut bench = Bench::new(ELEMENTWISE);
    bench.buffer("x", &bytes_of::<f32>(&x)).buffer("y", &bytes_of::<f32>(&vec![0.0; n]));
    bench.buffer("u", &bytes_of::<f64>(&u)).buffer("v", &bytes_of::<f64>(&vec![0.0; n]));
    let arguments = vec![Buffer("x"), Buffer("y"), Buffer("u"), Buffer("v"), scalar!(n as i32)];
    bench.run("functions", [3, 1, 1], [128, 1, 1], 0, arguments);
    let single: Vec<f64> = x
        .iter()
        .map(|x| {
            let (hundred, x) = (f64::from(x * 100.0), f64::from(*x));
            let magnitude = x.abs();
            x.exp()
                + (magnitude + 1.0).ln()
                + hundred.sin()
                + x.cos()
                + magnitude.sqrt()
                + 1.0 / (magnitude + 1.0).sqrt()
                + magnitude.powf(1.5)
                + x / 3.0
        })
        .collect();
    assert_close(&f32s(&bench.read("y")), &single, 2e-6);
    for (u, v) in u.iter().zip(numbers_of::<f64>(&bench.read("v"))) {
        let magnitude = u.abs();
        let expected = u.exp()
            + (magnitude + 1.0).ln()
            + (u * 1e6).sin()
            + u.cos()
            + magnitude.sqrt()
            + magnitude.powf(1.5)
            + u / 3.0;
        assert!((v - expected).abs() <= 1e-13 * expected.abs().max(1.0), "{v} where {expected} is expected, for {u}");
    }
}

fn product(a: &[f32], b: &[f32], n: usize) -> Vec<f32> {
    let mut c = vec![0.0_f32; n * n];
    for r in 0..n {
        for k in 0..n {
            for col in 0..n {
                c[r * n + col] = a[r * n + k].mul_add(b[k * n + col], c[r * n + col]);
            }
        }
    }
    c
}

#[test]
fn products_of_matrices() {
    for (entry, n, grid, block) in [
        ("matmul_naive", 64, [4, 4, 1], [16, 16, 1]),
        ("matmul_naive", 37, [3, 3, 1], [16, 16, 1]),
        ("matmul_tiled", 64, [4, 4, 1], [16, 16, 1]),
        ("matmul_tiled", 45, [3, 3, 1], [16, 16, 1]),
        ("matmul_simt", 128, [2, 2, 1], [256, 1, 1]),
    ] {
        let (a, b) = (noise(n * n, 5), noise(n * n, 6));
        let mut bench = Bench::new(MATMUL);
        bench
            .buffer("A", &bytes_of::<f32>(&a))
            .buffer("B", &bytes_of::<f32>(&b))
            .buffer("C", &bytes_of::<f32>(&vec![f32::NAN; n * n]));
        bench.run(entry, grid, block, 0, vec![Buffer("A"), Buffer("B"), Buffer("C"), scalar!(n as i32)]);
        // The order of the additions is the same, and each is fused: equal to the bit.
        assert_eq!(f32s(&bench.read("C")), product(&a, &b, n), "{entry} of {n}");
    }
}

#[test]
fn product_of_halves() {
    let n = 48;
    let halves = |seed| noise(n * n, seed).into_iter().map(f16::from_f32).collect::<Vec<_>>();
    let (a, b) = (halves(7), halves(8));
    let singles = |halves: &[f16]| halves.iter().map(|it| it.to_f32()).collect::<Vec<_>>();
    let mut bench = Bench::new(MATMUL);
    bench.buffer("A", &bytes_of::<f16>(&a)).buffer("B", &bytes_of::<f16>(&b)).buffer("C", &vec![0; 2 * n * n]);
    bench.run("matmul_f16", [3, 3, 1], [16, 16, 1], 0, vec![Buffer("A"), Buffer("B"), Buffer("C"), scalar!(n as i32)]);
    let expected: Vec<f16> = product(&singles(&a), &singles(&b), n).into_iter().map(f16::from_f32).collect();
    assert_eq!(numbers_of::<f16>(&bench.read("C")), expected);
}

#[test]
fn reductions_and_scans() {
    let n: i32 = 5000;
    let x: Vec<f32> = (0..n).map(|i| (i % 13) as f32).collect();
    let mut bench = Bench::new(BLOCK);
    bench.buffer("x", &bytes_of::<f32>(&x)).buffer("out", &bytes_of::<f32>(&[0.0]));
    bench.run("reduce_sum", [7, 1, 1], [256, 1, 1], 0, vec![Buffer("x"), Buffer("out"), scalar!(n)]);
    assert_eq!(f32s(&bench.read("out")), [x.iter().sum::<f32>()]);

    let x: Vec<i32> = (0..n).map(|i| (i * 7919) % 10007 - 5000).collect();
    bench.buffer("x", &bytes_of::<i32>(&x)).buffer("out", &bytes_of::<i32>(&[0]));
    bench.run("reduce_max", [1, 1, 1], [256, 1, 1], 0, vec![Buffer("x"), Buffer("out"), scalar!(n)]);
    assert_eq!(numbers_of::<i32>(&bench.read("out")).first(), x.iter().max());

    bench.buffer("y", &[0; 4000]);
    bench.run("scan", [1, 1, 1], [1024, 1, 1], 0, vec![Buffer("x"), Buffer("y"), scalar!(1000_i32)]);
    let expected: Vec<i32> = x[..1000]
        .iter()
        .scan(0, |sum, x| {
            *sum += x;
            Some(*sum)
        })
        .collect();
    assert_eq!(numbers_of::<i32>(&bench.read("y")), expected);
}

#[test]
fn softmax_and_layer_norm() {
    let (rows, cols) = (5, 300);
    let x: Vec<f32> = noise(rows * cols, 9).iter().map(|x| x * 4.0).collect();
    let mut bench = Bench::new(BLOCK);
    bench.buffer("x", &bytes_of::<f32>(&x)).buffer("y", &vec![0; 4 * rows * cols]);
    bench.run("softmax", [rows as u32, 1, 1], [128, 1, 1], 512, vec![Buffer("x"), Buffer("y"), scalar!(cols as i32)]);
    let softmax = x.chunks(cols).flat_map(|row| {
        let sum: f64 = row.iter().map(|x| f64::from(*x).exp()).sum();
        row.iter().map(move |x| f64::from(*x).exp() / sum)
    });
    assert_close(&f32s(&bench.read("y")), &softmax.collect::<Vec<_>>(), 1e-6);

    let (g, b) = (noise(cols, 10), noise(cols, 11));
    bench.buffer("g", &bytes_of::<f32>(&g)).buffer("b", &bytes_of::<f32>(&b));
    let arguments = vec![Buffer("x"), Buffer("y"), Buffer("g"), Buffer("b"), scalar!(cols as i32)];
    bench.run("layer_norm", [rows as u32, 1, 1], [32, 1, 1], 0, arguments);
    let normed = x.chunks(cols).flat_map(|row| {
        let mean = row.iter().map(|x| f64::from(*x)).sum::<f64>() / cols as f64;
        let variance = row.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / cols as f64;
        let scaled = move |x: &f32| (f64::from(*x) - mean) / (variance + 1e-5).sqrt();
        row.iter()
            .zip(g.iter().zip(&b))
            .map(move |(x, (g, b))| scaled(x) * f64::from(*g) + f64::from(*b))
            .collect::<Vec<_>>()
    });
    assert_close(&f32s(&bench.read("y")), &normed.collect::<Vec<_>>(), 2e-5);
}

#[test]
fn grids_in_two_dimensions() {
    let (w, h) = (70_usize, 45_usize);
    let x: Vec<f64> = noise(w * h, 12).iter().map(|x| f64::from(*x)).collect();
    let mut bench = Bench::new(BLOCK);
    bench.buffer("x", &bytes_of::<f64>(&x)).buffer("y", &bytes_of::<f64>(&vec![0.0; w * h]));
    let arguments = vec![Buffer("x"), Buffer("y"), scalar!(w as i32), scalar!(h as i32)];
    bench.run("stencil", [5, 6, 1], [16, 8, 1], 0, arguments);
    let y = numbers_of::<f64>(&bench.read("y"));
    for at in (0..w * h).filter(|at| (1..w - 1).contains(&(at % w)) && (1..h - 1).contains(&(at / w))) {
        assert_eq!(y[at], 0.25 * (x[at - 1] + x[at + 1] + x[at - w] + x[at + w]), "element {at}");
    }

    let x = noise(w * h, 13);
    bench.buffer("x", &bytes_of::<f32>(&x)).buffer("y", &bytes_of::<f32>(&vec![0.0; w * h]));
    let arguments = vec![Buffer("x"), Buffer("y"), scalar!(w as i32), scalar!(h as i32)];
    bench.run("transpose", [3, 2, 1], [32, 8, 1], 0, arguments);
    let y = f32s(&bench.read("y"));
    assert!((0..w * h).all(|at| y[at % w * h + at / w] == x[at]));

    let x: Vec<u8> = (0..10_000_u32).map(|i| ((i * i) >> 5) as u8).collect();
    bench.buffer("x", &x).buffer("bins", &[0; 1024]);
    bench.run("histogram", [6, 1, 1], [256, 1, 1], 0, vec![Buffer("x"), Buffer("bins"), scalar!(10_000_i32)]);
    let mut expected = [0_u32; 256];
    x.iter().for_each(|x| expected[usize::from(*x)] += 1);
    assert_eq!(numbers_of::<u32>(&bench.read("bins")), expected);
}

#[test]
fn operations_of_a_warp() {
    let x: Vec<i32> = (0..32).map(|i| i * 5 % 11).collect();
    let mut bench = Bench::new(WARP);
    bench.buffer("x", &bytes_of::<i32>(&x)).buffer("out", &[0; 2048]);
    bench.run("lanes", [1, 1, 1], [32, 1, 1], 0, vec![Buffer("x"), Buffer("out")]);
    let out = numbers_of::<u32>(&bench.read("out"));
    let mask = |holds: &dyn Fn(i32) -> bool| (0..32).filter(|i| holds(x[*i])).fold(0_u32, |mask, i| mask | 1 << i);
    for lane in 0..32 {
        let o = &out[lane * 16..][..16];
        let up = if lane % 16 >= 2 { x[lane - 2] } else { x[lane] };
        let expected = [
            mask(&|x| x > 3),
            1,
            1,
            mask(&|other| other == x[lane]),
            u32::MAX,
            1,
            x.iter().sum::<i32>() as u32,
            (x.iter().min().expect("32 of them") - 5) as u32,
            x.iter().fold(0, |all, x| all ^ x) as u32,
            x[lane / 8 * 8 + (lane + 3) % 8] as u32,
            up as u32,
        ];
        assert_eq!(o[..11], expected, "lane {lane}");
        if lane % 2 == 1 {
            assert_eq!(o[11..13], [0xAAAA_AAAA, x[lane ^ 2] as u32], "lane {lane}");
        }
        assert_eq!(o[13..], [x.iter().filter(|x| **x & 1 == 1).count() as u32, 1, 0], "lane {lane}");
    }
}

#[test]
fn threads_and_blocks_that_wait_for_each_other() {
    let mut bench = Bench::new(WARP);
    bench.buffer("mutex", &[0; 4]).buffer("count", &[0; 4]);
    bench.run("lock", [4, 1, 1], [64, 1, 1], 0, vec![Buffer("mutex"), Buffer("count")]);
    assert_eq!(numbers_of::<i32>(&bench.read("count")), [256]);

    let blocks = 40;
    bench.buffer("flags", &[0; 160]).buffer("out", &[0; 160]);
    bench.run("chain", [blocks, 1, 1], [32, 1, 1], 0, vec![Buffer("flags"), Buffer("out")]);
    let expected: Vec<i32> = (1..=blocks as i32).rev().collect();
    assert_eq!(numbers_of::<i32>(&bench.read("out")), expected);
}

#[test]
fn atomic_operations() {
    let mut bench = Bench::new(WARP);
    bench.buffer("i", &bytes_of::<i32>(&[0, 0, 0])).buffer("u", &bytes_of::<u32>(&[u32::MAX, 0, 0, 0, 0]));
    bench
        .buffer("f", &bytes_of::<f32>(&[0.0]))
        .buffer("d", &bytes_of::<f64>(&[0.0]))
        .buffer("l", &bytes_of::<u64>(&[0, 0]));
    let arguments = vec![Buffer("i"), Buffer("u"), Buffer("f"), Buffer("d"), Buffer("l")];
    bench.run("atomics", [5, 1, 1], [64, 1, 1], 0, arguments);
    let n = 320_u32;
    assert_eq!(numbers_of::<i32>(&bench.read("i")), [320, -7, 319]);
    let xor = (0..n).fold(0, |all, t| all ^ t);
    // `inc` counts 0 to 9, `dec` 0, 9, 8, ...
    assert_eq!(numbers_of::<u32>(&bench.read("u")), [0, u32::MAX, xor, n % 10, (10 - n % 10) % 10]);
    assert_eq!(f32s(&bench.read("f")), [160.0]);
    assert_eq!(numbers_of::<f64>(&bench.read("d")), [80.0]);
    assert_eq!(numbers_of::<u64>(&bench.read("l")), [u64::from(n) << 33, 319 << 32]);
}

#[test]
fn calls_local_memory_and_variables() {
    let mut bench = Bench::new(CALLS);
    bench.buffer("out", &[0; 256]).buffer("f", &[0; 256]);
    bench.run("calls", [1, 1, 1], [64, 1, 1], 0, vec![Buffer("out"), Buffer("f"), scalar!(3_i32)]);
    let (out, f) = (numbers_of::<i32>(&bench.read("out")), f32s(&bench.read("f")));
    let fibonacci = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89];
    let table = [1, 1, 2, 3, 5, 8, 13, 21];
    for t in 0..64 {
        let expected = fibonacci[t % 12] + table[(t + 3) % 8];
        assert_eq!(out[t], if t == 0 { 104 } else { expected }, "thread {t}");
        let own = (0..16).find(|i| (i * 7 + 3) % 16 == t % 16).expect("7 and 16 have no common factor");
        assert_eq!(f[t], (120 * t + own * t + 3000 + t) as f32, "thread {t}");
    }
    // `counter` lives as long as the program.
    bench.run("calls", [1, 1, 1], [64, 1, 1], 0, vec![Buffer("out"), Buffer("f"), scalar!(3_i32)]);
    assert_eq!(numbers_of::<i32>(&bench.read("out"))[0], 168);

    let x: Vec<i32> = (0..32).map(|i| i * 37 % 101).collect();
    let mut all = x.clone();
    all.resize(96, 0);
    bench.buffer("x", &bytes_of::<i32>(&all));
    bench.run("cases", [1, 1, 1], [32, 1, 1], 0, vec![Buffer("x"), scalar!(5_i32)]);
    let found = numbers_of::<i32>(&bench.read("x"));
    for (t, v) in x.iter().copied().enumerate() {
        let expected = match v % 9 {
            0 => v * 3,
            1 => x[(t + 1) % 32] ^ 5,
            2 => v / 7 + 5,
            4 => (v.count_ones() << 4) as i32,
            5 => v - 100,
            6 => -v,
            7 => v * v + 5,
            _ => v,
        };
        assert_eq!((found[64 + t], found[32 + t]), (expected, if v % 9 == 3 { v } else { 0 }), "thread {t}");
    }
    let failed = bench.try_run("cases", [1, 1, 1], [32, 1, 1], 0, vec![Buffer("x"), scalar!(99_i32)]);
    assert!(failed.is_err_and(|error| error.to_string().contains("an assertion of the kernel failed")));

    let numbers = bytes_of::<i32>(&[9, 8, 7, 6, 5, 4]);
    bench.run("by_value", [1, 1, 1], [12, 1, 1], 0, vec![crate::Arg::Bytes(numbers), Buffer("out")]);
    assert_eq!(numbers_of::<i32>(&bench.read("out"))[..12], [9, 8, 7, 6, 5, 4, 9, 8, 7, 6, 5, 4]);
}
