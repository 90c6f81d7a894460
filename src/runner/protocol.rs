//! What coordinator and worker say to each other: JSON, one object a line, requests down and replies up.
//!
//! The coordinator sends one request at a time and the worker answers each with one reply of the same `id`. Bulk data
//! never stands in a line: artifacts and outputs are files in a private folder that the coordinator names. Lines that
//! are no reply (a driver that prints) are ignored; a reply starts on a line of its own.

use super::paired::{Pairing, Turns};
use super::{Fill, Timing};
use crate::context::launch::ConcretePlan;
use peak_backend_api::{CompileError, CompileRequest, DeviceInfo, RuntimeError, Toolchain};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;

/// Version of everything in this module. Both sides are one program, so other versions are refused, not translated.
pub const PROTOCOL_VERSION: u32 = 2;

/// Bytes in a line, at most: source text and launch plans, with a wide margin.
pub const LINE_BYTES_MAX: usize = 64 << 20;

/// A request with its number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Envelope<T> {
    /// Counts up from 1; a reply carries its request's.
    pub id: u64,
    /// The request or reply.
    pub body: T,
}

/// What the coordinator asks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "op")]
pub enum Request {
    /// First of all: version and limits. A device worker opens its device now.
    Hello {
        /// [`PROTOCOL_VERSION`].
        version: u32,
        /// What the worker may use.
        limits: Limits,
    },
    /// Lists backends and runtimes, without touching a driver. Compile mode.
    Backends,
    /// Looks for a backend's toolchains. Compile mode.
    Toolchains {
        /// The backend.
        backend: String,
    },
    /// Lists a runtime's devices. Compile mode.
    Devices {
        /// The backend.
        backend: String,
        /// Its runtime.
        runtime: String,
    },
    /// Compiles, and writes the artifact. Compile mode.
    Compile {
        /// The backend.
        backend: String,
        /// What.
        request: Box<CompileRequest>,
        /// Where the artifact goes.
        output: PathBuf,
    },
    /// Shows an artifact's code as text, and writes it as JSON. Compile mode.
    Disassemble {
        /// The backend.
        backend: String,
        /// Where the artifact is read.
        artifact_file: PathBuf,
        /// Where the [`peak_backend_api::Disassembly`] goes.
        output: PathBuf,
    },
    /// Fills inputs, poisons outputs, runs once, writes each output to `folder`/[`output_file`]. Device mode.
    Run {
        /// What.
        job: WireJob,
        /// A private folder.
        folder: PathBuf,
    },
    /// Fills inputs, warms up, times. Device mode.
    Time {
        /// What.
        job: WireJob,
        /// How.
        timing: Timing,
    },
    /// Fills the inputs of every job, times them in turn, writes each output of job J to `folder`/[`turn_file`]. Device mode.
    TakeTurns {
        /// What.
        jobs: Vec<WireJob>,
        /// How.
        how: Pairing,
        /// A private folder.
        folder: PathBuf,
    },
    /// Fills inputs, runs once and counts what is executed, and writes that as JSON. Device mode.
    Count {
        /// What.
        job: WireJob,
        /// Blocks of a launch that are counted, at most.
        blocks_max: Option<u64>,
        /// Where the [`peak_backend_api::LaunchCounts`] go.
        output: PathBuf,
    },
    /// Ends the worker.
    Quit,
}

/// A job, with its artifact by file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WireJob {
    /// Content address of the artifact; a worker loads each once.
    pub artifact: String,
    /// Where it can be read, if it is not loaded.
    pub artifact_file: PathBuf,
    /// Buffers and launches.
    pub plan: ConcretePlan,
    /// What the inputs hold.
    pub fill: Fill,
}

/// What a worker may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Resident bytes of the worker.
    pub memory_bytes: u64,
    /// Bytes of all buffers of one job together.
    pub buffer_bytes: u64,
}

/// What the worker answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "answer")]
pub enum Reply {
    /// To `hello`.
    Ready {
        /// The worker's [`PROTOCOL_VERSION`].
        version: u32,
        /// The open device, in device mode.
        device: Option<Box<DeviceInfo>>,
    },
    /// To `backends`: each with its runtimes.
    Backends {
        /// Backend name, one line for people, runtimes preferred first.
        backends: Vec<BackendListing>,
    },
    /// To `toolchains`.
    Toolchains {
        /// What was found.
        toolchains: Vec<Toolchain>,
    },
    /// To `devices`.
    Devices {
        /// In the runtime's order.
        devices: Vec<DeviceInfo>,
    },
    /// To `compile`: the artifact is in its file.
    Compiled,
    /// To `disassemble`: the text is in its file.
    Disassembled,
    /// To `run`: the outputs are in their files.
    Ran {
        /// Input buffers whose bytes changed.
        changed_inputs: Vec<String>,
        /// Wall time of the launch and wait, in nanoseconds.
        wall_ns: u64,
    },
    /// To `time`.
    Timed {
        /// The samples.
        outcome: super::TimeOutcome,
    },
    /// To `take_turns`: the outputs are in their files.
    TookTurns {
        /// The times.
        turns: Turns,
    },
    /// To `count`: the counts are in their file.
    Counted,
    /// To any request that could not be done.
    Failed {
        /// Why.
        fault: Fault,
    },
    /// To `quit`.
    Bye,
}

/// A backend and its runtimes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackendListing {
    /// Its name.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Its runtimes, preferred first.
    pub runtimes: Vec<String>,
}

/// Why a worker could not do what was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Fault {
    /// The compiler's word.
    Compile {
        /// It.
        error: CompileError,
    },
    /// The runtime's or device's word.
    Runtime {
        /// It.
        error: RuntimeError,
    },
    /// A job beyond [`Limits`], or one that makes no sense.
    Refused {
        /// Why.
        why: String,
    },
    /// Our own code or a library panicked.
    Panicked {
        /// Its message.
        message: String,
    },
    /// A file could not be read or written.
    File {
        /// Which, and what the system said.
        message: String,
    },
    /// A request that this mode or version does not know.
    Protocol {
        /// What was wrong.
        message: String,
    },
}

impl From<RuntimeError> for Fault {
    fn from(error: RuntimeError) -> Fault {
        Fault::Runtime { error }
    }
}

/// The file name of the output at `index` of the plan's buffers: never a name that source text chose.
#[must_use]
pub fn output_file(index: usize) -> String {
    format!("output-{index}.raw")
}

/// The file name of the output at `index` of the buffers of the job at `job`.
#[must_use]
pub fn turn_file(job: usize, index: usize) -> String {
    format!("turn-{job}-output-{index}.raw")
}

/// Writes one message as a line of its own, even where something else left a line unfinished.
///
/// # Errors
/// The pipe is closed, or the message does not serialize.
pub fn write_message<T: Serialize>(mut to: impl Write, message: &Envelope<T>) -> io::Result<()> {
    let mut line = vec![b'\n'];
    serde_json::to_writer(&mut line, message)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// Reads one line of at most [`LINE_BYTES_MAX`] bytes, its end removed; `None` at the end of the stream.
///
/// # Errors
/// The pipe fails, or the line is too long.
pub fn read_line(from: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let count = from.take(LINE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut line)?;
    if count > LINE_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a line of the worker protocol is too long"));
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok((count > 0).then_some(line))
}
