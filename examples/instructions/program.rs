//! Random valid PTX: integer and float code over registers, with branches and short loops.
//!
//! Only instructions whose results the architecture defines to the bit, each with its rounding: nothing may be fused. A
//! NaN's bits reach no integer: floats are compared, converted and stored as one NaN.

use crate::values::Random;
use std::fmt::Write;

/// The architecture of every module here.
pub const TARGET: &str = "sm_90";

/// Threads of a program.
pub const THREADS: usize = 256;

/// Registers of each kind.
const REGISTERS: usize = 8;

/// Bytes of results a thread: 8 registers of each kind, 8 bytes each.
pub const BYTES: usize = 8 * 4 * REGISTERS;

/// Statements of a program.
const STATEMENTS: usize = 60;

/// Kinds of registers: prefix and bits.
const KINDS: [(&str, u32); 4] = [("r", 32), ("l", 64), ("f", 32), ("g", 64)];

/// Statements over `D`, `A`, `B`, `C` of one kind: the kind's prefix, then the text.
const STRAIGHT: [(&str, &str); 52] = [
    ("r", "add.s32 D, A, B;"),
    ("r", "sub.s32 D, A, B;"),
    ("r", "mul.lo.s32 D, A, B;"),
    ("r", "mul.hi.s32 D, A, B;"),
    ("r", "mul.hi.u32 D, A, B;"),
    ("r", "mad.lo.s32 D, A, B, C;"),
    ("r", "min.s32 D, A, B;"),
    ("r", "max.u32 D, A, B;"),
    ("r", "and.b32 D, A, B;"),
    ("r", "xor.b32 D, A, B;"),
    ("r", "lop3.b32 D, A, B, C, 0xCA;"),
    ("r", "shl.b32 D, A, B;"),
    ("r", "shr.s32 D, A, B;"),
    ("r", "shf.l.wrap.b32 D, A, B, C;"),
    ("r", "bfe.s32 D, A, B, C;"),
    ("r", "bfi.b32 D, A, B, C, 9;"),
    ("r", "prmt.b32 D, A, B, C;"),
    ("r", "popc.b32 D, A;"),
    ("r", "clz.b32 D, A;"),
    ("r", "brev.b32 D, A;"),
    ("r", "bfind.u32 D, A;"),
    ("r", "dp4a.s32.s32 D, A, B, C;"),
    ("r", "or.b32 z, A, 1; div.u32 D, B, z;"),
    ("r", "or.b32 z, A, 1; rem.s32 D, B, z;"),
    ("r", "sad.s32 D, A, B, C;"),
    ("l", "add.s64 D, A, B;"),
    ("l", "sub.s64 D, A, B;"),
    ("l", "mul.lo.s64 D, A, B;"),
    ("l", "mul.hi.u64 D, A, B;"),
    ("l", "xor.b64 D, A, B;"),
    ("l", "min.u64 D, A, B;"),
    ("l", "shr.u64 D, A, 13;"),
    ("l", "or.b64 y, A, 1; div.s64 D, B, y;"),
    ("f", "add.rn.f32 D, A, B;"),
    ("f", "sub.rn.f32 D, A, B;"),
    ("f", "mul.rn.f32 D, A, B;"),
    ("f", "fma.rn.f32 D, A, B, C;"),
    ("f", "fma.rz.f32 D, A, B, C;"),
    ("f", "mul.rn.ftz.f32 D, A, B;"),
    ("f", "add.rp.f32 D, A, B;"),
    ("f", "div.rn.f32 D, A, B;"),
    ("f", "sqrt.rn.f32 D, A;"),
    ("f", "rcp.rn.f32 D, A;"),
    ("f", "min.f32 D, A, B;"),
    ("f", "max.f32 D, A, B;"),
    ("f", "neg.f32 D, A;"),
    ("g", "add.rn.f64 D, A, B;"),
    ("g", "mul.rn.f64 D, A, B;"),
    ("g", "fma.rn.f64 D, A, B, C;"),
    ("g", "div.rn.f64 D, A, B;"),
    ("g", "sqrt.rn.f64 D, A;"),
    ("g", "max.f64 D, A, B;"),
];

