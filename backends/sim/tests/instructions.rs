//! Single instructions on values at the edges, against values computed here by other means.

use crate::{Arg::Buffer, Bench, bytes_of, numbers_of};
use half::{bf16, f16};
use std::fmt::Write;

/// An instruction: its text over registers `d`, `a`, `b`, `c`, their widths in bits, and what it gives.
struct Case {
    text: &'static str,
    /// Of `d`, `a`, `b`, `c`; 0 where one is not used.
    widths: [u32; 4],
    expected: fn(u64, u64, u64) -> u64,
}

const INTEGERS: [u64; 14] = [
    0,
    1,
    2,
    7,
    31,
    32,
    33,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    0x1234_5678_9ABC_DEF0,
    0x7FFF_FFFF_FFFF_FFFF,
    0x8000_0000_0000_0000,
    u64::MAX,
];

const SINGLES: [f32; 18] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.1,
    3.0e38,
    -3.0e38,
    1.0e-38,
    1.0e-45,
    -1.0e-45,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    0.499_999_97,
    2.5,
    -2_147_483_648.0,
    16_777_215.0,
    1.0e10,
];

const DOUBLES: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.1,
    1.0e308,
    -1.0e308,
    5.0e-324,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    2.5,
    1.0e10,
    3.402_823_5e38,
];

/// Runs cases on every combination of inputs, and gives what each thread of each case got.
fn run(cases: &[Case], pools: &[Vec<u64>; 3], check: impl Fn(&Case, [u64; 3], u64, u64)) {
    let mut text = String::from(".version 8.0\n.target sm_90\n.address_size 64\n");
    for (number, case) in cases.iter().enumerate() {
        kernel(&mut text, number, case);
    }
    let mut bench = Bench::new(&text);
    for (number, case) in cases.iter().enumerate() {
        let used = |at: usize, width: u32| if width == 0 { vec![0] } else { pools[at].clone() };
        let [first, second, third] = [used(0, case.widths[1]), used(1, case.widths[2]), used(2, case.widths[3])];
        let mut inputs: Vec<[u64; 3]> = Vec::new();
        for a in &first {
            for b in &second {
                inputs.extend(third.iter().map(|c| [*a, *b, *c]));
            }
        }
        let threads = inputs.len().next_multiple_of(64);
        inputs.resize(threads, [0; 3]);
        for (at, name) in ["a", "b", "c"].into_iter().enumerate() {
            bench.buffer(name, &bytes_of(&inputs.iter().map(|it| it[at]).collect::<Vec<u64>>()));
        }
        bench.buffer("d", &vec![0; threads * 8]);
        let arguments = ["d", "a", "b", "c"].map(Buffer).into_iter().collect();
        bench.run(&format!("k{number}"), [(threads / 64) as u32, 1, 1], [64, 1, 1], 0, arguments);
        for (inputs, found) in inputs.iter().zip(numbers_of::<u64>(&bench.read("d"))) {
            let mask = |at: usize| inputs[at] & mask(case.widths[at + 1]);
            let own = [mask(0), mask(1), mask(2)];
            check(case, own, found, (case.expected)(own[0], own[1], own[2]) & self::mask(case.widths[0]));
        }
    }
}

fn mask(width: u32) -> u64 {
    if width == 64 { u64::MAX } else { (1 << width) - 1 }
}

fn kernel(text: &mut String, number: usize, case: &Case) {
    let _ =
        writeln!(text, ".visible .entry k{number}(.param .u64 pd, .param .u64 pa, .param .u64 pb, .param .u64 pc)\n{{");
    let _ = writeln!(text, ".reg .pred p, q; .reg .b16 h, l; .reg .b32 i, j, k; .reg .b64 x, y;");
    for (name, width) in ["d", "a", "b", "c"].into_iter().zip(case.widths).filter(|(_, width)| *width > 0) {
        let _ = writeln!(text, ".reg .b{} {name};", width.max(16));
    }
    let _ = writeln!(text, "mov.u32 i, %tid.x; mov.u32 j, %ctaid.x; mad.lo.s32 i, j, 64, i; mul.wide.u32 x, i, 8;");
    for (name, width) in ["a", "b", "c"].into_iter().zip(&case.widths[1..]).filter(|(_, width)| **width > 0) {
        let _ = writeln!(text, "ld.param.u64 y, [p{name}]; add.u64 y, y, x; ld.global.b{width} {name}, [y];");
    }
    let _ = writeln!(
        text,
        "{}\nld.param.u64 y, [pd]; add.u64 y, y, x; st.global.b{} [y], d; ret;\n}}",
        case.text, case.widths[0]
    );
}

