//! Loads `.peak` files: the standard library, a person's files, what they `use`, and the sources that kernels name.
//!
//! A program's own recipes ([`Recipes`]) are loaded beside them. All reading of such files happens here, bounded in size and number. What is wrong with a file is a diagnostic beside
//! those of the front end, so that every error of every file is reported at once; nothing here decides what a
//! declaration means.

mod files;
mod folders;
mod patterns;
mod recipes;
mod standard;

pub use files::{MAX_FILES, SourceError};
pub use folders::{peak_files, read_file};
pub use recipes::{Device, Kernel, Pack, RecipeFile, Recipes, Transformation, Utility, Workflow, WrongRecipes};
pub use standard::{STANDARD_PREFIX, Standard};

use crate::error::{Class, Error};
use files::{Carried, Place};
use indexmap::{IndexMap, IndexSet};
use peak_grammar::ir::{self, Code, Region};
use peak_grammar::syntax::Span;
use peak_grammar::{Diagnostic, Severity, SourceFile, Sources};
use std::path::PathBuf;

/// Files that use one another in a chain, at most.
const MAX_USE_DEPTH: usize = 64;

/// Declarations, the text that they came from, and what is wrong with it.
#[derive(Debug)]
pub struct Loaded {
    /// Every declaration that can be used.
    pub ir: ir::Library,
    /// The files' text, for reports.
    pub sources: Sources,
    /// Errors and warnings of every file, in the order of the files.
    pub diagnostics: Vec<Diagnostic>,
    /// Names of the files that were asked for, as they were given.
    pub asked: Vec<String>,
    places: IndexMap<String, Place>,
    standard: Standard,
    carried: Carried,
}

/// Loads the standard library and `files`, with all that they use. Never fails: what is wrong is in the diagnostics.
#[must_use]
pub fn load(files: &[PathBuf], standard: Standard) -> Loaded {
    load_with(files, &[], standard)
}

/// As [`load`], with recipes that the program carries.
#[must_use]
pub fn load_with(files: &[PathBuf], recipes: &[Recipes], standard: Standard) -> Loaded {
    let mut loading = Loading { standard, ..Loading::default() };
    for path in loading.standard_paths() {
        loading.open(Place::Standard(path), None);
    }
    let mut asked: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    let carried = loading.carry(recipes);
    asked.extend(carried.iter().map(Place::name));
    for place in carried {
        loading.open(place, None);
    }
    for path in files {
        loading.open(Place::Disk(path.clone()), None);
    }
    loading.finish(asked)
}

impl Loaded {
    /// The errors, warnings left out.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.is_error())
    }

    /// The same, where nothing in it is an error.
    ///
    /// # Errors
    /// What is wrong: the one diagnostic, or [`WrongRecipes`] with all of them.
    pub fn clean(self) -> crate::error::Result<Loaded> {
        let first = self.errors().next();
        let more = self.errors().nth(1).is_some();
        let wrong = match first {
            None => return Ok(self),
            Some(_) if more => Error::new(Class::Input, WrongRecipes::of(&self)),
            Some(only) => Error { class: Class::Input, report: Some(self.report(only)) },
        };
        Err(wrong)
    }

    /// A diagnostic as people read it, with the lines that it points at.
    #[must_use]
    pub fn report(&self, diagnostic: &Diagnostic) -> miette::Report {
        if self.sources.text(&diagnostic.file).is_some() {
            return self.sources.report(diagnostic);
        }
        // A file that could not be read has no lines to show.
        let plain = miette::MietteDiagnostic::new(diagnostic.message.clone()).with_code(diagnostic.code);
        miette::Report::new(match &diagnostic.help {
            Some(help) => plain.with_help(help),
            None => plain,
        })
    }

    /// The standard library that was loaded, for prompts and recordings.
    #[must_use]
    pub fn standard(&self) -> &Standard {
        &self.standard
    }

    /// The text of a kernel's region for a backend; empty where the kernel brings none.
    ///
    /// # Errors
    /// The file that it names cannot be read.
    pub fn code(&self, kernel: &ir::Kernel, backend: &str, region: Region) -> Result<String, SourceError> {
        match kernel.code.get(backend).and_then(|regions| regions.get(&region)) {
            None => Ok(String::new()),
            Some(Code::Inline(text)) => Ok(text.clone()),
            Some(Code::File(file)) => self.source(&kernel.origin.file, file),
        }
    }

    /// The text of a file that the `.peak` file `from` names, relative to it.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn source(&self, from: &str, file: &str) -> Result<String, SourceError> {
        let place = match self.places.get(from) {
            Some(place) => place.beside(file),
            None => Place::Disk(PathBuf::from(file)),
        };
        let bytes = place.read(&self.standard, &self.carried)?;
        String::from_utf8(bytes).map_err(|_| SourceError::NotUtf8 { name: place.name() })
    }
}