/// Statements between kinds: of the result, of the operand, then the text.
const ACROSS: [(&str, &str, &str); 16] = [
    ("l", "r", "cvt.s64.s32 D, A;"),
    ("l", "r", "mul.wide.u32 D, A, B;"),
    ("r", "l", "cvt.u32.u64 D, A;"),
    ("f", "r", "cvt.rn.f32.s32 D, A;"),
    ("f", "r", "cvt.rz.f32.u32 D, A;"),
    ("f", "l", "cvt.rn.f32.s64 D, A;"),
    ("g", "l", "cvt.rn.f64.u64 D, A;"),
    ("r", "f", "cvt.rzi.s32.f32 D, A;"),
    ("r", "f", "cvt.rni.u32.f32 D, A;"),
    ("l", "f", "cvt.rmi.s64.f32 D, A;"),
    ("r", "g", "cvt.rpi.s32.f64 D, A;"),
    ("l", "g", "cvt.rzi.u64.f64 D, A;"),
    ("f", "g", "cvt.rn.f32.f64 D, A;"),
    ("g", "f", "cvt.f64.f32 D, A;"),
    ("f", "r", "cvt.rn.f16.s32 h, A; cvt.f32.f16 D, h;"),
    ("f", "f", "cvt.rn.bf16.f32 h, A; cvt.f32.bf16 D, h;"),
];

/// Comparisons into the predicate `p`.
const COMPARE: [(&str, &str); 6] = [
    ("r", "setp.lt.s32 p, A, B;"),
    ("r", "setp.ge.u32 p, A, B;"),
    ("l", "setp.ne.s64 p, A, B;"),
    ("f", "setp.lt.f32 p, A, B;"),
    ("f", "setp.neu.f32 p, A, B;"),
    ("g", "setp.gtu.f64 p, A, B;"),
];

/// The program of a seed.
pub fn text(seed: u64) -> String {
    let random = &mut Random(seed);
    let mut text = format!(".version 8.6\n.target {TARGET}\n.address_size 64\n");
    text.push_str(".visible .entry k(.param .u64 pd, .param .u64 pa, .param .u64 pb, .param .u64 pc)\n{\n");
    text.push_str(".reg .pred p; .reg .b16 h; .reg .b32 i, j, z, n; .reg .b64 x, y;\n");
    for (prefix, bits) in KINDS {
        let kind = if matches!(prefix, "f" | "g") { "f" } else { "b" };
        let _ = writeln!(text, ".reg .{kind}{bits} {prefix}<{REGISTERS}>;");
    }
    text.push_str("mov.u32 i, %tid.x; mov.u32 j, %ctaid.x; mad.lo.s32 i, j, 64, i; mul.wide.u32 x, i, 8;\n");
    text.push_str("ld.param.u64 y, [pa]; add.u64 y, y, x; ld.global.b64 l0, [y]; cvt.u32.u64 r0, l0;\n");
    text.push_str("ld.param.u64 y, [pb]; add.u64 y, y, x; ld.global.f32 f0, [y];\n");
    text.push_str("ld.param.u64 y, [pc]; add.u64 y, y, x; ld.global.f64 g0, [y];\n");
    for at in 1..REGISTERS {
        let before = at - 1;
        let _ =
            writeln!(text, "mad.lo.s32 r{at}, r{before}, 747796405, 1; mad.lo.s64 l{at}, l{before}, 25214903917, 11;");
        let _ =
            writeln!(text, "add.rn.f32 f{at}, f{before}, 0f3F9E0419; mul.rn.f64 g{at}, g{before}, 0dBFF3C0CA428C59FB;");
    }
    body(&mut text, random);
    results(&mut text);
    text
}

