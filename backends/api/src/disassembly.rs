//! Compiled code as text, line by line, with what each instruction is. Plain data: who counts is told no opcode.

use serde::{Deserialize, Serialize};

/// What the text is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeLanguage {
    /// NVIDIA's portable assembly, which an assembler or the driver compiles once more.
    Ptx,
    /// NVIDIA's machine code.
    Sass,
    /// SPIR-V, which the driver compiles once more.
    Spirv,
}

impl CodeLanguage {
    /// The name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CodeLanguage::Ptx => "PTX",
            CodeLanguage::Sass => "SASS",
            CodeLanguage::Spirv => "SPIR-V",
        }
    }
}

/// An artifact's code as text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disassembly {
    /// What it is written in.
    pub language: CodeLanguage,
    /// What made the text, with its version.
    pub tool: String,
    /// The whole text, in order.
    pub lines: Vec<CodeLine>,
}

/// One line of the text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CodeLine {
    /// As it stands, without its end.
    pub text: String,
    /// The entry point in whose body it stands; a function that an entry calls has its own name.
    pub function: Option<String>,
    /// The place in the source that it was made from, where the code says.
    pub at: Option<SourcePlace>,
    /// The label that it is; jumps name labels.
    pub label: Option<String>,
    /// The instruction that it is.
    pub instruction: Option<Instruction>,
}

/// A line of a source piece.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourcePlace {
    /// The piece: `prelude`, `macros`, `device code`; or a header's file name.
    pub piece: String,
    /// Line in it, from 1.
    pub line: u32,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instruction {
    /// As the text has it, modifiers included: `ld.global.v4.f32`, `LDG.E.128`, `OpLoad`.
    pub opcode: String,
    /// What it is counted as.
    pub kind: InstructionKind,
    /// Bytes that one thread moves with it, where it moves any and the text says how many.
    pub bytes: Option<u32>,
    /// Labels of the same function that it may go to.
    pub jumps: Vec<String>,
    /// Whether the line after it may come next.
    pub goes_on: bool,
}

impl Instruction {
    /// An instruction that moves nothing and jumps nowhere.
    #[must_use]
    pub fn plain(opcode: &str, kind: InstructionKind) -> Instruction {
        Instruction { opcode: opcode.to_owned(), kind, bytes: None, jumps: Vec::new(), goes_on: true }
    }
}

/// What an instruction is counted as, in every language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstructionKind {
    /// Reads memory that all blocks see.
    GlobalLoad,
    /// Writes it.
    GlobalStore,
    /// Reads a block's shared memory.
    SharedLoad,
    /// Writes it.
    SharedStore,
    /// Reads memory of one thread's own: its stack, spilled registers.
    LocalLoad,
    /// Writes it.
    LocalStore,
    /// Reads arguments or constants.
    ConstantLoad,
    /// Reads or writes memory of a kind that the instruction does not say.
    GenericMemory,
    /// Copies from global to shared memory, or back, while the thread goes on.
    AsyncCopy,
    /// Reads and writes at once, for all threads.
    Atomic,
    /// Waits for other threads, or orders memory.
    Barrier,
    /// Fused multiply and add in f32: two operations.
    FmaF32,
    /// Other arithmetic in f32.
    F32,
    /// Arithmetic in f16 or bf16.
    F16,
    /// Arithmetic in f64.
    F64,
    /// Reciprocals, roots, sines, exponentials.
    Special,
    /// Products of matrices by a warp.
    Matrix,
    /// Whole numbers, bits, comparisons, addresses.
    Integer,
    /// From one type to another.
    Conversion,
    /// Exchanges between the threads of a warp.
    Warp,
    /// Jumps, calls, returns.
    Control,
    /// Moves and selections between registers.
    Move,
    /// Anything else.
    Other,
}

impl InstructionKind {
    /// Every kind, in the order in which they are shown.
    pub const ALL: [InstructionKind; 23] = [
        InstructionKind::GlobalLoad,
        InstructionKind::GlobalStore,
        InstructionKind::SharedLoad,
        InstructionKind::SharedStore,
        InstructionKind::LocalLoad,
        InstructionKind::LocalStore,
        InstructionKind::ConstantLoad,
        InstructionKind::GenericMemory,
        InstructionKind::AsyncCopy,
        InstructionKind::Atomic,
        InstructionKind::Barrier,
        InstructionKind::FmaF32,
        InstructionKind::F32,
        InstructionKind::F16,
        InstructionKind::F64,
        InstructionKind::Special,
        InstructionKind::Matrix,
        InstructionKind::Integer,
        InstructionKind::Conversion,
        InstructionKind::Warp,
        InstructionKind::Control,
        InstructionKind::Move,
        InstructionKind::Other,
    ];

    /// The name for people; with `_` for blanks the name for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            InstructionKind::GlobalLoad => "global load",
            InstructionKind::GlobalStore => "global store",
            InstructionKind::SharedLoad => "shared load",
            InstructionKind::SharedStore => "shared store",
            InstructionKind::LocalLoad => "local load",
            InstructionKind::LocalStore => "local store",
            InstructionKind::ConstantLoad => "constant load",
            InstructionKind::GenericMemory => "generic memory",
            InstructionKind::AsyncCopy => "async copy",
            InstructionKind::Atomic => "atomic",
            InstructionKind::Barrier => "barrier",
            InstructionKind::FmaF32 => "fma f32",
            InstructionKind::F32 => "f32",
            InstructionKind::F16 => "f16",
            InstructionKind::F64 => "f64",
            InstructionKind::Special => "special",
            InstructionKind::Matrix => "matrix",
            InstructionKind::Integer => "integer",
            InstructionKind::Conversion => "conversion",
            InstructionKind::Warp => "warp",
            InstructionKind::Control => "control",
            InstructionKind::Move => "move",
            InstructionKind::Other => "other",
        }
    }
}
