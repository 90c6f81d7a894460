//! Opens a session step by step: what a Rust program calls in place of the command line. Reads no environment variable of
//! its own, prints nothing, and leaves the choice of every folder to its caller.

use super::machine::MachineOptions;
use super::worker::own_program;
use super::{ProviderChoice, Session, SessionOptions};
use crate::error::Result;
use crate::library::{Loaded, Recipes, Standard, load_with};
use crate::runner::WorkerProgram;
use peak_grammar::author;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What stands before a kernel's name in the workflow that only verifies and times it.
const KERNEL_ALONE: &str = "only-";

/// What to open, under way. What is left out is as on the command line: the best device found, recorded answers, the
/// standard library that the program carries, this folder as the project.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct SessionBuilder {
    project: Option<PathBuf>,
    recipes: Vec<Recipes>,
    files: Vec<PathBuf>,
    standard: Standard,
    machine: MachineOptions,
    provider: ProviderChoice,
    toolchains: Option<PathBuf>,
}

impl SessionBuilder {
    /// The project's folder: its store (`.peak/`), recordings and mailbox.
    pub fn project(mut self, folder: impl Into<PathBuf>) -> Self {
        self.project = Some(folder.into());
        self
    }

    /// Adds recipes that the program carries: of a macro, or of a builder.
    pub fn recipes(mut self, recipes: impl Into<Recipes>) -> Self {
        self.recipes.push(recipes.into());
        self
    }

    /// Adds a `.peak` file on disk.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.push(path.into());
        self
    }

    /// Where the standard library is, if not in the program.
    pub fn standard_library(mut self, standard: Standard) -> Self {
        self.standard = standard;
        self
    }

    /// The backend: `cuda`, `hlsl`.
    pub fn backend(mut self, name: &str) -> Self {
        self.machine.backend = Some(name.to_owned());
        self
    }

    /// The device: a piece of its name, its index in `peak doctor`, or a device of the library.
    pub fn device(mut self, name: &str) -> Self {
        self.machine.device = Some(name.to_owned());
        self
    }

    /// Who is asked for completions: `recorded` (where nothing is said), `mailbox`, ...
    pub fn provider(mut self, name: &str) -> Self {
        self.provider.name = Some(name.to_owned());
        self
    }

    /// A folder of recordings: read first, and written to where the provider is not `recorded`.
    pub fn recordings(mut self, folder: impl Into<PathBuf>) -> Self {
        self.provider.record = Some(folder.into());
        self
    }

    /// The mailbox's folder.
    pub fn mailbox(mut self, folder: impl Into<PathBuf>) -> Self {
        self.provider.mailbox = Some(folder.into());
        self
    }

    /// How long to wait for an answer.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.provider.timeout = Some(timeout);
        self
    }

    /// Who answers, for recordings, where the provider cannot know.
    pub fn model(mut self, name: &str) -> Self {
        self.provider.model = Some(name.to_owned());
        self
    }

    /// The folder of the toolchains, if not where `scripts/setup` put them.
    pub fn toolchains(mut self, folder: impl Into<PathBuf>) -> Self {
        self.toolchains = Some(folder.into());
        self
    }

    /// The `peak` program that serves as worker; else this one, whose `main` begins with [`worker`](super::worker()).
    pub fn worker(mut self, program: &Path) -> Self {
        self.machine.worker = Some(WorkerProgram::at(program));
        self
    }

    /// Reads and checks all recipes, without a device.
    ///
    /// # Errors
    /// Every error in them.
    pub fn load(&self) -> Result<Loaded> {
        load_with(&self.files, &self.recipes, self.standard.clone()).clean()
    }

    /// Opens everything that a workflow needs.
    ///
    /// # Errors
    /// Every error of the recipes, an unknown workflow, no worker program, no device or toolchain, a provider that does
    /// not open, a store that cannot be written.
    pub fn open(&self, workflow: impl AsRef<str>) -> Result<Session> {
        let loaded = self.load()?;
        let project = self.project.clone().unwrap_or_else(|| PathBuf::from("."));
        let mut provider = self.provider.clone();
        if provider.asks_nobody(&project) && provider.record_command.is_none() {
            provider.record_command = Some(format!(
                "`Session::builder()` with `.provider(\"mailbox\")` and `.recordings(\"{}\")`",
                super::PROJECT_RECORDINGS
            ));
        }
        let options = SessionOptions {
            workflow: workflow.as_ref(),
            project: &project,
            machine: self.machine(&project)?,
            provider,
        };
        Session::open(loaded, &options)
    }

    /// Opens everything that a kernel needs to be verified and timed as it stands, with no step after it.
    ///
    /// # Errors
    /// As [`SessionBuilder::open`].
    pub fn open_kernel(&self, kernel: impl AsRef<str>) -> Result<Session> {
        let kernel = kernel.as_ref();
        let alone = author::Workflow::new(&format!("{KERNEL_ALONE}{kernel}")).start_from(kernel).keep_best();
        self.clone().recipes(&alone).open(format!("{KERNEL_ALONE}{kernel}"))
    }

    fn machine(&self, project: &Path) -> Result<MachineOptions> {
        let mut worker = match &self.machine.worker {
            Some(program) => program.clone(),
            None => own_program()?,
        };
        let toolchains = self.toolchains.iter().map(|folder| ("PEAK_TOOLCHAINS".into(), folder.into()));
        worker.variables.extend(toolchains);
        let artifacts = project.join(crate::store::FOLDER).join("artifacts");
        Ok(MachineOptions { artifacts: Some(artifacts), quiet: true, worker: Some(worker), ..self.machine.clone() })
    }
}
