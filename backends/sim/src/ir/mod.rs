//! The register IR: a module whose names are looked up and whose modifiers are split, ready for `crate::generate`.
//!
//! It stays close to PTX: one instruction is one `Inst`, registers are numbered in a function, variables in a module.
//! It never knows what an instruction means.

mod resolve;
mod types;

pub(crate) use resolve::resolve;
pub(crate) use types::Type;

use crate::ptx::PtxError;
use std::collections::HashMap;

/// A module.
#[derive(Debug, Default)]
pub(crate) struct Module {
    pub functions: Vec<Function>,
    /// Entries and functions that can't be had, and why. What does not reach them runs.
    pub lacking: Vec<Lacking>,
    /// Every variable that is no register, at any scope.
    pub variables: Vec<Variable>,
}

/// An entry or a function whose body is not understood.
#[derive(Debug)]
pub(crate) struct Lacking {
    pub name: String,
    pub is_entry: bool,
    pub error: PtxError,
}

/// A register of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reg(pub u32);

/// A variable of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct VariableId(pub u32);

/// A place in the kernel's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourcePlace {
    pub file: std::sync::Arc<str>,
    pub line: u32,
}

impl std::fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, line {}", self.file, self.line)
    }
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Global,
    Const,
    Shared,
    /// Dynamic shared memory: `.extern .shared`.
    Dynamic,
    Local,
    /// A parameter of an entry.
    EntryParam,
    /// A parameter or result of a function, by its position (results first), passed as a pointer.
    Passed(usize),
    /// A `.param` of a call, in the caller's frame.
    Call,
}

/// A variable that is no register.
#[derive(Debug)]
pub(crate) struct Variable {
    pub name: String,
    pub space: Space,
    /// 0 for dynamic shared memory.
    pub bytes: u64,
    pub align: u64,
    /// First bytes; the rest is zero.
    pub initial: Vec<u8>,
    /// Addresses in `initial`: offset and variable.
    pub relocations: Vec<(usize, VariableId, i64)>,
}

/// An entry or a function with a body.
#[derive(Debug)]
pub(crate) struct Function {
    pub name: String,
    pub is_entry: bool,
    pub returns: Vec<VariableId>,
    pub parameters: Vec<VariableId>,
    /// `.local` variables.
    pub locals: Vec<VariableId>,
    /// The type of each register.
    pub registers: Vec<Type>,
    pub code: Vec<Inst>,
    /// For each label the index of the instruction after it.
    pub labels: Vec<usize>,
    /// For each label of a `.branchtargets` the labels in it.
    pub targets: HashMap<usize, Vec<usize>>,
    /// `.maxntid` and `.reqntid`: threads a block, and whether exactly.
    pub threads: Option<([u32; 3], bool)>,
    /// `.reqnctapercluster`: blocks a cluster.
    pub cluster: Option<[u32; 3]>,
}

/// An instruction.
#[derive(Debug)]
pub(crate) struct Inst {
    /// `ld` of `ld.global.f32`.
    pub name: String,
    /// `global` of `ld.global.f32`: what is not a type.
    pub modifiers: Vec<String>,
    /// `f32` of `ld.global.f32`.
    pub types: Vec<Type>,
    pub operands: Vec<Operand>,
    /// Register, and whether it is negated.
    pub guard: Option<(Reg, bool)>,
    /// Line of the PTX text.
    pub line: u32,
    /// Place in the source, where the text says.
    pub place: Option<SourcePlace>,
}

impl Inst {
    /// Whether a modifier is there.
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers.iter().any(|it| it == modifier)
    }

    /// The first of some modifiers that is there.
    pub fn one_of<'m>(&self, modifiers: &[&'m str]) -> Option<&'m str> {
        modifiers.iter().find(|it| self.has(it)).copied()
    }

    /// As written: `ld.global.f32`. Types come after other modifiers.
    pub fn spelled(&self) -> String {
        let types = self.types.iter().map(|it| it.name());
        let parts: Vec<&str> =
            std::iter::once(self.name.as_str()).chain(self.modifiers.iter().map(String::as_str)).chain(types).collect();
        parts.join(".")
    }
}

/// An operand.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Reg(Reg),
    Not(Reg),
    Integer(i64),
    Single(u32),
    Double(u64),
    /// `%tid.x`.
    Special(&'static str),
    /// An index into the function's labels.
    Label(usize),
    /// The address of a variable, plus an offset.
    Variable(VariableId, i64),
    /// `[...]`.
    Address(Base, i64),
    /// `%r1|%p1`; either may be `_`.
    Pair(Option<Reg>, Option<Reg>),
    /// `_`.
    Sink,
    Vector(Vec<Operand>),
    List(Vec<Operand>),
    /// An index into the module's functions, by name as they may come later.
    Function(String),
}

/// What an address counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Reg(Reg),
    Variable(VariableId),
    Absolute,
}

/// Special registers, all read as 32 or 64 bits.
pub(crate) const SPECIALS: [&str; 40] = [
    "%tid.x",
    "%tid.y",
    "%tid.z",
    "%ntid.x",
    "%ntid.y",
    "%ntid.z",
    "%ctaid.x",
    "%ctaid.y",
    "%ctaid.z",
    "%nctaid.x",
    "%nctaid.y",
    "%nctaid.z",
    "%laneid",
    "%warpid",
    "%cluster_nctaid.x",
    "%cluster_nctaid.y",
    "%cluster_nctaid.z",
    "%cluster_nctarank",
    "%nclusterid.x",
    "%nclusterid.y",
    "%nclusterid.z",
    "%cluster_ctaid.x",
    "%cluster_ctaid.y",
    "%cluster_ctaid.z",
    "%cluster_ctarank",
    "%clusterid.x",
    "%clusterid.y",
    "%clusterid.z",
    "%lanemask_eq",
    "%lanemask_lt",
    "%lanemask_le",
    "%lanemask_gt",
    "%lanemask_ge",
    "%clock",
    "%clock64",
    "%globaltimer",
    "%dynamic_smem_size",
    "%envreg1",
    "%envreg2",
    "WARP_SZ",
];
