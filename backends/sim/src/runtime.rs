//! The `sim` runtime: one device, which is always there.

use crate::device::SimDevice;
use crate::facts;
use crate::machine::MAX_THREAD_INSTRUCTIONS;
use peak_backend_api::{ArtifactKind, Device, DeviceInfo, Runtime, RuntimeError};

/// A simulated CUDA device.
#[derive(Clone, Copy, Debug)]
pub struct SimRuntime {
    instruction_limit: u64,
}

impl Default for SimRuntime {
    fn default() -> SimRuntime {
        SimRuntime { instruction_limit: MAX_THREAD_INSTRUCTIONS }
    }
}

impl SimRuntime {
    /// Takes a thread to loop for ever after that many instructions, rather than after about ten seconds of a core.
    #[must_use]
    pub fn with_instruction_limit(self, instruction_limit: u64) -> SimRuntime {
        SimRuntime { instruction_limit }
    }

    /// The device as its own type, which tells more than [`Device`] does.
    #[must_use]
    pub fn device(&self) -> SimDevice {
        SimDevice::new(self.instruction_limit)
    }
}

impl Runtime for SimRuntime {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn accepts(&self, kind: ArtifactKind) -> bool {
        kind == ArtifactKind::Ptx
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, RuntimeError> {
        Ok(vec![facts::info(facts::memory_bytes())])
    }

    fn open(&self, index: usize) -> Result<Box<dyn Device>, RuntimeError> {
        match index {
            0 => Ok(Box::new(self.device())),
            _ => Err(RuntimeError::NoDevice { index, count: 1 }),
        }
    }
}
