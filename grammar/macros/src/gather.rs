//! The files that a recipe is made of: those named, what they `use`, and the sources that their kernels name. All reading
//! of files happens here, bounded in size and number.

use crate::inline::Inline;
use peak_grammar::ir::{Code, Kernel, Library};
use peak_grammar::limits::MAX_FILE_BYTES;
use peak_grammar::syntax::Span;
use peak_grammar::{Diagnostic, Severity, SourceFile};
use proc_macro2::Span as Place;
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

/// Files of one macro call at most.
const MAX_FILES: usize = 1000;

/// Files that use one another in a chain, at most.
const MAX_USE_DEPTH: usize = 64;

/// A file that the program will carry.
pub struct File {
    /// Its name in diagnostics, and what tells it from others: its path from the package's folder.
    pub name: String,
    /// The folder that names in it are relative to.
    pub folder: String,
    /// Where it lies; a literal lies nowhere.
    pub disk: Option<PathBuf>,
    /// What is in it.
    pub source: SourceFile,
    /// Whether it holds declarations, else it is a kernel's source.
    pub declares: bool,
    /// The literal of the program that it was reached from.
    pub place: Place,
}

/// Files as they are found.
pub struct Gathering {
    /// The package's folder.
    root: PathBuf,
    /// In the order in which they were found.
    pub files: Vec<File>,
    /// What is wrong with reading them, and the literal that it came of.
    pub found: Vec<(Diagnostic, Place)>,
    open: Vec<String>,
}

/// Where a file is named: by which file, and where in it.
type Named<'n> = Option<(&'n str, Span)>;

impl Gathering {
    /// Nothing yet, of the package in a folder.
    pub fn new(root: PathBuf) -> Gathering {
        Gathering { root, files: Vec::new(), found: Vec::new(), open: Vec::new() }
    }

    /// Adds a literal's text, and what it uses.
    pub fn inline(&mut self, inline: &Inline) {
        let source = SourceFile::new(&inline.name, &inline.text);
        let (name, folder) = (inline.name.clone(), String::new());
        self.add(File { name, folder, disk: None, source, declares: true, place: inline.place });
    }

    /// Adds a file of declarations, and what it uses, unless it is known.
    pub fn file(&mut self, name: &str, place: Place, named: Named<'_>) {
        let name = without_dots(Path::new(name));
        if self.open.contains(&name) {
            if let Some((file, span)) = named {
                let message = format!("`{name}` uses itself in the end");
                let diagnostic = Diagnostic::error("peak::cycle", file, span, message);
                self.found.push((diagnostic.help("remove one `use` of the circle"), place));
            }
            return;
        }
        if self.files.iter().any(|file| file.name == name) {
            return;
        }
        match self.read(&name, true, place) {
            Ok(file) => self.add(file),
            Err(problem) => self.found.push((problem.diagnostic(&name, named), place)),
        }
    }

    /// Adds the sources that kernels of these files name.
    pub fn sources(&mut self, library: &Library) {
        for kernel in library.kernels.values() {
            let Some(at) = self.files.iter().position(|file| file.name == kernel.origin.file) else { continue };
            for code in kernel.code.values().flat_map(|regions| regions.values()) {
                if let Code::File(named) = code {
                    self.source(at, kernel, named);
                }
            }
        }
    }

    fn source(&mut self, at: usize, kernel: &Kernel, named: &str) {
        let from = &self.files[at];
        let (name, place) = (without_dots(&Path::new(&from.folder).join(named)), from.place);
        if self.files.iter().any(|file| file.name == name) {
            return;
        }
        let span = quoted(&from.source, kernel, named);
        match self.read(&name, false, place) {
            Ok(file) => self.files.push(file),
            Err(problem) => {
                self.found.push((problem.diagnostic(&name, Some((&kernel.origin.file, span))), place));
            }
        }
    }

