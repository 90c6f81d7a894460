//! The standard library: what the program carries, or a folder in its place.

use super::MAX_FILES;
use super::files::{SourceError, read_bounded};
use std::path::{Path, PathBuf};

/// What stands before a path of the standard library in messages.
pub const STANDARD_PREFIX: &str = "stdlib/";

/// Folders are at most this deep.
const MAX_DEPTH: usize = 12;

/// Where the standard library is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Standard {
    /// In the program.
    #[default]
    Embedded,
    /// In a folder, read anew each time.
    Folder(PathBuf),
}

impl Standard {
    /// The folder that `PEAK_STDLIB` names, else what the program carries.
    #[must_use]
    pub fn from_environment() -> Standard {
        match std::env::var_os("PEAK_STDLIB").filter(|folder| !folder.is_empty()) {
            Some(folder) => Standard::Folder(folder.into()),
            None => Standard::Embedded,
        }
    }

    /// Every file of an extension, by its path below the library (with `/`), sorted.
    ///
    /// # Errors
    /// The folder is missing, or cannot be read.
    pub fn paths(&self, extension: &str) -> Result<Vec<String>, SourceError> {
        let mut paths = match self {
            Standard::Embedded => peak_stdlib::files().map(|(path, _)| path.to_owned()).collect(),
            Standard::Folder(folder) => {
                let mut paths = Vec::new();
                walk(folder, "", MAX_DEPTH, &mut paths)?;
                paths
            }
        };
        paths.retain(|path| Path::new(path).extension().is_some_and(|found| found == extension));
        paths.sort();
        Ok(paths)
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// It is missing, or cannot be read.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, SourceError> {
        match self {
            Standard::Embedded => peak_stdlib::file(path)
                .map(<[u8]>::to_vec)
                .ok_or_else(|| SourceError::Missing { name: format!("{STANDARD_PREFIX}{path}") }),
            Standard::Folder(folder) => read_bounded(&folder.join(path)),
        }
    }

    /// The text of a file, such as a prompt template.
    ///
    /// # Errors
    /// It is missing, cannot be read, or is no UTF-8.
    pub fn text(&self, path: &str) -> Result<String, SourceError> {
        let name = || format!("{STANDARD_PREFIX}{path}");
        String::from_utf8(self.read(path)?).map_err(|_| SourceError::NotUtf8 { name: name() })
    }
}

/// Paths of files below a folder, relative to the library, hidden ones left out.
fn walk(folder: &Path, prefix: &str, depth: usize, paths: &mut Vec<String>) -> Result<(), SourceError> {
    let name = folder.display().to_string();
    let entries = std::fs::read_dir(folder).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SourceError::Missing { name: name.clone() },
        _ => SourceError::Unreadable { name: name.clone(), reason: error.to_string() },
    })?;
    for entry in entries.flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        if file.starts_with('.') || paths.len() >= MAX_FILES {
            continue;
        }
        let path = if prefix.is_empty() { file } else { format!("{prefix}/{file}") };
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => walk(&entry.path(), &path, depth - 1, paths)?,
            Ok(kind) if kind.is_file() => paths.push(path),
            _ => {}
        }
    }
    Ok(())
}