#[track_caller]
fn exactly(case: &Case, inputs: [u64; 3], found: u64, expected: u64) {
    assert_eq!(found, expected, "{} of {inputs:x?}: {found:#x}, not {expected:#x}", case.text);
}

/// As `exactly`, but every NaN is as good as another.
#[track_caller]
fn but_for_nan(case: &Case, inputs: [u64; 3], found: u64, expected: u64) {
    let nan = |bits: u64| match case.widths[0] {
        16 => f16::from_bits(bits as u16).is_nan(),
        32 => f32::from_bits(bits as u32).is_nan(),
        _ => f64::from_bits(bits).is_nan(),
    };
    if !(nan(found) && nan(expected)) {
        exactly(case, inputs, found, expected);
    }
}

macro_rules! cases {
    ($($text:literal [$d:literal $a:literal $b:literal $c:literal] $expected:expr;)*) => {
        [$(Case { text: $text, widths: [$d, $a, $b, $c], expected: $expected }),*]
    };
}

fn s32(bits: u64) -> i32 {
    bits as i32
}
fn s64(bits: u64) -> i64 {
    bits as i64
}
fn f(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}
fn g(bits: u64) -> f64 {
    f64::from_bits(bits)
}
fn of(value: f32) -> u64 {
    u64::from(value.to_bits())
}
fn flag(value: bool) -> u64 {
    u64::from(value)
}
/// A single with its subnormals as zeros.
fn ftz(value: f32) -> f32 {
    if value.is_subnormal() { 0.0_f32.copysign(value) } else { value }
}

