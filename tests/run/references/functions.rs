//! Functions of one number: in double precision, within the errors that CUDA's programming guide states for its own.

use super::{All, Expected, Given, Reference, exact, within_units};
use half::{bf16, f16};

pub const LIST: &[(&str, Reference)] = &[
    ("convert-f32", convert_f32),
    ("escape-f32", escape_f32),
    ("fast-math-f32", fast_math_f32),
    ("math-f32", math_f32),
    ("math-f64", math_f64),
];

/// Units in the last place of `f32`, at one.
const UNIT: f64 = f32::EPSILON as f64;

fn of(x: &[f64], function: impl Fn(f64) -> f64) -> Vec<f64> {
    x.iter().map(|x| function(*x)).collect()
}

/// `sinf` and `cosf` are off by two units at most, `logf` by one; the root's and the quotient's errors and
/// that of their sum are half a unit each.
fn math_f32(given: &Given) -> All {
    let x = given.numbers("X");
    vec![
        ("SIN", within_units(of(&x, |x| (8.0 * x).sin()), |_| 2.0)),
        ("COS", within_units(of(&x, f64::cos), |_| 2.0)),
        ("LOG", within_units(of(&x, f64::ln), |_| 1.0)),
        ("ROOT", within_units(of(&x, |x| x.sqrt() + 1.0 / x), |_| 1.5)),
    ]
}

/// CUDA's functions of doubles are off by two units at most, and the host's by one.
fn math_f64(given: &Given) -> All {
    let x = given.numbers("X");
    let close = |values: Vec<f64>, units: f64| within_units(values, move |_| units);
    vec![
        // The argument is rounded: by half a unit of 10 at most, which is what the result is off by.
        ("EXP", close(of(&x, |x| (x - 10.0).exp()), 3.0)),
        ("LOG", close(of(&x, f64::ln), 3.0)),
        ("SIN", close(of(&x, f64::sin), 3.0)),
        ("QUOTIENT", close(of(&x, |x| (x + 1.0) / (x * x)), 2.0)),
        ("ROOT", close(of(&x, f64::sqrt), 0.0)),
    ]
}

/// `__expf` is off by 2 + |1.173 x| units, `__logf` and `__sinf` by 2^-21.41 within 0.5 to 2 and -pi to pi (`__logf` by
/// three units elsewhere), `rsqrtf`, `__fdividef` and `atanf` by two units.
fn fast_math_f32(given: &Given) -> All {
    let x = given.numbers("X");
    let absolute = 2f64.powf(-21.41) / UNIT;
    let log = of(&x, f64::ln);
    let log_scales =
        x.iter().zip(&log).map(|(x, log)| if (0.5..=2.0).contains(x) { absolute } else { 3.0 * log.abs() }).collect();
    let sin = of(&x, f64::sin);
    let sin_scales = vec![absolute; sin.len()];
    vec![
        ("EXP", within_units(of(&x, f64::exp), |at| 2.0 + (1.173 * x[at]).abs())),
        ("LOG", Expected::Close { values: log, scales: log_scales, terms: 0.0 }),
        ("SIN", Expected::Close { values: sin, scales: sin_scales, terms: 0.0 }),
        ("INVERSE", within_units(of(&x, |x| 1.0 / x.sqrt()), |_| 2.0)),
        ("QUOTIENT", within_units(of(&x, |x| 1.0 / x), |_| 2.0)),
        ("ATAN", within_units(of(&x, f64::atan), |_| 2.0)),
    ]
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "conversions are what is asked for")]
fn convert_f32(given: &Given) -> All {
    let x: Vec<f32> = given.read("X");
    let whole = |round: fn(f32) -> f32| exact(x.iter().map(|x| round(*x) as i32));
    vec![
        ("NEAREST", whole(f32::round_ties_even)),
        ("ZERO", whole(f32::trunc)),
        ("UP", whole(f32::ceil)),
        ("DOWN", whole(f32::floor)),
        ("BYTE", exact(x.iter().map(|x| x.round_ties_even() as u8))),
        ("HALF", exact(x.iter().map(|x| f16::from_f32(x * 300.0)))),
        ("BRAIN", exact(x.iter().map(|x| bf16::from_f32(*x)))),
    ]
}

/// Every operation is rounded by itself, as the kernel's are: the counts are exact.
fn escape_f32(given: &Given) -> All {
    let (cx, cy): (Vec<f32>, Vec<f32>) = (given.read("X"), given.read("Z"));
    let most = given.size("STEPS");
    let steps = |(cx, cy): (f32, f32)| {
        let (mut x, mut y) = (0f32, 0f32);
        let escapes = (0..most).position(|_| {
            let (xx, yy) = (x * x, y * y);
            let out = xx + yy > 4.0;
            y = 2.0 * (x * y) + cy;
            x = (xx - yy) + cx;
            out
        });
        i32::try_from(escapes.unwrap_or(most)).unwrap_or(i32::MAX)
    };
    vec![("COUNT", exact(cx.into_iter().zip(cy).map(steps)))]
}
