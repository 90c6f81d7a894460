//! Holds a stream back until everything of a measurement is queued: no launch then waits for the host between two events.

use super::context::Context;
use crate::error::check;
use cudarc::driver::sys;
use peak_backend_api::RuntimeError;
use std::ffi::c_void;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Commands that a stream is sure to take while it is held back; the driver blocks a thread that queues more than it holds.
pub(super) const QUEUED_MAX: usize = 512;

const SHUT: u32 = 0;
const OPEN: u32 = 1;

/// A word of the host's memory that the stream waits for.
pub(super) struct Gate {
    word: *mut c_void,
    // Goes after the word.
    context: Rc<Context>,
}

/// A gate that opens when this goes, whatever became of what was queued behind it.
pub(super) struct Shut<'g>(&'g Gate);

impl Gate {
    /// # Errors
    /// A driver that has no such memory.
    pub fn new(context: &Rc<Context>) -> Result<Gate, RuntimeError> {
        let mut gate = Gate { word: std::ptr::null_mut(), context: Rc::clone(context) };
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: the context is current; the memory is freed when the gate is dropped.
        let code = unsafe { sys::cuMemHostAlloc(&mut gate.word, size_of::<u32>(), flags) };
        check("cuMemHostAlloc", code)?;
        Ok(gate)
    }

    /// Queues a wait for the gate to open.
    ///
    /// # Errors
    /// A driver that refuses; the gate is open then.
    pub fn shut(&self) -> Result<Shut<'_>, RuntimeError> {
        self.set(SHUT);
        let shut = Shut(self);
        let mut address = 0;
        // SAFETY: the word is mapped memory of this context.
        let code = unsafe { sys::cuMemHostGetDevicePointer_v2(&mut address, self.word, 0) };
        check("cuMemHostGetDevicePointer", code)?;
        let until = sys::CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_EQ as u32;
        // SAFETY: the word outlives the wait: it is opened, and the stream waited for, before the gate goes.
        let code = unsafe { sys::cuStreamWaitValue32_v2(self.context.stream, address, OPEN, until) };
        check("cuStreamWaitValue32", code)?;
        Ok(shut)
    }

    fn set(&self, value: u32) {
        // SAFETY: the word is live, aligned as a page, and everyone reads and writes it whole.
        unsafe { AtomicU32::from_ptr(self.word.cast()) }.store(value, Ordering::SeqCst);
    }
}

impl Drop for Shut<'_> {
    fn drop(&mut self) {
        self.0.set(OPEN);
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        if !self.word.is_null() {
            // The stream must have passed the gate before its word goes.
            let _ = self.context.wait();
            // SAFETY: allocated by `cuMemHostAlloc`, freed once.
            let _ = unsafe { sys::cuMemFreeHost(self.word) };
        }
    }
}
