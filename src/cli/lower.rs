//! `peak lower`: one transformation on one kernel, outside a workflow, with every stage on the way to be printed.

use super::check::load_clean;
use super::output::App;
use super::providers::{ProviderArguments, asking_line, stop_on_interrupt};
use super::{only, quoted, usage};
use crate::backends::{BACKENDS, backend, default_backend};
use crate::context::KernelContext;
use crate::context::scope::Facts;
use crate::context::source::compile_request;
use crate::error::{Class, Error, Result};
use crate::library::Loaded;
use crate::lowering::{edit_scripts, edits, source};
use crate::provider::{CompletionRequest, DEFAULT_PROVIDER};
use crate::session::{
    Choice, Chosen, LowerRequest, Lowered, Machine, MachineOptions, PROJECT_RECORDINGS, ProviderChoice, SessionError,
    choose, open_provider, templates,
};
use crate::store::Store;
use crate::workflow::{Told, inputs_words};
use peak_grammar::ir::{Device, Region};
use peak_grammar::specialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Carries out a transformation on a kernel, and prints what it changed, or a stage on the way.
///
/// With a device, each pass is compiled and validated as in a workflow; with `--no-run`, answers are only checked.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak lower -t refactor --emit prompt               what a model is asked\n  \
    peak lower -t tb-tiling --after refactor           what the recorded answers change, judged on the device\n  \
    peak lower mine.peak --no-run --provider mailbox   answer yourself, in a folder")]
pub struct Arguments {
    /// A `.peak` file that declares the transformation.
    file: Option<PathBuf>,
    /// The transformation; the file's only one where nothing is said.
    #[arg(long, short = 't', value_name = "NAME")]
    transformation: Option<String>,
    /// The kernel it is carried out on.
    #[arg(long, short = 'k', default_value = "matmul-f32", value_name = "NAME")]
    kernel: String,
    /// Transformations to apply first, in order, from recordings.
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    after: Vec<String>,
    /// The stage to print; without it, the edits as a diff.
    #[arg(long, value_enum)]
    emit: Option<Emit>,
    /// The pass whose prompt is printed, or PASS.REGION; the answers before it come from the provider. The first where
    /// nothing is said.
    #[arg(long, value_name = "PASS")]
    pass: Option<String>,
    /// Where the artifact is written; else its text is printed.
    #[arg(long, short = 'o', value_name = "FILE")]
    output: Option<PathBuf>,
    /// The backend: cuda or hlsl.
    #[arg(long)]
    backend: Option<String>,
    /// The device: a piece of its name, its index in `peak doctor`, or a device of the library (the last alone with
    /// `--no-run`).
    #[arg(long)]
    device: Option<String>,
    /// Check answers, but compile and run nothing.
    #[arg(long)]
    no_run: bool,
    /// Tell the model what the kernel executes, line by line, where the device counts it (the simulator does).
    #[arg(long, conflicts_with = "no_run")]
    counters: bool,
    #[command(flatten)]
    provider: ProviderArguments,
}

