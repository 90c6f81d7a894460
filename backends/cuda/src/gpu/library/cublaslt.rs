//! cuBLASLt: the algorithms that its heuristic lists, and calls with one of them.

use super::super::memory::Buffer;
use super::layout::{Layout, Operand, Type};
use super::{Operands, WORKSPACE_BYTES, missing};
use cudarc::cublaslt::{result, sys};
use cudarc::driver::sys::CUstream;
use peak_backend_api::RuntimeError;
use std::ffi::c_int;

/// An algorithm of the list.
pub(super) type Algorithm = sys::cublasLtMatmulAlgo_t;

/// An open handle with the product's descriptors.
pub(super) struct Cublaslt {
    handle: sys::cublasLtHandle_t,
    product: sys::cublasLtMatmulDesc_t,
    /// Left, right, out.
    matrices: [sys::cublasLtMatrixLayout_t; 3],
    preference: sys::cublasLtMatmulPreference_t,
    accumulate: Type,
}

impl Cublaslt {
    /// # Errors
    /// [`RuntimeError::Missing`] where the library is not installed.
    pub fn open(layout: &Layout) -> Result<Cublaslt, RuntimeError> {
        // SAFETY: the library may be loaded at any time.
        if !unsafe { sys::is_culib_present() } {
            return Err(missing("cuBLASLt", "libcublasLt.so"));
        }
        let mut open = Cublaslt {
            handle: result::create_handle().map_err(|error| failed("cublasLtCreate", error))?,
            product: std::ptr::null_mut(),
            matrices: [std::ptr::null_mut(); 3],
            preference: std::ptr::null_mut(),
            accumulate: layout.accumulate,
        };
        let (compute, scale) = (compute(layout.accumulate), data(layout.accumulate));
        open.product =
            result::create_matmul_desc(compute, scale).map_err(|error| failed("cublasLtMatmulDescCreate", error))?;
        // Their first matrix is our right one.
        open.transpose(sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_TRANSA, layout.right)?;
        open.transpose(sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_TRANSB, layout.left)?;
        let shapes = [
            (layout.left, layout.inner, layout.rows),
            (layout.right, layout.columns, layout.inner),
            (layout.out, layout.columns, layout.rows),
        ];
        for (made, (operand, rows, columns)) in open.matrices.iter_mut().zip(shapes) {
            *made = matrix(operand, rows, columns)?;
        }
        open.preference =
            result::create_matmul_pref().map_err(|error| failed("cublasLtMatmulPreferenceCreate", error))?;
        let bytes = WORKSPACE_BYTES;
        let attribute = sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
        // SAFETY: the attribute is of 64 bits.
        unsafe {
            result::set_matmul_pref_attribute(open.preference, attribute, (&raw const bytes).cast(), size_of::<u64>())
        }
        .map_err(|error| failed("cublasLtMatmulPreferenceSetAttribute", error))?;
        Ok(open)
    }

    /// The first `most` algorithms of the heuristic, best first as it believes.
    ///
    /// # Errors
    /// A product for which it has none.
    pub fn algorithms(&self, most: usize) -> Result<Vec<Algorithm>, RuntimeError> {
        let [left, right, out] = self.matrices;
        // SAFETY: all bits zero are a value of the structure, which is plain data.
        let mut found: Vec<sys::cublasLtMatmulHeuristicResult_t> =
            (0..most).map(|_| unsafe { std::mem::zeroed() }).collect();
        let mut count: c_int = 0;
        // SAFETY: the descriptors are live, and there is room for as many results as are asked for.
        let code = unsafe {
            sys::cublasLtMatmulAlgoGetHeuristic(
                self.handle,
                self.product,
                right,
                left,
                out,
                out,
                self.preference,
                c_int::try_from(most).unwrap_or(1),
                found.as_mut_ptr(),
                &mut count,
            )
        };
        code.result().map_err(|error| failed("cublasLtMatmulAlgoGetHeuristic", error))?;
        found.truncate(usize::try_from(count).unwrap_or(0));
        Ok(found.into_iter().filter(|one| one.state.result().is_ok()).map(|one| one.algo).collect())
    }

    /// Queues the product.
    pub fn queue(
        &self,
        algorithm: &Algorithm,
        [left, right, out]: Operands,
        workspace: &Buffer,
        stream: CUstream,
    ) -> Result<(), RuntimeError> {
        let (one, zero) = (self.accumulate.number(1), self.accumulate.number(0));
        let [of_left, of_right, of_out] = self.matrices;
        // SAFETY: the operands are live and as large as the layout says; alpha and beta are of the type of the sums.
        let code = unsafe {
            result::matmul(
                self.handle,
                self.product,
                one.as_ptr().cast(),
                zero.as_ptr().cast(),
                right as *const _,
                of_right,
                left as *const _,
                of_left,
                out as *const _,
                of_out,
                out as *mut _,
                of_out,
                algorithm,
                workspace.address as *mut _,
                usize::try_from(workspace.bytes).unwrap_or(0),
                stream.cast(),
            )
        };
        code.map_err(|error| failed("cublasLtMatmul", error))
    }

    fn transpose(&self, attribute: sys::cublasLtMatmulDescAttributes_t, operand: Operand) -> Result<(), RuntimeError> {
        let operation = operand.operation();
        let (value, bytes) = ((&raw const operation).cast(), size_of_val(&operation));
        // SAFETY: the attribute is an operation.
        unsafe { result::set_matmul_desc_attribute(self.product, attribute, value, bytes) }
            .map_err(|error| failed("cublasLtMatmulDescSetAttribute", error))
    }
}

impl Drop for Cublaslt {
    fn drop(&mut self) {
        // SAFETY: all work was waited for; each is destroyed once.
        unsafe {
            if !self.preference.is_null() {
                let _ = result::destroy_matmul_pref(self.preference);
            }
            for matrix in self.matrices.iter().filter(|matrix| !matrix.is_null()) {
                let _ = result::destroy_matrix_layout(*matrix);
            }
            if !self.product.is_null() {
                let _ = result::destroy_matmul_desc(self.product);
            }
            let _ = result::destroy_handle(self.handle);
        }
    }
}

/// A descriptor of a matrix whose columns are contiguous, `rows` and `columns` being theirs before any transposition.
fn matrix(operand: Operand, rows: u64, columns: u64) -> Result<sys::cublasLtMatrixLayout_t, RuntimeError> {
    let (rows, columns) = if operand.transposed { (columns, rows) } else { (rows, columns) };
    let leading = i64::try_from(operand.leading).unwrap_or(i64::MAX);
    result::create_matrix_layout(data(operand.element), rows, columns, leading)
        .map_err(|error| failed("cublasLtMatrixLayoutCreate", error))
}

fn data(of: Type) -> sys::cudaDataType {
    match of {
        Type::F16 => sys::cudaDataType::CUDA_R_16F,
        Type::Bf16 => sys::cudaDataType::CUDA_R_16BF,
        Type::F32 => sys::cudaDataType::CUDA_R_32F,
        Type::F64 => sys::cudaDataType::CUDA_R_64F,
    }
}

/// With all of its bits, so never by TF32.
fn compute(of: Type) -> sys::cublasComputeType_t {
    match of {
        Type::F16 => sys::cublasComputeType_t::CUBLAS_COMPUTE_16F,
        Type::Bf16 | Type::F32 => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F,
        Type::F64 => sys::cublasComputeType_t::CUBLAS_COMPUTE_64F,
    }
}

fn failed(call: &str, error: result::CublasError) -> RuntimeError {
    RuntimeError::Driver { call: call.to_owned(), code: format!("{:?}", error.0) }
}
