//! Tensor maps as the driver encodes them: 128 opaque bytes, passed by value.

use super::memory::Buffer;
use super::shape::refused;
use crate::error::{buffer as buffer_error, check};
use cudarc::driver::sys::{
    self, CUresult, CUtensorMap, CUtensorMapDataType as Type, CUtensorMapFloatOOBfill as Fill,
    CUtensorMapInterleave as Interleave, CUtensorMapL2promotion as Promotion, CUtensorMapSwizzle as Swizzle,
};
use peak_backend_api::{RuntimeError, TENSOR_ALIGNMENT_BYTES, TENSOR_RANK_MAX, TensorElement, TensorMap};

/// Encodes a map over its buffer.
///
/// # Errors
/// A map that no device takes, one that reaches beyond its buffer, or a driver that refuses.
pub(super) fn encode(name: &str, map: &TensorMap, buffer: &Buffer) -> Result<Vec<u8>, RuntimeError> {
    check_place(name, map, buffer.address, buffer.bytes)?;
    let numbers = Numbers::of(map);
    let mut encoded = CUtensorMap { opaque: [0; 16] };
    // SAFETY: the arrays have at least as many entries as the map has dimensions, which `check` bounds; the driver
    // only computes with the address.
    let code = unsafe {
        sys::cuTensorMapEncodeTiled(
            &mut encoded,
            data_type(map.element),
            numbers.rank,
            std::ptr::without_provenance_mut(usize::try_from(buffer.address).unwrap_or(0)),
            numbers.extents.as_ptr(),
            numbers.strides.as_ptr(),
            numbers.sides.as_ptr(),
            numbers.steps.as_ptr(),
            Interleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            swizzle(map.swizzle),
            Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
    };
    match code {
        CUresult::CUDA_ERROR_INVALID_VALUE => {
            refused(format!("the driver refuses the numbers of the tensor map `{name}`: {map:?}"))
        }
        code => check("cuTensorMapEncodeTiled", code)
            .map(|()| encoded.opaque.iter().flat_map(|word| word.to_ne_bytes()).collect()),
    }
}

/// A map's numbers against hardware's limits and against where its buffer lies.
fn check_place(name: &str, map: &TensorMap, address: u64, bytes: u64) -> Result<(), RuntimeError> {
    if let Err(problem) = map.check() {
        return refused(format!("the tensor map `{name}` has {problem}"));
    }
    if !address.is_multiple_of(TENSOR_ALIGNMENT_BYTES) {
        return Err(buffer_error(
            &map.buffer,
            format!("the tensor map `{name}` needs it aligned to {TENSOR_ALIGNMENT_BYTES} bytes"),
        ));
    }
    match map.span_bytes() {
        Some(span) if span <= bytes => Ok(()),
        _ => Err(buffer_error(&map.buffer, format!("the tensor map `{name}` reaches beyond its {bytes} bytes"))),
    }
}

/// What the driver takes: the innermost dimension first.
#[derive(Debug, PartialEq, Eq)]
struct Numbers {
    rank: u32,
    extents: [u64; TENSOR_RANK_MAX],
    /// Of every dimension but the innermost.
    strides: [u64; TENSOR_RANK_MAX],
    sides: [u32; TENSOR_RANK_MAX],
    /// Every element along each side.
    steps: [u32; TENSOR_RANK_MAX],
}

impl Numbers {
    fn of(map: &TensorMap) -> Numbers {
        let reversed = |values: &[u64]| {
            let mut out = [0; TENSOR_RANK_MAX];
            out.iter_mut().zip(values.iter().rev()).for_each(|(to, from)| *to = *from);
            out
        };
        let sides = reversed(&map.box_extents);
        Numbers {
            rank: u32::try_from(map.extents.len()).unwrap_or(u32::MAX),
            extents: reversed(&map.extents),
            strides: reversed(&map.strides),
            sides: sides.map(|side| u32::try_from(side).unwrap_or(u32::MAX)),
            steps: [1; TENSOR_RANK_MAX],
        }
    }
}

fn data_type(element: TensorElement) -> Type {
    match element {
        TensorElement::F16 => Type::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        TensorElement::Bf16 => Type::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        TensorElement::F32 => Type::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        TensorElement::F64 => Type::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
        // Copies move bits: the sign of a byte is the kernel's matter.
        TensorElement::I8 | TensorElement::U8 => Type::CU_TENSOR_MAP_DATA_TYPE_UINT8,
        TensorElement::I32 => Type::CU_TENSOR_MAP_DATA_TYPE_INT32,
        TensorElement::U32 => Type::CU_TENSOR_MAP_DATA_TYPE_UINT32,
        TensorElement::I64 => Type::CU_TENSOR_MAP_DATA_TYPE_INT64,
        TensorElement::U64 => Type::CU_TENSOR_MAP_DATA_TYPE_UINT64,
    }
}

/// The driver's word for a swizzle that `TensorMap::check` let through.
fn swizzle(bytes: u32) -> Swizzle {
    match bytes {
        32 => Swizzle::CU_TENSOR_MAP_SWIZZLE_32B,
        64 => Swizzle::CU_TENSOR_MAP_SWIZZLE_64B,
        128 => Swizzle::CU_TENSOR_MAP_SWIZZLE_128B,
        _ => Swizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> TensorMap {
        TensorMap::dense("a", TensorElement::F16, &[3, 5, 64], &[1, 4, 32], 64)
    }

    #[test]
    fn the_driver_gets_the_innermost_dimension_first() {
        let numbers = Numbers::of(&map());
        assert_eq!((numbers.rank, numbers.extents, numbers.sides), (3, [64, 5, 3, 0, 0], [32, 4, 1, 0, 0]));
        assert_eq!((numbers.strides, numbers.steps), ([128, 640, 0, 0, 0], [1; 5]));
    }

    #[test]
    fn a_map_stays_in_its_buffer() {
        assert_eq!(check_place("a_map", &map(), 256, 1920), Ok(()));
        let short = check_place("a_map", &map(), 256, 1919);
        assert!(
            matches!(&short, Err(RuntimeError::Buffer { problem, .. }) if problem.contains("beyond its 1919")),
            "{short:?}"
        );
        let odd = check_place("a_map", &map(), 264, 1920);
        assert!(
            matches!(&odd, Err(RuntimeError::Buffer { problem, .. }) if problem.contains("aligned to 16")),
            "{odd:?}"
        );
        let wide = TensorMap { swizzle: 32, ..map() };
        let refused = check_place("a_map", &wide, 256, 1920);
        assert!(
            matches!(&refused, Err(RuntimeError::Launch(words)) if words.contains("a swizzle of 32")),
            "{refused:?}"
        );
    }
}