/// A stage from text to code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Emit {
    /// The file's syntax tree, as JSON.
    Ast,
    /// The file's declarations, resolved and typed, as JSON.
    Ir,
    /// Passes and requests with every name resolved, as JSON.
    Plan,
    /// The first prompt, or that of `--pass`, as it would be sent.
    Prompt,
    /// The edits of each region, as a script in JSON and as a diff.
    Edits,
    /// The three regions.
    Source,
    /// The compiled code.
    Artifact,
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        if self.pass.is_some() && self.emit != Some(Emit::Prompt) {
            return Err(usage("`--pass` chooses the prompt to print", "say `--emit prompt` too"));
        }
        if self.output.is_some() && self.emit != Some(Emit::Artifact) {
            return Err(usage(
                "`-o` is where an artifact is written",
                "say `--emit artifact` too, or redirect the output",
            ));
        }
        self.provider.choice(None).check(&app.project)?;
        if self.emit == Some(Emit::Ast) {
            return self.emit_ast(app);
        }
        let files: Vec<PathBuf> = self.file.iter().cloned().collect();
        let loaded = load_clean(app, &files)?;
        if self.emit == Some(Emit::Ir) {
            return emitted(app, "ir", &self.declared(&loaded)?);
        }
        let transformation = self.chosen(&loaded)?;
        // Printing a plan or a prompt runs nothing, unless answers before it must be judged.
        let prints =
            matches!(self.emit, Some(Emit::Plan | Emit::Prompt)) && self.after.is_empty() && self.pass.is_none();
        if self.no_run {
            return self.without_machine(app, &loaded, &transformation);
        }
        match self.machine(app, &loaded) {
            Ok(machine) => self.with_machine(app, &loaded, &transformation, machine, prints),
            // What is printed alone can do without: for a device of the library that is not here, or for none.
            Err(error) if prints && self.does_without(&loaded, &error) => {
                app.say(&format!("no device was opened: {error}"));
                self.without_machine(app, &loaded, &transformation)
            }
            Err(error) => Err(error),
        }
    }

    fn machine(&self, app: &App, loaded: &Loaded) -> Result<Machine> {
        let options = MachineOptions {
            device: self.device.clone(),
            languages: loaded
                .ir
                .kernels
                .get(&self.kernel)
                .map(|kernel| kernel.code.keys().cloned().collect())
                .unwrap_or_default(),
            backend: self.backend.clone(),
            artifacts: None,
            quiet: app.quiet,
            worker: None,
        };
        Machine::open(&loaded.ir, &options)
    }

    fn does_without(&self, loaded: &Loaded, error: &Error) -> bool {
        match &self.device {
            Some(name) => loaded.ir.devices.contains_key(name),
            None => error.class == Class::Environment,
        }
    }

    /// Who is asked; an interrupt stops a request that is under way.
    fn choice(&self, app: &App, transformation: &str) -> ProviderChoice {
        let choice = self.provider.choice(Some(self.record_command(transformation)));
        match choice.asks_nobody(&app.project) {
            true => choice,
            false => ProviderChoice { stop: stop_on_interrupt(), listener: Arc::new(asking_line(app)), ..choice },
        }
    }

    fn emit_ast(&self, app: &App) -> Result<()> {
        let file = self.need_file()?;
        let bytes = std::fs::read(file).map_err(|error| {
            let message = format!("{} cannot be read: {error}", file.display());
            Error::plain(Class::Input, "peak::unreadable-file", message, "check the path")
        })?;
        let (tree, diagnostics) =
            peak_grammar::parse(&peak_grammar::SourceFile { name: file.display().to_string(), bytes });
        emitted(app, "ast", &tree)?;
        match diagnostics.iter().any(peak_grammar::Diagnostic::is_error) {
            // `check` tells of them in full.
            true => load_clean(app, std::slice::from_ref(file)).map(|_| ()),
            false => Ok(()),
        }
    }

    fn need_file(&self) -> Result<&PathBuf> {
        self.file
            .as_ref()
            .ok_or_else(|| usage("this stage is one of a file", "name the file: peak lower FILE --emit ast"))
    }

    /// The declarations of the file.
    fn declared(&self, loaded: &Loaded) -> Result<serde_json::Value> {
        let name = self.need_file()?.display().to_string();
        let library = &loaded.ir;
        let mut own = peak_grammar::ir::Library { version: library.version, ..Default::default() };
        macro_rules! keep {
            ($($kind:ident),*) => {
                $(own.$kind = library.$kind.iter().filter(|(_, item)| item.origin.file == name)
                    .map(|(key, item)| (key.clone(), item.clone())).collect();)*
            };
        }
        keep!(kernels, utilities, transformations, devices, packs);
        own.workflows = library.workflows.iter().filter(|item| item.origin.file == name).cloned().collect();
        Ok(json!(own))
    }

    /// The transformation that is meant.
    fn chosen(&self, loaded: &Loaded) -> Result<String> {
        if let Some(name) = &self.transformation {
            return Ok(name.clone());
        }
        let file = self.file.as_ref().map(|file| file.display().to_string()).ok_or_else(|| {
            usage("which transformation?", "name a file that declares it, or one of the library: -t NAME")
        })?;
        let transformations = loaded.ir.transformations.values();
        let own = transformations.filter(|transformation| transformation.origin.file == file);
        only(&file, "transformation", "-t", own.map(|transformation| transformation.name.as_str()))
    }

    fn without_machine(&self, app: &App, loaded: &Loaded, transformation: &str) -> Result<()> {
        let name = self.backend.as_deref().unwrap_or_else(|| first_backend());
        let backend = backend(name).ok_or_else(|| unknown_backend(name))?;
        let device = self.device.as_deref().map(|name| library_device(loaded, name)).transpose()?;
        let facts: Facts =
            device.map(|device| specialize::with_facts(&loaded.ir, device).facts_for(name)).unwrap_or_default();
        let choice = self.choice(app, transformation);
        let provider = open_provider(&choice, &app.project, loaded.standard())?;
        let templates = templates(loaded.standard())?;
        let request = LowerRequest {
            loaded,
            transformation,
            kernel: &self.kernel,
            after: &self.after,
            backend: backend.as_ref(),
            device,
            facts: &facts,
            provider: provider.as_ref(),
            templates: &templates,
            counters: self.counters,
            format: choice.format(),
        };
        if self.emit == Some(Emit::Artifact) {
            return Err(usage("an artifact needs a machine that compiles it", "leave out `--no-run`"));
        }
        self.show(app, &request, None).map(|_| ())
    }

    /// `prints`: the machine says what the device is, and nothing is compiled or run.
    fn with_machine(
        &self,
        app: &App,
        loaded: &Loaded,
        transformation: &str,
        mut machine: Machine,
        prints: bool,
    ) -> Result<()> {
        let backend = backend(machine.backend().name()).ok_or_else(|| unknown_backend(machine.backend().name()))?;
        let device = machine.device().cloned();
        let facts = machine.parts().facts.clone();
        let choice = self.choice(app, transformation);
        let provider = open_provider(&choice, &app.project, loaded.standard())?;
        let templates = templates(loaded.standard())?;
        let request = LowerRequest {
            loaded,
            transformation,
            kernel: &self.kernel,
            after: &self.after,
            backend: backend.as_ref(),
            device: device.as_ref(),
            facts: &facts,
            provider: provider.as_ref(),
            templates: &templates,
            counters: self.counters,
            format: choice.format(),
        };
        if prints {
            return self.show(app, &request, None).map(|_| ());
        }
        let mut store = Store::open(&app.project)?;
        let lowered = self.show(app, &request, Some((&mut machine, &mut store)))?;
        match (self.emit, lowered) {
            (Some(Emit::Artifact), Some(lowered)) => self.artifact(app, &lowered.after, &mut machine, &facts),
            _ => Ok(()),
        }
    }

    /// How to replay what this run recorded, where it recorded.
    fn replay(&self, project: &Path, transformation: &str) -> Option<String> {
        let choice = self.provider.choice(None);
        let folder = choice.record.as_ref().filter(|_| !choice.asks_nobody(project))?.display().to_string();
        let from =
            (folder.trim_end_matches('/') != PROJECT_RECORDINGS).then(|| format!(" --record {}", quoted(&folder)));
        let command = self.command(transformation, &from.unwrap_or_default());
        Some(format!("recorded in {folder}; to replay: {command}"))
    }

    /// The command line that records what this one lacks.
    fn record_command(&self, transformation: &str) -> String {
        self.command(transformation, &format!(" --provider mailbox --record {PROJECT_RECORDINGS}"))
    }

    /// This command line, with other words about who is asked.
    fn command(&self, transformation: &str, provider: &str) -> String {
        let option = |name: &str, value: Option<&str>| value.map(|value| format!(" --{name} {}", quoted(value)));
        let file = self.file.as_ref().map(|file| format!(" {}", quoted(&file.display().to_string())));
        let after = (!self.after.is_empty()).then(|| self.after.join(","));
        let words = [
            file,
            Some(format!(" -t {transformation} -k {}", self.kernel)),
            option("after", after.as_deref()),
            option("backend", self.backend.as_deref()),
            option("device", self.device.as_deref()),
            self.no_run.then(|| " --no-run".to_owned()),
            Some(provider.to_owned()),
        ];
        format!("peak lower{}", words.into_iter().flatten().collect::<String>())
    }

    /// Prints the stage; what was lowered, where something was.
    fn show(
        &self,
        app: &App,
        request: &LowerRequest<'_>,
        machine: Option<(&mut Machine, &mut Store)>,
    ) -> Result<Option<Lowered>> {
        let judges = machine.is_some();
        let mut told = |told: Told<'_>| match told {
            // Without a machine, the checks of the text are all that there is.
            Told::Doing(doing) if !judges && doing.starts_with("validating ") => {
                app.say(&format!("{}: {}", request.transformation, doing.replacen("validating", "checking", 1)));
            }
            Told::Doing(doing) => app.say(&format!("{}: {doing}", request.transformation)),
            Told::Note(note) => app.say(&format!("{}: rejected: {note}", request.transformation)),
            Told::Prompt(_) => {}
        };
        match self.emit {
            Some(Emit::Plan) => {
                let (_, plan) = request.plan(machine, &mut told)?;
                return emitted(app, "plan", &plan).map(|()| None);
            }
            Some(Emit::Prompt) => {
                show_prompt(app, request.prompt(self.pass.as_deref(), machine, &mut told)?);
                return Ok(None);
            }
            _ => {}
        }
        let lowered = request.lower(machine, &mut told)?;
        match self.emit {
            Some(Emit::Edits) => show_edits(app, &lowered),
            Some(Emit::Source) => {
                app.print(&source(&lowered.after));
                app.event("emitted", json!({"stage": "source", "content": lowered.after.regions}));
            }
            Some(Emit::Artifact) => {}
            _ => {
                let diff = edits(&lowered.before, &lowered.after);
                app.print(&diff);
                app.event("emitted", json!({"stage": "diff", "content": diff}));
            }
        }
        app.event("lowered", lowered_fields(request, &lowered));
        app.say(&verdict(request, &lowered));
        if let Some(words) = self.replay(&app.project, request.transformation) {
            app.say(&words);
        }
        Ok(Some(lowered))
    }

    fn artifact(&self, app: &App, context: &KernelContext, machine: &mut Machine, facts: &Facts) -> Result<()> {
        let Chosen { configuration, plan, inputs } = choose(context, &Choice::default(), facts)?;
        let parts = machine.parts();
        let target = parts.info.target.clone().unwrap_or_default();
        let request = compile_request(context, &configuration, &plan, parts.backend, &target, facts);
        let artifact = parts.compile.compile(&request).map_err(|failure| {
            Error::plain(Class::Validation, "peak::failed-compile", failure.to_string(), failure.facts.join("\n"))
        })?;
        let words =
            configuration.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ");
        app.say(&format!(
            "{} bytes by {} for {}; {words}",
            artifact.bytes.len(),
            artifact.compiler,
            inputs_words(&inputs)
        ));
        match &self.output {
            Some(path) => std::fs::write(path, &artifact.bytes).map_err(|error| {
                let message = format!("{} cannot be written: {error}", path.display());
                Error::plain(Class::Environment, "peak::cannot-write", message, "choose another file: -o FILE")
            }),
            None => {
                app.print(&pretty(&json!({
                    "kind": artifact.kind, "entries": artifact.entries, "resources": artifact.resources,
                    "compiler": artifact.compiler, "bytes": artifact.bytes.len(),
                })));
                Ok(())
            }
        }
    }
}

