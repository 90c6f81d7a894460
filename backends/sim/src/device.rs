//! The open device: buffers by name, loaded programs, launches.

use crate::count::{Counting, sample};
use crate::facts;
use crate::interface::check_interface;
use crate::launch::{Shape, check, parameters};
use crate::machine::launch::{Launch, LaunchState, run};
use crate::machine::memory::{AddressSpace, Bytes, Region, next_base};
use crate::program::{self, CompiledEntry, Program};
use peak_backend_api::{
    Artifact, ArtifactKind, Caches, Device, DeviceInfo, LaunchCounts, LaunchSequence, LaunchStep, ProgramId,
    RuntimeError,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What fresh memory holds: a NaN in every float type, an unlikely number in every integer.
const FRESH: u8 = 0xFF;

/// Bytes of a grid's workspace: its size, and the barrier that `grid.sync()` of cooperative groups counts with.
const WORKSPACE_BYTES: u64 = 8;

/// A simulated CUDA device. It can't time: its own speed says nothing of a GPU's.
pub struct SimDevice {
    info: DeviceInfo,
    memory_bytes: u64,
    instruction_limit: u64,
    buffers: BTreeMap<String, Arc<Region>>,
    programs: HashMap<u32, Program>,
    next_program: u32,
    /// Text of the programs, for code that counts.
    texts: HashMap<u32, Arc<str>>,
    /// What is counted, while something is.
    counter: Option<Counter>,
    executed: u64,
}

/// Counts of launches so far.
struct Counter {
    blocks_max: Option<u64>,
    /// Whether blocks that are not counted may stay away.
    alone: bool,
    launches: Vec<LaunchCounts>,
}

impl SimDevice {
    pub(crate) fn new(instruction_limit: u64) -> SimDevice {
        let memory_bytes = facts::memory_bytes();
        SimDevice {
            info: facts::info(memory_bytes),
            memory_bytes,
            instruction_limit,
            buffers: BTreeMap::new(),
            programs: HashMap::new(),
            next_program: 0,
            texts: HashMap::new(),
            counter: None,
            executed: 0,
        }
    }

    /// PTX instructions that all threads of all launches have executed.
    #[must_use]
    pub fn executed_instructions(&self) -> u64 {
        self.executed
    }

    /// The address after everything that is there.
    fn end(&self) -> u64 {
        let variables = self.programs.values().flat_map(|program| &program.variables);
        self.buffers.values().chain(variables).map(|region| region.base + region.bytes.length()).max().unwrap_or(0)
    }

    fn buffer(&self, name: &str) -> Result<&Arc<Region>, RuntimeError> {
        self.buffers.get(name).ok_or_else(|| unknown(name))
    }

    fn bytes_mut(&mut self, name: &str) -> Result<&mut [u8], RuntimeError> {
        let region = self.buffers.get_mut(name).ok_or_else(|| unknown(name))?;
        let Some(region) = Arc::get_mut(region) else {
            return Err(RuntimeError::Buffer { name: name.to_owned(), problem: "a launch still holds it".to_owned() });
        };
        Ok(region.bytes.as_mut_slice())
    }

    /// What the driver gives to a cooperative launch.
    fn workspace(&self) -> Result<Arc<Region>, RuntimeError> {
        let name = "the grid's workspace".to_owned();
        let no_memory = || RuntimeError::OutOfMemory { name: name.clone(), bytes: WORKSPACE_BYTES };
        let bytes = Bytes::new(WORKSPACE_BYTES).ok_or_else(no_memory)?;
        Ok(Arc::new(Region { name, base: next_base(self.end()), writable: true, bytes }))
    }

    fn step(&mut self, program: ProgramId, step: &LaunchStep) -> Result<(), RuntimeError> {
        match step {
            LaunchStep::Fill { buffer, pattern } => self.fill(buffer, *pattern),
            LaunchStep::Launch { entry, grid, block, shared_bytes, cluster, cooperative, arguments } => {
                let Some(loaded) = self.programs.get(&program.0) else { return Err(no_program(program)) };
                let Some(compiled) = loaded.entries.iter().find(|known| known.name == *entry) else {
                    return Err(match loaded.lacking.iter().find(|(name, _)| name == entry) {
                        Some((name, words)) => lacking(name, words),
                        None => RuntimeError::Launch(format!("the program has no entry `{entry}`")),
                    });
                };
                let (grid, block, shared_bytes) = (*grid, *block, *shared_bytes);
                let shape = Shape { grid, block, shared_bytes, cluster: *cluster, cooperative: *cooperative };
                let cluster = check(compiled, shape)?;
                check_interface(&loaded.reflected, entry, block, arguments)?;
                let address = |name: &str| self.buffer(name).map(|region| region.base);
                let parameters = parameters(compiled, arguments, &address)?;
                let mut regions: Vec<_> = self.buffers.values().chain(&loaded.variables).cloned().collect();
                let workspace = if *cooperative { Some(self.workspace()?) } else { None };
                regions.extend(workspace.clone());
                let launch = Launch {
                    entry: compiled,
                    space: AddressSpace::new(regions),
                    grid,
                    block,
                    cluster,
                    workspace: workspace.map_or(0, |region| region.base),
                    shared_bytes: compiled.static_shared + u64::from(shared_bytes),
                    dynamic_bytes: shared_bytes,
                    parameters,
                    instruction_limit: self.instruction_limit,
                    counting: self.counter.as_ref().map(|counter| counter.counting(compiled, shape, cluster)),
                    state: LaunchState::default(),
                };
                let cores = std::thread::available_parallelism().map_or(1, usize::from);
                let fault = |words: String| RuntimeError::Fault(format!("`{entry}`, {words}"));
                let executed = run(&launch, cores).map_err(fault)?;
                let counted = counts(&launch);
                self.executed += executed;
                if let Some(counter) = &mut self.counter {
                    counter.launches.extend(counted);
                }
                Ok(())
            }
        }
    }
}

impl Device for SimDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn load(&mut self, artifact: &Artifact) -> Result<ProgramId, RuntimeError> {
        if artifact.kind != ArtifactKind::Ptx {
            return Err(RuntimeError::Artifact(format!("the simulator runs PTX, not {:?}", artifact.kind)));
        }
        // NVRTC ends its text with a zero byte.
        let bytes = artifact.bytes.strip_suffix(&[0]).unwrap_or(&artifact.bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| RuntimeError::Artifact(format!("PTX: {error}")))?;
        let mut program =
            program::compile(text, self.end(), false).map_err(|error| RuntimeError::Artifact(error.to_string()))?;
        // Of several entries those that can be had run; a program without any is refused at once.
        if let Some((name, words)) = program.lacking.first().filter(|_| program.entries.is_empty()) {
            return Err(lacking(name, words));
        }
        program.reflected.clone_from(&artifact.entries);
        let id = self.next_program;
        self.next_program += 1;
        self.programs.insert(id, program);
        self.texts.insert(id, Arc::from(text));
        Ok(ProgramId(id))
    }

    fn unload(&mut self, program: ProgramId) {
        self.programs.remove(&program.0);
        self.texts.remove(&program.0);
    }

    fn allocate(&mut self, name: &str, bytes: u64) -> Result<(), RuntimeError> {
        let no_memory = || RuntimeError::OutOfMemory { name: name.to_owned(), bytes };
        self.buffers.remove(name);
        let used: u64 = self.buffers.values().map(|region| region.bytes.length()).sum();
        if bytes > self.memory_bytes.saturating_sub(used) {
            return Err(no_memory());
        }
        let base = next_base(self.end());
        let mut memory = Bytes::new(bytes).ok_or_else(no_memory)?;
        memory.as_mut_slice().fill(FRESH);
        let region = Region { name: format!("buffer `{name}`"), base, writable: true, bytes: memory };
        self.buffers.insert(name.to_owned(), Arc::new(region));
        Ok(())
    }

    fn free_all(&mut self) {
        self.buffers.clear();
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), RuntimeError> {
        let memory = self.bytes_mut(name)?;
        let length = memory.len();
        let Some(target) = memory.get_mut(..bytes.len()) else {
            let problem = format!("{} bytes do not fit its {length}", bytes.len());
            return Err(RuntimeError::Buffer { name: name.to_owned(), problem });
        };
        target.copy_from_slice(bytes);
        Ok(())
    }

    fn fill(&mut self, name: &str, pattern: [u8; 4]) -> Result<(), RuntimeError> {
        for chunk in self.bytes_mut(name)?.chunks_mut(4) {
            chunk.copy_from_slice(&pattern[..chunk.len()]);
        }
        Ok(())
    }

    fn read(&mut self, name: &str) -> Result<Vec<u8>, RuntimeError> {
        Ok(self.buffer(name)?.bytes.as_slice().to_vec())
    }

    fn run(&mut self, program: ProgramId, sequence: &LaunchSequence) -> Result<(), RuntimeError> {
        sequence.steps.iter().try_for_each(|step| self.step(program, step))
    }

    fn time(&mut self, program: ProgramId, _: &LaunchSequence, _: u32, _: Caches) -> Result<Vec<u64>, RuntimeError> {
        match self.programs.contains_key(&program.0) {
            true => Err(RuntimeError::NoTimer),
            false => Err(no_program(program)),
        }
    }

    fn count(
        &mut self,
        program: ProgramId,
        sequence: &LaunchSequence,
        blocks_max: Option<u64>,
    ) -> Result<Vec<LaunchCounts>, RuntimeError> {
        let text = self.texts.get(&program.0).cloned().ok_or_else(|| no_program(program))?;
        let mut counting =
            program::compile(&text, self.end(), true).map_err(|error| RuntimeError::Artifact(error.to_string()))?;
        counting.reflected = self.programs.get(&program.0).map(|it| it.reflected.clone()).unwrap_or_default();
        let id = self.next_program;
        self.next_program += 1;
        self.programs.insert(id, counting);
        let launches = sequence.steps.iter().filter(|step| matches!(step, LaunchStep::Launch { .. }));
        self.counter = Some(Counter { blocks_max, alone: launches.count() == 1, launches: Vec::new() });
        let ran = self.run(ProgramId(id), sequence);
        self.programs.remove(&id);
        let counted = self.counter.take().map(|counter| counter.launches).unwrap_or_default();
        ran.map(|()| counted)
    }
}

