//! What is there: backends, toolchains, devices. Each driver is asked in a process of its own, which may crash.

use super::super::protocol::{BackendListing, Reply, Request};
use super::super::worker::Mode;
use super::super::{Failure, FailureClass};
use super::error::RunnerError;
use super::link::{Greeted, Link, unexpected};
use super::program::{WorkerProgram, default_limits};
use super::words::{MEND, fault_failure, link_failure};
use crate::backends;
use peak_backend_api::{DeviceInfo, Toolchain};
use std::time::Duration;

/// How long a driver or toolchain may take to say what it is.
const QUESTION_DEADLINE: Duration = Duration::from_secs(60);

/// What is there on this machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inventory {
    /// Backends of this build.
    pub backends: Vec<BackendInventory>,
    /// Devices of every runtime, in the order of backends and runtimes, those of runtimes that belong to no backend last:
    /// indices of this list choose a device.
    pub devices: Vec<DeviceInfo>,
    /// Runtimes that list no devices.
    pub missing: Vec<MissingRuntime>,
}

/// A backend and what it compiles with.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendInventory {
    /// Its name.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Its runtimes, preferred first.
    pub runtimes: Vec<String>,
    /// What it compiles with, found or not; empty where looking for them failed.
    pub toolchains: Vec<Toolchain>,
    /// Why looking for them failed.
    pub problem: Option<String>,
}

impl BackendInventory {
    /// Toolchains and versions, in one line: part of cache keys.
    #[must_use]
    pub fn toolchain(&self) -> String {
        let found = self.toolchains.iter().filter(|toolchain| toolchain.found);
        let words =
            found.map(|toolchain| format!("{} {}", toolchain.name, toolchain.version.as_deref().unwrap_or("?")));
        words.collect::<Vec<_>>().join(", ")
    }
}

/// A runtime without devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingRuntime {
    /// The backend.
    pub backend: String,
    /// The runtime.
    pub runtime: String,
    /// Why.
    pub why: String,
    /// What to do.
    pub mend: String,
}

/// Asks every backend and runtime.
///
/// # Errors
/// The worker does not start at all; a driver that fails or crashes is in [`Inventory::missing`].
pub fn inventory(program: &WorkerProgram) -> Result<Inventory, RunnerError> {
    let reply = ask(program, Request::Backends).map_err(|failure| RunnerError::Start { message: failure.message })?;
    let Reply::Backends { backends: listings } = reply else {
        return Err(RunnerError::Start { message: format!("{:?}", unexpected(&reply)) });
    };
    let mut found = Inventory::default();
    for listing in listings {
        for runtime in &listing.runtimes {
            match devices(program, &listing.name, runtime) {
                Ok(devices) => found.devices.extend(devices),
                Err(failure) => found.missing.push(missing(&listing.name, runtime, &failure)),
            }
        }
        found.backends.push(backend(program, listing));
    }
    // A simulator is the last resort, whatever its language.
    found.devices.sort_by_key(|device| backends::stands_apart(&device.runtime));
    Ok(found)
}

fn backend(program: &WorkerProgram, listing: BackendListing) -> BackendInventory {
    let (toolchains, problem) = match ask(program, Request::Toolchains { backend: listing.name.clone() }) {
        Ok(Reply::Toolchains { toolchains }) => (toolchains, None),
        Ok(other) => (Vec::new(), Some(format!("{:?}", unexpected(&other)))),
        Err(failure) => (Vec::new(), Some(failure.message)),
    };
    BackendInventory { name: listing.name, title: listing.title, runtimes: listing.runtimes, toolchains, problem }
}

fn devices(program: &WorkerProgram, backend: &str, runtime: &str) -> Result<Vec<DeviceInfo>, Failure> {
    let request = Request::Devices { backend: backend.to_owned(), runtime: runtime.to_owned() };
    match ask(program, request)? {
        Reply::Devices { devices } if devices.is_empty() => {
            Err(Failure::new(FailureClass::Launch, "the runtime is there and lists no device")
                .with_fact(format!("{MEND}install the device's driver")))
        }
        Reply::Devices { devices } => Ok(devices),
        other => Err(fault_failure(unexpected(&other), "listing devices", None, &[])),
    }
}

fn missing(backend: &str, runtime: &str, failure: &Failure) -> MissingRuntime {
    let mend = failure.facts.iter().find_map(|fact| fact.strip_prefix(MEND));
    MissingRuntime {
        backend: backend.to_owned(),
        runtime: runtime.to_owned(),
        why: failure.message.clone(),
        mend: mend.unwrap_or("update the driver, or leave this runtime out").to_owned(),
    }
}

/// Asks a worker of its own.
fn ask(program: &WorkerProgram, request: Request) -> Result<Reply, Failure> {
    let what = "looking for what is there";
    let started = Link::start(program, &Mode::Compile, default_limits());
    let Greeted { mut link, device } = started.map_err(|error| link_failure(error, what))?;
    device.map_err(|fault| fault_failure(fault, what, None, &[]))?;
    match link.call(request, QUESTION_DEADLINE).map_err(|error| link_failure(error, what))? {
        Reply::Failed { fault } => Err(fault_failure(fault, what, None, &link.last_words())),
        reply => Ok(reply),
    }
}
