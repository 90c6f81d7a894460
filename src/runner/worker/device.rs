//! One open device: loads artifacts, sets buffers up, runs and times. Judges no result.

use super::super::artifact_file;
use super::super::paired::Pairing;
use super::super::protocol::{Fault, Limits, Reply, WireJob, output_file, turn_file};
use super::super::{POISON, Timing};
use super::inputs::{Filled, Inputs};
use super::turns::{Turn, take_turns};
use super::{DeviceAddress, timing};
use crate::backends::{self, MakeBackend};
use crate::context::launch::{BufferRole, BufferSpec};
use indexmap::IndexMap;
use peak_backend_api::{Caches, Conditions, Device, DeviceInfo, LaunchSequence, ProgramId, Runtime, RuntimeError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Programs kept loaded, at most.
const PROGRAMS_MAX: usize = 64;

pub struct DeviceSession {
    runtime: Box<dyn Runtime>,
    device: Box<dyn Device>,
    info: DeviceInfo,
    limits: Limits,
    programs: IndexMap<String, ProgramId>,
    inputs: Inputs,
}

/// What a job needs before it runs.
struct SetUp {
    program: ProgramId,
    /// What each buffer was filled with, in the plan's order; `None` where it was poisoned.
    inputs: Vec<Option<Arc<Filled>>>,
}

impl DeviceSession {
    /// Opens the device at `address`.
    pub fn open(address: &DeviceAddress, backends: &[MakeBackend], limits: Limits) -> Result<DeviceSession, Fault> {
        let missing = || Fault::Protocol { message: format!("this build has no runtime for {}", address.text()) };
        let backend = backends::find(backends, &address.backend).ok_or_else(missing)?;
        let runtime =
            backends::runtimes(backend.as_ref()).into_iter().find(|runtime| runtime.name() == address.runtime);
        let runtime = runtime.ok_or_else(missing)?;
        let device = runtime.open(address.index)?;
        // A runtime that several backends share knows none of them.
        let info = DeviceInfo { backend: address.backend.clone(), ..device.info().clone() };
        Ok(DeviceSession { runtime, device, info, limits, programs: IndexMap::new(), inputs: Inputs::default() })
    }

    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Runs once and writes what outputs hold.
    pub fn run(&mut self, job: &WireJob, folder: &Path) -> Result<Reply, Fault> {
        let SetUp { program, inputs } = self.set_up(job)?;
        let start = Instant::now();
        self.device.run(program, &job.plan.sequence)?;
        let wall_ns = nanoseconds(start);
        self.write_outputs(job, str::to_owned, |index| folder.join(output_file(index)))?;
        Ok(Reply::Ran { changed_inputs: self.changed_inputs(job, &inputs)?, wall_ns })
    }

    /// Times, with inputs that a run changes refreshed before each.
    pub fn time(&mut self, job: &WireJob, how: &Timing) -> Result<Reply, Fault> {
        let SetUp { program, inputs } = self.set_up(job)?;
        let refreshed: Vec<_> = renewed(job, &inputs).collect();
        let device = &mut self.device;
        let outcome = timing::time_adaptively(how, refreshed.is_empty(), |repeats| {
            for (spec, filled) in &refreshed {
                device.write(&spec.name, &filled.bytes)?;
            }
            let start = Instant::now();
            let samples_ns = device.time(program, &job.plan.sequence, repeats, Caches::Warm)?;
            let wall_ns = nanoseconds(start);
            check_count(&samples_ns, repeats)?;
            Ok::<_, Fault>(timing::Batch { samples_ns, wall_ns })
        })?;
        Ok(Reply::Timed { outcome })
    }

    /// Times candidates in turn, each in buffers of its own, and writes what the last runs left in the outputs.
    pub fn take_turns(&mut self, jobs: &[WireJob], how: &Pairing, folder: &Path) -> Result<Reply, Fault> {
        check_size(jobs.iter().flat_map(|job| &job.plan.buffers), self.limits.buffer_bytes)?;
        self.device.free_all();
        let mut candidates = Vec::new();
        for (index, job) in jobs.iter().enumerate() {
            let SetUp { program, inputs } = self.place(job, |name| name_of(index, name))?;
            let sequence = job.plan.on_buffers(|name| name_of(index, name));
            let renewed = renewed(job, &inputs).map(|(spec, filled)| (name_of(index, &spec.name), Arc::clone(filled)));
            candidates.push(Candidate { program, sequence, renewed: renewed.collect() });
        }
        let mut turn = OnDevice { device: self.device.as_mut(), caches: how.caches, candidates: &candidates };
        let turns = take_turns(how, jobs.len(), &mut turn)?;
        for (index, job) in jobs.iter().enumerate() {
            self.write_outputs(job, |name| name_of(index, name), |output| folder.join(turn_file(index, output)))?;
        }
        Ok(Reply::TookTurns { turns })
    }

    /// Writes what outputs hold, each to its file.
    fn write_outputs(
        &mut self,
        job: &WireJob,
        name: impl Fn(&str) -> String,
        file: impl Fn(usize) -> PathBuf,
    ) -> Result<(), Fault> {
        for (index, spec) in job.plan.buffers.iter().enumerate() {
            if matches!(spec.role, BufferRole::Output | BufferRole::InOut(_)) {
                let path = file(index);
                let bytes = self.device.read(&name(&spec.name))?;
                std::fs::write(&path, bytes)
                    .map_err(|error| Fault::File { message: format!("writing {}: {error}", path.display()) })?;
            }
        }
        Ok(())
    }

    /// Runs once, and writes what was counted.
    pub fn count(&mut self, job: &WireJob, blocks_max: Option<u64>, output: &Path) -> Result<Reply, Fault> {
        let SetUp { program, .. } = self.set_up(job)?;
        let counts = self.device.count(program, &job.plan.sequence, blocks_max)?;
        let failed = |error: std::io::Error| Fault::File { message: format!("writing {}: {error}", output.display()) };
        let json = serde_json::to_vec(&counts).map_err(|error| failed(error.into()))?;
        std::fs::write(output, json).map_err(failed)?;
        Ok(Reply::Counted)
    }

    /// Fresh buffers with inputs filled and everything else poisoned, and the program loaded.
    fn set_up(&mut self, job: &WireJob) -> Result<SetUp, Fault> {
        check_size(job.plan.buffers.iter(), self.limits.buffer_bytes)?;
        self.device.free_all();
        self.place(job, str::to_owned)
    }

    /// As [`DeviceSession::set_up`], beside what is there, under other names.
    fn place(&mut self, job: &WireJob, name: impl Fn(&str) -> String) -> Result<SetUp, Fault> {
        let program = self.program(job)?;
        let mut inputs = Vec::with_capacity(job.plan.buffers.len());
        for spec in &job.plan.buffers {
            let name = name(&spec.name);
            self.device.allocate(&name, spec.bytes() as u64)?;
            inputs.push(match spec.role {
                BufferRole::Input(_) | BufferRole::InOut(_) => {
                    let filled = self.inputs.get(spec, job.fill);
                    self.device.write(&name, &filled.bytes)?;
                    Some(filled)
                }
                BufferRole::Output | BufferRole::Scratch => {
                    self.device.fill(&name, POISON)?;
                    None
                }
            });
        }
        Ok(SetUp { program, inputs })
    }

    fn program(&mut self, job: &WireJob) -> Result<ProgramId, Fault> {
        if let Some(program) = self.programs.get(&job.artifact) {
            return Ok(*program);
        }
        let artifact = artifact_file::read(&job.artifact_file)
            .map_err(|error| Fault::File { message: format!("reading the artifact: {error}") })?;
        if !self.runtime.accepts(artifact.kind) {
            let why = format!("runtime {} does not take {:?}", self.runtime.name(), artifact.kind);
            return Err(RuntimeError::Artifact(why).into());
        }
        if self.programs.len() >= PROGRAMS_MAX
            && let Some((_, oldest)) = self.programs.shift_remove_index(0)
        {
            self.device.unload(oldest);
        }
        let program = self.device.load(&artifact)?;
        self.programs.insert(job.artifact.clone(), program);
        Ok(program)
    }

    fn changed_inputs(&mut self, job: &WireJob, inputs: &[Option<Arc<Filled>>]) -> Result<Vec<String>, Fault> {
        let mut changed = Vec::new();
        for (spec, filled) in job.plan.buffers.iter().zip(inputs) {
            if let (BufferRole::Input(_), Some(filled)) = (&spec.role, filled)
                && crate::hash::hex(&self.device.read(&spec.name)?) != filled.digest
            {
                changed.push(spec.name.clone());
            }
        }
        Ok(changed)
    }
}

/// A candidate that is ready to take turns with others.
struct Candidate {
    program: ProgramId,
    sequence: LaunchSequence,
    /// Buffers that a run changes, by their names on the device, with what they held before.
    renewed: Vec<(String, Arc<Filled>)>,
}

/// Candidates on a device.
struct OnDevice<'a> {
    device: &'a mut dyn Device,
    caches: Caches,
    candidates: &'a [Candidate],
}

