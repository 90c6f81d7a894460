//! Tensor maps: an array, and the boxes of it that bulk copies move. Says what one must keep; encodes none.

use serde::{Deserialize, Serialize};

/// Dimensions at most.
pub const TENSOR_RANK_MAX: usize = 5;
/// Elements of a box along one dimension, at most.
pub const BOX_SIDE_MAX: u64 = 256;
/// What addresses, strides and a box's rows are multiples of, in bytes.
pub const TENSOR_ALIGNMENT_BYTES: u64 = 16;
/// Elements along one dimension, at most.
const EXTENT_MAX: u64 = 1 << 32;
/// Strides are below this, in bytes.
const STRIDE_END: u64 = 1 << 40;
/// Swizzles, in bytes; 0 is none.
const SWIZZLES: [u32; 4] = [0, 32, 64, 128];

/// A dense array in device memory, cut into boxes. Extents and strides go from the outermost dimension to the innermost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorMap {
    /// The buffer, by its name on the device.
    pub buffer: String,
    /// Element type.
    pub element: TensorElement,
    /// The array, in elements.
    pub extents: Vec<u64>,
    /// From one index to the next, in bytes, of each dimension but the innermost, whose elements lie side by side.
    pub strides: Vec<u64>,
    /// A box, in elements.
    pub box_extents: Vec<u64>,
    /// Bytes of a swizzle's row: 0 (none), 32, 64 or 128.
    pub swizzle: u32,
}

/// Element types of tensor maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is the type of its name")]
pub enum TensorElement {
    F16,
    Bf16,
    F32,
    F64,
    I8,
    U8,
    I32,
    U32,
    I64,
    U64,
}

impl TensorElement {
    /// Bytes an element.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            TensorElement::I8 | TensorElement::U8 => 1,
            TensorElement::F16 | TensorElement::Bf16 => 2,
            TensorElement::F32 | TensorElement::I32 | TensorElement::U32 => 4,
            TensorElement::F64 | TensorElement::I64 | TensorElement::U64 => 8,
        }
    }
}

impl TensorMap {
    /// A map of a whole array whose rows follow each other without gaps.
    #[must_use]
    pub fn dense(buffer: &str, element: TensorElement, extents: &[u64], box_extents: &[u64], swizzle: u32) -> Self {
        let inner = extents.iter().rev();
        let mut strides: Vec<u64> = inner
            .scan(element.bytes(), |bytes, extent| {
                *bytes = bytes.saturating_mul(*extent);
                Some(*bytes)
            })
            .take(extents.len().saturating_sub(1))
            .collect();
        strides.reverse();
        let (extents, box_extents) = (extents.to_vec(), box_extents.to_vec());
        TensorMap { buffer: buffer.to_owned(), element, extents, strides, box_extents, swizzle }
    }

    /// Bytes of a box's row: its side along the innermost dimension.
    #[must_use]
    pub fn box_row_bytes(&self) -> u64 {
        self.box_extents.last().map_or(0, |side| side.saturating_mul(self.element.bytes()))
    }

    /// Bytes from the first element to the end of the last; `None` where no address reaches so far.
    #[must_use]
    pub fn span_bytes(&self) -> Option<u64> {
        let (inner, outer) = self.extents.split_last()?;
        let row = inner.checked_mul(self.element.bytes())?;
        outer
            .iter()
            .zip(&self.strides)
            .try_fold(row, |span, (extent, stride)| span.checked_add(extent.checked_sub(1)?.checked_mul(*stride)?))
    }

    /// Compares the map with what hardware takes. Where the buffer lies, and whether it is large enough, is the
    /// runtime's to check.
    ///
    /// # Errors
    /// The first thing that no device takes, in words that follow the map's name.
    pub fn check(&self) -> Result<(), String> {
        self.check_shape()?;
        self.check_strides()?;
        self.check_box()
    }

