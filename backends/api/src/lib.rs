//! What a Peak backend is: traits, and the plain data that they exchange.
//!
//! A **backend** is a language with its compiler ([`Backend`]); a **runtime** is where an artifact runs ([`Runtime`],
//! which opens a [`Device`]). The crate depends on nothing of Peak's, holds no code that touches a file or a device,
//! and never learns of transformations, models or workflows.
//!
//! The path of a kernel: assembled source ([`CompileRequest`]) -> [`Artifact`] -> [`Device::load`] -> buffers by name ->
//! a [`LaunchSequence`] of concrete numbers -> bytes read back, or nanoseconds.

mod artifact;
mod compile;
pub mod conformance;
mod counts;
mod device;
mod disassembly;
mod launch;
mod library;
mod ptx_kinds;
mod spelling;
mod tensor_map;
mod timing;
mod toolchain;

pub use artifact::*;
pub use compile::*;
pub use counts::*;
pub use device::*;
pub use disassembly::*;
pub use launch::*;
pub use library::*;
pub use ptx_kinds::ptx_kind;
pub use spelling::*;
pub use tensor_map::*;
pub use timing::*;
pub use toolchain::*;

/// A language with its compiler.
pub trait Backend: Send + Sync {
    /// `cuda`, `hip`, `hlsl`: the name in the language and on the command line.
    fn name(&self) -> &'static str;

    /// One line for people.
    fn title(&self) -> &'static str;

    /// What the backend compiles with, and what is missing. Never fails: a missing toolchain is data.
    fn toolchains(&self) -> Vec<Toolchain>;

    /// How this language spells what transformations speak of.
    fn spelling(&self) -> &'static Spelling;

    /// The text that stands before the regions: `ELEMENT`, `ACCUMULATOR`, a type an argument, tuning parameters.
    fn prelude(&self, spec: &PreludeSpec) -> String;

    /// Compiles assembled source. Runs in a worker process: the text is hostile.
    ///
    /// # Errors
    /// A missing toolchain, messages of the compiler, or entry points that do not match the launch.
    fn compile(&self, request: &CompileRequest) -> Result<Artifact, CompileError>;

    /// An artifact's code as text. Runs in a worker process: it may start a tool, on what a compiler made of hostile text.
    ///
    /// # Errors
    /// A tool that is missing or fails, or an artifact that is not of this backend's making.
    fn disassemble(&self, artifact: &Artifact) -> Result<Disassembly, CompileError> {
        let message = format!("{} shows no code of the kind {:?}", self.name(), artifact.kind);
        Err(CompileError::Internal { tool: "the disassembler".to_owned(), message })
    }

    /// The target that makes an artifact of that kind for the architecture that `target` names; `None` where there is none.
    fn target_for(&self, kind: ArtifactKind, target: &str) -> Option<String> {
        self.artifacts().contains(&kind).then(|| target.to_owned())
    }

    /// The kinds of artifact that it can make; a runtime that belongs to no backend is paired with those that make what it
    /// takes. The request's target chooses among them.
    fn artifacts(&self) -> &'static [ArtifactKind] {
        &[]
    }

    /// Where its artifacts run, preferred first.
    fn runtimes(&self) -> Vec<Box<dyn Runtime>>;
}

/// Where artifacts run.
pub trait Runtime: Send + Sync {
    /// `vulkan`, `gpu`, `sim`.
    fn name(&self) -> &'static str;

    /// Whether it takes this kind of artifact.
    fn accepts(&self, kind: ArtifactKind) -> bool;

    /// The devices that are there, in a stable order.
    ///
    /// # Errors
    /// [`RuntimeError::Missing`] where the driver or loader is not installed.
    fn devices(&self) -> Result<Vec<DeviceInfo>, RuntimeError>;

    /// Opens the device at an index of [`Runtime::devices`].
    ///
    /// # Errors
    /// As [`Runtime::devices`], and where there is no such device.
    fn open(&self, index: usize) -> Result<Box<dyn Device>, RuntimeError>;
}

/// An open device: memory by name, loaded programs, launches. One thread uses it at a time.
pub trait Device {
    /// What it is.
    fn info(&self) -> &DeviceInfo;

    /// Makes an artifact ready to launch; the device's own compilation happens here or at the first launch.
    ///
    /// # Errors
    /// An artifact of the wrong kind, or one that the driver rejects.
    fn load(&mut self, artifact: &Artifact) -> Result<ProgramId, RuntimeError>;

    /// Forgets a program.
    fn unload(&mut self, program: ProgramId);

    /// Makes a buffer of `bytes` bytes, replacing one of the same name. Contents are undefined.
    ///
    /// # Errors
    /// [`RuntimeError::OutOfMemory`].
    fn allocate(&mut self, name: &str, bytes: u64) -> Result<(), RuntimeError>;

    /// Frees every buffer.
    fn free_all(&mut self);

    /// Copies bytes into a buffer, from its start.
    ///
    /// # Errors
    /// An unknown buffer, or more bytes than it holds.
    fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), RuntimeError>;

    /// Fills a buffer with a four-byte pattern (a tail shorter than that is filled with its first bytes).
    ///
    /// # Errors
    /// An unknown buffer.
    fn fill(&mut self, name: &str, pattern: [u8; 4]) -> Result<(), RuntimeError>;

    /// The bytes of a buffer.
    ///
    /// # Errors
    /// An unknown buffer.
    fn read(&mut self, name: &str) -> Result<Vec<u8>, RuntimeError>;

    /// Runs a sequence once and waits for it.
    ///
    /// # Errors
    /// A launch that the device refuses or does not survive.
    fn run(&mut self, program: ProgramId, sequence: &LaunchSequence) -> Result<(), RuntimeError>;

    /// Runs a sequence `repeats` times and gives the device time of each, in nanoseconds. With cold caches something else
    /// is written before each of them; with warm ones a run that is not counted may go before several.
    ///
    /// # Errors
    /// As [`Device::run`], and [`RuntimeError::NoTimer`] where the device cannot time.
    fn time(
        &mut self,
        program: ProgramId,
        sequence: &LaunchSequence,
        repeats: u32,
        caches: Caches,
    ) -> Result<Vec<u64>, RuntimeError>;

    /// Its clocks and what holds them down, now; `None` where nobody tells.
    fn conditions(&mut self) -> Option<Conditions> {
        None
    }

    /// Runs a sequence once and counts what its launches execute, one [`LaunchCounts`] a launch, in order. With `blocks_max`
    /// at most so many blocks of a launch are counted, spread evenly over the grid; where the sequence is a single launch
    /// whose blocks never wait for each other, the others do not run at all, and outputs are left unfinished.
    ///
    /// # Errors
    /// As [`Device::run`], and [`RuntimeError::NoCounters`] where the device counts nothing.
    fn count(
        &mut self,
        program: ProgramId,
        sequence: &LaunchSequence,
        blocks_max: Option<u64>,
    ) -> Result<Vec<LaunchCounts>, RuntimeError> {
        let _ = (program, sequence, blocks_max);
        Err(RuntimeError::NoCounters)
    }
}

/// A loaded program on one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ProgramId(pub u32);