    fn add(&mut self, file: File) {
        // The front end reports what is wrong with the file when it is loaded; here only its `use` lines count.
        let (parsed, _) = peak_grammar::parse(&file.source);
        let (name, folder, place) = (file.name.clone(), file.folder.clone(), file.place);
        self.open.push(name.clone());
        self.files.push(file);
        for used in parsed.uses {
            let path = Path::new(&folder).join(&used.value);
            self.file(&path.to_string_lossy(), place, Some((&name, used.span)));
        }
        self.open.pop();
    }

    fn read(&self, name: &str, declares: bool, place: Place) -> Result<File, Problem> {
        if self.files.len() >= MAX_FILES || self.open.len() >= MAX_USE_DEPTH {
            return Err(Problem::TooMany);
        }
        let disk = self.root.join(name);
        let bytes = read_bounded(&disk)?;
        let folder = Path::new(name).parent().map(|folder| folder.to_string_lossy().replace('\\', "/"));
        let (name, source) = (name.to_owned(), SourceFile { name: name.to_owned(), bytes });
        Ok(File { name, folder: folder.unwrap_or_default(), disk: Some(disk), source, declares, place })
    }
}

/// Why a file has no text.
enum Problem {
    Missing,
    NotAFile,
    TooLarge,
    NotUtf8,
    TooMany,
    Unreadable(String),
}

impl Problem {
    fn diagnostic(&self, name: &str, named: Named<'_>) -> Diagnostic {
        let (code, message, help) = match self {
            Problem::Missing => (
                "peak::missing-file",
                format!("there is no file `{name}`"),
                "a name in a file is relative to that file, one in the program to its package's folder; is it spelled right?",
            ),
            Problem::NotAFile => ("peak::not-a-file", format!("`{name}` is a folder, not a file"), "name a file in it"),
            Problem::TooLarge => {
                ("peak::file-too-large", format!("`{name}` is larger than {} MiB", MAX_FILE_BYTES >> 20), "split it")
            }
            Problem::NotUtf8 => ("peak::utf8", format!("`{name}` is not UTF-8 text"), "save it as UTF-8"),
            Problem::TooMany => (
                "peak::too-many-files",
                format!(
                    "`{name}` is one file too many: {MAX_FILES} are read at once, {MAX_USE_DEPTH} in a chain of `use`"
                ),
                "name fewer files",
            ),
            Problem::Unreadable(reason) => {
                ("peak::unreadable-file", format!("`{name}` cannot be read: {reason}"), "are you allowed to read it?")
            }
        };
        let (file, span) = named.unwrap_or((name, Span::new(0, 0)));
        Diagnostic {
            code,
            severity: Severity::Error,
            message,
            file: file.to_owned(),
            span,
            label: "named here".to_owned(),
            help: Some(help.to_owned()),
            related: Vec::new(),
        }
    }
}

fn read_bounded(path: &Path) -> Result<Vec<u8>, Problem> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => Problem::Missing,
        _ => Problem::Unreadable(error.to_string()),
    };
    // Asked before opening: to open a pipe would wait for its writer.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(Problem::NotAFile);
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    match (bytes.len() > MAX_FILE_BYTES, std::str::from_utf8(&bytes)) {
        (true, _) => Err(Problem::TooLarge),
        (false, Err(_)) => Err(Problem::NotUtf8),
        (false, Ok(_)) => Ok(bytes),
    }
}

/// Where a kernel's declaration names a file; its first line where the text cannot be found.
fn quoted(source: &SourceFile, kernel: &Kernel, named: &str) -> Span {
    let (start, end) = (kernel.origin.start, kernel.origin.end);
    let quoted = format!("\"{named}\"");
    let text = source.bytes.get(start..end).and_then(|bytes| std::str::from_utf8(bytes).ok());
    match text.and_then(|text| text.find(&quoted)) {
        Some(at) => Span::new(start + at, start + at + quoted.len()),
        None => Span::new(start, start),
    }
}

/// `a/../b` as `b` and `a/./b` as `a/b`, always with `/`. Leading `..` stay.
pub fn without_dots(path: &Path) -> String {
    let mut short = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(short.components().next_back(), Some(Component::Normal(_))) => {
                short.pop();
            }
            other => short.push(other),
        }
    }
    short.to_string_lossy().replace('\\', "/")
}
