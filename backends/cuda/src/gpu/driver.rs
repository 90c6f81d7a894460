//! The driver, started once a process, or why it is not there.

use crate::error::check;
use cudarc::driver::sys::{self, CUresult};
use peak_backend_api::RuntimeError;
use std::ffi::c_int;
use std::sync::OnceLock;

/// The oldest driver that has every function that is called here, as `cuDriverGetVersion` counts: CUDA 12.8.
const OLDEST: c_int = 12080;

const MEND: &str = "install NVIDIA's driver, of CUDA 12.8 or newer (https://www.nvidia.com/drivers)";

/// Starts the driver; its version, as 13000 for CUDA 13.0.
///
/// # Errors
/// [`RuntimeError::Missing`] where there is no driver, no GPU, or one that is too old.
pub(super) fn start() -> Result<c_int, RuntimeError> {
    static STARTED: OnceLock<Result<c_int, RuntimeError>> = OnceLock::new();
    STARTED.get_or_init(try_start).clone()
}

fn try_start() -> Result<c_int, RuntimeError> {
    // Every call of the bindings panics where the library is missing: this one asks first.
    // SAFETY: the driver's library may be loaded at any time.
    if !unsafe { sys::is_culib_present() } {
        return Err(missing("the library libcuda.so.1 is not on the system's library path"));
    }
    let mut version = 0;
    // SAFETY: a live integer; this may be called before `cuInit`.
    check("cuDriverGetVersion", unsafe { sys::cuDriverGetVersion(&mut version) })?;
    if version < OLDEST {
        return Err(missing(&format!("the driver is of CUDA {}", words(version))));
    }
    // SAFETY: no preconditions.
    match unsafe { sys::cuInit(0) } {
        CUresult::CUDA_ERROR_NO_DEVICE => Err(missing("the driver finds no GPU")),
        CUresult::CUDA_ERROR_STUB_LIBRARY => Err(missing("libcuda.so.1 is the stub that only linkers use")),
        CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => {
            Err(missing("the driver's library and its kernel module are of different versions: restart the machine"))
        }
        code => check("cuInit", code).map(|()| version),
    }
}

fn missing(reason: &str) -> RuntimeError {
    RuntimeError::Missing {
        what: "an NVIDIA GPU with its driver".to_owned(),
        reason: reason.to_owned(),
        mend: MEND.to_owned(),
    }
}

/// `13.0`.
pub(super) fn words(version: c_int) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}
