//! `peak new`: a file to start from, commented, that passes `peak check` as it is written. Overwrites nothing.

mod render;
mod templates;

use super::check::load_clean;
use super::output::App;
use super::{counted, quoted, usage};
use crate::backends::BACKENDS;
use crate::error::{Class, Error, Result};
use crate::library::Loaded;
use crate::session::SessionError;
use peak_grammar::LANGUAGES;
use render::{NewFile, Subject};
use serde_json::json;
use std::path::{Component, Path, PathBuf};

/// Writes a new file to start from: commented, and right as it stands.
///
/// A kernel comes with a source for each language and a workflow, so that it runs at once. Nothing is overwritten.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak new kernel row-sum                          then: peak run row-sum --use row-sum.peak\n  \
    peak new transformation unroll --kernel row-sum --use row-sum.peak\n  \
    peak new workflow steps --kernel row-sum --use row-sum.peak\n  \
    peak new pack mine --device nvidia-h200 --in packs\n  \
    peak new project attention                       a folder with all of these")]
pub struct Arguments {
    /// What to write.
    #[arg(value_enum)]
    kind: Option<Kind>,
    /// Its name: `kebab-case`.
    name: Option<String>,
    /// The folder to write to; it is made where it is not there.
    #[arg(long = "in", value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// The languages (cuda, hip, hlsl), for a kernel, transformation or project; those that this build runs where nothing is said.
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    backend: Vec<String>,
    /// The kernel that a transformation or workflow is for.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// A file that declares that kernel or device, if the standard library does not.
    #[arg(long = "use", value_name = "FILE")]
    file: Option<PathBuf>,
    /// The device that a pack is for.
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
}

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// A kernel with its sources, and a workflow that runs it.
    Kernel,
    /// A transformation in words.
    Transformation,
    /// What a device wants: ranges, passes, knowledge, workflows of its own.
    Pack,
    /// A device's facts.
    Device,
    /// A sequence of transformations.
    Workflow,
    /// A folder with a kernel, a transformation and a workflow.
    Project,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Kernel => "kernel",
            Kind::Transformation => "transformation",
            Kind::Pack => "pack",
            Kind::Device => "device",
            Kind::Workflow => "workflow",
            Kind::Project => "project",
        }
    }
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        let Some(kind) = self.kind else {
            tell_what_there_is(app);
            return Ok(());
        };
        let Some(name) = &self.name else {
            let message = format!("a new {} needs a name", kind.word());
            return Err(usage(&message, &format!("peak new {} NAME", kind.word())));
        };
        check_name(name)?;
        self.check_options(kind)?;
        let used: Vec<PathBuf> = self.file.iter().cloned().collect();
        let loaded = load_clean(app, &used)?;
        check_free(&loaded, kind, name)?;
        let files = self.files(kind, name, &loaded)?;
        write(&self.folder, &files)?;
        self.tell(app, kind, name, &files);
        Ok(())
    }

    /// An option that says nothing of this kind would silently be of no effect.
    fn check_options(&self, kind: Kind) -> Result<()> {
        let languages = matches!(kind, Kind::Kernel | Kind::Transformation | Kind::Project);
        let kernel = matches!(kind, Kind::Transformation | Kind::Workflow);
        let given = [
            ("--backend", !self.backend.is_empty() && !languages),
            ("--kernel", self.kernel.is_some() && !kernel),
            ("--device", self.device.is_some() && kind != Kind::Pack),
            ("--use", self.file.is_some() && self.kernel.is_none() && self.device.is_none()),
        ];
        match given.into_iter().find(|(_, idle)| *idle) {
            Some((option, _)) => {
                let message = format!("`{option}` says nothing of a new {} here", kind.word());
                Err(usage(&message, "`peak new --help` says what each option is for"))
            }
            None => Ok(()),
        }
    }

    fn files(&self, kind: Kind, name: &str, loaded: &Loaded) -> Result<Vec<NewFile>> {
        let subject = self.kernel.as_ref().map(|kernel| self.subject(loaded, kernel)).transpose()?;
        let languages = self.languages()?;
        Ok(match kind {
            Kind::Kernel => render::kernel(name, &languages),
            Kind::Transformation => render::transformation(name, subject.as_ref(), &languages),
            Kind::Pack => {
                let known = loaded.ir.devices.keys().map(String::as_str);
                if let Some(device) = self.device.as_ref().filter(|device| !loaded.ir.devices.contains_key(*device)) {
                    return Err(SessionError::unknown("device", device, known).into());
                }
                let used = self.file.as_ref().map(|file| self.relative(file));
                let files = render::pack(name, self.device.as_deref());
                files.into_iter().map(|(path, text)| (path, with_use(text, used.as_deref()))).collect()
            }
            Kind::Device => render::device(name),
            Kind::Workflow => render::workflow(name, subject.as_ref()),
            Kind::Project => render::project(name, &languages),
        })
    }

    fn subject(&self, loaded: &Loaded, name: &str) -> Result<Subject> {
        let known = loaded.ir.kernels.keys().map(String::as_str);
        let kernel = loaded.ir.kernels.get(name).ok_or_else(|| SessionError::unknown("kernel", name, known))?;
        Ok(Subject::new(kernel, self.file.as_ref().map(|file| self.relative(file))))
    }

    /// The languages that are asked for: any that Peak has, whether this build runs it or not. Where none is named, those
    /// that it runs.
    fn languages(&self) -> Result<Vec<&str>> {
        if self.backend.is_empty() {
            let built: Vec<&'static str> = BACKENDS.iter().map(|make| make().name()).collect();
            let all = templates::SOURCES.iter().map(|(language, _)| *language);
            return Ok(all.filter(|language| built.is_empty() || built.contains(language)).collect());
        }
        if let Some(unknown) = self.backend.iter().find(|name| !LANGUAGES.contains(&name.as_str())) {
            return Err(SessionError::UnknownBackend { name: unknown.clone(), known: LANGUAGES.join(", ") }.into());
        }
        Ok(self.backend.iter().map(String::as_str).collect())
    }

    /// A file as one in the new folder says it.
    fn relative(&self, file: &Path) -> String {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (file, folder) = (plain(&absolute(file)), plain(&absolute(&self.folder)));
        let shared = file.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
        let up = folder.components().skip(shared).map(|_| Component::ParentDir);
        let path: PathBuf = up.chain(file.components().skip(shared)).collect();
        path.to_string_lossy().replace('\\', "/")
    }

    fn tell(&self, app: &App, kind: Kind, name: &str, files: &[NewFile]) {
        let paths: Vec<String> = files.iter().map(|(path, _)| shown(&self.folder.join(path))).collect();
        paths.iter().for_each(|path| app.print(path));
        app.say(&format!("{} written. Next:\n{}", counted(files.len(), "file"), next(kind, name, &paths)));
        app.event("created", json!({"kind": kind.word(), "name": name, "files": paths}));
    }
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// A path without a leading `./`.
fn shown(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}

