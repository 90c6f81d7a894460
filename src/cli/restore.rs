//! `peak restore`: writes a checkpoint's regions out and makes it the current one.

use super::output::App;
use crate::context::KernelContext;
use crate::error::{Class, Error, Result};
use peak_grammar::ir::Region;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Writes the regions of a checkpoint to files, and makes it the current checkpoint.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak restore thread-tiling --to out   its files, and from here on the current checkpoint\n  \
    peak restore 2/baseline --force       over files that are there")]
pub struct Arguments {
    /// NAME, RUN/NAME, a number, or six or more digits of a hash.
    name: String,
    /// The folder that is written to; else `restored/RUN-NAME` in the project.
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Overwrites files that are there with another content.
    #[arg(long)]
    force: bool,
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        let store = app.store()?;
        let checkpoint = store.resolve(&self.name)?;
        let context = store.context(&checkpoint)?;
        let name = format!("{}-{}", checkpoint.run.id, checkpoint.name);
        let folder = self.to.unwrap_or_else(|| store.project().join("restored").join(file_name(&name)));
        let files = files(&context);
        if !self.force {
            refuse_to_overwrite(&folder, &files)?;
        }
        write(&folder, &files)?;
        store.set_current(checkpoint.id)?;
        app.say(&format!(
            "{} is the current checkpoint; its regions are in {}",
            checkpoint.full_name(),
            folder.display()
        ));
        let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.join(name)).collect();
        for path in &paths {
            app.print(&path.display().to_string());
        }
        app.event("restored", json!({"checkpoint": checkpoint.full_name(), "files": paths}));
        Ok(())
    }
}

/// A checkpoint's name as one component of a path.
fn file_name(name: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.chars().map(safe).collect::<String>().trim_start_matches('.').to_owned()
}

/// File name and content of each region.
fn files(context: &KernelContext) -> Vec<(String, String)> {
    let extension = match context.backend.as_str() {
        "cuda" => "cu",
        other => other,
    };
    let name = |region: Region| match region {
        Region::HostCode => format!("{}.txt", region.slug()),
        Region::Macros | Region::DeviceCode => format!("{}.{extension}", region.slug()),
    };
    Region::ALL.iter().map(|region| (name(*region), context.regions.get(*region).to_owned())).collect()
}

fn refuse_to_overwrite(folder: &Path, files: &[(String, String)]) -> Result<()> {
    for (name, content) in files {
        let path = folder.join(name);
        if path.exists() && std::fs::read(&path).is_ok_and(|there| there != content.as_bytes()) {
            let message = format!("{} is there, with another content", path.display());
            let help = "nothing was written; name another folder with `--to DIR`, or say `--force`";
            return Err(Error::plain(Class::Input, "peak::would-overwrite", message, help));
        }
    }
    Ok(())
}

fn write(folder: &Path, files: &[(String, String)]) -> Result<()> {
    let failed = |path: &Path, error: std::io::Error| {
        let message = format!("cannot write {}: {error}", path.display());
        Error::plain(Class::Environment, "peak::cannot-write", message, "name another folder with `--to DIR`")
    };
    if folder.exists() && !folder.is_dir() {
        let message = format!("{} is a file; a checkpoint is written to a folder", folder.display());
        return Err(Error::plain(Class::Input, "peak::cannot-write", message, "name a folder with `--to DIR`"));
    }
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    for (name, content) in files {
        let path = folder.join(name);
        std::fs::write(&path, content).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}
