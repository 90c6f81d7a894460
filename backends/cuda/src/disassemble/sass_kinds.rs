//! What each instruction of NVIDIA's machine code is counted as, after the instruction sets that the manual of CUDA's binary
//! utilities lists. NVIDIA documents no more than their names.

use peak_backend_api::InstructionKind as Kind;

/// Names of instructions with their kind; those that begin with a listed one and are none of the table are in [`prefixed`].
const KINDS: &[(&[&str], Kind)] = &[
    (&["LDG"], Kind::GlobalLoad),
    (&["STG"], Kind::GlobalStore),
    (&["LDS", "LDSM"], Kind::SharedLoad),
    (&["STS", "STSM"], Kind::SharedStore),
    (&["LDL"], Kind::LocalLoad),
    (&["STL"], Kind::LocalStore),
    (&["LDC", "LDCU", "ULDC"], Kind::ConstantLoad),
    (&["LD", "ST"], Kind::GenericMemory),
    (&["LDGSTS", "UBLKCP", "UBLKRED", "UTMALDG", "UTMASTG", "UTMAREDG", "UTMAPF", "UBLKPF"], Kind::AsyncCopy),
    (&["ATOM", "ATOMG", "ATOMS", "RED", "REDG", "REDAS", "SUATOM", "SURED"], Kind::Atomic),
    (
        &[
            "BAR",
            "MEMBAR",
            "FENCE",
            "ERRBAR",
            "DEPBAR",
            "LDGDEPBAR",
            "SYNCS",
            "UCGABAR_ARV",
            "UCGABAR_WAIT",
            "WARPGROUP",
            "UTMACMDFLUSH",
            "ARRIVES",
            "ACQBULK",
        ],
        Kind::Barrier,
    ),
    (&["FFMA", "FFMA32I", "FFMA2"], Kind::FmaF32),
    (
        &[
            "FADD", "FADD2", "FADD32I", "FCHK", "FMNMX", "FMNMX3", "FMUL", "FMUL2", "FMUL32I", "FSET", "FSETP",
            "FSWZADD",
        ],
        Kind::F32,
    ),
    (&["DADD", "DFMA", "DMNMX", "DMUL", "DSETP"], Kind::F64),
    (&["MUFU"], Kind::Special),
    (&["BMMA", "DMMA", "HMMA", "IMMA", "OMMA", "QMMA", "BGMMA", "HGMMA", "IGMMA", "QGMMA", "UTCHMMA"], Kind::Matrix),
    (&["F2F", "F2FP", "F2I", "F2IP", "FRND", "I2F", "I2FP", "I2I", "I2IP"], Kind::Conversion),
    (&["CREDUX", "ELECT", "MATCH", "MOVM", "REDUX", "SHFL", "VOTE", "VOTEU"], Kind::Warp),
    (
        &[
            "BMOV",
            "BPT",
            "BRA",
            "BREAK",
            "BRX",
            "BRXU",
            "BSSY",
            "BSYNC",
            "CALL",
            "EXIT",
            "JMP",
            "JMX",
            "JMXU",
            "KILL",
            "NANOSLEEP",
            "RET",
            "RPCMOV",
            "WARPSYNC",
            "YIELD",
        ],
        Kind::Control,
    ),
    (
        &[
            "CS2R", "CS2UR", "FSEL", "MOV", "MOV32I", "P2R", "R2P", "R2UR", "S2R", "S2UR", "SEL", "UMOV", "UP2UR",
            "UR2UP", "USEL",
        ],
        Kind::Move,
    ),
    (
        &[
            "BFE",
            "BFI",
            "BMSK",
            "BREV",
            "FLO",
            "LEA",
            "LOP",
            "LOP3",
            "LOP32I",
            "PLOP3",
            "POPC",
            "PRMT",
            "SGXT",
            "SHF",
            "SHL",
            "SHR",
            "VABSDIFF",
            "VABSDIFF4",
            "VIADD",
            "VIADDMNMX",
            "VIMNMX",
            "VIMNMX3",
        ],
        Kind::Integer,
    ),
];

