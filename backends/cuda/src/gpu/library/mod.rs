//! Products by NVIDIA's own libraries, which are loaded at run time where they are installed. Compiles nothing.
//!
//! Rows of ours are columns of theirs: `OUT = LEFT RIGHT` is asked for as `OUT' = RIGHT' LEFT'`.

mod cublas;
mod cublaslt;
mod layout;

use super::context::Context;
use super::launch::{Buffers, known};
use super::memory::Buffer;
use super::time::Timed;
use cublas::Cublas;
use cublaslt::Cublaslt;
use layout::Layout;
use peak_backend_api::{
    ArgumentValue, Artifact, Caches, LaunchArgument, LaunchSequence, LaunchStep, Library, LibraryCall, RuntimeError,
};
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

/// Memory that a library may work in, in bytes: what NVIDIA advises for its newest GPUs.
const WORKSPACE_BYTES: u64 = 32 << 20;
/// Algorithms that a search times at most.
const SEARCHED: usize = 64;
/// Times that each of them is run.
const SEARCH_REPEATS: u32 = 5;
/// Launches that a library is taken to make for one call, at most.
const STEPS_A_CALL: usize = 8;

/// A call that is ready to be made.
pub(super) struct LibraryProgram {
    layout: Layout,
    names: [String; 3],
    with: With,
    workspace: Buffer,
    /// Whether it ran before.
    warm: Cell<bool>,
    context: Rc<Context>,
}

enum With {
    Cublas(Cublas),
    /// The algorithm is chosen when it is first run, since a search needs operands.
    Cublaslt {
        library: Cublaslt,
        search: bool,
        chosen: OnceCell<cublaslt::Algorithm>,
    },
}

/// Addresses of left, right and out.
type Operands = [u64; 3];

impl LibraryProgram {
    /// Opens the library for the call.
    ///
    /// # Errors
    /// [`RuntimeError::Missing`] where it is not installed; [`RuntimeError::Artifact`] for what it can't compute.
    pub fn new(context: &Rc<Context>, artifact: &Artifact) -> Result<LibraryProgram, RuntimeError> {
        let call = LibraryCall::of(artifact).map_err(|error| RuntimeError::Artifact(error.to_string()))?;
        let layout = Layout::of(&call.product)?;
        let workspace = Buffer::new(context, "the library's workspace", WORKSPACE_BYTES)?;
        let with = match call.library {
            Library::Cublas => With::Cublas(Cublas::open(context, &workspace)?),
            Library::Cublaslt | Library::CublasltSearch => With::Cublaslt {
                library: Cublaslt::open(&layout)?,
                search: call.library == Library::CublasltSearch,
                chosen: OnceCell::new(),
            },
        };
        let names = [call.product.left.name, call.product.right.name, call.product.out.name];
        Ok(LibraryProgram { layout, names, with, workspace, warm: Cell::new(false), context: Rc::clone(context) })
    }

    /// Runs the sequence's launch once and waits.
    ///
    /// # Errors
    /// An operand that is missing or too small, and what the library refuses.
    pub fn run(&self, sequence: &LaunchSequence, buffers: &Buffers) -> Result<(), RuntimeError> {
        let operands = self.operands(sequence, buffers)?;
        self.choose(operands)?;
        let queued = self.queue(operands);
        self.context.wait().and(queued)
    }

    /// Times the sequence's launch.
    ///
    /// # Errors
    /// As [`LibraryProgram::run`].
    pub fn time(
        &self,
        sequence: &LaunchSequence,
        buffers: &Buffers,
        repeats: u32,
        caches: Caches,
    ) -> Result<Vec<u64>, RuntimeError> {
        let operands = self.operands(sequence, buffers)?;
        self.choose(operands)?;
        let queue = || self.queue(operands);
        if !self.warm.replace(true) {
            self.first(&queue)?;
        }
        self.timed(&queue, repeats, caches)
    }

