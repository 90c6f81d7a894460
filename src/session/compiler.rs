//! Compiles for one device that need not be here: its facts and target are enough. Runs nothing and opens no device.

use super::configuration::Chosen;
use super::count::counts;
use super::failure_class;
use super::machine::{MachineOptions, check_toolchains, choose, unknown_backend};
use crate::backends::{BACKENDS, backend, default_backend, find};
use crate::context::KernelContext;
use crate::context::scope::Facts;
use crate::context::source::compile_request;
use crate::error::{Class, Error, Result};
use crate::runner::{Compile, Failure, Gate, Inventory, MEND, PoolOptions, WorkerPool, inventory, is_environment};
use crate::workflow::facts_in_force;
use peak_backend_api::{Artifact, ArtifactKind, Backend, CompileRequest, DeviceInfo, Disassembly};
use peak_grammar::ir::{Device, Library};
use peak_grammar::specialize;
use std::sync::Arc;

/// Kinds of artifact that are shown where nothing says which: those that need no further tool first.
const READABLE: [ArtifactKind; 2] = [ArtifactKind::Ptx, ArtifactKind::Spirv];

/// A backend, and a pool of workers that compile with it.
pub struct Compiler {
    backend: Box<dyn Backend>,
    pool: WorkerPool,
    /// What is compiled for, in words.
    pub device_name: String,
    /// Its file in the library.
    pub device: Option<Device>,
    /// Facts in force; none where no device is meant.
    pub facts: Facts,
    /// The device of this machine that counts what it executes, for this language.
    pub counter: Option<DeviceInfo>,
    target: String,
}

/// Compiled code, with what it was compiled from.
pub struct Compiled {
    /// The source and the launches.
    pub request: CompileRequest,
    /// The code.
    pub artifact: Arc<Artifact>,
}

/// What is compiled for.
struct Site {
    backend: String,
    name: String,
    device: Option<Device>,
    facts: Facts,
    target: String,
}

impl Compiler {
    /// Finds the device (one that is here, else one of the library, else none) and its compiler.
    ///
    /// # Errors
    /// No such device or backend, a missing toolchain, a worker that does not start.
    pub fn open(library: &Library, options: &MachineOptions) -> Result<Compiler> {
        let program = options.worker()?;
        let found = inventory(&program)?;
        let site = site(library, &found, options)?;
        let toolchain = check_toolchains(&found, &site.backend)?;
        let backend = backend(&site.backend).ok_or_else(|| unknown_backend(&site.backend))?;
        let pool_options = PoolOptions { cache_folder: options.artifacts.clone(), toolchain, ..PoolOptions::default() };
        let pool = WorkerPool::new(program, &site.backend, pool_options, Arc::new(Gate::new()))?;
        let Site { name, device, facts, target, .. } = site;
        let counter = found.devices.iter().find(|info| info.backend == site.backend && counts(info)).cloned();
        Ok(Compiler { backend, pool, device_name: name, device, facts, counter, target })
    }

    /// The language.
    #[must_use]
    pub fn backend(&self) -> &dyn Backend {
        self.backend.as_ref()
    }

    /// Compiles a configuration to a kind of artifact; to the most readable that there is, where none is named.
    ///
    /// # Errors
    /// A kind that the backend does not make, or why the code does not compile.
    pub fn compile(&self, context: &KernelContext, chosen: &Chosen, kind: Option<ArtifactKind>) -> Result<Compiled> {
        let kinds = self.backend.artifacts();
        let kind = kind.or_else(|| READABLE.into_iter().find(|kind| kinds.contains(kind)));
        let target = match kind {
            Some(kind) => self.backend.target_for(kind, &self.target).ok_or_else(|| self.not_made(kind))?,
            None => self.target.clone(),
        };
        let plan = (&chosen.configuration, &chosen.plan);
        let request = compile_request(context, plan.0, plan.1, self.backend(), &target, &self.facts);
        let artifact = self.pool.compile(&request).map_err(failed)?;
        Ok(Compiled { request, artifact })
    }

