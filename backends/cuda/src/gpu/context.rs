//! One GPU with its context and a stream: what every other object here is made of, and goes before.

use super::describe;
use crate::error::check;
use cudarc::driver::sys::{self, CUcontext, CUdevice, CUstream, CUstream_flags};
use peak_backend_api::{DeviceInfo, RuntimeError};
use std::ffi::{CStr, c_int};

/// The longest address on the bus, its terminator included.
const BUS_ID_BYTES: usize = 32;

/// A context that is current on the thread that opened it, with one stream. Shared by reference count.
pub(crate) struct Context {
    pub info: DeviceInfo,
    pub stream: CUstream,
    raw: CUcontext,
    device: CUdevice,
}

impl Context {
    /// Opens a device of the list.
    ///
    /// # Errors
    /// A driver that refuses.
    pub fn new(info: DeviceInfo) -> Result<Context, RuntimeError> {
        let device = describe::handle(info.index)?;
        let mut context = Context { info, stream: std::ptr::null_mut(), raw: std::ptr::null_mut(), device };
        // SAFETY: the device is one of the driver's; the context is released when this is dropped.
        check("cuDevicePrimaryCtxRetain", unsafe { sys::cuDevicePrimaryCtxRetain(&mut context.raw, device) })?;
        context.enter()?;
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the context is current.
        check("cuStreamCreate", unsafe { sys::cuStreamCreate(&mut context.stream, flags) })?;
        Ok(context)
    }

    /// Makes the context that of this thread.
    ///
    /// # Errors
    /// A context that is lost.
    pub fn enter(&self) -> Result<(), RuntimeError> {
        // SAFETY: the context is retained.
        check("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(self.raw) })
    }

    /// Waits for all work of the stream; faults of kernels show here.
    ///
    /// The wait has no deadline of its own: whoever runs the process has one.
    ///
    /// # Errors
    /// [`RuntimeError::DeviceLost`] after a kernel's fault.
    pub fn wait(&self) -> Result<(), RuntimeError> {
        // SAFETY: the stream is live.
        check("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(self.stream) })
    }

    /// Where it sits on the bus, as `0000:1b:00.0`; `None` where the driver does not tell.
    pub fn bus_id(&self) -> Option<String> {
        let mut text = [0u8; BUS_ID_BYTES];
        let length = c_int::try_from(text.len()).ok()?;
        // SAFETY: the driver writes at most that many bytes, with a terminator.
        let code = unsafe { sys::cuDeviceGetPCIBusId(text.as_mut_ptr().cast(), length, self.device) };
        check("cuDeviceGetPCIBusId", code).ok()?;
        Some(CStr::from_bytes_until_nul(&text).ok()?.to_str().ok()?.to_owned())
    }

    /// A fact that the driver gave; `default` where it gave none.
    pub fn fact(&self, name: &str, default: u64) -> u64 {
        self.info.facts.get(name).and_then(|value| u64::try_from(*value).ok()).unwrap_or(default)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: everything made of the context holds a reference to it, so none is left; after a fault these calls fail,
        // which changes nothing.
        unsafe {
            if !self.stream.is_null() {
                let _ = sys::cuStreamDestroy_v2(self.stream);
            }
            if !self.raw.is_null() {
                let _ = sys::cuDevicePrimaryCtxRelease_v2(self.device);
            }
        }
    }
}
