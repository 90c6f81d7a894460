//! The `.peak` files that a person means by naming files and folders.

use super::files::{MAX_FILES, SourceError, read_bounded};
use peak_grammar::SourceFile;
use std::path::{Path, PathBuf};

/// Folders are at most this deep.
const MAX_DEPTH: usize = 32;

/// The files among `paths` as they are, and every `.peak` file below the folders among them, sorted. Hidden folders and
/// links to folders are passed by.
///
/// # Errors
/// A path is not there, a folder cannot be read, or there are more than [`MAX_FILES`].
pub fn peak_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, SourceError> {
    let mut found = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => {
                let start = found.len();
                walk(path, MAX_DEPTH, &mut found)?;
                found[start..].sort();
            }
            false => found.push(path.clone()),
        }
    }
    Ok(found)
}

/// A file on disk as the front end takes it.
///
/// # Errors
/// It is missing, is no file, or cannot be read.
pub fn read_file(path: &Path) -> Result<SourceFile, SourceError> {
    Ok(SourceFile { name: path.display().to_string(), bytes: read_bounded(path)? })
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), SourceError> {
    let unreadable = |error: std::io::Error| SourceError::Unreadable {
        name: folder.display().to_string(),
        reason: error.to_string(),
    };
    for entry in std::fs::read_dir(folder).map_err(unreadable)?.flatten() {
        let (path, hidden) = (entry.path(), entry.file_name().to_string_lossy().starts_with('.'));
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !hidden && depth > 0 => walk(&path, depth - 1, found)?,
            Ok(kind) if !kind.is_dir() && path.extension().is_some_and(|extension| extension == "peak") => {
                if found.len() >= MAX_FILES {
                    return Err(SourceError::TooMany { name: path.display().to_string() });
                }
                found.push(path);
            }
            _ => {}
        }
    }
    Ok(())
}
