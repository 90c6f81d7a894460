//! What kernels of the corpus should compute where `computes` cannot say it: on the host, in exact integers or in double
//! precision, straight from the definition. One file a category; never by the kernel's own algorithm.

mod assembly;
mod functions;
mod grids;
mod integers;
mod order;
mod warps;

use half::{bf16, f16};
use indexmap::IndexMap;
use peak::context::{Configuration, Inputs};
use peak::data::decode;
use peak_grammar::ir::ElementType;

/// What a kernel is given.
pub struct Given {
    /// Scalar inputs.
    pub inputs: Inputs,
    /// Tuning parameters.
    pub configuration: Configuration,
    /// Inputs and inouts before the run, little endian.
    pub arrays: IndexMap<String, (ElementType, Vec<u8>)>,
}

/// What an output should hold.
pub enum Expected {
    /// These bytes.
    Exact(Vec<u8>),
    /// Numbers near these.
    Close {
        /// In double precision.
        values: Vec<f64>,
        /// What errors are relative to, each.
        scales: Vec<f64>,
        /// Terms of the longest sum; 0 where an error is one unit in the last place of the scale.
        terms: f64,
    },
}

/// Every output by name.
pub type All = Vec<(&'static str, Expected)>;

/// Computes what a kernel should.
pub type Reference = fn(&Given) -> All;

/// The reference of that name.
pub fn find(name: &str) -> Option<Reference> {
    names().find(|(known, _)| *known == name).map(|(_, reference)| reference)
}

/// Every reference and its name.
pub fn names() -> impl Iterator<Item = (&'static str, Reference)> {
    [assembly::LIST, functions::LIST, grids::LIST, integers::LIST, order::LIST, warps::LIST]
        .into_iter()
        .flatten()
        .copied()
}

impl Given {
    /// A scalar input or tuning parameter that is a size.
    pub fn size(&self, name: &str) -> usize {
        let value = self.inputs.get(name).or_else(|| self.configuration.get(name));
        value.and_then(|value| usize::try_from(*value).ok()).unwrap_or_else(|| panic!("the kernel has no size {name}"))
    }

    /// An array as doubles (64-bit integers above 2^53 are rounded).
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        let (element, bytes) = self.array(name);
        decode(*element, bytes)
    }

    /// An array of this type.
    pub fn read<T: Element>(&self, name: &str) -> Vec<T> {
        self.array(name).1.chunks_exact(size_of::<T>()).map(T::of).collect()
    }

    fn array(&self, name: &str) -> &(ElementType, Vec<u8>) {
        self.arrays.get(name).unwrap_or_else(|| panic!("the kernel is given no array {name}"))
    }
}

/// Exactly these elements.
pub fn exact<T: Element>(elements: impl IntoIterator<Item = T>) -> Expected {
    Expected::Exact(elements.into_iter().flat_map(Element::bytes).collect())
}

/// Numbers, each within so many units in its last place.
pub fn within_units(values: Vec<f64>, units: impl Fn(usize) -> f64) -> Expected {
    let scales = values.iter().enumerate().map(|(at, value)| units(at) * value.abs()).collect();
    Expected::Close { values, scales, terms: 0.0 }
}

/// A type of array elements.
pub trait Element: Copy {
    /// From little-endian bytes of its width.
    fn of(bytes: &[u8]) -> Self;
    /// To little-endian bytes.
    fn bytes(self) -> Vec<u8>;
}

macro_rules! elements {
    ($($ty:ty)*) => {$(
        impl Element for $ty {
            fn of(bytes: &[u8]) -> Self {
                <$ty>::from_le_bytes(bytes.try_into().expect("chunks of its width"))
            }
            fn bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
        }
    )*};
}
elements!(u8 i32 u32 i64 u64 f32 f16 bf16);
