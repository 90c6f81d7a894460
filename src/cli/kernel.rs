//! The arguments that choose a kernel, its configuration and what it is compiled for; `disasm` and `profile` share them.

use super::check::load_clean;
use super::output::App;
use super::{only, usage};
use crate::context::{Configuration, KernelContext};
use crate::error::{Class, Error, Result};
use crate::library::Loaded;
use crate::provider::DEFAULT_PROVIDER;
use crate::session::{
    Choice, Chosen, Compiled, Compiler, LowerRequest, MachineOptions, ProviderChoice, SessionError, choose,
    open_provider, start_context, templates,
};
use crate::store::{Checkpoint, StoreError};
use crate::workflow::{Told, inputs_words};
use indexmap::IndexMap;
use peak_backend_api::{ArtifactKind, Disassembly};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Which kernel, compiled how.
#[derive(clap::Args, Default)]
pub struct KernelArguments {
    /// A kernel of the library, a checkpoint as `peak show` takes it, or a `.peak` file that declares a kernel; else the
    /// current checkpoint.
    #[arg(value_name = "KERNEL|CHECKPOINT|FILE")]
    what: Option<String>,
    /// The kernel, where a file declares several, or none and transforms one.
    #[arg(long, short = 'k', value_name = "NAME")]
    kernel: Option<String>,
    /// Transformations to apply first, in order, from recordings; their answers are checked, and not validated.
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    after: Vec<String>,
    /// The backend: cuda or hlsl.
    #[arg(long)]
    backend: Option<String>,
    /// What to compile for: a device of this machine or of the library; it is not opened.
    #[arg(long)]
    device: Option<String>,
    /// The value of a tuning parameter; may be given again.
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    config: Vec<(String, i64)>,
    /// The value of a scalar input; may be given again.
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    at: Vec<(String, i64)>,
    /// One entry point alone.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// What the code is shown as; PTX or SPIR-V where nothing is said. SASS, the machine code, needs nvdisasm.
    #[arg(long, value_enum, value_name = "FORM")]
    form: Option<Form>,
}

/// What code is shown as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
#[allow(missing_docs, reason = "each is the form of its name")]
pub enum Form {
    Ptx,
    Sass,
    Spirv,
}

/// A kernel, compiled, with its code as text.
pub(super) struct Shown {
    pub context: KernelContext,
    /// What the context is, in words: a kernel, or a checkpoint.
    pub name: String,
    pub chosen: Chosen,
    pub compiler: Compiler,
    pub compiled: Compiled,
    pub code: Disassembly,
    /// The entry that was asked for.
    pub entry: Option<String>,
}

/// A kernel or checkpoint by name, in the language `backend`, with what its winner was.
pub(super) fn named(
    app: &App,
    loaded: &Loaded,
    name: &str,
    backend: &str,
    choice: Choice,
) -> Result<(KernelContext, Choice)> {
    let arguments = KernelArguments {
        what: Some(name.to_owned()),
        at: choice.inputs.into_iter().collect(),
        ..KernelArguments::default()
    };
    match arguments.meant(app, loaded)? {
        (_, Some(found)) => {
            let choice = Choice { configuration: choice.configuration, ..arguments.choice(Some(&found)) };
            Ok((found.1, choice))
        }
        (kernel, None) => {
            let choice = Choice { configuration: choice.configuration, ..arguments.choice(None) };
            Ok((start_context(loaded, &kernel.ok_or_else(nothing_named)?, backend)?, choice))
        }
    }
}

impl KernelArguments {
    /// Finds the kernel, compiles it and reads its code.
    pub(super) fn open(&self, app: &App) -> Result<Shown> {
        let files: Vec<PathBuf> = self.file().into_iter().collect();
        let loaded = load_clean(app, &files)?;
        let (kernel, checkpoint) = self.meant(app, &loaded)?;
        let compiler =
            Compiler::open(&loaded.ir, &self.machine(app, &loaded, kernel.as_deref(), checkpoint.as_ref())?)?;
        let (context, name) = match (&checkpoint, &kernel) {
            (Some((checkpoint, context)), _) => (context.clone(), checkpoint.full_name()),
            (None, Some(kernel)) => (self.context(app, &loaded, kernel, &compiler)?, self.name(kernel)),
            (None, None) => return Err(nothing_named()),
        };
        let chosen = choose(&context, &self.choice(checkpoint.as_ref()), &compiler.facts)?;
        let compiled = compiler.compile(&context, &chosen, self.form.map(kind))?;
        let code = compiler.disassemble(&compiled.artifact)?;
        let shown = Shown { context, name, chosen, compiler, compiled, code, entry: self.entry.clone() };
        shown.check_entry()?;
        Ok(shown)
    }

