//! One device behind a worker process. A hang or a crash costs a candidate and a worker, never this process.

use super::super::paired::Pairing;
use super::super::protocol::{Fault, Limits, Reply, Request, WireJob, output_file, turn_file};
use super::super::worker::{DeviceAddress, Mode};
use super::super::{Execute, Failure, FailureClass, Job, RunOutcome, TimeOutcome, Timing, TurnsOutcome, artifact_file};
use super::device_lock;
use super::error::RunnerError;
use super::gate::Gate;
use super::link::{Greeted, Link, LinkError, unexpected};
use super::program::{WorkerProgram, default_limits};
use super::select::address_of;
use super::words::{MEND, fault_failure, link_failure};
use crate::context::launch::{BufferRole, ConcretePlan};
use indexmap::IndexMap;
use peak_backend_api::{Artifact, DeviceInfo, DeviceKind, LaunchCounts, RuntimeError};
use std::cell::Cell;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Artifact files kept for restarted workers, at most.
const ARTIFACT_FILES_MAX: usize = 256;

/// How to use a device.
#[derive(Clone)]
pub struct DeviceOptions {
    /// What the worker may use.
    pub limits: Limits,
    /// Hears of waiting for another process; standard error where nobody listens.
    pub say: Arc<dyn Fn(&str) + Send + Sync>,
    /// The lock's file, in place of the user's own folder.
    pub lock_file: Option<PathBuf>,
}

impl Default for DeviceOptions {
    fn default() -> Self {
        DeviceOptions { limits: default_limits(), say: Arc::new(|words| eprintln!("{words}")), lock_file: None }
    }
}

impl fmt::Debug for DeviceOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceOptions").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// A device in a worker process.
pub struct DeviceWorker {
    program: WorkerProgram,
    address: DeviceAddress,
    info: DeviceInfo,
    options: DeviceOptions,
    gate: Arc<Gate>,
    lock_file: PathBuf,
    folder: tempfile::TempDir,
    artifact_files: Vec<String>,
    link: Option<Link>,
    /// Whether the worker has done a job.
    used: bool,
    /// Whether the device was waited for, and that was said.
    waited: bool,
}

impl DeviceWorker {
    /// Opens a device of the inventory in a new worker. `gate` is the compile pool's.
    ///
    /// # Errors
    /// The worker does not start, or the device does not open.
    pub fn open(
        program: WorkerProgram,
        device: &DeviceInfo,
        options: DeviceOptions,
        gate: Arc<Gate>,
    ) -> Result<DeviceWorker, RunnerError> {
        let address = address_of(device);
        let lock_file = options.lock_file.clone().unwrap_or_else(|| device_lock::lock_path(device));
        let folder = tempfile::Builder::new().prefix("peak-device-").tempdir()?;
        let mut worker = DeviceWorker {
            program,
            address,
            info: device.clone(),
            options,
            gate,
            lock_file,
            folder,
            artifact_files: Vec::new(),
            link: None,
            used: false,
            waited: false,
        };
        worker.start().map_err(|failure| {
            let mend = failure.facts.iter().find_map(|fact| fact.strip_prefix(MEND)).unwrap_or("see `peak doctor`");
            RunnerError::Open { device: device.name.clone(), message: failure.message.clone(), mend: mend.to_owned() }
        })?;
        Ok(worker)
    }

    /// A running worker, started if there is none.
    fn start(&mut self) -> Result<&mut Link, Failure> {
        if self.link.is_none() {
            let mode = Mode::Device(self.address.clone());
            let started = Link::start(&self.program, &mode, self.options.limits);
            let Greeted { link, device } = started.map_err(|error| link_failure(error, "opening the device"))?;
            let device = device.map_err(|fault| fault_failure(fault, "opening the device", None, &[]))?;
            self.accept(device.as_deref())?;
            (self.link, self.used) = (Some(link), false);
        }
        self.link.as_mut().ok_or_else(|| Failure::new(FailureClass::Crash, "no worker"))
    }

