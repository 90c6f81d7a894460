//! What goes into a compiler, and what can come out besides code.

use serde::{Deserialize, Serialize};

/// Assembled source and what it must provide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompileRequest {
    /// In order: prelude, macros, device code.
    pub pieces: Vec<SourcePiece>,
    /// What the launch plan calls.
    pub entries: Vec<EntryRequest>,
    /// The architecture (`sm_90a`, `gfx942`), as [`crate::DeviceInfo::target`] has it; empty where the artifact is portable.
    /// Where a backend makes several kinds of artifact it tells the kind too: for CUDA `sm_90a` is a cubin, `compute_90` is
    /// PTX, and PTX is what an empty target gives.
    pub target: String,
    /// Shared memory that a block may use, in bytes, where the device says.
    pub shared_bytes_limit: Option<u64>,
    /// Threads that a block may have, where the device says.
    pub threads_limit: Option<u32>,
}

/// One named stretch of source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePiece {
    /// `prelude`, `macros`, `device code`: the name in messages.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// An entry point that the launch plan calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryRequest {
    /// Its name.
    pub name: String,
    /// Threads a block.
    pub block: [u32; 3],
    /// What the launch passes, in order.
    pub arguments: Vec<EntryArgument>,
}

/// An argument that a launch passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryArgument {
    /// Its name.
    pub name: String,
    /// Array, scalar or tensor map.
    pub kind: EntryArgumentKind,
}

/// Array, scalar or tensor map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryArgumentKind {
    /// A buffer in device memory.
    Array {
        /// Bytes an element.
        element_bytes: u32,
        /// Whether the kernel may write it.
        writable: bool,
    },
    /// A number by value.
    Scalar {
        /// Width in bytes.
        bytes: u32,
    },
    /// A tensor map by value.
    TensorMap,
}

/// The type of a tensor map among [`PreludeSpec::argument_types`].
pub const TENSOR_MAP_TYPE: &str = "tensor_map";

/// What a prelude defines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreludeSpec {
    /// The element type, as `f32`.
    pub element: String,
    /// The accumulator type.
    pub accumulator: String,
    /// Argument (or scratch) name and element type: each gets a type `NAME_T`. A tensor map's is [`TENSOR_MAP_TYPE`].
    pub argument_types: Vec<(String, String)>,
    /// Tuning parameters, each a `#define`.
    pub configuration: Vec<(String, i64)>,
}

/// Joins the pieces with `#line`, so that messages point into the piece they come from.
///
/// C, C++ and HLSL read the directive alike. Each piece ends with a line end.
#[must_use]
pub fn assemble(pieces: &[SourcePiece]) -> String {
    let mut text = String::new();
    for piece in pieces {
        text.push_str(&format!("#line 1 \"{}\"\n", piece.name));
        text.push_str(&piece.text);
        if !piece.text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

/// Why there is no artifact.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompileError {
    /// The compiler is not there or does not start. The kernel is not at fault.
    #[error("{name} is not there: {reason}")]
    Toolchain {
        /// The toolchain's name.
        name: String,
        /// What was looked for, and where.
        reason: String,
        /// The command that mends it.
        mend: String,
    },
    /// The compiler rejects the source.
    #[error("{}", first_error(.0))]
    Source(Vec<SourceMessage>),
    /// It compiles, and does not fit the launch.
    #[error("{}", .0.join("; "))]
    Interface(Vec<String>),
    /// It compiles, and exceeds a limit of the device.
    #[error("{resource}: {used} used, {limit} allowed")]
    OverLimit {
        /// Which resource.
        resource: String,
        /// How much of it.
        used: u64,
        /// How much there is.
        limit: u64,
    },
    /// The compiler's output does not validate, or the compiler failed without a message: a defect of the toolchain.
    #[error("{tool} failed: {message}")]
    Internal {
        /// Which tool.
        tool: String,
        /// What it said.
        message: String,
    },
}

/// One message of a compiler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceMessage {
    /// Error, warning or note.
    pub severity: Severity,
    /// The piece, where the message names one of ours.
    pub piece: Option<String>,
    /// Line in the piece, from 1; 0 where unknown.
    pub line: u32,
    /// Column, from 1; 0 where unknown.
    pub column: u32,
    /// The words.
    pub text: String,
}

/// How grave a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is the severity of its name")]
pub enum Severity {
    Error,
    Warning,
    Note,
}

fn first_error(messages: &[SourceMessage]) -> String {
    let first = messages.iter().find(|message| message.severity == Severity::Error).or_else(|| messages.first());
    match first {
        Some(SourceMessage { piece: Some(piece), line, text, .. }) => format!("{piece}, line {line}: {text}"),
        Some(message) => message.text.clone(),
        None => "the compiler rejected the source without a message".to_owned(),
    }
}