/// A stage that is JSON already: as it is for people, in an event for programs.
fn emitted(app: &App, stage: &str, content: &impl serde::Serialize) -> Result<()> {
    app.print(&pretty(content));
    app.event("emitted", json!({"stage": stage, "content": content}));
    Ok(())
}

/// The edit scripts as they are applied, then what they come to.
fn show_edits(app: &App, lowered: &Lowered) {
    let (scripts, diff) = (edit_scripts(&lowered.before, &lowered.after), edits(&lowered.before, &lowered.after));
    app.print(&format!("{}\n\n{diff}", pretty(&scripts)));
    app.event("emitted", json!({"stage": "edits", "content": scripts, "diff": diff}));
}

fn show_prompt(app: &App, request: Option<CompletionRequest>) {
    let Some(CompletionRequest { prompt, identity, key, .. }) = request else {
        app.say("no model is asked: every step is mechanical");
        return;
    };
    app.print(&prompt);
    let (pass, region, repair) = (identity.pass, identity.region.map_or("choice", Region::words), identity.repair);
    let fields =
        json!({"stage": "prompt", "content": prompt, "pass": pass, "region": region, "repair": repair, "key": key});
    app.event("emitted", fields);
}

fn lowered_fields(request: &LowerRequest<'_>, lowered: &Lowered) -> serde_json::Value {
    json!({
        "transformation": request.transformation,
        "kernel": request.kernel,
        "backend": request.backend.name(),
        "judged": lowered.judged,
        "attempts": lowered.attempts,
        "context": lowered.after.hash(),
    })
}

fn verdict(request: &LowerRequest<'_>, lowered: &Lowered) -> String {
    let failed = lowered.attempts.iter().filter(|attempt| !attempt.succeeded()).count();
    let how = match lowered.judged {
        true => "applied, compiled and validated",
        false => "applied; not compiled and not run (--no-run)",
    };
    let answers = match lowered.attempts.len() {
        1 => "1 answer".to_owned(),
        count => format!("{count} answers"),
    };
    format!("{} on {}: {how}; {answers}, {failed} rejected", request.transformation, request.kernel)
}

fn first_backend() -> &'static str {
    default_backend().unwrap_or(DEFAULT_PROVIDER)
}

fn unknown_backend(name: &str) -> Error {
    let known: Vec<&str> = BACKENDS.iter().map(|make| make().name()).collect();
    SessionError::UnknownBackend { name: name.to_owned(), known: known.join(", ") }.into()
}

fn library_device<'a>(loaded: &'a Loaded, name: &str) -> Result<&'a Device> {
    let known = loaded.ir.devices.keys().map(String::as_str);
    loaded.ir.devices.get(name).ok_or_else(|| SessionError::unknown("device", name, known).into())
}

fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"))
}