    /// A driver that lists devices in another order after a crash must not change what is measured.
    fn accept(&mut self, device: Option<&DeviceInfo>) -> Result<(), Failure> {
        match device {
            Some(device) if device.name == self.info.name => {
                self.info = device.clone();
                Ok(())
            }
            other => {
                let found = other.map_or("no device", |device| device.name.as_str());
                let message = format!("{} is now {found}, it was {}", self.address.text(), self.info.name);
                Err(Failure::new(FailureClass::Crash, message))
            }
        }
    }

    /// Asks the worker, and once more a fresh one where a used one died: an earlier candidate may have damaged it.
    fn call(&mut self, request: &Request, deadline: Duration, what: &str) -> Result<Reply, Failure> {
        loop {
            let link = self.start()?;
            let answer = link.call(request.clone(), deadline);
            let retry = std::mem::replace(&mut self.used, true);
            let (failure, broken) = match answer {
                Ok(Reply::Failed { fault }) => {
                    let broken = breaks_worker(&fault);
                    let words = self.link.as_ref().map(Link::last_words).unwrap_or_default();
                    (fault_failure(fault, what, None, &words), broken)
                }
                Ok(reply) => return Ok(reply),
                Err(error) => {
                    let last = matches!(error, LinkError::Timeout(_));
                    let failure = link_failure(error, what);
                    self.link = None;
                    if last {
                        return Err(failure);
                    }
                    (failure, true)
                }
            };
            if broken {
                self.link = None;
            }
            if !(broken && retry) {
                return Err(failure);
            }
        }
    }

    /// [`DeviceWorker::call`] while no other process uses the device, and, if `alone`, while nothing compiles here.
    /// The deadline counts from when both are had.
    fn call_locked(
        &mut self,
        request: &Request,
        deadline: Duration,
        what: &str,
        alone: bool,
    ) -> Result<Reply, Failure> {
        let (path, say, gate) = (self.lock_file.clone(), Arc::clone(&self.options.say), Arc::clone(&self.gate));
        let (already_said, waited) = (self.waited, Cell::new(false));
        let say_once = |words: &str| {
            waited.set(true);
            if !already_said {
                say(words);
            }
        };
        let answer = device_lock::with_device(&path, &say_once, || {
            let mut call = || self.call(request, deadline, what);
            if alone { gate.timing(call) } else { call() }
        });
        self.waited |= waited.get();
        answer?
    }

    fn wire_job(&mut self, job: &Job) -> Result<WireJob, Failure> {
        let artifact = artifact_file::address(&job.artifact);
        let artifact_file = self.artifact_file(&artifact, &job.artifact)?;
        Ok(WireJob { artifact, artifact_file, plan: job.plan.clone(), fill: job.fill })
    }

    fn artifact_file(&mut self, address: &str, artifact: &Artifact) -> Result<PathBuf, Failure> {
        let path = self.folder.path().join(format!("{address}.artifact"));
        if path.exists() {
            return Ok(path);
        }
        if self.artifact_files.len() >= ARTIFACT_FILES_MAX {
            let oldest = self.artifact_files.remove(0);
            let _ = std::fs::remove_file(self.folder.path().join(format!("{oldest}.artifact")));
        }
        artifact_file::write(&path, artifact)
            .map_err(|error| Failure::new(FailureClass::Crash, format!("writing {}: {error}", path.display())))?;
        self.artifact_files.push(address.to_owned());
        Ok(path)
    }

    /// Reads the outputs that the worker wrote, and removes their files.
    fn outputs(
        &self,
        plan: &ConcretePlan,
        file: impl Fn(usize) -> String,
    ) -> Result<IndexMap<String, Vec<u8>>, Failure> {
        let failed = |what: String| Failure::new(FailureClass::Crash, what);
        let mut outputs = IndexMap::new();
        for (index, spec) in plan.buffers.iter().enumerate() {
            if matches!(spec.role, BufferRole::Output | BufferRole::InOut(_)) {
                let path = self.folder.path().join(file(index));
                let bytes =
                    std::fs::read(&path).map_err(|error| failed(format!("reading output {}: {error}", spec.name)))?;
                let _ = std::fs::remove_file(&path);
                if bytes.len() != spec.bytes() {
                    let (name, found) = (&spec.name, bytes.len());
                    return Err(failed(format!("output {name} came back with {found} bytes of {}", spec.bytes())));
                }
                outputs.insert(spec.name.clone(), bytes);
            }
        }
        Ok(outputs)
    }
}