impl Counter {
    /// Blocks that wait for others, or whose results others read, run whether they are counted or not.
    fn counting(&self, entry: &CompiledEntry, shape: Shape, cluster: [u32; 3]) -> Counting {
        let volume = |sides: [u32; 3]| sides.iter().map(|side| u64::from(*side)).product::<u64>();
        let (blocks, size) = (volume(shape.grid), volume(cluster).max(1));
        let counted = sample(blocks / size, self.blocks_max.map(|max| max.div_ceil(size)));
        Counting::new(counted, !self.alone || entry.spins || shape.cooperative)
    }
}

fn counts(launch: &Launch<'_>) -> Option<LaunchCounts> {
    let (counting, plan) = (launch.counting.as_ref()?, launch.entry.count.as_ref()?);
    let blocks: u64 = launch.grid.iter().map(|side| u64::from(*side)).product();
    let clusters = counting.counted.as_ref().map(|counted| counted.len() as u64);
    Some(LaunchCounts {
        entry: launch.entry.name.clone(),
        grid: launch.grid,
        block: launch.block,
        blocks,
        blocks_counted: clusters.map_or(blocks, |clusters| clusters * u64::from(launch.cluster_blocks())),
        sites: counting.sites(plan),
    })
}

fn lacking(entry: &str, words: &str) -> RuntimeError {
    RuntimeError::Artifact(format!("`{entry}`: {words}"))
}

fn unknown(name: &str) -> RuntimeError {
    RuntimeError::Buffer { name: name.to_owned(), problem: "it was never allocated".to_owned() }
}

fn no_program(program: ProgramId) -> RuntimeError {
    RuntimeError::Launch(format!("there is no program {}", program.0))
}
