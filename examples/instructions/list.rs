//! The instructions, made from families, and the module that runs one.

use std::fmt::Write;

/// What a result is, for its difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Integer,
    F16,
    Bf16,
    F32,
    F64,
}

/// An instruction over the registers `d`, `a`, `b`, `c`.
#[derive(Debug)]
pub struct Instruction {
    /// As `add.s32 d, a, b;`, and more where a predicate is involved.
    pub text: String,
    /// Bits of `d`, `a`, `b`, `c`; 0 where one is not used.
    pub widths: [u32; 4],
    /// Of the result; packed ones are taken as two.
    pub result: Kind,
    /// Of the inputs, which chooses their values.
    pub inputs: Kind,
    /// Whether the architecture defines the result to the bit (but for NaN).
    pub exact: bool,
}

/// All of them.
pub fn instructions() -> Vec<Instruction> {
    let mut list = Vec::new();
    integers(&mut list);
    bits(&mut list);
    floats(&mut list);
    halves(&mut list);
    conversions(&mut list);
    list
}

/// A module with the entry `k`: a thread for each triple of inputs, eight bytes each.
pub fn module(instruction: &Instruction) -> String {
    let mut text = format!(".version 8.6\n.target {}\n.address_size 64\n", crate::program::TARGET);
    text.push_str(".visible .entry k(.param .u64 pd, .param .u64 pa, .param .u64 pb, .param .u64 pc)\n{\n");
    text.push_str(".reg .pred p, q; .reg .b32 i, j; .reg .b64 x, y;\n");
    let used = || ["d", "a", "b", "c"].into_iter().zip(instruction.widths).filter(|(_, width)| *width > 0);
    for (name, width) in used() {
        let _ = writeln!(text, ".reg .b{} {name};", width.max(16));
    }
    text.push_str("mov.u32 i, %tid.x; mov.u32 j, %ctaid.x; mad.lo.s32 i, j, 64, i; mul.wide.u32 x, i, 8;\n");
    for (name, width) in used().skip(1) {
        let _ = writeln!(text, "ld.param.u64 y, [p{name}]; add.u64 y, y, x; ld.global.b{width} {name}, [y];");
    }
    let width = instruction.widths[0];
    let _ = writeln!(
        text,
        "{}\nld.param.u64 y, [pd]; add.u64 y, y, x; st.global.b{width} [y], d; ret;\n}}",
        instruction.text
    );
    text
}

fn push(list: &mut Vec<Instruction>, text: String, widths: [u32; 4], [result, inputs]: [Kind; 2], exact: bool) {
    list.push(Instruction { text, widths, result, inputs, exact });
}

fn integer(list: &mut Vec<Instruction>, text: String, widths: [u32; 4]) {
    push(list, text, widths, [Kind::Integer; 2], true);
}

fn integers(list: &mut Vec<Instruction>) {
    for (ty, width) in [("u16", 16), ("s16", 16), ("u32", 32), ("s32", 32), ("u64", 64), ("s64", 64)] {
        for op in ["add", "sub", "mul.lo", "mul.hi", "min", "max", "div", "rem"] {
            integer(list, format!("{op}.{ty} d, a, b;"), [width, width, width, 0]);
        }
        for op in ["mad.lo", "sad"] {
            integer(list, format!("{op}.{ty} d, a, b, c;"), [width; 4]);
        }
        if width < 64 {
            integer(list, format!("mul.wide.{ty} d, a, b;"), [2 * width, width, width, 0]);
        }
        if ty.starts_with('s') {
            integer(list, format!("abs.{ty} d, a;"), [width, width, 0, 0]);
            integer(list, format!("neg.{ty} d, a;"), [width, width, 0, 0]);
        }
        integer(list, format!("shr.{ty} d, a, b;"), [width, width, 32, 0]);
        for comparison in ["lt", "ge"] {
            integer(list, format!("setp.{comparison}.{ty} p, a, b; selp.b32 d, 1, 0, p;"), [32, width, width, 0]);
        }
    }
    integer(list, "add.sat.s32 d, a, b;".to_owned(), [32, 32, 32, 0]);
    integer(list, "sub.sat.s32 d, a, b;".to_owned(), [32, 32, 32, 0]);
    for ty in ["u32", "s32"] {
        integer(list, format!("mul24.lo.{ty} d, a, b;"), [32, 32, 32, 0]);
        integer(list, format!("mul24.hi.{ty} d, a, b;"), [32, 32, 32, 0]);
        integer(list, format!("dp4a.{ty}.{ty} d, a, b, c;"), [32; 4]);
    }
    integer(list, "add.cc.u32 d, a, b; addc.u32 d, c, 0;".to_owned(), [32; 4]);
    integer(list, "sub.cc.u32 d, a, b; subc.u32 d, c, 0;".to_owned(), [32; 4]);
}

