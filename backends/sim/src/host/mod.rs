//! Functions of the host that generated code calls.
//!
//! None panics: a panic could not unwind through generated code. Each takes and gives plain numbers.

pub(crate) mod atomics;
pub(crate) mod bits;
pub(crate) mod convert;
pub(crate) mod half;
pub(crate) mod math;
pub(crate) mod rounding;
pub(crate) mod sync;

use cranelift_codegen::ir::Type;
use cranelift_codegen::ir::types::{F32, F64, I32, I64};

/// A function that generated code may call.
pub(crate) struct HostFunction {
    /// The name by which the generator knows it.
    pub name: &'static str,
    pub address: *const u8,
    pub parameters: &'static [Type],
    pub result: Option<Type>,
}

/// All of them.
pub(crate) fn functions() -> Vec<HostFunction> {
    macro_rules! list {
        ($($name:literal = $function:path : ($($parameter:ident),*) $(-> $result:ident)?;)*) => {
            vec![$(HostFunction {
                name: $name,
                address: $function as *const u8,
                parameters: &[$($parameter),*],
                result: list!(@ $($result)?),
            }),*]
        };
        (@ $result:ident) => { Some($result) };
        (@) => { None };
    }
    list! {
        "window" = sync::window: (I64, I32, I64) -> I32;
        "refuse" = sync::refuse: (I64, I32, I64);
        "stop" = sync::stop: (I64, I32, I32);
        "tick" = sync::tick: (I64, I32) -> I32;
        "pause" = sync::pause: (I64);
        "barrier" = sync::barrier: (I64, I32, I32, I32, I32, I32) -> I32;
        "cluster_arrive" = sync::cluster_arrive: (I64, I32);
        "cluster_wait" = sync::cluster_wait: (I64, I32);
        "warp" = sync::warp: (I64, I32, I32, I32, I64, I32, I32) -> I64;
        "atomic" = atomics::atomic: (I32, I64, I64) -> I64;
        "count_access" = crate::count::host::access: (I64, I32, I64);
        "count_visit" = crate::count::host::visit: (I64, I32);
        "bfe" = bits::bfe: (I64, I32, I32, I32) -> I64;
        "bfi" = bits::bfi: (I64, I64, I32, I32, I32) -> I64;
        "prmt" = bits::prmt: (I32, I32, I32, I32) -> I32;
        "bfind" = bits::bfind: (I64, I32) -> I32;
        "clock" = math::clock: () -> I64;
        "round32" = math::round32: (I32, F32, F32, F32) -> F32;
        "unary32" = math::unary32: (I32, F32) -> F32;
        "narrow32" = convert::narrow32: (I32, F64) -> F32;
        "narrow16" = convert::narrow16: (I32, F64) -> I32;
        "integer_to_float" = convert::integer_to_float: (I32, I64) -> F64;
        "half" = half::half: (I32, I32, I32, I32) -> I32;
    }
}