#[test]
fn integers() {
    let cases = cases! {
        "add.s32 d, a, b;" [32 32 32 0] |a, b, _| a.wrapping_add(b);
        "add.sat.s32 d, a, b;" [32 32 32 0] |a, b, _| s32(a).saturating_add(s32(b)) as u64;
        "add.s16 d, a, b;" [16 16 16 0] |a, b, _| a.wrapping_add(b);
        "sub.u64 d, a, b;" [64 64 64 0] |a, b, _| a.wrapping_sub(b);
        "mul.lo.s32 d, a, b;" [32 32 32 0] |a, b, _| a.wrapping_mul(b);
        "mul.hi.s32 d, a, b;" [32 32 32 0] |a, b, _| ((i64::from(s32(a)) * i64::from(s32(b))) >> 32) as u64;
        "mul.hi.u32 d, a, b;" [32 32 32 0] |a, b, _| (a * b) >> 32;
        "mul.hi.u16 d, a, b;" [16 16 16 0] |a, b, _| (a * b) >> 16;
        "mul.hi.s64 d, a, b;" [64 64 64 0] |a, b, _| ((i128::from(s64(a)) * i128::from(s64(b))) >> 64) as u64;
        "mul.hi.u64 d, a, b;" [64 64 64 0] |a, b, _| ((u128::from(a) * u128::from(b)) >> 64) as u64;
        "mul.wide.s32 d, a, b;" [64 32 32 0] |a, b, _| (i64::from(s32(a)) * i64::from(s32(b))) as u64;
        "mul.wide.u16 d, a, b;" [32 16 16 0] |a, b, _| a * b;
        "mad.lo.s32 d, a, b, c;" [32 32 32 32] |a, b, c| a.wrapping_mul(b).wrapping_add(c);
        "mad.hi.u32 d, a, b, c;" [32 32 32 32] |a, b, c| ((a * b) >> 32).wrapping_add(c);
        "mad.wide.s32 d, a, b, c;" [64 32 32 64] |a, b, c| ((i64::from(s32(a)) * i64::from(s32(b))) as u64).wrapping_add(c);
        "div.s32 d, a, b;" [32 32 32 0] |a, b, _| if b == 0 { u64::MAX } else { s32(a).wrapping_div(s32(b)) as u64 };
        "div.u64 d, a, b;" [64 64 64 0] |a, b, _| a.checked_div(b).unwrap_or(u64::MAX);
        "rem.s32 d, a, b;" [32 32 32 0] |a, b, _| if b == 0 { u64::from(u32::MAX) } else { s32(a).wrapping_rem(s32(b)) as u64 };
        "rem.s64 d, a, b;" [64 64 64 0] |a, b, _| if b == 0 { u64::MAX } else { s64(a).wrapping_rem(s64(b)) as u64 };
        "min.s32 d, a, b;" [32 32 32 0] |a, b, _| s32(a).min(s32(b)) as u64;
        "max.u16 d, a, b;" [16 16 16 0] |a, b, _| a.max(b);
        "abs.s32 d, a;" [32 32 0 0] |a, _, _| s32(a).wrapping_abs() as u64;
        "neg.s64 d, a;" [64 64 0 0] |a, _, _| a.wrapping_neg();
        "sad.s32 d, a, b, c;" [32 32 32 32] |a, b, c| u64::from(s32(a).abs_diff(s32(b))).wrapping_add(c);
        "mul24.lo.s32 d, a, b;" [32 32 32 0] |a, b, _| i64::from(s32(a) << 8 >> 8).wrapping_mul(i64::from(s32(b) << 8 >> 8)) as u64;
        "shl.b32 d, a, b;" [32 32 32 0] |a, b, _| if b < 32 { a << b } else { 0 };
        "shr.u64 d, a, b;" [64 64 32 0] |a, b, _| if b < 64 { a >> b } else { 0 };
        "shr.s32 d, a, b;" [32 32 32 0] |a, b, _| (s32(a) >> b.min(31)) as u64;
        "shr.s16 d, a, b;" [16 16 32 0] |a, b, _| (a as i16 >> b.min(15)) as u64;
        "shf.l.wrap.b32 d, a, b, c;" [32 32 32 32] |a, b, c| (b << 32 | a) << (c & 31) >> 32;
        "shf.r.clamp.b32 d, a, b, c;" [32 32 32 32] |a, b, c| (b << 32 | a) >> c.min(32);
        "and.b64 d, a, b;" [64 64 64 0] |a, b, _| a & b;
        "or.b16 d, a, b;" [16 16 16 0] |a, b, _| a | b;
        "xor.b32 d, a, b;" [32 32 32 0] |a, b, _| a ^ b;
        "not.b32 d, a;" [32 32 0 0] |a, _, _| !a;
        "cnot.b32 d, a;" [32 32 0 0] |a, _, _| flag(a == 0);
        "lop3.b32 d, a, b, c, 0x96;" [32 32 32 32] |a, b, c| a ^ b ^ c;
        "lop3.b32 d, a, b, c, 0xCA;" [32 32 32 32] |a, b, c| a & b | !a & c;
        "lop3.b32 d, a, b, c, 0x70;" [32 32 32 32] |a, b, c| a & !(b & c);
        "bfe.u32 d, a, 5, 9;" [32 32 0 0] |a, _, _| a >> 5 & 0x1FF;
        "bfe.s32 d, a, 20, 20;" [32 32 0 0] |a, _, _| (s32(a) >> 20) as u64;
        "bfe.s64 d, a, 3, 8;" [64 64 0 0] |a, _, _| (a >> 3) as i8 as u64;
        "bfi.b32 d, a, b, 4, 8;" [32 32 32 0] |a, b, _| b & !0xFF0 | a << 4 & 0xFF0;
        "brev.b32 d, a;" [32 32 0 0] |a, _, _| u64::from((a as u32).reverse_bits());
        "popc.b64 d, a;" [32 64 0 0] |a, _, _| u64::from(a.count_ones());
        "clz.b32 d, a;" [32 32 0 0] |a, _, _| u64::from((a as u32).leading_zeros());
        "bfind.u32 d, a;" [32 32 0 0] |a, _, _| a.checked_ilog2().map_or(u64::MAX, u64::from);
        "bfind.shiftamt.s32 d, a;" [32 32 0 0] |a, _, _| match if s32(a) < 0 { !a as u32 } else { a as u32 } { 0 => u64::MAX, x => u64::from(x.leading_zeros()) };
        "prmt.b32 d, a, b, 0x7531;" [32 32 32 0] |a, b, _| { let x = (b << 32 | a).to_le_bytes(); u64::from(u32::from_le_bytes([x[1], x[3], x[5], x[7]])) };
        "prmt.b32 d, a, b, 0x00F8;" [32 32 32 0] |a, b, _| { let s = |x: u64| if x & 0x80 == 0 { 0 } else { 0xFF_u64 }; (a & 0xFF) << 24 | (a & 0xFF) << 16 | s(b >> 24) << 8 | s(a) };
        "dp4a.s32.s32 d, a, b, c;" [32 32 32 32] |a, b, c| (0..4).fold(c as i32, |sum, at| sum.wrapping_add(i32::from((a >> (8 * at)) as i8) * i32::from((b >> (8 * at)) as i8))) as u64;
        "{ .reg .u32 lo, hi; add.cc.u32 lo, a, b; addc.u32 hi, a, c; mov.b64 d, {lo, hi}; }" [64 32 32 32] |a, b, c| (a << 32 | a).wrapping_add(c << 32 | b);
        "{ .reg .u32 lo, hi; sub.cc.u32 lo, a, b; subc.u32 hi, a, c; mov.b64 d, {lo, hi}; }" [64 32 32 32] |a, b, c| (a << 32 | a).wrapping_sub(c << 32 | b);
        "{ .reg .u32 lo, hi; mul.lo.u32 lo, a, b; mad.lo.cc.u32 lo, a, b, c; madc.hi.u32 hi, a, b, 0; mov.b64 d, {lo, hi}; }" [64 32 32 32] |a, b, c| a * b + c;
        "setp.lt.s32 p, a, b; selp.u32 d, 1, 0, p;" [32 32 32 0] |a, b, _| flag(s32(a) < s32(b));
        "setp.hi.u32 p, a, b; selp.u32 d, 1, 0, p;" [32 32 32 0] |a, b, _| flag(a > b);
        "setp.ge.u64 p|q, a, b; selp.u32 d, 1, 0, q;" [32 64 64 0] |a, b, _| flag(a < b);
        "setp.eq.s32 q, c, 7; setp.ne.and.s32 p, a, b, q; selp.u32 d, 1, 0, p;" [32 32 32 32] |a, b, c| flag(a != b && c == 7);
        "setp.eq.s32 q, c, 7; setp.le.xor.s32 p, a, b, !q; selp.u32 d, 1, 0, p;" [32 32 32 32] |a, b, c| flag((s32(a) <= s32(b)) ^ (c != 7));
        "set.gt.u32.s32 d, a, b;" [32 32 32 0] |a, b, _| if s32(a) > s32(b) { u64::MAX } else { 0 };
        "slct.b32.s32 d, a, b, c;" [32 32 32 32] |a, b, c| if s32(c) >= 0 { a } else { b };
        "setp.lt.s32 p, a, 0; mov.u32 d, 5; @p add.s32 d, b, 1; @!p sub.s32 d, b, 1;" [32 32 32 0] |a, b, _| if s32(a) < 0 { b.wrapping_add(1) } else { b.wrapping_sub(1) };
        "rem.u32 j, a, 3; brx.idx j, T; T: .branchtargets X, Y, Z; X: mov.u32 d, 10; bra.uni E; Y: mov.u32 d, 20; bra.uni E; Z: mov.u32 d, 30; E:" [32 32 0 0] |a, _, _| 10 + 10 * (a % 3);
        "mov.b32 {l, h}, a; mov.b32 d, {h, l};" [32 32 0 0] |a, _, _| a >> 16 | a << 16;
        "cvt.s64.s32 d, a;" [64 32 0 0] |a, _, _| s32(a) as u64;
        "cvt.u32.u16 d, a;" [32 16 0 0] |a, _, _| a;
        "cvt.s32.s8 d, a;" [32 32 0 0] |a, _, _| a as i8 as u64;
        "cvt.sat.u8.s32 d, a;" [32 32 0 0] |a, _, _| s32(a).clamp(0, 255) as u64;
        "cvt.sat.s16.u64 d, a;" [16 64 0 0] |a, _, _| a.min(32767);
        "cvt.rn.f32.s32 d, a;" [32 32 0 0] |a, _, _| of(s32(a) as f32);
        "cvt.rn.f32.u64 d, a;" [32 64 0 0] |a, _, _| of(a as f32);
        "cvt.rn.f64.s64 d, a;" [64 64 0 0] |a, _, _| (s64(a) as f64).to_bits();
        "cvt.rz.f32.u32 d, a;" [32 32 0 0] |a, _, _| of(toward_zero(a as f64));
        "cvt.rz.f32.s64 d, a;" [32 64 0 0] |a, _, _| of({ let near = s64(a) as f32; if (near as i128).abs() > i128::from(s64(a)).abs() { f32::from_bits(near.to_bits() - 1) } else { near } });
        "cvt.rn.f16.s32 d, a;" [16 32 0 0] |a, _, _| u64::from(f16::from_f64(f64::from(s32(a))).to_bits());
    };
    let pool = INTEGERS.to_vec();
    run(&cases, &[pool.clone(), pool.clone(), pool], exactly);
}