fn body(text: &mut String, random: &mut Random) {
    let mut open: Vec<(String, usize)> = Vec::new();
    for at in 0..STATEMENTS {
        while let Some(at) = open.iter().position(|(_, left)| *left == 0) {
            text.push_str(&open.remove(at).0);
        }
        open.iter_mut().for_each(|(_, left)| *left -= 1);
        match random.below(10) {
            0 => {
                let (kind, compare) = COMPARE[random.below(COMPARE.len())];
                let _ = writeln!(text, "{}\n@p bra F{at};", filled(random, compare, kind, kind));
                open.push((format!("F{at}:\n"), 1 + random.below(8)));
            }
            // One loop at a time: they share a counter.
            1 if !text.contains("mov.u32 n,") => {
                let _ = writeln!(text, "mov.u32 n, {};\nB{at}:", 1 + random.below(6));
                let back = format!("sub.s32 n, n, 1; setp.gt.s32 p, n, 0;\n@p bra B{at};\n");
                // Whatever was skipped to lies before the loop's end, so that the counter is set.
                open.iter_mut().for_each(|(_, left)| *left = 0);
                let ends: String = open.drain(..).map(|(end, _)| end).collect();
                let start = text.rfind("mov.u32 n,").unwrap_or(text.len());
                text.insert_str(start, &ends);
                open.push((back, 4 + random.below(12)));
            }
            2 | 3 => {
                let (to, from, statement) = ACROSS[random.below(ACROSS.len())];
                let _ = writeln!(text, "{}", filled(random, statement, to, from));
            }
            _ => {
                let (kind, statement) = STRAIGHT[random.below(STRAIGHT.len())];
                let _ = writeln!(text, "{}", filled(random, statement, kind, kind));
            }
        }
    }
    open.iter().for_each(|(end, _)| text.push_str(end));
}

/// A statement with registers in place of its capitals, which are words of their own.
fn filled(random: &mut Random, statement: &str, to: &str, from: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in statement.split(' ') {
        let (name, end) = word.split_at(word.find([',', ';']).unwrap_or(word.len()));
        words.push(match name {
            "D" => format!("{to}{}{end}", random.below(REGISTERS)),
            "A" | "B" | "C" => format!("{from}{}{end}", random.below(REGISTERS)),
            _ => word.to_owned(),
        });
    }
    words.join(" ")
}

/// Stores every register, with one NaN for all.
fn results(text: &mut String) {
    let _ = writeln!(text, "ld.param.u64 y, [pd]; mul.wide.u32 x, i, {BYTES}; add.u64 y, y, x;");
    for (kind, (prefix, bits)) in KINDS.into_iter().enumerate() {
        for at in 0..REGISTERS {
            let name = format!("{prefix}{at}");
            if matches!(prefix, "f" | "g") {
                let nan = if bits == 32 { "0f7FFFFFFF" } else { "0d7FFFFFFFFFFFFFFF" };
                let _ = writeln!(text, "setp.nan.f{bits} p, {name}, {name}; selp.f{bits} {name}, {nan}, {name}, p;");
            }
            let _ = writeln!(text, "st.global.b{bits} [y+{}], {name};", 8 * (kind * REGISTERS + at));
        }
    }
    text.push_str("ret;\n}\n");
}

/// The first register of the first thread that differs, in words.
pub fn first_difference(here: &[u8], there: &[u8]) -> Option<String> {
    let at = here.iter().zip(there).position(|(a, b)| a != b)?;
    let (thread, register) = (at / BYTES, at % BYTES / 8);
    let (prefix, _) = KINDS[register / REGISTERS];
    let word =
        |bytes: &[u8]| bytes[at / 8 * 8..][..8].iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
    let (here, there) = (word(here), word(there));
    Some(format!("thread {thread}, {prefix}{}: {here:#x}, the GPU {there:#x}", register % REGISTERS))
}
