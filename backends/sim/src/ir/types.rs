//! PTX's types.

/// A type of an instruction or a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the type of its name")]
pub(crate) enum Type {
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    B8,
    B16,
    B32,
    B64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
    Pred,
}

use Type::{B8, B16, B32, B64, Bf16, Bf16x2, F16, F16x2, F32, F64, Pred, S8, S16, S32, S64, U8, U16, U32, U64};

/// Every type with its name.
const NAMES: [(Type, &str); 19] = [
    (U8, "u8"),
    (U16, "u16"),
    (U32, "u32"),
    (U64, "u64"),
    (S8, "s8"),
    (S16, "s16"),
    (S32, "s32"),
    (S64, "s64"),
    (B8, "b8"),
    (B16, "b16"),
    (B32, "b32"),
    (B64, "b64"),
    (F16, "f16"),
    (F16x2, "f16x2"),
    (Bf16, "bf16"),
    (Bf16x2, "bf16x2"),
    (F32, "f32"),
    (F64, "f64"),
    (Pred, "pred"),
];

impl Type {
    /// The type of a name.
    pub fn named(name: &str) -> Option<Type> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(ty, _)| *ty)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(ty, _)| *ty == self).map_or("", |(_, name)| name)
    }

    /// Bytes in memory; a predicate has one where it is passed to the host.
    pub fn bytes(self) -> u32 {
        match self {
            U8 | S8 | B8 | Pred => 1,
            U16 | S16 | B16 | F16 | Bf16 => 2,
            U32 | S32 | B32 | F32 | F16x2 | Bf16x2 => 4,
            U64 | S64 | B64 | F64 => 8,
        }
    }

    /// Width in bits.
    pub fn bits(self) -> u32 {
        8 * self.bytes()
    }

    /// Whether it is a signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self, S8 | S16 | S32 | S64)
    }

    /// Whether it is an integer, signed, unsigned or untyped.
    pub fn is_integer(self) -> bool {
        !matches!(self, F16 | F16x2 | Bf16 | Bf16x2 | F32 | F64 | Pred)
    }

    /// Whether it is `f32` or `f64`.
    pub fn is_float(self) -> bool {
        matches!(self, F32 | F64)
    }

    /// Whether it is one number or two of 16 bits.
    pub fn is_half(self) -> bool {
        matches!(self, F16 | F16x2 | Bf16 | Bf16x2)
    }
}