    /// A first call of an algorithm loads its kernels, for which the stream must not be held back.
    fn first(&self, queue: &dyn Fn() -> Result<(), RuntimeError>) -> Result<(), RuntimeError> {
        let queued = queue();
        self.context.wait().and(queued)
    }

    fn timed(
        &self,
        queue: &dyn Fn() -> Result<(), RuntimeError>,
        repeats: u32,
        caches: Caches,
    ) -> Result<Vec<u64>, RuntimeError> {
        // A call may be several launches: a few more than that fit a batch.
        let times = Timed { context: &self.context, steps: STEPS_A_CALL, queue }.times(repeats, caches);
        self.context.wait().and(times)
    }

    fn queue(&self, operands: Operands) -> Result<(), RuntimeError> {
        match &self.with {
            With::Cublas(library) => library.queue(&self.layout, operands),
            With::Cublaslt { library, chosen, .. } => {
                let algorithm =
                    chosen.get().ok_or_else(|| RuntimeError::Launch("no algorithm was chosen".to_owned()))?;
                library.queue(algorithm, operands, &self.workspace, self.context.stream)
            }
        }
    }

    /// Chooses the algorithm, once: the heuristic's first, or the fastest of its list.
    fn choose(&self, operands: Operands) -> Result<(), RuntimeError> {
        let With::Cublaslt { library, search, chosen } = &self.with else { return Ok(()) };
        if chosen.get().is_some() {
            return Ok(());
        }
        let listed = library.algorithms(if *search { SEARCHED } else { 1 })?;
        let mut best: Option<(u64, cublaslt::Algorithm)> = None;
        for algorithm in listed {
            let queue = || library.queue(&algorithm, operands, &self.workspace, self.context.stream);
            let time = if *search {
                // One that the library lists and then refuses is passed over.
                let timed = self.first(&queue).and_then(|()| self.timed(&queue, SEARCH_REPEATS, Caches::Warm));
                let Ok(times) = timed else { continue };
                times.into_iter().min().unwrap_or(u64::MAX)
            } else {
                0
            };
            if best.as_ref().is_none_or(|(least, _)| time < *least) {
                best = Some((time, algorithm));
            }
        }
        let (_, algorithm) =
            best.ok_or_else(|| RuntimeError::Artifact("cuBLASLt has no algorithm for this product".to_owned()))?;
        let _ = chosen.set(algorithm);
        Ok(())
    }

    /// The operands' addresses, by the names of the launch's arguments.
    fn operands(&self, sequence: &LaunchSequence, buffers: &Buffers) -> Result<Operands, RuntimeError> {
        let refused = |why: &str| RuntimeError::Launch(format!("a library call {why}"));
        let [LaunchStep::Launch { arguments, .. }] = sequence.steps.as_slice() else {
            return Err(refused("is one launch"));
        };
        let mut operands = Operands::default();
        for ((name, bytes), operand) in self.names.iter().zip(self.layout.bytes()).zip(&mut operands) {
            let argument = arguments.iter().find(|argument| argument.name == *name);
            let Some(LaunchArgument { value: ArgumentValue::Buffer(buffer), .. }) = argument else {
                return Err(refused(&format!("has no buffer `{name}`")));
            };
            let found = known(buffers, buffer)?;
            if found.bytes < bytes {
                return Err(refused(&format!("needs {bytes} bytes in `{name}`, and it has {}", found.bytes)));
            }
            *operand = found.address;
        }
        Ok(operands)
    }
}

/// A library that is not there.
fn missing(what: &str, file: &str) -> RuntimeError {
    RuntimeError::Missing {
        what: what.to_owned(),
        reason: format!("{file} is not on the system's library path"),
        mend: "install the CUDA toolkit (https://developer.nvidia.com/cuda-downloads), or `pip install nvidia-cublas` and \
               put its `lib` folder on LD_LIBRARY_PATH"
            .to_owned(),
    }
}
