//! Devices as a driver describes them, and how they fail.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A device as its driver describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// Index in the runtime's list.
    pub index: usize,
    /// The driver's name for it.
    pub name: String,
    /// `hlsl`, `cuda`, ...
    pub backend: String,
    /// `vulkan`, `gpu`, `sim`.
    pub runtime: String,
    /// Driver and version.
    pub driver: String,
    /// A processor that also runs us, or a device of its own.
    pub kind: DeviceKind,
    /// Facts in the language's names: `max_threads_per_block`, `shared_memory_per_block`, `warp`, ... Integers, bytes.
    pub facts: BTreeMap<String, i64>,
    /// Optional features by name: `f16`, `storage16`, `f64`, `timestamps`, ...
    pub features: Vec<String>,
    /// The architecture to compile for (`sm_90`), where the runtime needs one.
    pub target: Option<String>,
}

/// What kind of device it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// Runs on the host's own cores: nothing else may run while it is timed.
    Software,
    /// A GPU that shares the host's memory.
    Integrated,
    /// A GPU of its own.
    Discrete,
    /// A slice of a GPU, or one behind a hypervisor.
    Virtual,
}

/// Why a runtime or device could not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuntimeError {
    /// The driver, loader or library is not installed.
    #[error("{what} is not there: {reason}")]
    Missing {
        /// What is missing.
        what: String,
        /// What the system said.
        reason: String,
        /// The command that mends it.
        mend: String,
    },
    /// No device of that index.
    #[error("there is no device {index}; {count} found")]
    NoDevice {
        /// The index.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// The artifact does not fit the runtime, or its driver rejects it.
    #[error("the artifact was rejected: {0}")]
    Artifact(String),
    /// A launch's numbers are outside the device's limits, or an argument is unknown.
    #[error("the launch was refused: {0}")]
    Launch(String),
    /// Device memory is used up.
    #[error("out of device memory: {bytes} bytes for `{name}`")]
    OutOfMemory {
        /// The buffer.
        name: String,
        /// Its size.
        bytes: u64,
    },
    /// A buffer that was never allocated, or too many bytes for it.
    #[error("buffer `{name}`: {problem}")]
    Buffer {
        /// The buffer.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// The device was lost, or faulted: a new worker is needed.
    #[error("the device was lost: {0}")]
    DeviceLost(String),
    /// A checked device stopped the kernel for what it did, in words that name it and the place. The device goes on.
    #[error("the kernel was stopped: {0}")]
    Fault(String),
    /// The device does not count what it executes.
    #[error("the device has no counters")]
    NoCounters,
    /// The device has no timer.
    #[error("the device has no timestamps")]
    NoTimer,
    /// Any other call of the driver that failed, with its name and code.
    #[error("{call} failed: {code}")]
    Driver {
        /// The call.
        call: String,
        /// Its result.
        code: String,
    },
}
