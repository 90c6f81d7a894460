//! One open device: loads artifacts, sets buffers up, runs and times. Judges no result.

use super::super::artifact_file;
use super::super::protocol::{Fault, Limits, Reply, WireJob, output_file};
use super::super::{POISON, Timing};
use super::inputs::{Filled, Inputs};
use super::{DeviceAddress, timing};
use crate::backends::{self, MakeBackend};
use crate::context::launch::{BufferRole, BufferSpec};
use indexmap::IndexMap;
use peak_backend_api::{Device, DeviceInfo, ProgramId, Runtime, RuntimeError};
use std::path::Path;
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
        for (index, spec) in job.plan.buffers.iter().enumerate() {
            if matches!(spec.role, BufferRole::Output | BufferRole::InOut(_)) {
                let path = folder.join(output_file(index));
                let bytes = self.device.read(&spec.name)?;
                std::fs::write(&path, bytes)
                    .map_err(|error| Fault::File { message: format!("writing {}: {error}", path.display()) })?;
            }
        }
        Ok(Reply::Ran { changed_inputs: self.changed_inputs(job, &inputs)?, wall_ns })
    }

    /// Times, with inputs that a run changes refreshed before each.
    pub fn time(&mut self, job: &WireJob, how: &Timing) -> Result<Reply, Fault> {
        let SetUp { program, inputs } = self.set_up(job)?;
        let refreshed: Vec<(&BufferSpec, &Arc<Filled>)> = job
            .plan
            .buffers
            .iter()
            .zip(&inputs)
            .filter(|(spec, _)| matches!(spec.role, BufferRole::InOut(_)))
            .filter_map(|(spec, filled)| Some((spec, filled.as_ref()?)))
            .collect();
        let device = &mut self.device;
        let outcome = timing::time_adaptively(how, refreshed.is_empty(), |repeats| {
            for (spec, filled) in &refreshed {
                device.write(&spec.name, &filled.bytes)?;
            }
            let start = Instant::now();
            let samples_ns = device.time(program, &job.plan.sequence, repeats)?;
            let wall_ns = nanoseconds(start);
            if samples_ns.len() != repeats as usize {
                let why = format!("the runtime gave {} times for {repeats} runs", samples_ns.len());
                return Err(Fault::Refused { why });
            }
            Ok(timing::Batch { samples_ns, wall_ns })
        })?;
        Ok(Reply::Timed { outcome })
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
        check_size(&job.plan.buffers, self.limits.buffer_bytes)?;
        let program = self.program(job)?;
        self.device.free_all();
        let mut inputs = Vec::with_capacity(job.plan.buffers.len());
        for spec in &job.plan.buffers {
            self.device.allocate(&spec.name, spec.bytes() as u64)?;
            inputs.push(match spec.role {
                BufferRole::Input(_) | BufferRole::InOut(_) => {
                    let filled = self.inputs.get(spec, job.fill);
                    self.device.write(&spec.name, &filled.bytes)?;
                    Some(filled)
                }
                BufferRole::Output | BufferRole::Scratch => {
                    self.device.fill(&spec.name, POISON)?;
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

fn check_size(buffers: &[BufferSpec], limit: u64) -> Result<(), Fault> {
    let bytes_of = |spec: &BufferSpec| {
        spec.shape.iter().try_fold(spec.element.bytes() as u64, |bytes, extent| bytes.checked_mul(*extent as u64))
    };
    let total = buffers.iter().try_fold(0u64, |total, spec| total.checked_add(bytes_of(spec)?));
    if total.is_some_and(|total| total <= limit) {
        return Ok(());
    }
    let largest = buffers.iter().max_by_key(|spec| bytes_of(spec).unwrap_or(u64::MAX));
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