fn bits(list: &mut Vec<Instruction>) {
    for width in [16, 32, 64] {
        integer(list, format!("shl.b{width} d, a, b;"), [width, width, 32, 0]);
        integer(list, format!("not.b{width} d, a;"), [width, width, 0, 0]);
        integer(list, format!("cnot.b{width} d, a;"), [width, width, 0, 0]);
    }
    for width in [32, 64] {
        for op in ["popc", "clz"] {
            integer(list, format!("{op}.b{width} d, a;"), [32, width, 0, 0]);
        }
        integer(list, format!("brev.b{width} d, a;"), [width, width, 0, 0]);
        integer(list, format!("bfi.b{width} d, a, b, c, 7;"), [width, width, width, 32]);
        integer(list, format!("bfi.b{width} d, a, b, 5, c;"), [width, width, width, 32]);
        for sign in ["u", "s"] {
            integer(list, format!("bfe.{sign}{width} d, a, b, c;"), [width, width, 32, 32]);
            integer(list, format!("bfind.{sign}{width} d, a;"), [32, width, 0, 0]);
            integer(list, format!("bfind.shiftamt.{sign}{width} d, a;"), [32, width, 0, 0]);
        }
    }
    for table in ["0x96", "0xE8", "0x1A"] {
        integer(list, format!("lop3.b32 d, a, b, c, {table};"), [32; 4]);
    }
    for mode in ["", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"] {
        integer(list, format!("prmt.b32{mode} d, a, b, c;"), [32; 4]);
    }
    for form in ["l.wrap", "l.clamp", "r.wrap", "r.clamp"] {
        integer(list, format!("shf.{form}.b32 d, a, b, c;"), [32; 4]);
    }
}

fn floats(list: &mut Vec<Instruction>) {
    let single = [Kind::F32; 2];
    for ftz in ["", ".ftz"] {
        for mode in ["rn", "rz", "rm", "rp"] {
            for op in ["add", "sub", "mul"] {
                push(list, format!("{op}.{mode}{ftz}.f32 d, a, b;"), [32, 32, 32, 0], single, true);
            }
            push(list, format!("fma.{mode}{ftz}.f32 d, a, b, c;"), [32; 4], single, true);
            push(list, format!("div.{mode}{ftz}.f32 d, a, b;"), [32, 32, 32, 0], single, true);
            for op in ["rcp", "sqrt"] {
                push(list, format!("{op}.{mode}{ftz}.f32 d, a;"), [32, 32, 0, 0], single, true);
            }
        }
        for op in ["add.rn", "mul.rn"] {
            push(list, format!("{op}{ftz}.sat.f32 d, a, b;"), [32, 32, 32, 0], single, true);
        }
        for op in ["min", "max"] {
            push(list, format!("{op}{ftz}.f32 d, a, b;"), [32, 32, 32, 0], single, true);
            push(list, format!("{op}{ftz}.NaN.f32 d, a, b;"), [32, 32, 32, 0], single, true);
        }
        for op in ["abs", "neg"] {
            push(list, format!("{op}{ftz}.f32 d, a;"), [32, 32, 0, 0], single, true);
        }
        for op in ["div.approx", "div.full"] {
            push(list, format!("{op}{ftz}.f32 d, a, b;"), [32, 32, 32, 0], single, false);
        }
        for op in ["rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos"] {
            push(list, format!("{op}.approx{ftz}.f32 d, a;"), [32, 32, 0, 0], single, false);
        }
        for comparison in ["lt", "equ", "neu", "num", "nan"] {
            let text = format!("setp.{comparison}{ftz}.f32 p, a, b; selp.b32 d, 1, 0, p;");
            push(list, text, [32, 32, 32, 0], [Kind::Integer, Kind::F32], true);
        }
    }
    push(list, "tanh.approx.f32 d, a;".to_owned(), [32, 32, 0, 0], single, false);
    for kind in ["finite", "infinite", "number", "notanumber", "normal", "subnormal"] {
        let text = format!("testp.{kind}.f32 p, a; selp.b32 d, 1, 0, p;");
        push(list, text, [32, 32, 0, 0], [Kind::Integer, Kind::F32], true);
    }
    let double = [Kind::F64; 2];
    for op in ["add.rn", "sub.rn", "mul.rn", "div.rn", "min", "max"] {
        push(list, format!("{op}.f64 d, a, b;"), [64, 64, 64, 0], double, true);
    }
    push(list, "fma.rn.f64 d, a, b, c;".to_owned(), [64; 4], double, true);
    for op in ["rcp.rn", "sqrt.rn", "abs", "neg"] {
        push(list, format!("{op}.f64 d, a;"), [64, 64, 0, 0], double, true);
    }
    for op in ["rcp.approx.ftz", "rsqrt.approx", "rsqrt.approx.ftz"] {
        push(list, format!("{op}.f64 d, a;"), [64, 64, 0, 0], double, false);
    }
}