    /// What was named, where it is a file.
    fn file(&self) -> Option<PathBuf> {
        let what = Path::new(self.what.as_deref()?);
        (what.extension().is_some_and(|extension| extension == "peak") || what.is_file()).then(|| what.to_owned())
    }

    /// A kernel by name, or a checkpoint with its context.
    #[allow(clippy::type_complexity, reason = "one of two, spelled out")]
    fn meant(&self, app: &App, loaded: &Loaded) -> Result<(Option<String>, Option<(Checkpoint, KernelContext)>)> {
        let kernels = &loaded.ir.kernels;
        let is_kernel = |name: &str| kernels.contains_key(name);
        if let Some(kernel) = &self.kernel {
            return match is_kernel(kernel) {
                true => Ok((Some(kernel.clone()), None)),
                false => Err(SessionError::unknown("kernel", kernel, kernels.keys().map(String::as_str)).into()),
            };
        }
        if let Some(file) = self.file() {
            return Ok((Some(declared(loaded, &file)?), None));
        }
        if let Some(name) = self.what.as_deref().filter(|name| is_kernel(name)) {
            return Ok((Some(name.to_owned()), None));
        }
        if !self.after.is_empty() {
            return Err(usage("`--after` is applied to a kernel", "name the kernel: matmul-f32 --after refactor"));
        }
        self.checkpoint(app, loaded).map(|found| (None, Some(found)))
    }

    fn checkpoint(&self, app: &App, loaded: &Loaded) -> Result<(Checkpoint, KernelContext)> {
        let unknown = |name: &str| {
            let known = loaded.ir.kernels.keys().map(String::as_str);
            SessionError::unknown("kernel or checkpoint", name, known)
        };
        let store = match (app.store(), &self.what) {
            (Ok(store), _) => store,
            (Err(_), Some(name)) if crate::store::find_file(&app.project).is_none() => return Err(unknown(name).into()),
            (Err(_), None) if crate::store::find_file(&app.project).is_none() => return Err(nothing_named()),
            (Err(error), _) => return Err(error),
        };
        let checkpoint = match &self.what {
            Some(name) => store.resolve(name).map_err(|error| match error {
                StoreError::UnknownCheckpoint { .. } => unknown(name).into(),
                other => Error::from(other),
            })?,
            None => super::show::find(&store, None)?,
        };
        let context = store.context(&checkpoint)?;
        if let Some(backend) = self.backend.as_ref().filter(|backend| **backend != context.backend) {
            let message = format!("{} is in {}, not in {backend}", checkpoint.full_name(), context.backend);
            return Err(usage(&message, "leave `--backend` out, or name a kernel of the library"));
        }
        Ok((checkpoint, context))
    }

    fn machine(
        &self,
        app: &App,
        loaded: &Loaded,
        kernel: Option<&str>,
        checkpoint: Option<&(Checkpoint, KernelContext)>,
    ) -> Result<MachineOptions> {
        let kernel = kernel.and_then(|name| loaded.ir.kernels.get(name));
        Ok(MachineOptions {
            device: self.device.clone(),
            languages: kernel.map(|kernel| kernel.code.keys().cloned().collect()).unwrap_or_default(),
            backend: checkpoint.map(|(_, context)| context.backend.clone()).or(self.backend.clone()),
            artifacts: None,
            quiet: app.quiet,
            worker: None,
        })
    }