/// A double that is exact, rounded to a single toward zero.
fn toward_zero(exact: f64) -> f32 {
    let near = exact as f32;
    if f64::from(near).abs() > exact.abs() { f32::from_bits(near.to_bits() - 1) } else { near }
}

/// PTX's minimum of two numbers: NaN loses, and -0 is below +0.
fn smaller(a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a < b || a == b && a.is_sign_negative() => a,
        _ => b,
    }
}

#[test]
fn singles() {
    let cases = cases! {
        "add.f32 d, a, b;" [32 32 32 0] |a, b, _| of(f(a) + f(b));
        "sub.rn.f32 d, a, b;" [32 32 32 0] |a, b, _| of(f(a) - f(b));
        "mul.f32 d, a, b;" [32 32 32 0] |a, b, _| of(f(a) * f(b));
        "mul.ftz.f32 d, a, b;" [32 32 32 0] |a, b, _| of(ftz(ftz(f(a)) * ftz(f(b))));
        "add.sat.f32 d, a, b;" [32 32 32 0] |a, b, _| of({ let sum = f(a) + f(b); if sum > 0.0 { sum.min(1.0) } else { 0.0 } });
        "mul.rz.f32 d, a, b;" [32 32 32 0] |a, b, _| of({ let exact = f64::from(f(a)) * f64::from(f(b)); if exact.is_finite() { toward_zero(exact) } else { exact as f32 } });
        "fma.rn.f32 d, a, b, c;" [32 32 32 32] |a, b, c| of(f(a).mul_add(f(b), f(c)));
        "div.rn.f32 d, a, b;" [32 32 32 0] |a, b, _| of(f(a) / f(b));
        "div.full.f32 d, a, b;" [32 32 32 0] |a, b, _| of(f(a) / f(b));
        "sqrt.rn.f32 d, a;" [32 32 0 0] |a, _, _| of(f(a).sqrt());
        "rcp.rn.f32 d, a;" [32 32 0 0] |a, _, _| of(1.0 / f(a));
        "rsqrt.approx.ftz.f32 d, a;" [32 32 0 0] |a, _, _| of((1.0 / f64::from(ftz(f(a))).sqrt()) as f32);
        "ex2.approx.ftz.f32 d, a;" [32 32 0 0] |a, _, _| of(ftz(f64::from(ftz(f(a))).exp2() as f32));
        "lg2.approx.f32 d, a;" [32 32 0 0] |a, _, _| of(f64::from(f(a)).log2() as f32);
        "tanh.approx.f32 d, a;" [32 32 0 0] |a, _, _| of(f64::from(f(a)).tanh() as f32);
        "min.f32 d, a, b;" [32 32 32 0] |a, b, _| of(smaller(f(a), f(b)));
        "max.f32 d, a, b;" [32 32 32 0] |a, b, _| of(-smaller(-f(a), -f(b)));
        "max.NaN.f32 d, a, b;" [32 32 32 0] |a, b, _| of(if f(a).is_nan() || f(b).is_nan() { f32::NAN } else { -smaller(-f(a), -f(b)) });
        "abs.f32 d, a;" [32 32 0 0] |a, _, _| a & 0x7FFF_FFFF;
        "neg.f32 d, a;" [32 32 0 0] |a, _, _| a ^ 0x8000_0000;
        "copysign.f32 d, a, b;" [32 32 32 0] |a, b, _| a & 0x8000_0000 | b & 0x7FFF_FFFF;
        "setp.lt.f32 p, a, b; selp.u32 d, 1, 0, p;" [32 32 32 0] |a, b, _| flag(f(a) < f(b));
        "setp.ne.f32 p, a, b; selp.u32 d, 1, 0, p;" [32 32 32 0] |a, b, _| flag(f(a) < f(b) || f(a) > f(b));
        "setp.neu.f32 p, a, b; selp.u32 d, 1, 0, p;" [32 32 32 0] |a, b, _| flag(f(a) != f(b));
        "setp.geu.f32 p, a, b; selp.u32 d, 1, 0, p;" [32 32 32 0] |a, b, _| flag(f(a).is_nan() || f(b).is_nan() || f(a) >= f(b));
        "setp.nan.f32 p, a, b; selp.u32 d, 1, 0, p;" [32 32 32 0] |a, b, _| flag(f(a).is_nan() || f(b).is_nan());
        "setp.eq.ftz.f32 p, a, b; selp.u32 d, 1, 0, p;" [32 32 32 0] |a, b, _| flag(ftz(f(a)) == ftz(f(b)));
        "set.le.f32.f32 d, a, b;" [32 32 32 0] |a, b, _| of(if f(a) <= f(b) { 1.0 } else { 0.0 });
        "testp.subnormal.f32 p, a; selp.u32 d, 1, 0, p;" [32 32 0 0] |a, _, _| flag(f(a).is_subnormal());
        "testp.finite.f32 p, a; selp.u32 d, 1, 0, p;" [32 32 0 0] |a, _, _| flag(f(a).is_finite());
        "selp.f32 d, a, b, !p;" [32 32 32 0] |a, _, _| a;
        "cvt.rzi.s32.f32 d, a;" [32 32 0 0] |a, _, _| f(a) as i32 as u64;
        "cvt.rni.s32.f32 d, a;" [32 32 0 0] |a, _, _| f(a).round_ties_even() as i32 as u64;
        "cvt.rpi.u32.f32 d, a;" [32 32 0 0] |a, _, _| u64::from(f(a).ceil() as u32);
        "cvt.rmi.s64.f32 d, a;" [64 32 0 0] |a, _, _| if f(a).is_nan() { 1 << 63 } else { f(a).floor() as i64 as u64 };
        "cvt.rzi.u8.f32 d, a;" [32 32 0 0] |a, _, _| u64::from(f(a) as u8);
        "cvt.rmi.f32.f32 d, a;" [32 32 0 0] |a, _, _| of(f(a).floor());
        "cvt.sat.f32.f32 d, a;" [32 32 0 0] |a, _, _| of(if f(a) > 0.0 { f(a).min(1.0) } else { 0.0 });
        "cvt.f64.f32 d, a;" [64 32 0 0] |a, _, _| f64::from(f(a)).to_bits();
        "cvt.rn.f16.f32 d, a;" [16 32 0 0] |a, _, _| u64::from(f16::from_f32(f(a)).to_bits());
        "cvt.rn.bf16.f32 d, a;" [16 32 0 0] |a, _, _| u64::from(bf16::from_f32(f(a)).to_bits());
    };
    let mut pool: Vec<u64> = SINGLES.iter().map(|it| of(*it)).collect();
    pool.extend(crate::noise(6, 20).into_iter().map(of));
    run(&cases, &[pool.clone(), pool.clone(), pool], but_for_nan);
}

