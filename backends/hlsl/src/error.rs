//! Errors of the two halves, made in one place so that they read alike.

use ash::vk;
use peak_backend_api::{CompileError, RuntimeError};

/// The most characters of a tool's output that an error carries.
const QUOTE_CHARS: usize = 2000;

/// A defect of a tool, with what it said.
pub(crate) fn internal(tool: &str, message: &str) -> CompileError {
    CompileError::Internal { tool: tool.to_owned(), message: message.trim().chars().take(QUOTE_CHARS).collect() }
}

/// A call of the driver that failed.
pub(crate) fn driver(call: &str) -> impl FnOnce(vk::Result) -> RuntimeError {
    move |code| match code {
        vk::Result::ERROR_DEVICE_LOST => RuntimeError::DeviceLost(format!("{call} gave {code:?}")),
        _ => RuntimeError::Driver { call: call.to_owned(), code: format!("{code:?}") },
    }
}

/// An allocation that failed, for a buffer of that name and size.
pub(crate) fn allocation(name: &str, bytes: u64, code: vk::Result) -> RuntimeError {
    match code {
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => out_of_memory(name, bytes),
        _ => driver("vkAllocateMemory")(code),
    }
}

/// There is no room for a buffer.
pub(crate) fn out_of_memory(name: &str, bytes: u64) -> RuntimeError {
    RuntimeError::OutOfMemory { name: name.to_owned(), bytes }
}

/// A buffer's name with what is wrong.
pub(crate) fn buffer(name: &str, problem: impl Into<String>) -> RuntimeError {
    RuntimeError::Buffer { name: name.to_owned(), problem: problem.into() }
}
