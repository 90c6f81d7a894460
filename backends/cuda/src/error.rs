//! Errors of the two halves, made in one place so that they read alike.

use cudarc::driver::sys::CUresult;
use peak_backend_api::{CompileError, RuntimeError};

/// The most characters of a tool's output that an error carries.
const QUOTE_CHARS: usize = 2000;

/// A defect of a tool, with what it said.
pub(crate) fn internal(tool: &str, message: &str) -> CompileError {
    CompileError::Internal { tool: tool.to_owned(), message: message.trim().chars().take(QUOTE_CHARS).collect() }
}

/// Whether a call succeeded.
///
/// # Errors
/// What the driver's code means for whoever called: after some the context is of no more use.
pub(crate) fn check(call: &str, code: CUresult) -> Result<(), RuntimeError> {
    if code == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let name = format!("{code:?}");
    Err(match meaning(code) {
        Meaning::Lost(why) => RuntimeError::DeviceLost(format!("{name} at {call}: {why}")),
        Meaning::Launch(why) => RuntimeError::Launch(format!("{name} at {call}: {why}")),
        Meaning::Artifact(why) => RuntimeError::Artifact(format!("{name} at {call}: {why}")),
        Meaning::Other => RuntimeError::Driver { call: call.to_owned(), code: name },
    })
}

/// An allocation that failed, for a buffer of that name and size.
pub(crate) fn allocation(name: &str, bytes: u64, code: CUresult) -> Result<(), RuntimeError> {
    match code {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => Err(RuntimeError::OutOfMemory { name: name.to_owned(), bytes }),
        // A size beyond the address space is refused as a value.
        CUresult::CUDA_ERROR_INVALID_VALUE => {
            Err(buffer(name, format!("{bytes} bytes are more than the device takes")))
        }
        code => check("cuMemAlloc", code),
    }
}

/// A buffer's name with what is wrong.
pub(crate) fn buffer(name: &str, problem: impl Into<String>) -> RuntimeError {
    RuntimeError::Buffer { name: name.to_owned(), problem: problem.into() }
}

/// What a code of the driver means here.
#[derive(Debug, PartialEq, Eq)]
enum Meaning {
    /// The context is unusable from now on: every later call gives the same code.
    Lost(&'static str),
    /// The launch was refused, and nothing ran.
    Launch(&'static str),
    /// The compiled code was refused.
    Artifact(&'static str),
    Other,
}

fn meaning(code: CUresult) -> Meaning {
    use CUresult as C;
    match code {
        C::CUDA_ERROR_ILLEGAL_ADDRESS => Meaning::Lost("a kernel read or wrote outside its buffers"),
        C::CUDA_ERROR_MISALIGNED_ADDRESS => Meaning::Lost("a kernel's access is not aligned to its width"),
        C::CUDA_ERROR_ILLEGAL_INSTRUCTION => Meaning::Lost("a kernel ran an instruction that the device lacks"),
        C::CUDA_ERROR_INVALID_ADDRESS_SPACE => Meaning::Lost("a kernel used an address of another memory"),
        C::CUDA_ERROR_INVALID_PC => Meaning::Lost("a kernel jumped outside its code"),
        C::CUDA_ERROR_HARDWARE_STACK_ERROR => Meaning::Lost("a kernel's stack overflowed: endless recursion?"),
        C::CUDA_ERROR_LAUNCH_FAILED => Meaning::Lost("a kernel faulted, often by shared or local memory out of bounds"),
        C::CUDA_ERROR_LAUNCH_TIMEOUT => Meaning::Lost("a kernel ran longer than the driver lets it"),
        C::CUDA_ERROR_ASSERT => Meaning::Lost("an assertion of a kernel failed"),
        C::CUDA_ERROR_ECC_UNCORRECTABLE => Meaning::Lost("the device's memory has an error that it can't correct"),
        C::CUDA_ERROR_CONTEXT_IS_DESTROYED | C::CUDA_ERROR_DEINITIALIZED => Meaning::Lost("the context is gone"),
        C::CUDA_ERROR_DEVICE_UNAVAILABLE => Meaning::Lost("the device is held by another process, or is gone"),
        C::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => {
            Meaning::Launch("registers or shared memory of a block are more than a multiprocessor has")
        }
        C::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE => Meaning::Launch("not all blocks fit on the device at once"),
        C::CUDA_ERROR_INVALID_CLUSTER_SIZE => Meaning::Launch("the device can't hold clusters of this size"),
        C::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
            Meaning::Artifact("the PTX is newer than the driver: compile to a cubin of the device's `sm_XX`")
        }
        C::CUDA_ERROR_NO_BINARY_FOR_GPU => Meaning::Artifact("the code is compiled for another architecture"),
        C::CUDA_ERROR_INVALID_PTX | C::CUDA_ERROR_INVALID_IMAGE | C::CUDA_ERROR_INVALID_SOURCE => {
            Meaning::Artifact("the driver can't read the code")
        }
        C::CUDA_ERROR_JIT_COMPILER_NOT_FOUND => {
            Meaning::Artifact("the driver's own compiler of PTX is missing: compile to a cubin")
        }
        _ => Meaning::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_lose_the_device_and_refusals_do_not() {
        let lost = check("cuStreamSynchronize", CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        let Err(RuntimeError::DeviceLost(words)) = lost else { panic!("{lost:?}") };
        assert!(words.contains("CUDA_ERROR_ILLEGAL_ADDRESS at cuStreamSynchronize"), "{words}");
        let refused = check("cuLaunchKernelEx", CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
        assert!(matches!(refused, Err(RuntimeError::Launch(_))), "{refused:?}");
        let newer = check("cuModuleLoadDataEx", CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
        assert!(matches!(newer, Err(RuntimeError::Artifact(_))), "{newer:?}");
        let other = check("cuEventCreate", CUresult::CUDA_ERROR_INVALID_HANDLE);
        assert!(matches!(other, Err(RuntimeError::Driver { .. })), "{other:?}");
        assert_eq!(check("cuInit", CUresult::CUDA_SUCCESS), Ok(()));
    }

    #[test]
    fn allocations_name_their_buffer() {
        let full = allocation("A", 7, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        assert_eq!(full, Err(RuntimeError::OutOfMemory { name: "A".to_owned(), bytes: 7 }));
        assert!(matches!(allocation("A", 7, CUresult::CUDA_ERROR_INVALID_VALUE), Err(RuntimeError::Buffer { .. })));
    }
}
