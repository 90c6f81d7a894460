//! Where recordings lie: folders of a project, and files embedded in the program.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A tree of recordings. Paths are relative, with `/`.
pub trait RecordingSource: Send + Sync {
    /// Its name in messages.
    fn name(&self) -> String;

    /// Every `.md` file below a folder, the whole tree where it is empty, sorted; none where there is no such folder.
    fn list(&self, folder: &str) -> Vec<String>;

    /// The folder, where it is one.
    fn folder(&self) -> Option<&Path> {
        None
    }

    /// The text of a file; `None` where it is not there or is no UTF-8.
    fn read(&self, path: &str) -> Option<Cow<'_, str>>;
}

/// A folder on disk. Only reads.
#[derive(Clone, Debug)]
pub struct FolderSource {
    root: PathBuf,
}

impl FolderSource {
    /// The folder; it need not exist.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> FolderSource {
        FolderSource { root: root.into() }
    }
}

/// Folders are at most this deep below the one that is listed.
const MAX_DEPTH: usize = 4;

impl RecordingSource for FolderSource {
    fn name(&self) -> String {
        self.root.display().to_string()
    }

    fn folder(&self) -> Option<&Path> {
        Some(&self.root)
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let mut found = Vec::new();
        walk(&self.root.join(folder), folder, MAX_DEPTH, &mut found);
        found.sort();
        found
    }

    fn read(&self, path: &str) -> Option<Cow<'_, str>> {
        std::fs::read_to_string(self.root.join(path)).ok().map(Cow::Owned)
    }
}

fn walk(folder: &Path, name: &str, depth: usize, found: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let name = if name.is_empty() { String::new() } else { format!("{name}/") };
    for entry in entries.flatten() {
        let Ok(file) = entry.file_name().into_string() else { continue };
        let path = format!("{name}{file}");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => walk(&entry.path(), &path, depth - 1, found),
            Ok(kind) if kind.is_file() && path.ends_with(".md") => found.push(path),
            _ => {}
        }
    }
}

/// Files that are part of the program, such as the standard library's.
#[derive(Clone, Debug, Default)]
pub struct EmbeddedSource {
    name: String,
    files: BTreeMap<String, Cow<'static, str>>,
}

impl EmbeddedSource {
    /// Files by their path below the tree's root.
    pub fn new(name: &str, files: impl IntoIterator<Item = (String, Cow<'static, str>)>) -> EmbeddedSource {
        EmbeddedSource { name: name.to_owned(), files: files.into_iter().collect() }
    }
}

impl RecordingSource for EmbeddedSource {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        self.files.keys().filter(|path| path.starts_with(&prefix) && path.ends_with(".md")).cloned().collect()
    }

    fn read(&self, path: &str) -> Option<Cow<'_, str>> {
        self.files.get(path).map(|text| Cow::Borrowed(text.as_ref()))
    }
}