    /// The code as text.
    ///
    /// # Errors
    /// A tool that is missing or fails.
    pub fn disassemble(&self, artifact: &Artifact) -> Result<Disassembly> {
        self.pool.disassemble(artifact).map_err(failed)
    }

    fn not_made(&self, kind: ArtifactKind) -> Error {
        let name = |kind: &ArtifactKind| serde_json::json!(kind).as_str().unwrap_or_default().to_owned();
        let made: Vec<String> = self.backend.artifacts().iter().map(name).collect();
        let message = format!("the {} backend makes no {}", self.backend.name(), name(&kind));
        Error::plain(Class::Usage, "peak::usage", message, format!("it makes: {}", made.join(", ")))
    }
}

fn failed(failure: Failure) -> Error {
    if is_environment(&failure) {
        let mend = failure.facts.iter().find_map(|fact| fact.strip_prefix(MEND)).unwrap_or("`peak doctor` tells");
        return Error::plain(Class::Environment, "peak::missing-toolchain", failure.to_string(), mend);
    }
    Error::plain(failure_class(&failure), "peak::failed-compile", failure.to_string(), failure.facts.join("\n"))
}

fn site(library: &Library, found: &Inventory, options: &MachineOptions) -> Result<Site> {
    let error = match choose(library, found, options) {
        Ok(info) => return Ok(here(library, info)),
        Err(error) => error,
    };
    let with_facts = |device: &Device| specialize::with_facts(library, device);
    let wanted = options.device.as_deref().map(|name| library.devices.get(name).map(with_facts));
    match wanted {
        Some(Some(device)) => {
            let spoken: Vec<&String> = device.speaks.keys().collect();
            let backend = language(options, |name| spoken.iter().any(|known| *known == name));
            let backend = backend.ok_or_else(|| not_spoken(&device, options))?;
            let target = device.speaks.get(&backend).and_then(|targets| targets.first()).cloned();
            let (name, facts) = (format!("{} (of the library)", device.name), device.facts_for(&backend));
            Ok(Site { backend, name, device: Some(device), facts, target: target.unwrap_or_default() })
        }
        Some(None) => Err(error),
        // What is compiled needs no device, where none is asked for.
        None if error.class == Class::Environment => {
            let backend = language(options, |_| true).ok_or(error)?;
            let name = "no device in particular".to_owned();
            Ok(Site { backend, name, device: None, facts: Facts::new(), target: String::new() })
        }
        None => Err(error),
    }
}

fn here(library: &Library, info: &DeviceInfo) -> Site {
    let device = specialize::find_device(library, &info.name).map(|device| specialize::with_facts(library, device));
    Site {
        backend: info.backend.clone(),
        name: info.name.clone(),
        facts: facts_in_force(info, device.as_ref()),
        device,
        target: info.target.clone().unwrap_or_default(),
    }
}

/// The backend of this build that is meant: the one that was named, else the usual one, else the first that fits.
fn language(options: &MachineOptions, fits: impl Fn(&str) -> bool) -> Option<String> {
    let has_code = |name: &str| options.languages.is_empty() || options.languages.iter().any(|known| known == name);
    let names = default_backend().into_iter().chain(BACKENDS.iter().map(|make| make().name()));
    let known = |name: &str| find(BACKENDS, name).is_some() && fits(name);
    match &options.backend {
        Some(name) => known(name).then(|| name.clone()),
        None => names.into_iter().find(|name| known(name) && has_code(name)).map(str::to_owned),
    }
}

fn not_spoken(device: &Device, options: &MachineOptions) -> Error {
    let spoken: Vec<&str> = device.speaks.keys().map(String::as_str).collect();
    let wanted = options.backend.clone().unwrap_or_else(|| options.languages.join(" or "));
    let message = format!("device `{}` does not speak {wanted}", device.name);
    let help = format!("it speaks: {}; choose with `--backend`", spoken.join(", "));
    Error::plain(Class::Input, "peak::no-device-code", message, help)
}