fn halves(list: &mut Vec<Instruction>) {
    for (ty, kind, width) in
        [("f16", Kind::F16, 16), ("f16x2", Kind::F16, 32), ("bf16", Kind::Bf16, 16), ("bf16x2", Kind::Bf16, 32)]
    {
        let (two, kinds) = ([width, width, width, 0], [kind; 2]);
        for op in ["add", "sub", "mul"] {
            push(list, format!("{op}.rn.{ty} d, a, b;"), two, kinds, true);
        }
        push(list, format!("fma.rn.{ty} d, a, b, c;"), [width; 4], kinds, true);
        push(list, format!("fma.rn.relu.{ty} d, a, b, c;"), [width; 4], kinds, true);
        if kind == Kind::F16 {
            for op in ["add.ftz", "mul.ftz", "add.sat", "mul.ftz.sat"] {
                push(list, format!("{op}.{ty} d, a, b;"), two, kinds, true);
            }
            push(list, format!("fma.rn.ftz.{ty} d, a, b, c;"), [width; 4], kinds, true);
        }
        for op in ["min", "max", "min.NaN", "max.NaN"] {
            push(list, format!("{op}.{ty} d, a, b;"), two, kinds, true);
        }
        for op in ["abs", "neg"] {
            push(list, format!("{op}.{ty} d, a;"), [width, width, 0, 0], kinds, true);
        }
        let ftz = if kind == Kind::F16 { "" } else { ".ftz" };
        push(list, format!("ex2.approx{ftz}.{ty} d, a;"), [width, width, 0, 0], kinds, false);
        push(list, format!("tanh.approx.{ty} d, a;"), [width, width, 0, 0], kinds, false);
    }
}

fn conversions(list: &mut Vec<Instruction>) {
    let floats = [("f16", Kind::F16, 16), ("bf16", Kind::Bf16, 16), ("f32", Kind::F32, 32), ("f64", Kind::F64, 64)];
    let integers = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"];
    let width_of = |ty: &str| ty[1..].parse::<u32>().unwrap_or(32);
    for (from, kind, width) in floats {
        for to in integers {
            for mode in ["rni", "rzi", "rmi", "rpi"] {
                let kinds = [Kind::Integer, kind];
                push(list, format!("cvt.{mode}.{to}.{from} d, a;"), [width_of(to).max(16), width, 0, 0], kinds, true);
            }
        }
        for to in integers.iter().filter(|_| kind != Kind::Bf16) {
            push(
                list,
                format!("cvt.rn.{from}.{to} d, a;"),
                [width, width_of(to).max(16), 0, 0],
                [kind, Kind::Integer],
                true,
            );
        }
    }
    for (to, from) in [("f16", "f32"), ("bf16", "f32"), ("f16", "f64"), ("f32", "f64")] {
        let find = |name| floats.iter().find(|(it, ..)| *it == name).map(|(_, kind, width)| (*kind, *width));
        let (Some((kind, width)), Some((source, wide))) = (find(to), find(from)) else { continue };
        for mode in ["rn", "rz"] {
            push(list, format!("cvt.{mode}.{to}.{from} d, a;"), [width, wide, 0, 0], [kind, source], true);
        }
    }
    for (text, widths, kinds) in [
        ("cvt.f32.f16 d, a;", [32, 16, 0, 0], [Kind::F32, Kind::F16]),
        ("cvt.f32.bf16 d, a;", [32, 16, 0, 0], [Kind::F32, Kind::Bf16]),
        ("cvt.f64.f32 d, a;", [64, 32, 0, 0], [Kind::F64, Kind::F32]),
        ("cvt.f64.f16 d, a;", [64, 16, 0, 0], [Kind::F64, Kind::F16]),
        ("cvt.rn.f16x2.f32 d, a, b;", [32, 32, 32, 0], [Kind::F16, Kind::F32]),
        ("cvt.rn.bf16x2.f32 d, a, b;", [32, 32, 32, 0], [Kind::Bf16, Kind::F32]),
        ("cvt.rn.relu.f16.f32 d, a;", [16, 32, 0, 0], [Kind::F16, Kind::F32]),
        ("cvt.rni.f32.f32 d, a;", [32, 32, 0, 0], [Kind::F32; 2]),
        ("cvt.rzi.ftz.f32.f32 d, a;", [32, 32, 0, 0], [Kind::F32; 2]),
        ("cvt.rm.f32.f64 d, a;", [32, 64, 0, 0], [Kind::F32, Kind::F64]),
        ("cvt.rp.f32.f64 d, a;", [32, 64, 0, 0], [Kind::F32, Kind::F64]),
        ("cvt.sat.f32.f32 d, a;", [32, 32, 0, 0], [Kind::F32; 2]),
        ("cvt.sat.u8.s32 d, a;", [16, 32, 0, 0], [Kind::Integer; 2]),
        ("cvt.sat.s16.s64 d, a;", [16, 64, 0, 0], [Kind::Integer; 2]),
        ("cvt.rz.f32.u64 d, a;", [32, 64, 0, 0], [Kind::F32, Kind::Integer]),
        ("cvt.rp.f32.s64 d, a;", [32, 64, 0, 0], [Kind::F32, Kind::Integer]),
    ] {
        push(list, text.to_owned(), widths, kinds, true);
    }
}
