//! Where NVRTC and its headers are: the folder of toolchains, a CUDA installation, the system's library path.

use peak_backend_api::toolchain_folder;
use std::path::{Path, PathBuf};

/// What installs both.
pub(crate) const MEND: &str = "scripts/setup";

/// Where an installation is looked for when no variable says.
const INSTALLATIONS: &[&str] = &["/usr/local/cuda", "/opt/cuda"];
/// Folders of an installation that may hold libraries.
const LIBRARIES: &[&str] = &["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"];
/// Versions that are asked of the system's loader, newest first.
const SYSTEM: &[&str] = &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];
/// A header that every toolchain with headers has.
const MARK: &str = "cuda_fp16.h";

/// An NVRTC that may be there, with the headers beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// A path, or a name for the system's loader.
    pub library: PathBuf,
    /// Folders of headers; empty where there are none.
    pub includes: Vec<PathBuf>,
}

/// Every NVRTC that is worth a try, best first.
pub(crate) fn candidates() -> Vec<Place> {
    let roots = roots();
    let mut places: Vec<Place> = roots.iter().flat_map(|root| within(root)).collect();
    let includes = roots.iter().map(|root| includes(root)).find(|found| !found.is_empty());
    let includes = includes.unwrap_or_else(|| includes_of(&[PathBuf::from("/usr/include")]));
    places.extend(SYSTEM.iter().map(|name| Place { library: PathBuf::from(name), includes: includes.clone() }));
    places
}

/// Where it was looked for, in words.
pub(crate) fn looked_at() -> String {
    let folders: Vec<String> = roots().iter().map(|root| root.display().to_string()).collect();
    format!("{}, then as {} on the system's library path", folders.join(", "), SYSTEM.join(" or "))
}

/// Where a program of the toolkit may be, best first; its bare name, for the search path, last.
pub(crate) fn programs(name: &str) -> Vec<PathBuf> {
    let within = roots().into_iter().map(|root| root.join("bin").join(name)).filter(|path| path.is_file());
    within.chain([PathBuf::from(name)]).collect()
}

fn roots() -> Vec<PathBuf> {
    let own = toolchain_folder().map(|folder| folder.join("cuda"));
    let named = ["CUDA_PATH", "CUDA_HOME"].iter().filter_map(|name| std::env::var_os(name).map(PathBuf::from));
    let mut roots: Vec<PathBuf> = own.into_iter().chain(named).collect();
    roots.extend(INSTALLATIONS.iter().map(PathBuf::from));
    roots
}

/// The NVRTC libraries below a root, newest first.
fn within(root: &Path) -> Vec<Place> {
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for folder in LIBRARIES {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
        for entry in entries.flatten() {
            let version = entry.file_name().to_str().and_then(|name| name.strip_prefix("libnvrtc.so.")?.parse().ok());
            found.extend(version.map(|version| (version, entry.path())));
        }
    }
    found.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    let includes = includes(root);
    found.into_iter().map(|(_, library)| Place { library, includes: includes.clone() }).collect()
}

fn includes(root: &Path) -> Vec<PathBuf> {
    includes_of(&[root.join("include"), root.join("targets/x86_64-linux/include")])
}

/// The first folder that holds headers, and the C++ library's below it.
fn includes_of(folders: &[PathBuf]) -> Vec<PathBuf> {
    let Some(folder) = folders.iter().find(|folder| folder.join(MARK).is_file()) else { return Vec::new() };
    let library = folder.join("cccl");
    std::iter::once(folder.clone()).chain(library.is_dir().then_some(library)).collect()
}
