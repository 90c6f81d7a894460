//! What each instruction of SPIR-V is counted as, after the specification's own groups.

use super::text::{Module, Words};
use peak_backend_api::InstructionKind as Kind;

/// Instructions that state structure, or that nothing is executed for.
const DECLARATIONS: &[&str] = &[
    "OpFunction",
    "OpFunctionParameter",
    "OpLoopMerge",
    "OpName",
    "OpNop",
    "OpSelectionMerge",
    "OpUndef",
    "OpVariable",
];

const CONTROL: &[&str] = &[
    "OpBranch",
    "OpBranchConditional",
    "OpFunctionCall",
    "OpKill",
    "OpReturn",
    "OpReturnValue",
    "OpSwitch",
    "OpTerminateInvocation",
    "OpUnreachable",
];

const MOVES: &[&str] = &[
    "OpBitcast",
    "OpCompositeConstruct",
    "OpCompositeExtract",
    "OpCompositeInsert",
    "OpCopyLogical",
    "OpCopyObject",
    "OpPhi",
    "OpSelect",
    "OpVectorExtractDynamic",
    "OpVectorInsertDynamic",
    "OpVectorShuffle",
];

const CONVERSIONS: &[&str] = &[
    "OpConvertFToS",
    "OpConvertFToU",
    "OpConvertSToF",
    "OpConvertUToF",
    "OpFConvert",
    "OpQuantizeToF16",
    "OpSConvert",
    "OpUConvert",
];

/// Functions of GLSL.std.450 that hardware has units of their own for, or long sequences.
const SPECIAL: &[&str] = &[
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atan2",
    "Atanh",
    "Cos",
    "Cosh",
    "Distance",
    "Exp",
    "Exp2",
    "InverseSqrt",
    "Length",
    "Log",
    "Log2",
    "Normalize",
    "Pow",
    "Sin",
    "Sinh",
    "Sqrt",
    "Tan",
    "Tanh",
];

/// The kind of an instruction, and the bytes that a thread moves with it; `None` for one that only states structure.
pub(super) fn kind(words: &Words<'_>, module: &Module<'_>) -> Option<(Kind, Option<u32>)> {
    let opcode = words.opcode;
    if DECLARATIONS.contains(&opcode) {
        return None;
    }
    let operand = |place: usize| words.operands.get(place).copied();
    let found = match opcode {
        "OpLoad" => return Some((memory(module, operand(1), false), operand(0).and_then(|of| module.bytes(of)))),
        "OpStore" => {
            let stored = operand(0).and_then(|pointer| pointee(module, pointer));
            return Some((memory(module, operand(0), true), stored.and_then(|of| module.bytes(of))));
        }
        "OpExtInst" => extended(words, module),
        "OpAccessChain" | "OpInBoundsAccessChain" | "OpPtrAccessChain" | "OpArrayLength" => Kind::Integer,
        "OpControlBarrier" | "OpMemoryBarrier" => Kind::Barrier,
        _ if CONTROL.contains(&opcode) => Kind::Control,
        _ if MOVES.contains(&opcode) => Kind::Move,
        _ if CONVERSIONS.contains(&opcode) => Kind::Conversion,
        _ if opcode.starts_with("OpAtomic") => Kind::Atomic,
        _ if opcode.starts_with("OpGroup") || opcode.starts_with("OpSubgroup") => Kind::Warp,
        _ if opcode.starts_with("OpCooperativeMatrix") => Kind::Matrix,
        "OpFDiv" => {
            of_type(module, operand(0)).map_or(Kind::Other, |kind| if kind == Kind::F64 { kind } else { Kind::Special })
        }
        // A comparison gives a truth value; what it compares says which unit does it.
        _ => match of_type(module, operand(0)) {
            Some(Kind::Other) => {
                operand(1).and_then(|id| of_type(module, module.type_of(id))).map_or(Kind::Other, truth)
            }
            Some(kind) => kind,
            None => Kind::Other,
        },
    };
    Some((found, None))
}

/// Logic is done where whole numbers are.
fn truth(kind: Kind) -> Kind {
    if kind == Kind::Other { Kind::Integer } else { kind }
}

/// Where arithmetic of a type is done; [`Kind::Other`] for truth values.
fn of_type(module: &Module<'_>, of: Option<&str>) -> Option<Kind> {
    let mut declared = module.declaration(of?)?;
    if declared.opcode == "OpTypeVector" {
        declared = module.declaration(declared.operands.first()?)?;
    }
    match (declared.opcode, declared.operands.first().copied()) {
        ("OpTypeInt", _) => Some(Kind::Integer),
        ("OpTypeFloat", Some("16")) => Some(Kind::F16),
        ("OpTypeFloat", Some("32")) => Some(Kind::F32),
        ("OpTypeFloat", Some("64")) => Some(Kind::F64),
        ("OpTypeBool", _) => Some(Kind::Other),
        _ => None,
    }
}

/// `%float %1 Fma %a %b %c`.
fn extended(words: &Words<'_>, module: &Module<'_>) -> Kind {
    let kind = of_type(module, words.operands.first().copied()).unwrap_or(Kind::Other);
    match words.operands.get(2).copied().unwrap_or_default() {
        "Fma" if kind == Kind::F32 => Kind::FmaF32,
        name if SPECIAL.contains(&name) && kind != Kind::F64 => Kind::Special,
        _ => kind,
    }
}

fn pointee<'a>(module: &Module<'a>, pointer: &str) -> Option<&'a str> {
    module.declaration(module.type_of(pointer)?)?.operands.get(1).copied()
}

fn memory(module: &Module<'_>, pointer: Option<&str>, stores: bool) -> Kind {
    let of = pointer.and_then(|pointer| module.type_of(pointer)).and_then(|of| module.declaration(of));
    match (of.and_then(|of| of.operands.first().copied()), stores) {
        (Some("StorageBuffer" | "PhysicalStorageBuffer"), false) => Kind::GlobalLoad,
        (Some("StorageBuffer" | "PhysicalStorageBuffer"), true) => Kind::GlobalStore,
        (Some("Workgroup"), false) => Kind::SharedLoad,
        (Some("Workgroup"), true) => Kind::SharedStore,
        (Some("Function" | "Private"), false) => Kind::LocalLoad,
        (Some("Function" | "Private"), true) => Kind::LocalStore,
        (Some("PushConstant" | "Uniform" | "UniformConstant" | "Input"), false) => Kind::ConstantLoad,
        _ => Kind::GenericMemory,
    }
}
