//! A product in the words of cuBLAS: columns that are contiguous, leading dimensions, data types. Calls nothing.

use cudarc::cublas::sys;
use peak_backend_api::{Matrix, Product, RuntimeError, TensorElement};

/// Data types, by cuBLAS's numbers (both libraries have an enumeration of their own, with the same ones).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    F16,
    Bf16,
    F32,
    F64,
}

/// `OUT' = RIGHT' LEFT'`, `rows` and `columns` being those of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub rows: u64,
    pub columns: u64,
    pub inner: u64,
    pub left: Operand,
    pub right: Operand,
    pub out: Operand,
    /// In which the sum is taken; alpha and beta are of it.
    pub accumulate: Type,
    products: [u64; 3],
}

/// One matrix as their column-major one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operand {
    pub element: Type,
    /// Elements from one of its columns to the next.
    pub leading: u64,
    /// Whether it is stored the other way around.
    pub transposed: bool,
}

impl Layout {
    /// # Errors
    /// [`RuntimeError::Artifact`] for types and strides that the libraries do not take.
    pub fn of(product: &Product) -> Result<Layout, RuntimeError> {
        let Product { rows, columns, inner, left, right, out, accumulate } = product;
        if [rows, columns, inner].iter().any(|extent| **extent == 0 || i32::try_from(**extent).is_err()) {
            return Err(refused(format!("extents of {rows} x {columns} x {inner}")));
        }
        let layout = Layout {
            rows: *rows,
            columns: *columns,
            inner: *inner,
            left: operand(left, *inner)?,
            right: operand(right, *columns)?,
            out: operand(out, *columns)?,
            accumulate: type_of(*accumulate)?,
            products: [bytes(left, *rows, *inner), bytes(right, *inner, *columns), bytes(out, *rows, *columns)],
        };
        if layout.out.transposed {
            return Err(refused(format!("an output `{}` whose columns are contiguous", out.name)));
        }
        let (l, r, o, a) = (layout.left.element, layout.right.element, layout.out.element, layout.accumulate);
        let halves = matches!(l, Type::F16 | Type::Bf16) && (o == l || o == Type::F32) && a == Type::F32;
        let same = l == o && a == l && l != Type::Bf16;
        if l != r || !(halves || same) {
            return Err(refused(format!("elements {l:?} times {r:?} to {o:?}, summed in {a:?}")));
        }
        Ok(layout)
    }

    /// Bytes that left, right and out reach over.
    pub fn bytes(&self) -> [u64; 3] {
        self.products
    }
}

fn operand(matrix: &Matrix, columns: u64) -> Result<Operand, RuntimeError> {
    let element = type_of(matrix.element)?;
    match (matrix.row_stride, matrix.column_stride) {
        (leading, 1) if leading >= columns => Ok(Operand { element, leading, transposed: false }),
        (1, leading) if leading >= 1 => Ok(Operand { element, leading, transposed: true }),
        (rows, columns) => Err(refused(format!("`{}` with strides of {rows} and {columns} elements", matrix.name))),
    }
}

/// Bytes from the first element to the last.
fn bytes(matrix: &Matrix, rows: u64, columns: u64) -> u64 {
    let last = (rows - 1).saturating_mul(matrix.row_stride);
    let last = last.saturating_add((columns - 1).saturating_mul(matrix.column_stride));
    last.saturating_add(1).saturating_mul(matrix.element.bytes())
}

fn type_of(element: TensorElement) -> Result<Type, RuntimeError> {
    match element {
        TensorElement::F16 => Ok(Type::F16),
        TensorElement::Bf16 => Ok(Type::Bf16),
        TensorElement::F32 => Ok(Type::F32),
        TensorElement::F64 => Ok(Type::F64),
        other => Err(refused(format!("elements {other:?}"))),
    }
}

fn refused(what: String) -> RuntimeError {
    RuntimeError::Artifact(format!("cuBLAS is not called for {what}"))
}

impl Operand {
    /// How it goes into their product.
    pub fn operation(self) -> sys::cublasOperation_t {
        match self.transposed {
            true => sys::cublasOperation_t::CUBLAS_OP_T,
            false => sys::cublasOperation_t::CUBLAS_OP_N,
        }
    }
}

impl Type {
    /// Its number in `cudaDataType`.
    pub fn data(self) -> sys::cudaDataType {
        match self {
            Type::F16 => sys::cudaDataType::CUDA_R_16F,
            Type::Bf16 => sys::cudaDataType::CUDA_R_16BF,
            Type::F32 => sys::cudaDataType::CUDA_R_32F,
            Type::F64 => sys::cudaDataType::CUDA_R_64F,
        }
    }

    /// How sums in it are computed: with all of its bits, so never by TF32.
    pub fn compute(self) -> sys::cublasComputeType_t {
        match self {
            Type::F16 => sys::cublasComputeType_t::CUBLAS_COMPUTE_16F,
            Type::Bf16 | Type::F32 => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F,
            Type::F64 => sys::cublasComputeType_t::CUBLAS_COMPUTE_64F,
        }
    }

    /// The bytes of a number in it; 0 and 1 are all that is asked for.
    pub fn number(self, value: u8) -> [u8; 8] {
        let mut bytes = [0; 8];
        match (self, value) {
            (_, 0) => {}
            (Type::F16, _) => bytes[..2].copy_from_slice(&0x3C00u16.to_le_bytes()),
            (Type::Bf16, _) => bytes[..2].copy_from_slice(&0x3F80u16.to_le_bytes()),
            (Type::F32, _) => bytes[..4].copy_from_slice(&1f32.to_le_bytes()),
            (Type::F64, _) => bytes.copy_from_slice(&1f64.to_le_bytes()),
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(element: TensorElement, row_stride: u64, column_stride: u64) -> Matrix {
        Matrix { name: "A".to_owned(), element, row_stride, column_stride }
    }

    fn product(element: TensorElement, accumulate: TensorElement) -> Product {
        let (left, right, out) = (matrix(element, 8, 1), matrix(element, 1, 16), matrix(element, 4, 1));
        Product { rows: 2, columns: 4, inner: 8, left, right, out, accumulate }
    }

    #[test]
    fn strides_become_leading_dimensions() {
        let layout = Layout::of(&product(TensorElement::F32, TensorElement::F32)).expect("it is plain");
        assert_eq!((layout.left.leading, layout.left.transposed), (8, false));
        assert_eq!((layout.right.leading, layout.right.transposed), (16, true));
        assert_eq!(layout.bytes(), [64, (7 + 3 * 16 + 1) * 4, 32]);
    }

    #[test]
    fn what_the_libraries_do_not_take_is_refused() {
        let odd =
            Product { left: matrix(TensorElement::F32, 16, 2), ..product(TensorElement::F32, TensorElement::F32) };
        assert!(Layout::of(&odd).is_err());
        assert!(Layout::of(&product(TensorElement::I32, TensorElement::I32)).is_err());
        assert!(Layout::of(&product(TensorElement::Bf16, TensorElement::Bf16)).is_err());
        assert!(Layout::of(&Product { rows: 0, ..product(TensorElement::F32, TensorElement::F32) }).is_err());
        for (element, accumulate) in [
            (TensorElement::F16, TensorElement::F32),
            (TensorElement::F16, TensorElement::F16),
            (TensorElement::Bf16, TensorElement::F32),
        ] {
            assert!(Layout::of(&product(element, accumulate)).is_ok(), "{element:?} {accumulate:?}");
        }
    }
}