fn with_use(text: String, file: Option<&str>) -> String {
    match file {
        Some(file) => text.replacen("\npack ", &format!("\nuse \"{file}\"\n\npack "), 1),
        None => text,
    }
}

fn next(kind: Kind, name: &str, paths: &[String]) -> String {
    let file = paths.first().map(|path| quoted(path)).unwrap_or_default();
    let commands = match kind {
        Kind::Kernel => [format!("peak run {name} --use {file}"), format!("peak list --for {name} --with {file}")],
        Kind::Transformation => [format!("peak check {file}"), format!("peak lower {file} --emit prompt")],
        Kind::Pack => [format!("peak check {file}"), format!("peak explain {name} --with {file}")],
        Kind::Device => [format!("peak check {file}"), format!("peak explain {name} --with {file}")],
        Kind::Workflow => [format!("peak check {file}"), format!("peak run {name} --use {file}")],
        Kind::Project => [format!("cd {}", quoted(name)), format!("peak run {name} --use kernels/{name}.peak")],
    };
    format!("  {}", commands.join("\n  "))
}

fn tell_what_there_is(app: &App) {
    use clap::ValueEnum;
    let line = |kind: &Kind| {
        let value = kind.to_possible_value()?;
        Some(format!("  peak new {:<15} NAME  {}", value.get_name(), value.get_help()?))
    };
    let lines: Vec<String> = Kind::value_variants().iter().filter_map(line).collect();
    app.print(&format!(
        "`peak new` writes a file to start from: commented, and right as it stands.\n\n{}\n\n\
         `--in FOLDER` says where. `peak new --help` shows every option.",
        lines.join("\n")
    ));
}

/// A declaration's name; one that begins with a digit would be no name in a kernel's source.
fn check_name(name: &str) -> Result<()> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let words = name.split('-').all(|word| !word.is_empty());
    if name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(fits) && words {
        return Ok(());
    }
    let message = format!("`{name}` is no name of a declaration");
    let help = "small letters, digits, and single hyphens between them, a letter first: `row-sum`";
    Err(Error::plain(Class::Input, "peak::name-style", message, help))
}

/// A name that the standard library has would be declared twice.
fn check_free(loaded: &Loaded, kind: Kind, name: &str) -> Result<()> {
    let ir = &loaded.ir;
    let has_workflow = |name: &str| ir.workflows.iter().any(|workflow| workflow.name == name);
    let taken = match kind {
        Kind::Kernel | Kind::Project => ir.kernels.contains_key(name) || has_workflow(name),
        Kind::Transformation => ir.transformations.contains_key(name),
        Kind::Pack => ir.packs.contains_key(name),
        Kind::Device => ir.devices.contains_key(name),
        Kind::Workflow => has_workflow(name),
    };
    match taken {
        false => Ok(()),
        true => {
            let message = format!("there is a declaration `{name}` already");
            let help = format!("choose another name; `peak explain {name}` shows what is there");
            Err(Error::plain(Class::Input, "peak::duplicate-name", message, help))
        }
    }
}

/// Writes every file, or none where one is there already.
fn write(folder: &Path, files: &[NewFile]) -> Result<()> {
    let failed = |path: &Path, error: std::io::Error| {
        let message = format!("{} cannot be written: {error}", path.display());
        Error::plain(Class::Input, "peak::cannot-write", message, "name another folder with `--in FOLDER`")
    };
    if let Some((path, _)) = files.iter().find(|(path, _)| folder.join(path).symlink_metadata().is_ok()) {
        let message = format!("{} is there already; nothing was written", shown(&folder.join(path)));
        let help = "choose another name, or another folder with `--in FOLDER`";
        return Err(Error::plain(Class::Input, "peak::would-overwrite", message, help));
    }
    for (path, text) in files {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(|error| failed(&path, error))?;
        let mut file = std::fs::File::create_new(&path).map_err(|error| failed(&path, error))?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}
