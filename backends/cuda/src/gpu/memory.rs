//! A buffer in the memory of a GPU.

use super::context::Context;
use crate::error::{allocation, buffer, check};
use cudarc::driver::sys::{self, CUdeviceptr};
use peak_backend_api::RuntimeError;
use std::rc::Rc;

/// Memory of one name, freed with this.
pub(super) struct Buffer {
    context: Rc<Context>,
    pub address: CUdeviceptr,
    pub bytes: u64,
}

impl Buffer {
    /// Takes memory.
    ///
    /// # Errors
    /// [`RuntimeError::OutOfMemory`], or a size that no address reaches.
    pub fn new(context: &Rc<Context>, name: &str, bytes: u64) -> Result<Buffer, RuntimeError> {
        let mut address = 0;
        // The driver refuses to take nothing.
        let size = usize::try_from(bytes.max(1)).unwrap_or(usize::MAX);
        // SAFETY: the context is current; the memory is freed when this is dropped.
        allocation(name, bytes, unsafe { sys::cuMemAlloc_v2(&mut address, size) })?;
        Ok(Buffer { context: Rc::clone(context), address, bytes })
    }

    /// Copies bytes to the start, and waits.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), RuntimeError> {
        if bytes.len() as u64 > self.bytes {
            return Err(buffer(name, format!("{} bytes for {}", bytes.len(), self.bytes)));
        }
        let stream = self.context.stream;
        // SAFETY: the bytes outlive the copy, which is waited for, and fit.
        let code = unsafe { sys::cuMemcpyHtoDAsync_v2(self.address, bytes.as_ptr().cast(), bytes.len(), stream) };
        check("cuMemcpyHtoD", code)?;
        self.context.wait()
    }

    /// Copies all of it back, and waits.
    pub fn read(&self) -> Result<Vec<u8>, RuntimeError> {
        let mut bytes = vec![0u8; usize::try_from(self.bytes).unwrap_or(usize::MAX)];
        let stream = self.context.stream;
        // SAFETY: the space is as large as the buffer and outlives the copy, which is waited for.
        let code = unsafe { sys::cuMemcpyDtoHAsync_v2(bytes.as_mut_ptr().cast(), self.address, bytes.len(), stream) };
        check("cuMemcpyDtoH", code)?;
        self.context.wait()?;
        Ok(bytes)
    }

    /// Queues a fill with a pattern; a tail shorter than it gets its first bytes.
    pub fn queue_fill(&self, pattern: [u8; 4]) -> Result<(), RuntimeError> {
        let (words, tail) = (self.bytes / 4, self.bytes % 4);
        let stream = self.context.stream;
        if words > 0 {
            let (value, count) = (u32::from_le_bytes(pattern), usize::try_from(words).unwrap_or(usize::MAX));
            // SAFETY: that many words lie within the buffer, which the driver aligned to 256 bytes.
            check("cuMemsetD32", unsafe { sys::cuMemsetD32Async(self.address, value, count, stream) })?;
        }
        for (offset, byte) in (0..tail).zip(pattern) {
            let address = self.address + 4 * words + offset;
            // SAFETY: the byte lies within the buffer.
            check("cuMemsetD8", unsafe { sys::cuMemsetD8Async(address, byte, 1, stream) })?;
        }
        Ok(())
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: all work was waited for (or the context is lost, and the call fails).
        let _ = unsafe { sys::cuMemFree_v2(self.address) };
    }
}
