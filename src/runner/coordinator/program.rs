//! How a worker is started, and what it may use unless somebody says otherwise.

use super::super::protocol::Limits;
use super::super::worker::Mode;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Share of the machine's memory that one worker may hold.
const MEMORY_SHARE: (u64, u64) = (3, 4);

/// A worker's memory where the system does not say how much there is.
const MEMORY_BYTES_FALLBACK: u64 = 4 << 30;

/// The program that serves as worker, and what stands before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerProgram {
    /// The program.
    pub path: PathBuf,
    /// Its arguments before `--compile` or `--device ...`.
    pub arguments: Vec<OsString>,
    /// A command that starts it: `compute-sanitizer`, `srun` with options; empty for none.
    pub before: Vec<OsString>,
    /// Variables of its environment that differ from this process's.
    pub variables: Vec<(OsString, OsString)>,
}

impl WorkerProgram {
    /// This program itself.
    ///
    /// # Errors
    /// The system does not say where it is.
    pub fn current() -> io::Result<WorkerProgram> {
        std::env::current_exe().map(|path| WorkerProgram::at(&path))
    }

    /// The `peak` program at a path.
    #[must_use]
    pub fn at(path: &Path) -> WorkerProgram {
        let (before, variables) = (Vec::new(), Vec::new());
        WorkerProgram { path: path.to_owned(), arguments: vec!["worker".into()], before, variables }
    }

    /// The command for a worker in `mode`, with its three pipes and a process group of its own: an interrupt at the
    /// terminal is the coordinator's to handle, and everything that the worker starts can be ended with it.
    #[must_use]
    pub fn command(&self, mode: &Mode) -> Command {
        use std::os::unix::process::CommandExt;
        let words: Vec<&OsString> = self.before.iter().collect();
        let mut command = match words.split_first() {
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(&self.path);
                command
            }
            None => Command::new(&self.path),
        };
        command.args(&self.arguments).args(mode.arguments());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        command
    }
}

/// Three quarters of the machine's memory for a worker, and half of that for the buffers of one job.
#[must_use]
pub fn default_limits() -> Limits {
    let memory_bytes = machine_bytes().map_or(MEMORY_BYTES_FALLBACK, |all| all / MEMORY_SHARE.1 * MEMORY_SHARE.0);
    Limits { memory_bytes, buffer_bytes: memory_bytes / 2 }
}

fn machine_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
