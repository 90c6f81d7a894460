//! Launches in concrete numbers.

use crate::TensorMap;
use serde::{Deserialize, Serialize};

/// What a launch plan came to for one choice of execution parameters. Buffers go by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LaunchSequence {
    /// In order; each step sees the writes of those before it.
    pub steps: Vec<LaunchStep>,
}

/// One step of a sequence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchStep {
    /// Fills a buffer with a four-byte pattern.
    Fill {
        /// The buffer.
        buffer: String,
        /// The pattern.
        pattern: [u8; 4],
    },
    /// Runs an entry point.
    Launch {
        /// Which.
        entry: String,
        /// Blocks in x, y, z.
        grid: [u32; 3],
        /// Threads a block in x, y, z.
        block: [u32; 3],
        /// Dynamic shared memory in bytes.
        shared_bytes: u32,
        /// Blocks a cluster.
        cluster: Option<[u32; 3]>,
        /// All blocks are on the device at once, and may wait for each other.
        #[serde(default)]
        cooperative: bool,
        /// In the entry's order.
        arguments: Vec<LaunchArgument>,
    },
}

/// One argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchArgument {
    /// Its name in the source.
    pub name: String,
    /// Its value.
    pub value: ArgumentValue,
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentValue {
    /// A buffer, by its name on the device.
    Buffer(String),
    /// A number, little endian.
    Bytes(Vec<u8>),
    /// A tensor map by value, which the runtime encodes as its device takes it.
    TensorMap(TensorMap),
}
