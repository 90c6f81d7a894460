//! One file: where it is, what it is called, and its bytes, bounded.

use super::standard::{STANDARD_PREFIX, Standard};
use crate::error::{Class, Classified};
use indexmap::IndexMap;
use std::borrow::Cow;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

/// Bytes of a file at most.
const MAX_BYTES: usize = peak_grammar::limits::MAX_FILE_BYTES;

/// Files of one load at most.
pub const MAX_FILES: usize = 10_000;

/// Why a file has no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// There is none.
    #[error("there is no file `{name}`")]
    Missing {
        /// Its name.
        name: String,
    },
    /// It is a folder, or something else that holds no text.
    #[error("`{name}` is a folder, not a file")]
    NotAFile {
        /// Its name.
        name: String,
    },
    /// It is larger than any file of its kind.
    #[error("`{name}` is larger than {} MiB", MAX_BYTES >> 20)]
    TooLarge {
        /// Its name.
        name: String,
    },
    /// It is no text.
    #[error("`{name}` is not UTF-8 text")]
    NotUtf8 {
        /// Its name.
        name: String,
    },
    /// The system does not let it be read.
    #[error("`{name}` cannot be read: {reason}")]
    Unreadable {
        /// Its name.
        name: String,
        /// What the system said.
        reason: String,
    },
    /// More files, or a longer chain of `use`, than anybody writes.
    #[error("`{name}` is one file too many: {MAX_FILES} are read at once, and chains of `use` have a limit too")]
    TooMany {
        /// Its name.
        name: String,
    },
}

impl SourceError {
    /// The file's name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            SourceError::Missing { name }
            | SourceError::NotAFile { name }
            | SourceError::TooLarge { name }
            | SourceError::NotUtf8 { name }
            | SourceError::Unreadable { name, .. }
            | SourceError::TooMany { name } => name,
        }
    }

    /// Its code as a diagnostic.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            SourceError::Missing { .. } => "peak::missing-file",
            SourceError::NotAFile { .. } => "peak::not-a-file",
            SourceError::TooLarge { .. } => "peak::file-too-large",
            SourceError::NotUtf8 { .. } => "peak::utf8",
            SourceError::Unreadable { .. } => "peak::unreadable-file",
            SourceError::TooMany { .. } => "peak::too-many-files",
        }
    }

    /// What to do.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            SourceError::Missing { .. } => {
                "a name in a file is relative to that file, one on the command line to the working folder; is it spelled right?"
            }
            SourceError::NotAFile { .. } => "name a file in it",
            SourceError::TooLarge { .. } => "split it",
            SourceError::NotUtf8 { .. } => "save it as UTF-8",
            SourceError::Unreadable { .. } => "are you allowed to read it?",
            SourceError::TooMany { .. } => "name fewer files, or a smaller library",
        }
    }
}

impl miette::Diagnostic for SourceError {
    fn code<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        Some(Box::new(SourceError::code(self)))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        Some(Box::new(SourceError::help(self)))
    }
}

impl Classified for SourceError {
    fn class(&self) -> Class {
        Class::Input
    }
}

/// What a program carries, by name.
pub(super) type Carried = IndexMap<String, Cow<'static, str>>;

/// Where a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A path in the standard library, with `/`.
    Standard(String),
    /// In the program.
    Carried {
        /// What it is called.
        name: String,
        /// The folder that names in it are relative to.
        folder: String,
    },
    /// A path on disk.
    Disk(PathBuf),
}

impl Place {
    /// The name in messages.
    pub(super) fn name(&self) -> String {
        match self {
            Place::Standard(path) => format!("{STANDARD_PREFIX}{path}"),
            Place::Carried { name, .. } => name.clone(),
            Place::Disk(path) => path.display().to_string(),
        }
    }

    /// What tells it from every other file, whatever it is called.
    pub(super) fn identity(&self) -> String {
        match self {
            Place::Standard(_) => self.name(),
            Place::Carried { name, .. } => format!("carried {name}"),
            Place::Disk(path) => std::fs::canonicalize(path).unwrap_or_else(|_| path.clone()).display().to_string(),
        }
    }

    /// The file that this one calls `name`.
    pub(super) fn beside(&self, name: &str) -> Place {
        match self {
            Place::Standard(path) => {
                let folder = Path::new(path).parent().unwrap_or(Path::new(""));
                let joined = without_dots(&folder.join(name));
                Place::Standard(joined.to_string_lossy().replace('\\', "/"))
            }
            Place::Carried { folder, .. } => {
                let joined = without_dots(&Path::new(folder).join(name));
                let text = |path: &Path| path.to_string_lossy().replace('\\', "/");
                Place::Carried { name: text(&joined), folder: joined.parent().map(text).unwrap_or_default() }
            }
            Place::Disk(path) => Place::Disk(without_dots(&path.parent().unwrap_or(Path::new("")).join(name))),
        }
    }

    pub(super) fn read(&self, standard: &Standard, carried: &Carried) -> Result<Vec<u8>, SourceError> {
        match self {
            Place::Carried { name, .. } => match carried.get(name) {
                Some(text) => Ok(text.as_bytes().to_vec()),
                None => Err(SourceError::Missing { name: name.clone() }),
            },
            Place::Standard(path) => standard.read(path),
            Place::Disk(path) => read_bounded(path),
        }
    }
}

/// `a/../b` as `b` and `a/./b` as `a/b`, so that messages are short. Leading `..` stay.
fn without_dots(path: &Path) -> PathBuf {
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
    short
}

/// The bytes of a file on disk, up to the limit of the front end.
pub(super) fn read_bounded(path: &Path) -> Result<Vec<u8>, SourceError> {
    let name = path.display().to_string();
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => SourceError::Missing { name: name.clone() },
        ErrorKind::IsADirectory => SourceError::NotAFile { name: name.clone() },
        _ => SourceError::Unreadable { name: name.clone(), reason: error.to_string() },
    };
    // Asked before opening: to open a pipe would wait for its writer.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(SourceError::NotAFile { name });
    }
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    match bytes.len() > MAX_BYTES {
        true => Err(SourceError::TooLarge { name }),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_relative_to_the_file_that_says_them() {
        let disk = Place::Disk(PathBuf::from("recipes/tiling.peak"));
        assert_eq!(disk.beside("../kernels/a.hlsl").name(), "kernels/a.hlsl");
        assert_eq!(disk.beside("./b.hlsl").name(), "recipes/b.hlsl");
        assert_eq!(Place::Disk(PathBuf::from("a.peak")).beside("../b.peak").name(), "../b.peak");
        let standard = Place::Standard("kernels/matmul/matmul.peak".to_owned());
        assert_eq!(standard.beside("../x.hlsl"), Place::Standard("kernels/x.hlsl".to_owned()));
    }

    #[test]
    fn what_is_no_file_says_so() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert!(matches!(read_bounded(folder.path()), Err(SourceError::NotAFile { .. })));
        assert!(matches!(read_bounded(&folder.path().join("x")), Err(SourceError::Missing { .. })));
        let large = folder.path().join("large");
        File::create(&large).expect("made").set_len(MAX_BYTES as u64 + 1).expect("sparse");
        assert!(matches!(read_bounded(&large), Err(SourceError::TooLarge { .. })));
    }
}