/// Files as they are found.
#[derive(Default)]
struct Loading {
    standard: Standard,
    carried: Carried,
    files: Vec<SourceFile>,
    places: IndexMap<String, Place>,
    /// What tells a file from another, whatever it is called.
    known: IndexSet<String>,
    /// Files whose `use` is being followed, by identity.
    open: Vec<String>,
    diagnostics: Vec<Diagnostic>,
}

impl Loading {
    fn standard_paths(&mut self) -> Vec<String> {
        match self.standard.paths("peak") {
            Ok(paths) => paths,
            Err(error) => {
                self.complain(&error, None);
                Vec::new()
            }
        }
    }

    /// Takes in what the program carries, and gives the places of its declarations.
    fn carry(&mut self, recipes: &[Recipes]) -> Vec<Place> {
        let mut places = Vec::new();
        for file in recipes.iter().flat_map(|recipes| recipes.files.iter()) {
            let mut name = file.name.to_string();
            // Two texts of one name are two files: what they declare twice is told of.
            let other = |name: &str, carried: &Carried| carried.get(name).is_some_and(|text| *text != file.text);
            for number in 2.. {
                if !other(&name, &self.carried) {
                    break;
                }
                name = format!("{} ({number})", file.name);
            }
            if self.carried.insert(name.clone(), file.text.clone()).is_none() && file.declares {
                places.push(Place::Carried { name, folder: file.folder.to_string() });
            }
        }
        places
    }

    /// Reads a file and what it uses, unless it is known.
    fn open(&mut self, place: Place, used_at: Option<&Use>) {
        let identity = place.identity();
        if self.open.contains(&identity) {
            self.cycle(&place, used_at);
            return;
        }
        if self.known.contains(&identity) {
            return;
        }
        if self.files.len() >= MAX_FILES || self.open.len() >= MAX_USE_DEPTH {
            self.complain(&SourceError::TooMany { name: place.name() }, used_at);
            return;
        }
        match place.read(&self.standard, &self.carried) {
            Ok(bytes) if self.is_copy(&bytes) => {}
            Ok(bytes) => self.add(place, bytes),
            Err(error) => self.complain(&error, used_at),
        }
    }

    /// Whether the bytes are those of a file that was loaded: a file of the standard library, given by its path.
    fn is_copy(&self, bytes: &[u8]) -> bool {
        self.files.iter().any(|file| file.bytes == bytes)
    }

    fn add(&mut self, place: Place, bytes: Vec<u8>) {
        let file = SourceFile { name: place.name(), bytes };
        let identity = place.identity();
        self.known.insert(identity.clone());
        self.open.push(identity);
        // The front end reports what is wrong with the file when it is loaded; here only its `use` lines count.
        let (parsed, _) = peak_grammar::parse(&file);
        let name = file.name.clone();
        self.places.insert(name.clone(), place.clone());
        self.files.push(file);
        for used in parsed.uses {
            self.open(place.beside(&used.value), Some(&Use { file: name.clone(), span: used.span }));
        }
        self.open.pop();
    }