impl Execute for DeviceWorker {
    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    fn run(&mut self, job: &Job) -> Result<RunOutcome, Failure> {
        let request = Request::Run { job: self.wire_job(job)?, folder: self.folder.path().to_owned() };
        // Under the lock too: a run beside another process's timed run would spoil its times.
        match self.call_locked(&request, job.deadline, "running", false)? {
            Reply::Ran { changed_inputs, wall_ns } => {
                Ok(RunOutcome { outputs: self.outputs(&job.plan, output_file)?, changed_inputs, wall_ns })
            }
            other => Err(fault_failure(unexpected(&other), "running", None, &[])),
        }
    }

    fn time(&mut self, job: &Job, timing: &Timing) -> Result<TimeOutcome, Failure> {
        let request = Request::Time { job: self.wire_job(job)?, timing: *timing };
        let alone = self.info.kind == DeviceKind::Software;
        match self.call_locked(&request, job.deadline, "timing", alone)? {
            Reply::Timed { outcome } => Ok(outcome),
            other => Err(fault_failure(unexpected(&other), "timing", None, &[])),
        }
    }

    fn take_turns(&mut self, jobs: &[Job], how: &Pairing) -> Result<TurnsOutcome, Failure> {
        let wire = jobs.iter().map(|job| self.wire_job(job)).collect::<Result<Vec<_>, _>>()?;
        let request = Request::TakeTurns { jobs: wire, how: *how, folder: self.folder.path().to_owned() };
        let deadline = jobs.first().map(|job| job.deadline).unwrap_or_default();
        let alone = self.info.kind == DeviceKind::Software;
        match self.call_locked(&request, deadline, "timing", alone)? {
            Reply::TookTurns { turns } => {
                let read = |(index, job): (usize, &Job)| self.outputs(&job.plan, |output| turn_file(index, output));
                let outputs = jobs.iter().enumerate().map(read).collect::<Result<_, _>>()?;
                Ok(TurnsOutcome { turns, outputs })
            }
            other => Err(fault_failure(unexpected(&other), "timing", None, &[])),
        }
    }

    fn count(&mut self, job: &Job, blocks_max: Option<u64>) -> Result<Vec<LaunchCounts>, Failure> {
        let output = self.folder.path().join("counts.json");
        let request = Request::Count { job: self.wire_job(job)?, blocks_max, output: output.clone() };
        // Counts are the same whatever else runs, so that no lock is needed.
        match self.call(&request, job.deadline, "counting")? {
            Reply::Counted => {
                let text = std::fs::read(&output);
                let _ = std::fs::remove_file(&output);
                let counts = text.and_then(|text| serde_json::from_slice(&text).map_err(std::io::Error::from));
                counts.map_err(|error| Failure::new(FailureClass::Crash, format!("reading the counts: {error}")))
            }
            other => Err(fault_failure(unexpected(&other), "counting", None, &[])),
        }
    }
}

/// Whether a worker that reported this is not to be used again: a lost device, an error of the driver that may stick.
fn breaks_worker(fault: &Fault) -> bool {
    match fault {
        Fault::Panicked { .. } | Fault::Protocol { .. } => true,
        Fault::Runtime { error } => matches!(
            error,
            RuntimeError::DeviceLost(_) | RuntimeError::Driver { .. } | RuntimeError::OutOfMemory { .. }
        ),
        Fault::Compile { .. } | Fault::Refused { .. } | Fault::File { .. } => false,
    }
}
