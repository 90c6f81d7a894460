//! Compiled code, with what is read off it.

use serde::{Deserialize, Serialize};

/// What an artifact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is the format of its name")]
pub enum ArtifactKind {
    Ptx,
    Cubin,
    AmdgpuObject,
    Spirv,
    LlvmIr,
    /// A call of a vendor's library ([`crate::LibraryCall`]), as JSON.
    Library,
}

/// Compiled code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// Its format.
    pub kind: ArtifactKind,
    /// The code.
    pub bytes: Vec<u8>,
    /// What reflection found, one for each entry of the request, in its order.
    pub entries: Vec<ReflectedEntry>,
    /// Registers, shared memory, ...: the most that an entry uses, instructions of all together.
    pub resources: Resources,
    /// Compiler, version and flags: part of cache keys and evidence.
    pub compiler: String,
}

/// An entry point as the compiled code states it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReflectedEntry {
    /// Its name.
    pub name: String,
    /// Threads a block, where the code fixes it: by an attribute, or by tuning parameters that are compiled in.
    pub block: Option<[u32; 3]>,
    /// Buffers that it binds.
    pub buffers: Vec<ReflectedBuffer>,
    /// Scalars that it takes.
    pub scalars: Vec<ReflectedScalar>,
    /// Bytes of scalars in all (a push-constant block, or parameters).
    pub scalar_bytes: u32,
    /// What this entry alone uses.
    #[serde(default)]
    pub resources: Resources,
}

/// A buffer that an entry point binds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReflectedBuffer {
    /// Its name in the source.
    pub name: String,
    /// Descriptor set, or 0.
    pub set: u32,
    /// Binding, or the parameter's position.
    pub binding: u32,
    /// Whether the code may write it.
    pub writable: bool,
    /// Bytes an element, where the code says.
    pub stride: Option<u32>,
}

/// A scalar that an entry point takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReflectedScalar {
    /// Its name in the source.
    pub name: String,
    /// Offset in bytes.
    pub offset: u32,
    /// Width in bytes.
    pub bytes: u32,
}

/// What a compiled kernel uses; `None` where the format does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Static shared memory a block, in bytes.
    pub shared_bytes: Option<u64>,
    /// Registers a thread.
    pub registers: Option<u32>,
    /// Bytes spilled a thread.
    pub spill_bytes: Option<u32>,
    /// Instructions in the compiled code.
    pub instructions: Option<u64>,
}