    fn cycle(&mut self, place: &Place, used_at: Option<&Use>) {
        let Some(used_at) = used_at else { return };
        let message = format!("`{}` uses itself in the end", place.name());
        let diagnostic = Diagnostic::error("peak::cycle", &used_at.file, used_at.span, message);
        self.diagnostics.push(diagnostic.help("remove one `use` of the circle"));
    }

    fn complain(&mut self, error: &SourceError, used_at: Option<&Use>) {
        let (file, span) = match used_at {
            Some(used_at) => (used_at.file.clone(), used_at.span),
            None => (error.name().to_owned(), Span::new(0, 0)),
        };
        self.diagnostics.push(source_diagnostic(error, file, span));
    }

    fn finish(mut self, asked: Vec<String>) -> Loaded {
        let (ir, mut diagnostics) = peak_grammar::load(&self.files);
        diagnostics.splice(0..0, std::mem::take(&mut self.diagnostics));
        let sources = Sources::new(&self.files);
        let Loading { places, standard, carried, .. } = self;
        let mut loaded = Loaded { ir, sources, diagnostics, asked, places, standard, carried };
        let missing = missing_sources(&loaded);
        loaded.diagnostics.extend(missing);
        let empty = files_of_nothing(&loaded);
        loaded.diagnostics.extend(empty);
        let patterns = patterns::problems(&loaded.ir);
        loaded.diagnostics.extend(patterns);
        loaded
    }
}

/// Files that were asked for and declare nothing.
fn files_of_nothing(loaded: &Loaded) -> Vec<Diagnostic> {
    let is_empty = |name: &&String| {
        let text = loaded.sources.text(name);
        text.is_some_and(|text| {
            let (file, found) = peak_grammar::parse(&SourceFile::new(name, text));
            file.declarations.is_empty() && file.uses.is_empty() && found.is_empty()
        })
    };
    let empty = loaded.asked.iter().filter(is_empty).filter(|name| {
        // Bytes that are no text are reported, and read as nothing.
        loaded.diagnostics.iter().all(|found| found.file != **name)
    });
    let finding = |name: &String| Diagnostic {
        code: "peak::empty-file",
        severity: Severity::Warning,
        message: format!("`{name}` declares nothing"),
        file: name.clone(),
        span: Span::new(0, 0),
        label: "nothing from here on".to_owned(),
        help: Some("`peak new kernel NAME` writes a file to start from".to_owned()),
        related: Vec::new(),
    };
    empty.map(finding).collect()
}

/// Where a file is used.
struct Use {
    file: String,
    span: Span,
}

/// Source files that kernels name and that cannot be read.
fn missing_sources(loaded: &Loaded) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for kernel in loaded.ir.kernels.values() {
        for code in kernel.code.values().flat_map(IndexMap::values) {
            let Code::File(file) = code else { continue };
            let Err(error) = loaded.source(&kernel.origin.file, file) else { continue };
            let span = span_of_quoted(loaded, kernel, file);
            let diagnostic = source_diagnostic(&error, kernel.origin.file.clone(), span);
            if !found.contains(&diagnostic) {
                found.push(diagnostic);
            }
        }
    }
    found
}

/// Where a kernel's declaration names a file; its first line where the text cannot be found.
fn span_of_quoted(loaded: &Loaded, kernel: &ir::Kernel, file: &str) -> Span {
    let origin = &kernel.origin;
    let declaration = loaded.sources.text(&origin.file).and_then(|text| text.get(origin.start..origin.end));
    let quoted = format!("\"{file}\"");
    let at = declaration.and_then(|text| text.find(&quoted)).map(|at| origin.start + at);
    match at {
        Some(at) => Span::new(at, at + quoted.len()),
        None => Span::new(origin.start, origin.start),
    }
}

fn source_diagnostic(error: &SourceError, file: String, span: Span) -> Diagnostic {
    Diagnostic {
        code: error.code(),
        severity: Severity::Error,
        message: error.to_string(),
        file,
        span,
        label: "named here".to_owned(),
        help: Some(error.help().to_owned()),
        related: Vec::new(),
    }
}