#[test]
fn doubles() {
    let cases = cases! {
        "add.f64 d, a, b;" [64 64 64 0] |a, b, _| (g(a) + g(b)).to_bits();
        "mul.rn.f64 d, a, b;" [64 64 64 0] |a, b, _| (g(a) * g(b)).to_bits();
        "fma.rn.f64 d, a, b, c;" [64 64 64 64] |a, b, c| g(a).mul_add(g(b), g(c)).to_bits();
        "div.rn.f64 d, a, b;" [64 64 64 0] |a, b, _| (g(a) / g(b)).to_bits();
        "sqrt.rn.f64 d, a;" [64 64 0 0] |a, _, _| g(a).sqrt().to_bits();
        "neg.f64 d, a;" [64 64 0 0] |a, _, _| a ^ 1 << 63;
        "setp.gtu.f64 p, a, b; selp.u32 d, 1, 0, p;" [32 64 64 0] |a, b, _| flag(g(a).is_nan() || g(b).is_nan() || g(a) > g(b));
        "cvt.rn.f32.f64 d, a;" [32 64 0 0] |a, _, _| of(g(a) as f32);
        "cvt.rz.f32.f64 d, a;" [32 64 0 0] |a, _, _| of(if g(a).is_finite() { toward_zero(g(a)) } else { g(a) as f32 });
        "cvt.rzi.s32.f64 d, a;" [32 64 0 0] |a, _, _| if g(a).is_nan() { 1 << 31 } else { g(a) as i32 as u64 };
        "cvt.rni.f64.f64 d, a;" [64 64 0 0] |a, _, _| g(a).round_ties_even().to_bits();
    };
    let pool: Vec<u64> = DOUBLES.iter().map(|it| it.to_bits()).collect();
    run(&cases, &[pool.clone(), pool.clone(), pool], but_for_nan);
}