    /// The kernel's start, with the transformations of `--after`.
    fn context(&self, app: &App, loaded: &Loaded, kernel: &str, compiler: &Compiler) -> Result<KernelContext> {
        let Some((transformation, after)) = self.after.split_last() else {
            return start_context(loaded, kernel, compiler.backend().name());
        };
        let recorded = ProviderChoice { name: Some(DEFAULT_PROVIDER.to_owned()), ..ProviderChoice::default() };
        let provider = open_provider(&recorded, &app.project, loaded.standard())?;
        let templates = templates(loaded.standard())?;
        let request = LowerRequest {
            loaded,
            transformation,
            kernel,
            after,
            backend: compiler.backend(),
            device: compiler.device.as_ref(),
            facts: &compiler.facts,
            provider: provider.as_ref(),
            templates: &templates,
            counters: false,
            format: recorded.format(),
        };
        let mut told = |told: Told<'_>| {
            if let Told::Note(note) = told {
                app.say(note);
            }
        };
        Ok(request.lower(None, &mut told)?.after)
    }

    fn name(&self, kernel: &str) -> String {
        match self.after.is_empty() {
            true => kernel.to_owned(),
            false => format!("{kernel} after {}", self.after.join(", ")),
        }
    }

    fn choice(&self, checkpoint: Option<&(Checkpoint, KernelContext)>) -> Choice {
        let inputs: IndexMap<String, i64> = self.at.iter().cloned().collect();
        let results = checkpoint.map(|(checkpoint, _)| checkpoint.results.as_slice()).unwrap_or_default();
        let same = |name: &String, value: &i64| inputs.get(name).is_none_or(|wanted| wanted == value);
        let result = results.iter().find(|result| result.inputs.iter().all(|(name, value)| same(name, value)));
        let result = result.or(results.first());
        let mut at = result.map(|result| result.inputs.clone()).unwrap_or_default();
        at.extend(inputs.clone());
        Choice {
            inputs: at,
            configuration: self.config.iter().cloned().collect(),
            usual: result.map(|result| result.configuration.clone()),
        }
    }
}

impl Shown {
    /// The entry points that are meant.
    pub(super) fn entries(&self) -> impl Iterator<Item = &peak_backend_api::ReflectedEntry> {
        let wanted = |name: &str| self.entry.as_deref().is_none_or(|entry| entry == name);
        self.compiled.artifact.entries.iter().filter(move |entry| wanted(&entry.name))
    }

    fn check_entry(&self) -> Result<()> {
        let Some(entry) = self.entry.as_deref() else { return Ok(()) };
        if self.entries().next().is_some() {
            return Ok(());
        }
        let known = self.compiled.artifact.entries.iter().map(|entry| entry.name.as_str());
        let names: Vec<&str> = known.collect();
        let help = format!("it has: {}", names.join(", "));
        Err(SessionError::UnknownName { kind: "entry point", name: entry.to_owned(), help }.into())
    }

    /// What was compiled, for what and by whom.
    pub(super) fn words(&self) -> String {
        format!(
            "{}: {} for {}; {}; {}",
            self.name,
            self.code.language.name(),
            self.compiler.device_name,
            inputs_words(&self.chosen.inputs),
            configuration_words(&self.chosen.configuration)
        )
    }

    /// What every event of these commands holds.
    pub(super) fn fields(&self) -> serde_json::Value {
        json!({
            "kernel": self.context.kernel.name,
            "name": self.name,
            "context": self.context.hash(),
            "backend": self.context.backend,
            "device": self.compiler.device_name,
            "inputs": self.chosen.inputs,
            "configuration": self.chosen.configuration,
            "compiler": self.compiled.artifact.compiler,
            "language": self.code.language,
            "tool": self.code.tool,
        })
    }
}

/// The only kernel that a file declares.
fn declared(loaded: &Loaded, file: &Path) -> Result<String> {
    let file = file.display().to_string();
    let kernels = loaded.ir.kernels.values().filter(|kernel| kernel.origin.file == file);
    only(&file, "kernel", "-k", kernels.map(|kernel| kernel.name.as_str()))
}

fn nothing_named() -> Error {
    let help = "name a kernel (`peak list kernel` shows them), a checkpoint (`peak log`) or a file";
    Error::plain(Class::Usage, "peak::usage", "which kernel? There is no current checkpoint here", help)
}

fn kind(form: Form) -> ArtifactKind {
    match form {
        Form::Ptx => ArtifactKind::Ptx,
        Form::Sass => ArtifactKind::Cubin,
        Form::Spirv => ArtifactKind::Spirv,
    }
}

pub(super) fn configuration_words(configuration: &Configuration) -> String {
    configuration.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// Reads `NAME=VALUE`.
pub(super) fn assignment(text: &str) -> std::result::Result<(String, i64), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, such as BLOCK_X=16")?;
    let value = value.trim().parse().map_err(|_| format!("`{}` is no whole number", value.trim()))?;
    Ok((name.trim().to_owned(), value))
}
