//! Every opcode, with the modifiers and types that it is translated with. `spec/simulator.md` prints this table.

use super::{Emitted, Generator, Lack, cluster, control, convert, float, integer, memory, moves, warps};
use crate::ir::Inst;

/// An opcode.
pub(crate) struct Opcode {
    /// As `ld`.
    pub name: &'static str,
    /// What may stand after it besides types.
    pub modifiers: &'static str,
    /// Types that may stand after it.
    pub types: &'static str,
    pub emit: fn(&mut Generator<'_, '_, '_>, &Inst) -> Emitted,
}

/// What memory instructions have in common: spaces, scopes, orders and hints.
macro_rules! access {
    ($more:literal) => {
        concat!(
            "global shared shared::cta shared::cluster local const param param::entry param::func weak volatile relaxed acquire release ",
            "acq_rel mmio cta cluster gpu sys nc ca cg cs lu cv wb wt L1::evict_normal L1::evict_unchanged ",
            "L1::evict_first L1::evict_last L1::no_allocate L2::64B L2::128B L2::256B L2::evict_normal ",
            "L2::evict_first L2::evict_last ",
            $more
        )
    };
}

const INTEGERS: &str = "u16 u32 u64 s16 s32 s64";
const NUMBERS: &str = "u16 u32 u64 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64";
const BITS: &str = "pred b16 b32 b64";
const MEMORY: &str = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64";
const COMPARE: &str = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz";

macro_rules! opcodes {
    ($($name:literal $modifiers:expr, $types:expr, $emit:path;)*) => {
        &[$(Opcode { name: $name, modifiers: $modifiers, types: $types, emit: $emit }),*]
    };
}

/// The table, by name.
pub(crate) const OPCODES: &[Opcode] = opcodes! {
    "abs" "ftz", "s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64", integer::sign;
    "activemask" "", "b32", warps::active_mask;
    "add" "rn rz rm rp ftz sat cc", NUMBERS, integer::add;
    "addc" "cc", "u32 u64 s32 s64", integer::add;
    "and" "", BITS, integer::logic;
    "atom" access!("add min max exch cas and or xor inc dec noftz"), "b16 b32 b64 u32 u64 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64", memory::atomic;
    "bar" "sync arrive red popc and or cta warp", "u32 pred", warps::barrier;
    "barrier" "sync arrive red popc and or cta aligned cluster wait acquire release relaxed", "u32 pred", warps::barrier;
    "bfe" "", "u32 u64 s32 s64", integer::extract_field;
    "bfi" "", "b32 b64", integer::insert_field;
    "bfind" "shiftamt", "u32 u64 s32 s64", integer::find_bit;
    "bra" "uni", "", control::branch;
    "brev" "", "b32 b64", integer::count;
    "brx" "idx uni", "", control::branch_indexed;
    "call" "uni", "", control::call;
    "clz" "", "b32 b64", integer::count;
    "cnot" "", "b16 b32 b64", integer::invert;
    "copysign" "", "f32 f64", float::sign;
    "cos" "approx ftz", "f32", float::transcendental;
    "cvt" "rn rz rm rp rni rzi rmi rpi ftz sat relu", "u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64", convert::convert;
    "cvta" "to global shared shared::cta shared::cluster local const param param::entry", "u64", memory::convert_address;
    "div" "rn rz rm rp approx full ftz", "u16 u32 u64 s16 s32 s64 f32 f64", integer::divide;
    "dp4a" "", "u32 s32", integer::dot_bytes;
    "elect" "sync", "", warps::elect;
    "ex2" "approx ftz", "f16 f16x2 bf16 bf16x2 f32", float::transcendental;
    "exit" "", "", control::exit;
    "fence" "sc acq_rel acquire release cta cluster gpu sys", "", memory::fence;
    "fma" "rn rz rm rp ftz sat relu", "f16 f16x2 bf16 bf16x2 f32 f64", float::fused;
    "getctarank" "shared::cluster", "u32 u64", cluster::rank_of;
    "isspacep" "global shared shared::cta shared::cluster local param param::entry", "", memory::is_space;
    "ld" access!("v2 v4 v8"), MEMORY, memory::load;
    "ldu" "global v2 v4", MEMORY, memory::load;
    "lg2" "approx ftz", "f32", float::transcendental;
    "lop3" "", "b32", integer::lop3;
    "mad" "lo hi wide cc sat rn rz rm rp ftz", "u16 u32 u64 s16 s32 s64 f32 f64", integer::multiply;
    "mad24" "lo hi", "u32 s32", integer::multiply24;
    "madc" "lo hi cc", "u32 u64 s32 s64", integer::multiply;
    "mapa" "shared::cluster", "u32 u64", cluster::map_address;
    "match" "any all sync", "b32 b64", warps::matching;
    "max" "ftz NaN relu", NUMBERS, integer::extreme;
    "membar" "cta gl sys", "", memory::fence;
    "min" "ftz NaN relu", NUMBERS, integer::extreme;
    "mov" "", "pred b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 bf16 f32 f64", moves::mov;
    "mul" "lo hi wide rn rz rm rp ftz sat", NUMBERS, integer::multiply;
    "mul24" "lo hi", "u32 s32", integer::multiply24;
    "nanosleep" "", "u32", control::sleep;
    "neg" "ftz", "s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64", integer::sign;
    "not" "", BITS, integer::invert;
    "or" "", BITS, integer::logic;
    "popc" "", "b32 b64", integer::count;
    "prefetch" "global local L1 L2 L2::evict_last L2::evict_normal", "", memory::nothing;
    "prefetchu" "L1", "", memory::nothing;
    "prmt" "f4e b4e rc8 ecl ecr rc16", "b32", integer::permute;
    "rcp" "rn rz rm rp approx ftz", "f32 f64", float::root;
    "red" access!("add min max and or xor inc dec noftz"), "b32 b64 u32 u64 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64", memory::atomic;
    "redux" "sync add min max and or xor", "u32 s32 b32", warps::redux;
    "rem" "", INTEGERS, integer::divide;
    "ret" "uni", "", control::ret;
    "rsqrt" "approx ftz", "f32 f64", float::root;
    "sad" "", INTEGERS, integer::absolute_difference;
    "selp" "", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", moves::select;
    "set" COMPARE, "u16 s16 u32 s32 u64 s64 b16 b32 b64 f16 f16x2 bf16 bf16x2 f32 f64", moves::set_number;
    "setp" COMPARE, "u16 u32 u64 s16 s32 s64 b16 b32 b64 f16 f16x2 bf16 bf16x2 f32 f64", moves::set_predicate;
    "shf" "l r wrap clamp", "b32", integer::funnel;
    "shfl" "sync up down bfly idx", "b32", warps::shuffle;
    "shl" "", "b16 b32 b64", integer::shift;
    "shr" "", "b16 b32 b64 u16 u32 u64 s16 s32 s64", integer::shift;
    "sin" "approx ftz", "f32", float::transcendental;
    "slct" "ftz", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", moves::select_by_sign;
    "sqrt" "rn rz rm rp approx ftz", "f32 f64", float::root;
    "st" access!("v2 v4 v8"), MEMORY, memory::store;
    "sub" "rn rz rm rp ftz sat cc", NUMBERS, integer::add;
    "subc" "cc", "u32 u64 s32 s64", integer::add;
    "tanh" "approx ftz", "f16 f16x2 bf16 bf16x2 f32", float::transcendental;
    "testp" "finite infinite number notanumber normal subnormal", "f32 f64", float::test;
    "trap" "", "", control::trap;
    "vote" "sync all any uni ballot", "pred b32", warps::vote;
    "xor" "", BITS, integer::logic;
};

/// Whether there is a line for an opcode.
pub(crate) fn is_opcode(name: &str) -> bool {
    OPCODES.iter().any(|opcode| opcode.name == name)
}

/// The line of an instruction.
///
/// # Errors
/// An opcode, modifier or type that is not in the table.
pub(super) fn find(inst: &Inst) -> Result<&'static Opcode, Lack> {
    let Some(opcode) = OPCODES.iter().find(|opcode| opcode.name == inst.name) else {
        return Err(Lack("the simulator has no such instruction".to_owned()));
    };
    let lists = |list: &str, word: &str| list.split(' ').any(|known| known == word);
    if let Some(modifier) = inst.modifiers.iter().find(|modifier| !lists(opcode.modifiers, modifier)) {
        return Err(Lack(format!("its modifier `.{modifier}`")));
    }
    if let Some(ty) = inst.types.iter().find(|ty| !lists(opcode.types, ty.name())) {
        return Err(Lack(format!("its type `.{}`", ty.name())));
    }
    // Before sm_70 these had forms without a mask, which no code for it holds.
    let needs_sync = matches!(inst.name.as_str(), "shfl" | "vote" | "match" | "redux" | "elect");
    if needs_sync && !inst.has("sync") {
        return Err(Lack("a form without `.sync`".to_owned()));
    }
    if inst.types.is_empty() != opcode.types.is_empty() && !matches!(inst.name.as_str(), "bar" | "barrier") {
        return Err(Lack("the number of its types".to_owned()));
    }
    Ok(opcode)
}
