//! A session: the library, a machine, a provider and a store, put together to run workflows and lower transformations.
//!
//! The command line is a thin user of this; a Rust program may be another (`spec/embedding.md`), through
//! [`Session::builder`]. Everything that can be missing on a machine is opened here, and is an error with its class and
//! what to do; nothing here judges a kernel, prints, or ends the process.

mod bench;
mod builder;
mod compiler;
mod configuration;
mod context;
mod count;
mod error;
mod lower;
mod machine;
mod packs;
mod providers;
mod reach;
mod recordings;
mod resume;
mod steps;
mod unfit;
mod worker;
mod written;

pub use bench::{Bench, Contender, Ready};
pub use builder::SessionBuilder;
pub use compiler::{Compiled, Compiler};
pub use configuration::{Choice, Chosen, choose};
pub use context::start_context;
pub use count::{COUNTED_BLOCKS, count};
pub use error::SessionError;
pub use lower::{LowerRequest, Lowered, failure_class};
pub use machine::{Machine, MachineOptions};
pub use packs::conflicts;
pub use providers::{
    Called, PROJECT_RECORDINGS, ProviderChoice, Standing, call_provider, open_provider, standing_providers, templates,
};
pub use reach::unreachable;
pub use recordings::{Asked, RecordingFile, State as RecordingState, Survey, Walked};
pub use unfit::unfit;
pub use worker::worker;

use crate::context::KernelContext;
use crate::error::Result;
use crate::library::Loaded;
use crate::lowering::Templates;
use crate::provider::{DEFAULT_PROVIDER, Provider};
use crate::store::{Checkpoint, Store};
use crate::tune::TuneTiming;
use crate::workflow::{self, Environment, Observer, Options, Outcome, WorkflowError};
use peak_grammar::ir::Workflow;
use peak_grammar::specialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A workflow's run, opened and ready.
pub struct Session {
    loaded: Loaded,
    machine: Machine,
    provider: Box<dyn Provider>,
    templates: Templates,
    store: Store,
    workflow: Workflow,
    stop: Arc<AtomicBool>,
    choice: ProviderChoice,
    project: PathBuf,
}

/// What to open a session for.
#[derive(Clone, Debug)]
pub struct SessionOptions<'a> {
    /// The workflow's name.
    pub workflow: &'a str,
    /// The project's folder.
    pub project: &'a Path,
    /// Device and backend.
    pub machine: MachineOptions,
    /// Who is asked for completions.
    pub provider: ProviderChoice,
}

impl Session {
    /// Says step by step what to open, for a program; see [`SessionBuilder`].
    pub fn builder() -> SessionBuilder {
        SessionBuilder::default()
    }

    /// Opens everything that a workflow needs.
    ///
    /// # Errors
    /// An unknown workflow, no device or toolchain, a provider that does not open, a store that cannot be written.
    pub fn open(loaded: Loaded, options: &SessionOptions<'_>) -> Result<Session> {
        // Before any device is asked: a misspelt name should not wait for a driver.
        if workflows(&loaded, options.workflow).next().is_none() {
            if let Some(build) = loaded.ir.builds.get(options.workflow) {
                let what = format!("the build `{}` ({} combinations)", build.name, build.combinations);
                return Err(WorkflowError::NotBuilt { what }.into());
            }
            return Err(SessionError::unknown_workflow(&loaded.ir, options.workflow).into());
        }
        let languages = workflows(&loaded, options.workflow)
            .filter_map(|workflow| loaded.ir.kernels.get(&workflow.kernel))
            .flat_map(|kernel| kernel.code.keys().cloned())
            .collect();
        let machine = Machine::open(&loaded.ir, &MachineOptions { languages, ..options.machine.clone() })?;
        let device = machine.device().map(|device| device.name.as_str());
        let workflow = specialize::workflow(&loaded.ir, options.workflow, device, Some(machine.backend().name()))
            .map_err(|error| SessionError::Specialize { message: error.to_string() })?
            .clone();
        let templates = templates(loaded.standard())?;
        let provider = open_provider(&options.provider, options.project, loaded.standard())?;
        let store = match crate::store::find_file(options.project) {
            Some(_) => Store::find(options.project)?,
            None => Store::open(options.project)?,
        };
        let stop = Arc::clone(&options.provider.stop);
        let (choice, project) = (options.provider.clone(), options.project.to_owned());
        Ok(Session { loaded, machine, provider, templates, store, workflow, stop, choice, project })
    }

    /// The workflow that was chosen.
    #[must_use]
    pub fn workflow(&self) -> &Workflow {
        &self.workflow
    }

    /// The machine that was chosen.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Ends the run at its next safe point, once somebody sets it: another thread, or the handler of a signal.
    #[must_use]
    pub fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Every declaration, with its text and the warnings about it.
    #[must_use]
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// The project's store: runs, measurements, attempts, and checkpoints by name.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// A run's checkpoints, the baseline first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn checkpoints(&self, outcome: &Outcome) -> Result<Vec<Checkpoint>> {
        let mut all = self.store.checkpoints()?;
        all.retain(|checkpoint| checkpoint.run.id == outcome.finished.run);
        Ok(all)
    }

    /// The kernel as it is at a run's best checkpoint.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn best(&self, outcome: &Outcome) -> Result<KernelContext> {
        self.context(&outcome.finished.best.checkpoint)
    }

    /// The kernel as it is at a checkpoint, named as for `peak show`: `NAME`, `RUN/NAME`, its number or hash.
    ///
    /// # Errors
    /// There is no such checkpoint, or the store cannot be read.
    pub fn context(&self, checkpoint: &str) -> Result<KernelContext> {
        let checkpoint = self.store.resolve(checkpoint)?;
        Ok(self.store.context(&checkpoint)?)
    }

    /// Carries out the workflow. A step that fails is a row of the outcome, and no error.
    ///
    /// # Errors
    /// As [`workflow::run`], and a kernel whose source cannot be read.
    pub fn run(&mut self, options: Options, observer: &mut dyn Observer) -> Result<Outcome> {
        let context = start_context(&self.loaded, &self.workflow.kernel, self.machine.backend().name())?;
        let replays = self.provider.name() == DEFAULT_PROVIDER;
        let parts = self.machine.parts();
        let mut environment = Environment {
            library: &self.loaded.ir,
            info: parts.info,
            device: parts.device,
            facts: parts.facts,
            backend: parts.backend,
            toolchain: parts.toolchain,
            compile: parts.compile,
            execute: parts.execute,
            provider: self.provider.as_ref(),
            replays,
            templates: &self.templates,
            format: self.choice.format(),
            store: &mut self.store,
            timing: TuneTiming::for_device(parts.info.kind),
            options,
            cancelled: &self.stop,
        };
        Ok(workflow::run(&self.workflow, context, &mut environment, observer)?)
    }
}

/// Every workflow of a name: each device may have its own.
fn workflows<'a>(loaded: &'a Loaded, name: &'a str) -> impl Iterator<Item = &'a Workflow> {
    let packs = loaded.ir.packs.values().flat_map(|pack| pack.workflows.values());
    loaded.ir.workflows.iter().chain(packs).filter(move |workflow| workflow.name == name)
}