/// A whole number of units of 2^-`scale`.
fn fixed(value: f64, scale: i32) -> i128 {
    (value * 2_f64.powi(scale)) as i128
}

#[test]
fn directed_rounding_brackets_the_exact_result() {
    let values: Vec<u64> =
        crate::noise(24, 30).iter().enumerate().map(|(at, x)| of(x * 2_f32.powi(at as i32 % 24 - 11))).collect();
    for (text, up) in [
        ("fma.rm.f32 d, a, b, c;", false),
        ("fma.rp.f32 d, a, b, c;", true),
        ("add.rm.f32 d, a, c;", false),
        ("add.rp.f32 d, a, c;", true),
    ] {
        let case = [Case { text, widths: [32, 32, 32, 32], expected: |_, _, _| 0 }];
        run(&case, &[values.clone(), values.clone(), values.clone()], |case, [a, b, c], found, _| {
            let b = if case.text.starts_with("fma") { f(b) } else { 1.0 };
            // Products are whole numbers of 2^-80, far below 2^127 of them.
            let product = fixed(f64::from(f(a)) * f64::from(b), 80);
            let exact = product + fixed(f64::from(f(c)), 80);
            let (found, next) = if up { (f(found), f(found).next_down()) } else { (f(found), f(found).next_up()) };
            let [found, next] = [found, next].map(|it| fixed(f64::from(it), 80));
            let (inside, tight) = if up { (found >= exact, next < exact) } else { (found <= exact, next > exact) };
            assert!(inside && tight, "{} of {:?} {b:?} {:?}: {found} and {next} around {exact}", case.text, f(a), f(c));
        });
    }
}