/// The kind of an instruction, and the bytes that a thread moves with it.
pub(super) fn kind(opcode: &str) -> (Kind, Option<u32>) {
    let base = opcode.split('.').next().unwrap_or_default();
    if opcode.starts_with("IMAD.MOV") {
        return (Kind::Move, None);
    }
    let kind = KINDS.iter().find(|(names, _)| names.contains(&base)).map(|(_, kind)| *kind);
    let kind = kind.or_else(|| prefixed(base)).unwrap_or(Kind::Other);
    (kind, moves(kind).then(|| bytes(base, opcode)))
}

/// Families whose members differ by a suffix: integers, their uniform forms, two halves at once.
fn prefixed(base: &str) -> Option<Kind> {
    let uniform = base.strip_prefix('U').filter(|rest| !rest.is_empty());
    let known = |base: &str| KINDS.iter().find(|(names, _)| names.contains(&base)).map(|(_, kind)| *kind);
    if let Some(kind) = uniform.and_then(known) {
        return Some(kind);
    }
    match uniform.unwrap_or(base).as_bytes() {
        [b'H', b'A' | b'F' | b'M' | b'S', ..] => Some(Kind::F16),
        [b'I', b'A' | b'D' | b'M' | b'S' | b'N', ..] => Some(Kind::Integer),
        _ => None,
    }
}

fn moves(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::GlobalLoad
            | Kind::GlobalStore
            | Kind::SharedLoad
            | Kind::SharedStore
            | Kind::LocalLoad
            | Kind::LocalStore
            | Kind::ConstantLoad
            | Kind::GenericMemory
    )
}

/// Bytes by the modifier of the width; a word where there is none. Matrices of `LDSM` are four bytes a thread each.
fn bytes(base: &str, opcode: &str) -> u32 {
    let mut words = opcode.split('.').skip(1);
    if matches!(base, "LDSM" | "STSM") {
        return match words.last() {
            Some("4") => 16,
            Some("2") => 8,
            _ => 4,
        };
    }
    let width = words.find_map(|word| match word {
        "U8" | "S8" => Some(1),
        "U16" | "S16" => Some(2),
        "64" => Some(8),
        "128" => Some(16),
        "256" => Some(32),
        _ => None,
    });
    width.unwrap_or(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_told_apart() {
        for (opcode, expected) in [
            ("LDG.E", (Kind::GlobalLoad, Some(4))),
            ("LDG.E.128.CONSTANT", (Kind::GlobalLoad, Some(16))),
            ("STS.64", (Kind::SharedStore, Some(8))),
            ("LDSM.16.M88.4", (Kind::SharedLoad, Some(16))),
            ("STL", (Kind::LocalStore, Some(4))),
            ("ULDC.64", (Kind::ConstantLoad, Some(8))),
            ("LDGSTS.E.BYPASS.128", (Kind::AsyncCopy, None)),
            ("BAR.SYNC.DEFER_BLOCKING", (Kind::Barrier, None)),
            ("FFMA", (Kind::FmaF32, None)),
            ("FMUL", (Kind::F32, None)),
            ("HFMA2.MMA", (Kind::F16, None)),
            ("HMMA.16816.F32", (Kind::Matrix, None)),
            ("IMAD.WIDE", (Kind::Integer, None)),
            ("IMAD.MOV.U32", (Kind::Move, None)),
            ("UIADD3.X", (Kind::Integer, None)),
            ("ULOP3.LUT", (Kind::Integer, None)),
            ("ISETP.GE.AND", (Kind::Integer, None)),
            ("MUFU.EX2", (Kind::Special, None)),
            ("I2F.U32", (Kind::Conversion, None)),
            ("BRA", (Kind::Control, None)),
            ("S2R", (Kind::Move, None)),
            ("NOP", (Kind::Other, None)),
        ] {
            assert_eq!(kind(opcode), expected, "{opcode}");
        }
    }
}
