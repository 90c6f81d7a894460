//! cuBLAS, as it chooses.

use super::super::context::Context;
use super::super::memory::Buffer;
use super::layout::Layout;
use super::{Operands, missing};
use cudarc::cublas::{result, sys};
use peak_backend_api::RuntimeError;
use std::ffi::c_int;

/// An open handle that works on the context's stream.
pub(super) struct Cublas {
    handle: sys::cublasHandle_t,
}

impl Cublas {
    /// # Errors
    /// [`RuntimeError::Missing`] where the library is not installed.
    pub fn open(context: &Context, workspace: &Buffer) -> Result<Cublas, RuntimeError> {
        // SAFETY: the library may be loaded at any time.
        if !unsafe { sys::is_culib_present() } {
            return Err(missing("cuBLAS", "libcublas.so"));
        }
        let cublas = Cublas { handle: result::create_handle().map_err(|error| failed("cublasCreate", error))? };
        // SAFETY: handle and stream are live.
        unsafe { result::set_stream(cublas.handle, context.stream.cast()) }
            .map_err(|error| failed("cublasSetStream", error))?;
        let bytes = usize::try_from(workspace.bytes).unwrap_or(0);
        // SAFETY: the workspace lives as long as the program that holds both.
        unsafe { sys::cublasSetWorkspace_v2(cublas.handle, workspace.address as *mut _, bytes) }
            .result()
            .map_err(|error| failed("cublasSetWorkspace", error))?;
        Ok(cublas)
    }

    /// Queues the product.
    pub fn queue(&self, layout: &Layout, [left, right, out]: Operands) -> Result<(), RuntimeError> {
        let (one, zero) = (layout.accumulate.number(1), layout.accumulate.number(0));
        let int = |value: u64| c_int::try_from(value).unwrap_or(c_int::MAX);
        // SAFETY: the operands are live and as large as the layout says; alpha and beta are of the type of the sums.
        let code = unsafe {
            result::gemm_ex(
                self.handle,
                layout.right.operation(),
                layout.left.operation(),
                int(layout.columns),
                int(layout.rows),
                int(layout.inner),
                one.as_ptr().cast(),
                right as *const _,
                layout.right.element.data(),
                int(layout.right.leading),
                left as *const _,
                layout.left.element.data(),
                int(layout.left.leading),
                zero.as_ptr().cast(),
                out as *mut _,
                layout.out.element.data(),
                int(layout.out.leading),
                layout.accumulate.compute(),
                sys::cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
            )
        };
        code.map_err(|error| failed("cublasGemmEx", error))
    }
}

impl Drop for Cublas {
    fn drop(&mut self) {
        // SAFETY: all work was waited for.
        let _ = unsafe { result::destroy_handle(self.handle) };
    }
}

fn failed(call: &str, error: result::CublasError) -> RuntimeError {
    RuntimeError::Driver { call: call.to_owned(), code: format!("{:?}", error.0) }
}