#[test]
fn halves() {
    let finite = [0.0, -0.0, 1.0, -1.5, 0.1, 65504.0, -65504.0, 6.0e-8, -6.1e-5, 0.333, 2049.0, 1023.5];
    let mut pool: Vec<u64> = finite.iter().map(|it| u64::from(f16::from_f64(*it).to_bits())).collect();
    pool.extend(crate::noise(8, 40).into_iter().map(|it| u64::from(f16::from_f32(it).to_bits())));
    for text in ["add.f16 d, a, c;", "mul.f16 d, a, b;", "fma.rn.f16 d, a, b, c;"] {
        let case = [Case { text, widths: [16, 16, 16, 16], expected: |_, _, _| 0 }];
        run(&case, &[pool.clone(), pool.clone(), pool.clone()], |case, inputs, found, _| {
            let [a, b, c] = inputs.map(|bits| f16::from_bits(bits as u16).to_f64());
            let [a, b, c] = match case.text.as_bytes() {
                [b'a', ..] => [a, 1.0, c],
                [b'm', ..] => [a, b, 0.0],
                _ => [a, b, c],
            };
            // Halves are whole numbers of 2^-24, products of 2^-48: all exact.
            let exact = fixed(a * b, 48) + fixed(c, 48);
            let found = f16::from_bits(found as u16);
            if found.is_infinite() {
                return assert!(exact.abs() >= fixed(65520.0, 48), "{} of {inputs:x?}", case.text);
            }
            let own = (fixed(found.to_f64(), 48) - exact).abs();
            for bits in [found.to_bits().wrapping_add(1), found.to_bits().wrapping_sub(1)] {
                let other = f16::from_bits(bits);
                if !other.is_finite() {
                    continue;
                }
                let distance = (fixed(other.to_f64(), 48) - exact).abs();
                let even = found.to_bits() & 1 == 0;
                assert!(
                    own < distance || own == distance && even,
                    "{} of {inputs:x?}: {found}, not {other}",
                    case.text
                );
            }
        });
    }
    let cases = cases! {
        "neg.f16 d, a;" [16 16 0 0] |a, _, _| a ^ 0x8000;
        "fma.rn.f16x2 d, a, b, c;" [32 32 32 32] |a, b, c| pairs(a, b, c, |a, b, c| f16::from_f64(a.to_f64() * b.to_f64() + c.to_f64()));
        "max.f16x2 d, a, b;" [32 32 32 0] |a, b, _| pairs(a, b, 0, |a, b, _| a.max(b));
        "set.gt.f16x2.f16x2 d, a, b;" [32 32 32 0] |a, b, _| pairs(a, b, 0, |a, b, _| f16::from_f32(if a > b { 1.0 } else { 0.0 }));
        "setp.ge.f16 p, a, b; selp.u32 d, 1, 0, p;" [32 16 16 0] |a, b, _| flag(f16::from_bits(a as u16) >= f16::from_bits(b as u16));
        "{ .reg .f32 s, t; cvt.f32.f16 s, a; cvt.f32.f16 t, b; cvt.rn.f16x2.f32 d, s, t; }" [32 16 16 0] |a, b, _| a << 16 | b;
    };
    // Small numbers in both halves, where a double holds every intermediate result.
    let packed: Vec<u64> = [1.0, -2.5, 0.125, 7.0, -0.5, 3.0]
        .iter()
        .map(|it| u64::from(f16::from_f64(*it).to_bits()) | u64::from(f16::from_f64(it * -1.25).to_bits()) << 16)
        .collect();
    run(&cases, &[packed.clone(), packed.clone(), packed], exactly);
}