    fn check_shape(&self) -> Result<(), String> {
        let rank = self.extents.len();
        if !(1..=TENSOR_RANK_MAX).contains(&rank) {
            return Err(format!("{rank} dimensions; a tensor map has 1 to {TENSOR_RANK_MAX}"));
        }
        if self.box_extents.len() != rank {
            return Err(format!("a box of {} sides over {rank} dimensions", self.box_extents.len()));
        }
        if self.strides.len() != rank - 1 {
            return Err(format!("{} strides over {rank} dimensions", self.strides.len()));
        }
        match self.extents.iter().find(|extent| !(1..=EXTENT_MAX).contains(*extent)) {
            Some(extent) => Err(format!("an extent of {extent} elements; 1 to {EXTENT_MAX} are allowed")),
            None => Ok(()),
        }
    }

    fn check_strides(&self) -> Result<(), String> {
        for stride in &self.strides {
            if stride % TENSOR_ALIGNMENT_BYTES != 0 {
                return Err(format!(
                    "rows that lie {stride} bytes apart, which is no multiple of {TENSOR_ALIGNMENT_BYTES}: pad the array's \
                     rows"
                ));
            }
            if *stride >= STRIDE_END {
                return Err(format!("rows that lie {stride} bytes apart; below {STRIDE_END} are allowed"));
            }
        }
        Ok(())
    }

    fn check_box(&self) -> Result<(), String> {
        if let Some(side) = self.box_extents.iter().find(|side| !(1..=BOX_SIDE_MAX).contains(*side)) {
            return Err(format!("a box with a side of {side} elements; 1 to {BOX_SIDE_MAX} are allowed"));
        }
        let (row, swizzle) = (self.box_row_bytes(), self.swizzle);
        if row % TENSOR_ALIGNMENT_BYTES != 0 {
            return Err(format!("a box with rows of {row} bytes, which is no multiple of {TENSOR_ALIGNMENT_BYTES}"));
        }
        if !SWIZZLES.contains(&swizzle) {
            return Err(format!("a swizzle of {swizzle} bytes; {SWIZZLES:?} are allowed"));
        }
        if swizzle > 0 && row > u64::from(swizzle) {
            return Err(format!(
                "a box with rows of {row} bytes, and a swizzle of {swizzle}: a row may have as many bytes as the swizzle"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(extents: &[u64], box_extents: &[u64], swizzle: u32) -> TensorMap {
        TensorMap::dense("A", TensorElement::F32, extents, box_extents, swizzle)
    }

    #[test]
    fn a_dense_array_has_its_strides() {
        let cube = map(&[3, 5, 8], &[1, 5, 8], 32);
        assert_eq!((cube.strides.as_slice(), cube.span_bytes()), ([160, 32].as_slice(), Some(480)));
        assert_eq!(cube.check(), Ok(()));
        let line = map(&[100], &[32], 128);
        assert_eq!((line.strides.len(), line.span_bytes(), line.check()), (0, Some(400), Ok(())));
    }

    #[test]
    fn what_no_device_takes_is_said() {
        let words = |map: TensorMap| map.check().expect_err("it is refused");
        for (map, expected) in [
            (map(&[], &[], 0), "0 dimensions"),
            (map(&[4; 6], &[4; 6], 0), "6 dimensions; a tensor map has 1 to 5"),
            (map(&[8, 8], &[8], 0), "a box of 1 sides over 2 dimensions"),
            (map(&[0, 8], &[1, 8], 0), "an extent of 0"),
            (map(&[1 << 33], &[8], 0), "an extent of 8589934592"),
            (map(&[8, 7], &[8, 4], 0), "28 bytes apart"),
            (map(&[2, 1 << 20, 1 << 20], &[1, 1, 4], 0), "below 1099511627776"),
            (map(&[8, 512], &[1, 512], 0), "a side of 512 elements; 1 to 256"),
            (map(&[8, 8], &[0, 8], 0), "a side of 0"),
            (map(&[8, 8], &[8, 3], 0), "rows of 12 bytes"),
            (map(&[8, 64], &[8, 8], 48), "a swizzle of 48"),
            (map(&[8, 64], &[8, 64], 128), "rows of 256 bytes, and a swizzle of 128"),
        ] {
            let words = words(map);
            assert!(words.contains(expected), "{words}");
        }
        let mut short = map(&[8, 8], &[8, 8], 0);
        short.strides.clear();
        assert!(words(short).contains("0 strides over 2 dimensions"));
    }
}