impl Turn for OnDevice<'_> {
    type Error = Fault;

    fn run(&mut self, candidate: usize, repeats: u32) -> Result<Vec<u64>, Fault> {
        let Candidate { program, sequence, renewed } = &self.candidates[candidate];
        for (name, filled) in renewed {
            self.device.write(name, &filled.bytes)?;
        }
        let samples = self.device.time(*program, sequence, repeats, self.caches)?;
        check_count(&samples, repeats)?;
        Ok(samples)
    }

    fn most(&self, candidate: usize) -> u32 {
        if self.candidates[candidate].renewed.is_empty() { u32::MAX } else { 1 }
    }

    fn conditions(&mut self) -> Option<Conditions> {
        self.device.conditions()
    }
}

/// A buffer's name among those of several candidates.
fn name_of(candidate: usize, name: &str) -> String {
    format!("{candidate}/{name}")
}

/// Buffers that a run changes, with what they held before.
fn renewed<'a>(
    job: &'a WireJob,
    inputs: &'a [Option<Arc<Filled>>],
) -> impl Iterator<Item = (&'a BufferSpec, &'a Arc<Filled>)> {
    let changed = |(spec, _): &(&BufferSpec, &Option<Arc<Filled>>)| matches!(spec.role, BufferRole::InOut(_));
    let specs = job.plan.buffers.iter().zip(inputs).filter(changed);
    specs.filter_map(|(spec, filled)| Some((spec, filled.as_ref()?)))
}