fn pairs(a: u64, b: u64, c: u64, apply: fn(f16, f16, f16) -> f16) -> u64 {
    let half = |word: u64, shift: u32| f16::from_bits((word >> shift) as u16);
    let one = |shift: u32| u64::from(apply(half(a, shift), half(b, shift), half(c, shift)).to_bits());
    one(0) | one(16) << 16
}

#[test]
fn every_half_converts() {
    let cases = cases! {
        "cvt.f32.f16 d, a;" [32 16 0 0] |a, _, _| of(f16::from_bits(a as u16).to_f32());
        "cvt.f32.bf16 d, a;" [32 16 0 0] |a, _, _| of(bf16::from_bits(a as u16).to_f32());
        "{ .reg .f32 s; cvt.f32.f16 s, a; cvt.rn.f16.f32 d, s; }" [16 16 0 0] |a, _, _| a;
        "{ .reg .f64 s; cvt.f64.f16 s, a; cvt.rn.f16.f64 d, s; }" [16 16 0 0] |a, _, _| a;
    };
    let none = vec![0];
    run(&cases, &[(0..=0xFFFF).collect(), none.clone(), none], but_for_nan);
}

#[test]
fn singles_round_to_halves() {
    // Around every half: what lies between it and the next, and the tie itself.
    let around = |bits: u32| (0..3).map(move |step| u64::from(bits + 0x0FFF + step));
    let halves = (0..0x7C00_u16).step_by(7).map(|bits| f16::from_bits(bits).to_f32().to_bits());
    let pool: Vec<u64> = halves.flat_map(around).flat_map(|bits| [bits, bits | 0x8000_0000]).collect();
    let cases = cases! {
        "cvt.rn.f16.f32 d, a;" [16 32 0 0] |a, _, _| u64::from(f16::from_f32(f(a)).to_bits());
        "cvt.rn.bf16.f32 d, a;" [16 32 0 0] |a, _, _| u64::from(bf16::from_f32(f(a)).to_bits());
        "{ .reg .f64 s; cvt.f64.f32 s, a; cvt.rn.f16.f64 d, s; }" [16 32 0 0] |a, _, _| u64::from(f16::from_f32(f(a)).to_bits());
    };
    let none = vec![0];
    run(&cases, &[pool, none.clone(), none], exactly);
}
