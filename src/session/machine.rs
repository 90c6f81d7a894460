//! The machine of a session: one device, its backend, a pool that compiles for it and a worker that holds it.

use super::error::SessionError;
use crate::backends::{BACKENDS, backend, default_backend, find};
use crate::context::scope::Facts;
use crate::error::Result;
use crate::runner::{
    Compile, DeviceOptions, DeviceWorker, Execute, Gate, Inventory, PoolOptions, RunnerError, WorkerPool,
    WorkerProgram, inventory, select,
};
use crate::workflow::facts_in_force;
use peak_backend_api::{Backend, DeviceInfo};
use peak_grammar::ir::{Device, Library};
use peak_grammar::specialize;
use std::path::PathBuf;
use std::sync::Arc;

/// Which machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineOptions {
    /// A piece of the device's name, its index, or a device of the library; the best one found where nothing is said.
    pub device: Option<String>,
    /// The backend; that of the device where nothing is said.
    pub backend: Option<String>,
    /// Languages that there is code in, where no backend is named; empty where any will do.
    pub languages: Vec<String>,
    /// Where compiled artifacts outlive the session.
    pub artifacts: Option<PathBuf>,
    /// Words about waiting for another process go nowhere.
    pub quiet: bool,
    /// The program that serves as worker; this one where nothing is said.
    pub worker: Option<WorkerProgram>,
}

impl MachineOptions {
    /// The program that serves as worker.
    ///
    /// # Errors
    /// It is this one, and the system does not say where that is.
    pub fn worker(&self) -> Result<WorkerProgram> {
        match &self.worker {
            Some(program) => Ok(program.clone()),
            None => Ok(WorkerProgram::current().map_err(RunnerError::from)?),
        }
    }
}

/// A device, opened.
pub struct Machine {
    info: DeviceInfo,
    device: Option<Device>,
    facts: Facts,
    backend: Box<dyn Backend>,
    toolchain: String,
    pool: WorkerPool,
    worker: DeviceWorker,
}

/// The parts of a machine, borrowed apart.
pub struct Parts<'a> {
    /// The device as its driver describes it.
    pub info: &'a DeviceInfo,
    /// Its file in the library.
    pub device: Option<&'a Device>,
    /// Facts in force.
    pub facts: &'a Facts,
    /// The language.
    pub backend: &'a dyn Backend,
    /// Versions of its toolchains.
    pub toolchain: &'a str,
    /// Compiles.
    pub compile: &'a dyn Compile,
    /// Runs and times.
    pub execute: &'a mut dyn Execute,
}

impl Machine {
    /// Finds the device, and opens it in a worker.
    ///
    /// # Errors
    /// No such device or backend, a missing toolchain, a worker that does not start.
    pub fn open(library: &Library, options: &MachineOptions) -> Result<Machine> {
        Machine::open_with(options.worker()?, library, options)
    }

    /// As [`Machine::open`], with another program than this one as its workers.
    ///
    /// # Errors
    /// As [`Machine::open`].
    pub fn open_with(program: WorkerProgram, library: &Library, options: &MachineOptions) -> Result<Machine> {
        let found = inventory(&program)?;
        let info = choose(library, &found, options)?.clone();
        let backend = backend(&info.backend).ok_or_else(|| unknown_backend(&info.backend))?;
        let toolchain = check_toolchains(&found, &info.backend)?;
        let device = specialize::find_device(library, &info.name).map(|device| specialize::with_facts(library, device));
        let facts = facts_in_force(&info, device.as_ref());
        let gate = Arc::new(Gate::new());
        let pool_options = PoolOptions {
            cache_folder: options.artifacts.clone(),
            toolchain: toolchain.clone(),
            ..PoolOptions::default()
        };
        let pool = WorkerPool::new(program.clone(), &info.backend, pool_options, Arc::clone(&gate))?;
        let mut device_options = DeviceOptions::default();
        if options.quiet {
            device_options.say = Arc::new(|_| {});
        }
        let worker = DeviceWorker::open(program, &info, device_options, gate)?;
        Ok(Machine { info, device, facts, backend, toolchain, pool, worker })
    }