fn check_count(samples_ns: &[u64], repeats: u32) -> Result<(), Fault> {
    match samples_ns.len() == repeats as usize {
        true => Ok(()),
        false => {
            let why = format!("the runtime gave {} times for {repeats} runs", samples_ns.len());
            Err(Fault::Refused { why })
        }
    }
}

fn check_size<'b>(buffers: impl Iterator<Item = &'b BufferSpec> + Clone, limit: u64) -> Result<(), Fault> {
    let bytes_of = |spec: &BufferSpec| {
        spec.shape.iter().try_fold(spec.element.bytes() as u64, |bytes, extent| bytes.checked_mul(*extent as u64))
    };
    let total = buffers.clone().try_fold(0u64, |total, spec| total.checked_add(bytes_of(spec)?));
    if total.is_some_and(|total| total <= limit) {
        return Ok(());
    }
    let largest = buffers.max_by_key(|spec| bytes_of(spec).unwrap_or(u64::MAX));
    let largest = largest.map_or("", |spec| spec.name.as_str());
    let taken = total.map_or("more than 2^64".to_owned(), |total| total.to_string());
    let why = format!(
        "the launch plan's buffers take {taken} bytes, most of them `{largest}`, and {limit} are allowed on this machine: \
         make `{largest}` smaller, or choose smaller inputs"
    );
    Err(Fault::Refused { why })
}

fn nanoseconds(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
