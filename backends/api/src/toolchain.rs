//! What a backend compiles with, as `peak doctor` shows it.

use serde::{Deserialize, Serialize};

/// A compiler, validator or driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toolchain {
    /// Its short name: `dxc`, `spirv-val`, `nvrtc`.
    pub name: String,
    /// Whether it was found and starts.
    pub found: bool,
    /// Its own word on its version.
    pub version: Option<String>,
    /// Where it was found, or where it was looked for.
    pub place: String,
    /// The command that installs it.
    pub mend: String,
}

/// The folder of Peak's toolchains: `$PEAK_TOOLCHAINS`, else `.toolchains` in the nearest folder above the working
/// folder or the program that has one.
///
/// Only the environment and folder names are read.
#[must_use]
pub fn toolchain_folder() -> Option<std::path::PathBuf> {
    if let Some(folder) = std::env::var_os("PEAK_TOOLCHAINS") {
        return Some(folder.into());
    }
    let starts = [std::env::current_dir().ok(), std::env::current_exe().ok()];
    starts
        .into_iter()
        .flatten()
        .find_map(|start| start.ancestors().map(|folder| folder.join(".toolchains")).find(|folder| folder.is_dir()))
}