    /// The device as its driver describes it.
    #[must_use]
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Its file in the library, where one matches.
    #[must_use]
    pub fn device(&self) -> Option<&Device> {
        self.device.as_ref()
    }

    /// The language.
    #[must_use]
    pub fn backend(&self) -> &dyn Backend {
        self.backend.as_ref()
    }

    /// The parts, borrowed apart.
    pub fn parts(&mut self) -> Parts<'_> {
        Parts {
            info: &self.info,
            device: self.device.as_ref(),
            facts: &self.facts,
            backend: self.backend.as_ref(),
            toolchain: &self.toolchain,
            compile: &self.pool,
            execute: &mut self.worker,
        }
    }
}

pub(super) fn choose<'a>(library: &Library, found: &'a Inventory, options: &MachineOptions) -> Result<&'a DeviceInfo> {
    if let Some(name) = &options.backend
        && find(BACKENDS, name).is_none()
    {
        return Err(unknown_backend(name).into());
    }
    let speaks = |info: &&DeviceInfo| match &options.backend {
        Some(backend) => info.backend == *backend,
        None => options.languages.is_empty() || options.languages.contains(&info.backend),
    };
    let devices: Vec<DeviceInfo> = found.devices.iter().filter(speaks).cloned().collect();
    if devices.is_empty() {
        return Err(no_device(found, options.backend.as_deref()).into());
    }
    // A device of the library is meant by its name too.
    let wanted = options.device.as_deref().map(|wanted| {
        let of_library = |info: &&DeviceInfo| {
            specialize::find_device(library, &info.name).is_some_and(|device| device.name == wanted)
        };
        devices.iter().find(of_library).map_or(wanted.to_owned(), |info| info.name.clone())
    });
    let chosen = select(&devices, wanted.as_deref())?;
    let same = |info: &&DeviceInfo| {
        (info.index, &info.backend, &info.runtime) == (chosen.index, &chosen.backend, &chosen.runtime)
    };
    found.devices.iter().find(same).ok_or_else(|| no_device(found, options.backend.as_deref()).into())
}

pub(super) fn unknown_backend(name: &str) -> SessionError {
    SessionError::UnknownBackend { name: name.to_owned(), known: backend_names().join(", ") }
}

fn backend_names() -> Vec<&'static str> {
    BACKENDS.iter().map(|make| make().name()).collect()
}

fn no_device(found: &Inventory, backend: Option<&str>) -> SessionError {
    let missing: Vec<_> =
        found.missing.iter().filter(|runtime| backend.is_none_or(|backend| runtime.backend == backend)).collect();
    let words: Vec<String> = missing.iter().map(|runtime| format!("{}: {}", runtime.runtime, runtime.why)).collect();
    SessionError::NoDevice {
        backend: backend.map_or_else(|| backend_names().join(" or "), str::to_owned),
        missing: words.join("; "),
        mend: missing
            .iter()
            .find(|runtime| Some(runtime.backend.as_str()) == default_backend())
            .or(missing.first())
            .map_or_else(|| "scripts/setup, in Peak's own folder".to_owned(), |runtime| runtime.mend.clone()),
    }
}

/// Versions of the backend's toolchains; the first missing one is an error.
pub(super) fn check_toolchains(found: &Inventory, backend: &str) -> Result<String> {
    let Some(entry) = found.backends.iter().find(|entry| entry.name == backend) else {
        return Err(unknown_backend(backend).into());
    };
    match entry.toolchains.iter().find(|tool| !tool.found) {
        Some(tool) => Err(SessionError::MissingToolchain {
            backend: backend.to_owned(),
            name: tool.name.clone(),
            place: tool.place.clone(),
            mend: tool.mend.clone(),
        }
        .into()),
        None => Ok(entry.toolchain()),
    }
}
