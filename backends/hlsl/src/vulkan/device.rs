//! An open Vulkan device: buffers and programs by name, and the sequences that use them.

use super::gpu::Gpu;
use super::launch::{self, Buffers, Recording, known};
use super::memory::Buffer;
use super::program::Program;
use super::time::{self, Stamps};
use peak_backend_api::{Artifact, Caches, Device, DeviceInfo, LaunchSequence, ProgramId, RuntimeError};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A device with what was put on it. Dropping it frees everything.
pub(crate) struct VulkanDevice {
    gpu: Rc<Gpu>,
    buffers: Buffers,
    programs: BTreeMap<u32, Program>,
    next_program: u32,
}

impl VulkanDevice {
    /// Takes over an open device.
    pub fn new(gpu: Gpu) -> VulkanDevice {
        VulkanDevice { gpu: Rc::new(gpu), buffers: Buffers::new(), programs: BTreeMap::new(), next_program: 0 }
    }

    fn program(&self, id: ProgramId) -> Result<&Program, RuntimeError> {
        self.programs.get(&id.0).ok_or_else(|| RuntimeError::Launch(format!("program {} is not loaded", id.0)))
    }
}

impl Device for VulkanDevice {
    fn info(&self) -> &DeviceInfo {
        &self.gpu.info
    }

    fn load(&mut self, artifact: &Artifact) -> Result<ProgramId, RuntimeError> {
        let program = Program::new(&self.gpu, artifact)?;
        let id = self.next_program;
        self.next_program += 1;
        self.programs.insert(id, program);
        Ok(ProgramId(id))
    }

    fn unload(&mut self, program: ProgramId) {
        self.programs.remove(&program.0);
    }

    fn allocate(&mut self, name: &str, bytes: u64) -> Result<(), RuntimeError> {
        // The one of that name goes first: both may not fit.
        self.buffers.remove(name);
        let buffer = Buffer::new(&self.gpu, name, bytes)?;
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
        let buffer = known(&self.buffers, name)?;
        launch::once(&self.gpu, |commands| {
            buffer.record_fill(commands, pattern);
            Ok(())
        })
    }

    fn read(&mut self, name: &str) -> Result<Vec<u8>, RuntimeError> {
        known(&self.buffers, name)?.read(name)
    }

    fn run(&mut self, program: ProgramId, sequence: &LaunchSequence) -> Result<(), RuntimeError> {
        let program = self.program(program)?;
        let (sets, buffers) = launch::needs(sequence);
        let recording = Recording::begin(&self.gpu, sets, buffers)?;
        recording.steps(sequence, program, &self.buffers)?;
        recording.end()?;
        recording.submit()
    }

    fn time(
        &mut self,
        program: ProgramId,
        sequence: &LaunchSequence,
        repeats: u32,
        caches: Caches,
    ) -> Result<Vec<u64>, RuntimeError> {
        let program = self.program(program)?;
        let stamps = Stamps::new(&self.gpu)?;
        let evicted = (caches == Caches::Cold).then(|| time::evicted(&self.gpu)).transpose()?;
        let (sets, buffers) = launch::needs(sequence);
        let recording = Recording::begin(&self.gpu, sets, buffers)?;
        if let Some(evicted) = &evicted {
            evicted.record_fill(recording.commands, [0; 4]);
            recording.barrier();
        }
        stamps.start(&recording);
        recording.steps(sequence, program, &self.buffers)?;
        stamps.stop(&recording);
        recording.end()?;
        (0..repeats).map(|_| recording.submit().and_then(|()| stamps.nanoseconds())).collect()
    }
}
