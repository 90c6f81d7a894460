//! What each instruction of PTX is counted as, after the PTX ISA's own chapters. Here because who compiles PTX and who runs it
//! must agree.

use crate::InstructionKind as Kind;

/// The kind of an instruction of PTX, and the bytes that a thread moves with it. `operands` as they are written.
#[must_use]
pub fn ptx_kind(opcode: &str, operands: &str) -> (Kind, Option<u32>) {
    let mut words = opcode.split('.');
    let base = words.next().unwrap_or_default();
    let words: Vec<&str> = words.collect();
    let has = |word: &str| words.contains(&word);
    let space = || words.iter().find_map(|word| space(word));
    match base {
        "ld" | "ldu" | "st" | "wmma" if base != "wmma" || has("load") || has("store") => {
            let kind = memory(base == "st" || has("store"), space());
            (kind, if base == "wmma" { None } else { moved(&words) })
        }
        "ldmatrix" => (Kind::SharedLoad, Some(4 * matrices(&words))),
        "stmatrix" => (Kind::SharedStore, Some(4 * matrices(&words))),
        "atom" | "red" | "multimem" => (Kind::Atomic, moved(&words)),
        "cp" if has("commit_group") || has("wait_group") || has("wait_all") || has("mbarrier") => (Kind::Barrier, None),
        // `cp.async.ca.shared.global [to], [from], 16`.
        "cp" if !has("bulk") => {
            (Kind::AsyncCopy, operands.split(',').nth(2).and_then(|bytes| bytes.trim().parse().ok()))
        }
        "cp" => (Kind::AsyncCopy, None),
        "bar" | "barrier" | "membar" | "fence" | "mbarrier" | "griddepcontrol" => (Kind::Barrier, None),
        "mma" | "wmma" => (Kind::Matrix, None),
        "wgmma" if has("mma_async") => (Kind::Matrix, None),
        "wgmma" => (Kind::Barrier, None),
        "shfl" | "vote" | "match" | "redux" | "activemask" | "elect" | "movmatrix" => (Kind::Warp, None),
        "bra" | "brx" | "call" | "ret" | "exit" | "trap" | "brkpt" => (Kind::Control, None),
        "mov" | "selp" | "slct" | "cvta" | "mapa" => (Kind::Move, None),
        "cvt" => (Kind::Conversion, None),
        _ => (arithmetic(base, &words), None),
    }
}

fn space(word: &str) -> Option<&'static str> {
    let known = ["global", "shared", "local", "param", "const"];
    known.into_iter().find(|space| word.split("::").next() == Some(space))
}

fn memory(stores: bool, space: Option<&str>) -> Kind {
    match (space, stores) {
        (Some("global"), false) => Kind::GlobalLoad,
        (Some("global"), true) => Kind::GlobalStore,
        (Some("shared"), false) => Kind::SharedLoad,
        (Some("shared"), true) => Kind::SharedStore,
        (Some("local"), false) => Kind::LocalLoad,
        (Some("local"), true) => Kind::LocalStore,
        (Some("param" | "const"), false) => Kind::ConstantLoad,
        // An argument of a call.
        (Some(_), true) => Kind::Move,
        _ => Kind::GenericMemory,
    }
}

/// Bytes of the type, times the elements of the vector.
fn moved(words: &[&str]) -> Option<u32> {
    let bits = words.iter().rev().find_map(|word| bits(word))?;
    let vector = words.iter().find_map(|word| word.strip_prefix('v')?.parse::<u32>().ok());
    Some(bits / 8 * vector.unwrap_or(1))
}

fn bits(word: &str) -> Option<u32> {
    match word {
        "f16x2" | "bf16x2" => Some(32),
        "bf16" => Some(16),
        _ => {
            word.strip_prefix(['f', 'b', 'u', 's'])?.parse().ok().filter(|bits| matches!(bits, 8 | 16 | 32 | 64 | 128))
        }
    }
}

/// Matrices of 8 rows by 16 bytes: four bytes a thread each.
fn matrices(words: &[&str]) -> u32 {
    words.iter().find_map(|word| word.strip_prefix('x')?.parse().ok()).unwrap_or(1)
}

fn arithmetic(base: &str, words: &[&str]) -> Kind {
    let of = words.iter().rev().find_map(|word| {
        let word = word.split("::").next().unwrap_or(word);
        matches!(word, "pred").then_some("pred").or_else(|| is_type(word).then_some(word))
    });
    let special = matches!(base, "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" | "div");
    match of {
        Some("f64") => Kind::F64,
        Some(of) if special && (of.starts_with('f') || of.starts_with("bf")) => Kind::Special,
        Some("f32" | "f32x2") if matches!(base, "fma" | "mad") => Kind::FmaF32,
        Some("f32" | "f32x2") => Kind::F32,
        Some("f16" | "f16x2" | "bf16" | "bf16x2") => Kind::F16,
        Some(_) => Kind::Integer,
        None => Kind::Other,
    }
}

fn is_type(word: &str) -> bool {
    matches!(word, "f32x2" | "u16x2" | "s16x2") || bits(word).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_told_apart() {
        for (opcode, expected, bytes) in [
            ("ld.global.nc.v4.f32", Kind::GlobalLoad, Some(16)),
            ("ld.volatile.shared.u16", Kind::SharedLoad, Some(2)),
            ("st.shared::cta.v2.b64", Kind::SharedStore, Some(16)),
            ("st.local.f32", Kind::LocalStore, Some(4)),
            ("ld.const.f32", Kind::ConstantLoad, Some(4)),
            ("ld.u32", Kind::GenericMemory, Some(4)),
            ("st.param.b32", Kind::Move, Some(4)),
            ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", Kind::SharedLoad, Some(16)),
            ("atom.global.add.f32", Kind::Atomic, Some(4)),
            ("cp.async.commit_group", Kind::Barrier, None),
            ("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes", Kind::AsyncCopy, None),
            ("bar.sync", Kind::Barrier, None),
            ("fma.rn.f32", Kind::FmaF32, None),
            ("mad.lo.s32", Kind::Integer, None),
            ("mul.f32", Kind::F32, None),
            ("setp.lt.s32", Kind::Integer, None),
            ("fma.rn.f16x2", Kind::F16, None),
            ("fma.rn.f64", Kind::F64, None),
            ("ex2.approx.ftz.f32", Kind::Special, None),
            ("div.s32", Kind::Integer, None),
            ("and.pred", Kind::Integer, None),
            ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", Kind::Matrix, None),
            ("wgmma.wait_group.sync.aligned", Kind::Barrier, None),
            ("shfl.sync.down.b32", Kind::Warp, None),
            ("cvt.rn.f32.s32", Kind::Conversion, None),
            ("setmaxnreg.inc.sync.aligned.u32", Kind::Integer, None),
            ("nanosleep", Kind::Other, None),
        ] {
            assert_eq!(ptx_kind(opcode, ""), (expected, bytes), "{opcode}");
        }
        assert_eq!(ptx_kind("cp.async.ca.shared.global", "[%r1], [%rd1], 16"), (Kind::AsyncCopy, Some(16)));
    }
}
