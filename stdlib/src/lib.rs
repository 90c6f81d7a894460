//! Peak's standard library as embedded data: `.peak` files, kernel sources, prompt templates and recordings.
//!
//! Holds no code beyond look-up, reads nothing at run time, and understands nothing of what it carries: the compiler
//! loads it by the same path as a user's own files.

use include_dir::{Dir, include_dir};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The folders, embedded one by one so that the crate's own manifest and source stay out.
static FOLDERS: [Dir<'static>; 7] = [
    include_dir!("$CARGO_MANIFEST_DIR/devices"),
    include_dir!("$CARGO_MANIFEST_DIR/kernels"),
    include_dir!("$CARGO_MANIFEST_DIR/packs"),
    include_dir!("$CARGO_MANIFEST_DIR/prompts"),
    include_dir!("$CARGO_MANIFEST_DIR/recordings"),
    include_dir!("$CARGO_MANIFEST_DIR/transformations"),
    include_dir!("$CARGO_MANIFEST_DIR/workflows"),
];

/// Names of [`FOLDERS`], in its order: the order in which files are listed.
pub const FOLDER_NAMES: [&str; 7] =
    ["devices", "kernels", "packs", "prompts", "recordings", "transformations", "workflows"];

/// Every file by its path.
static FILES: LazyLock<BTreeMap<String, &'static [u8]>> = LazyLock::new(|| {
    let mut files = BTreeMap::new();
    for (name, folder) in FOLDER_NAMES.into_iter().zip(&FOLDERS) {
        collect(name, folder, &mut files);
    }
    files
});

/// Every file with its path (`kernels/matmul/matmul.peak`, always with `/`), sorted by path.
pub fn files() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    FILES.iter().map(|(path, bytes)| (path.as_str(), *bytes))
}

/// The file at a path, if there is one.
#[must_use]
pub fn file(path: &str) -> Option<&'static [u8]> {
    FILES.get(path).copied()
}

fn collect(name: &str, folder: &'static Dir<'static>, files: &mut BTreeMap<String, &'static [u8]>) {
    for file in folder.files() {
        let path = file.path().to_string_lossy().replace('\\', "/");
        files.insert(format!("{name}/{path}"), file.contents());
    }
    for inner in folder.dirs() {
        collect(name, inner, files);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_folder_says_what_it_holds() {
        for name in super::FOLDER_NAMES {
            let path = format!("{name}/README.md");
            assert!(super::file(&path).is_some(), "{path} is not embedded");
        }
    }

    #[test]
    fn a_path_finds_the_bytes_that_the_list_shows() {
        assert!(super::files().all(|(path, bytes)| super::file(path) == Some(bytes)));
        assert_eq!(super::file("kernels/no-such-file"), None);
        assert_eq!(super::file("Cargo.toml"), None);
    }
}
