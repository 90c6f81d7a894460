//! An open GPU: buffers and programs by name, and the sequences that use them.

use super::context::Context;
use super::launch::{self, Buffers, known};
use super::library::LibraryProgram;
use super::memory::Buffer;
use super::monitor::Monitor;
use super::program::Program;
use super::time::Timed;
use peak_backend_api::{
    Artifact, ArtifactKind, Caches, Conditions, Device, DeviceInfo, LaunchSequence, ProgramId, RuntimeError,
};
use std::collections::BTreeMap;
use std::rc::Rc;

/// What an artifact became.
enum Loaded {
    Module(Program),
    Library(Box<LibraryProgram>),
}

/// A device with what was put on it. Dropping it frees everything.
pub(crate) struct GpuDevice {
    buffers: Buffers,
    programs: BTreeMap<u32, Loaded>,
    next_program: u32,
    /// Looked for when it is first asked for.
    monitor: Option<Option<Monitor>>,
    context: Rc<Context>,
}

impl GpuDevice {
    /// Takes over an open context.
    pub fn new(context: Context) -> GpuDevice {
        GpuDevice {
            buffers: Buffers::new(),
            programs: BTreeMap::new(),
            next_program: 0,
            monitor: None,
            context: Rc::new(context),
        }
    }

    fn program(&self, id: ProgramId) -> Result<&Loaded, RuntimeError> {
        self.programs.get(&id.0).ok_or_else(|| RuntimeError::Launch(format!("program {} is not loaded", id.0)))
    }
}

impl Device for GpuDevice {
    fn info(&self) -> &DeviceInfo {
        &self.context.info
    }

    fn load(&mut self, artifact: &Artifact) -> Result<ProgramId, RuntimeError> {
        self.context.enter()?;
        let program = match artifact.kind {
            ArtifactKind::Library => Loaded::Library(Box::new(LibraryProgram::new(&self.context, artifact)?)),
            _ => Loaded::Module(Program::new(&self.context, artifact)?),
        };
        let id = self.next_program;
        self.next_program += 1;
        self.programs.insert(id, program);
        Ok(ProgramId(id))
    }

    fn unload(&mut self, program: ProgramId) {
        self.programs.remove(&program.0);
    }

    fn allocate(&mut self, name: &str, bytes: u64) -> Result<(), RuntimeError> {
        self.context.enter()?;
        // The one of that name goes first: both may not fit.
        self.buffers.remove(name);
        let buffer = Buffer::new(&self.context, name, bytes)?;
        self.buffers.insert(name.to_owned(), buffer);
        Ok(())
    }

    fn free_all(&mut self) {
        self.buffers.clear();
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), RuntimeError> {
        known(&self.buffers, name)?.write(name, bytes)
    }

    fn fill(&mut self, name: &str, pattern: [u8; 4]) -> Result<(), RuntimeError> {
        known(&self.buffers, name)?.queue_fill(pattern)?;
        self.context.wait()
    }

    fn read(&mut self, name: &str) -> Result<Vec<u8>, RuntimeError> {
        known(&self.buffers, name)?.read()
    }

    fn run(&mut self, program: ProgramId, sequence: &LaunchSequence) -> Result<(), RuntimeError> {
        let program = match self.program(program)? {
            Loaded::Module(program) => program,
            Loaded::Library(call) => return call.run(sequence, &self.buffers),
        };
        let prepared = launch::prepare(&self.context, sequence, program, &self.buffers)?;
        let queued = prepared.queue();
        // What was queued before a refusal is waited for: buffers may be freed next.
        self.context.wait().and(queued)
    }

    fn time(
        &mut self,
        program: ProgramId,
        sequence: &LaunchSequence,
        repeats: u32,
        caches: Caches,
    ) -> Result<Vec<u64>, RuntimeError> {
        let program = match self.program(program)? {
            Loaded::Module(program) => program,
            Loaded::Library(call) => return call.time(sequence, &self.buffers, repeats, caches),
        };
        let prepared = launch::prepare(&self.context, sequence, program, &self.buffers)?;
        let timed = Timed { context: &self.context, steps: prepared.steps(), queue: &|| prepared.queue() };
        let times = timed.times(repeats, caches);
        self.context.wait().and(times)
    }

    fn conditions(&mut self) -> Option<Conditions> {
        self.monitor.get_or_insert_with(|| Monitor::of(&self.context)).as_ref().map(Monitor::conditions)
    }
}
