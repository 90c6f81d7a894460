//! Integer arithmetic, exact: Rust's own operations, wrapping where the kernel's do.

use super::{All, Expected, Given, Reference, exact};

pub const LIST: &[(&str, Reference)] = &[
    ("blend-u8", blend_u8),
    ("collatz-i32", collatz_i32),
    ("hash-u64", hash_u64),
    ("histogram-global", histogram_global),
    ("histogram-shared", histogram_shared),
    ("integers-i32", integers_i32),
    ("templates-i64", templates_i64),
];

#[allow(clippy::cast_sign_loss, clippy::cast_possible_wrap, reason = "bits are reinterpreted, as the kernel does")]
fn integers_i32(given: &Given) -> All {
    let (a, b): (Vec<i32>, Vec<i32>) = (given.read("A"), given.read("B"));
    let signed = |(a, b): (&i32, &i32)| {
        let (a, b) = (*a, *b);
        let high = ((i64::from(a) * i64::from(b)) >> 32) as i32;
        let terms = [a / b, a % b, (a >> 5).wrapping_neg(), high, a / 7, (a % 10).wrapping_neg()];
        let first_bit = if b == 0 { 0 } else { b.trailing_zeros() + 1 };
        let bits = a.leading_zeros() << 8 | first_bit << 4 | (a ^ b).count_ones();
        terms.into_iter().fold(0, i32::wrapping_add) ^ bits as i32
    };
    let unsigned = |(at, (a, b)): (usize, (&i32, &i32))| {
        let (u, v) = (*a as u32, *b as u32);
        let high = ((u64::from(u) * 0x9E37_79B9) >> 32) as u32;
        let sum = [u / v, u % 1000, u >> 3, high].into_iter().fold(0, u32::wrapping_add);
        let funnel = ((((u64::from(v) << 32) | u64::from(u)) << (at % 32)) >> 32) as u32;
        let mixed = u32::from_le_bytes([u as u8, v as u8, (u >> 8) as u8, (v >> 8) as u8]);
        let bits = u.reverse_bits().wrapping_add(funnel).wrapping_add(mixed);
        let clamped = (*a).max(-*b).min(*b) as u32;
        let average = ((u64::from(u) + u64::from(v)) / 2) as u32;
        let rest = [a.abs_diff(*b).wrapping_add(u), u.abs_diff(v).wrapping_add(1), average, clamped];
        rest.into_iter().fold(sum ^ bits, u32::wrapping_add)
    };
    vec![("Y", exact(a.iter().zip(&b).map(signed))), ("Z", exact(a.iter().zip(&b).enumerate().map(unsigned)))]
}

#[allow(clippy::cast_sign_loss, clippy::cast_possible_wrap, reason = "bits are reinterpreted, as the kernel does")]
fn hash_u64(given: &Given) -> All {
    let rounds = given.size("ROUNDS");
    let hash = |mut h: u64| {
        for _ in 0..rounds {
            h ^= h >> 33;
            h = h.wrapping_mul(0xFF51_AFD7_ED55_8CCD).rotate_left(29);
            let high = ((u128::from(h) * 0x9E37_79B9_7F4A_7C15) >> 64) as u64;
            h = h.wrapping_add(high ^ (h / 1_000_003) ^ (h % 12289));
            let first_bit = if h == 0 { 0 } else { h.trailing_zeros() + 1 };
            let counts = u64::from(h.count_ones() + h.leading_zeros() + first_bit);
            h ^= ((h as i64 >> 7) as u64).wrapping_add(counts);
            h ^= h.reverse_bits();
        }
        h
    };
    vec![("Y", exact(given.read::<u64>("X").into_iter().map(hash)))]
}

fn blend_u8(given: &Given) -> All {
    let [a, b, w] = ["A", "B", "W"].map(|name| given.read::<u8>(name));
    let mixed = |at: usize| {
        let (a, b, w) = (u32::from(a[at]), u32::from(b[at]), u32::from(w[at]));
        u8::try_from((a * w + b * (255 - w) + 127) / 255).expect("a mean of bytes is a byte")
    };
    vec![("Y", exact((0..a.len()).map(mixed)))]
}

fn counts(bins: usize, places: impl Iterator<Item = usize>) -> Expected {
    let mut counts = vec![0u32; bins];
    places.for_each(|place| counts[place] += 1);
    exact(counts)
}

fn histogram_global(given: &Given) -> All {
    vec![("COUNTS", counts(256, given.read::<u8>("X").into_iter().map(usize::from)))]
}

/// The sum is rounded in `f32`, as the kernel's is; numbers outside go to the bins at the ends.
fn histogram_shared(given: &Given) -> All {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float to usize saturates at zero")]
    let bin = |x: f32| (((x + 1.0) * 32.0).floor() as usize).min(63);
    vec![("COUNTS", counts(64, given.read::<f32>("X").into_iter().map(bin)))]
}

fn collatz_i32(given: &Given) -> All {
    let walk = |start: i32| {
        let mut x = u64::try_from(start).expect("the kernel's numbers are positive");
        let (mut steps, mut peak) = (0i32, x);
        while x != 1 {
            x = if x % 2 == 1 { 3 * x + 1 } else { x / 2 };
            peak = peak.max(x);
            steps += 1;
        }
        (steps, peak)
    };
    let (steps, peaks): (Vec<i32>, Vec<u64>) = given.read::<i32>("X").into_iter().map(walk).unzip();
    vec![("STEPS", exact(steps)), ("PEAK", exact(peaks))]
}

fn templates_i64(given: &Given) -> All {
    let x: Vec<i64> = given.read("X");
    let of_rows = |of: fn(&[i64]) -> i64| exact(x.chunks(given.size("n")).map(of));
    vec![
        ("SUM", of_rows(|row| row.iter().sum())),
        ("LARGEST", of_rows(|row| row.iter().copied().max().unwrap_or(i64::MIN))),
        ("DISTANCE", of_rows(|row| row.iter().map(|x| (x - row[0]).abs()).sum())),
    ]
}
