//! `corpus.toml`: what a kernel's own file does not say. Plain data.

use indexmap::IndexMap;
use peak::runner::Distribution;
use serde::Deserialize;
use std::path::Path;

/// The table's name in its folder.
const FILE: &str = "corpus.toml";

/// What the table says of one kernel.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// What kind of kernel it is, in a word or two.
    pub category: String,
    /// Who says what is right, where the kernel has no `computes`: a name in `references`.
    pub reference: Option<String>,
    /// Data that the kernel is not made for.
    #[serde(default)]
    pub without: Vec<Distribution>,
    /// Why devices may differ in the last bits; where nothing is said, every bit is defined.
    pub differs: Option<String>,
    /// Changes to its device code, each of which makes it wrong.
    #[serde(default)]
    pub wrong: Vec<Change>,
}

/// A change to device code.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// What stands there once.
    pub replace: String,
    /// What stands there then.
    pub by: String,
}

/// The table of a folder, by the kernels' names.
///
/// # Errors
/// Words: the file, and what is wrong with it.
pub fn read(folder: &Path) -> Result<IndexMap<String, Entry>, String> {
    let file = folder.join(FILE);
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))
}
