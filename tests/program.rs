//! The `peak` program, run in a folder of its own: how it ends, and what it says where.

use std::path::Path;
use std::process::{Command, Output};

/// How a call ended.
pub struct Outcome {
    pub code: i32,
    pub out: String,
    /// Words for people; the folder is `FOLDER`.
    pub err: String,
}

impl Outcome {
    pub fn of(output: Output, folder: &Path) -> Outcome {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Outcome {
            code: output.status.code().expect("an exit code"),
            out: text(output.stdout),
            err: text(output.stderr).replace(&*folder.to_string_lossy(), "FOLDER"),
        }
    }

    /// The events of `--json`, one a line.
    pub fn events(&self) -> Vec<serde_json::Value> {
        self.out.lines().map(|line| serde_json::from_str(line).expect("one JSON object a line")).collect()
    }
}

/// The command, with nothing of the surroundings that changes what it says.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_peak"));
    command
        .args(arguments)
        .current_dir(folder)
        .env_remove("PEAK_STDLIB")
        .env("NO_COLOR", "1")
        .env("XDG_CONFIG_HOME", folder.join("config"));
    command
}

/// Runs `peak` in a folder.
pub fn peak(folder: &Path, arguments: &[&str]) -> Outcome {
    Outcome::of(command(folder, arguments).output().expect("peak starts"), folder)
}

/// Runs `peak` in a folder with one variable of the environment changed.
pub fn peak_with(folder: &Path, variables: &[(&str, &Path)], arguments: &[&str]) -> Outcome {
    let variables = variables.iter().map(|(name, value)| (*name, *value));
    Outcome::of(command(folder, arguments).envs(variables).output().expect("peak starts"), folder)
}

/// A folder with files in it.
pub fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}
