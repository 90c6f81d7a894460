//! How two outputs differ in bits. Knows nothing of what is right.

use peak_grammar::ir::ElementType;

/// A comparison of two outputs, or of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Elements compared.
    pub elements: usize,
    /// Those whose bits differ.
    pub different: usize,
    /// The largest distance, in numbers of the type that lie between.
    pub units: u64,
}

impl Difference {
    /// Both comparisons together.
    pub fn and(self, other: Difference) -> Difference {
        Difference {
            elements: self.elements + other.elements,
            different: self.different + other.different,
            units: self.units.max(other.units),
        }
    }
}

/// Compares two outputs of one length.
pub fn difference(element: ElementType, a: &[u8], b: &[u8]) -> Difference {
    let wide = element.bytes();
    let distances = a.chunks(wide).zip(b.chunks(wide)).map(|(a, b)| place(element, a).abs_diff(place(element, b)));
    let mut found = Difference::default();
    for (distance, (a, b)) in distances.zip(a.chunks(wide).zip(b.chunks(wide))) {
        found.elements += 1;
        found.different += usize::from(a != b);
        found.units = found.units.max(u64::try_from(distance).unwrap_or(u64::MAX));
    }
    found
}

/// The place of an element among all of its type, in their order.
fn place(element: ElementType, bytes: &[u8]) -> i128 {
    let raw = bytes.iter().rev().fold(0i128, |raw, byte| raw << 8 | i128::from(*byte));
    let sign = 1i128 << (8 * element.bytes() - 1);
    match element {
        ElementType::U8 | ElementType::U32 | ElementType::U64 => raw,
        ElementType::I8 | ElementType::I32 | ElementType::I64 => raw - if raw & sign != 0 { 2 * sign } else { 0 },
        ElementType::F16 | ElementType::Bf16 | ElementType::F32 | ElementType::F64 => {
            if raw & sign != 0 {
                sign - raw
            } else {
                raw
            }
        }
    }
}
