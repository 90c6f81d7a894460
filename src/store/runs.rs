//! Runs: one workflow, carried out once on one device.

use super::{Store, StoreError, now};
use rusqlite::{OptionalExtension, Row, params};

/// What a run is at its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// The workflow's name.
    pub workflow: String,
    /// The kernel's name.
    pub kernel: String,
    /// `hlsl`, `cuda`, ...
    pub backend: String,
    /// `vulkan`, `gpu`, ...
    pub runtime: String,
    /// The driver's name for the device.
    pub device: String,
    /// Where completions come from.
    pub provider: String,
    /// What the caller asked for, as JSON: a run that goes on goes on so.
    pub options: String,
}

/// A run of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its number, from 1.
    pub id: i64,
    /// What it was at its start.
    pub of: NewRun,
    /// How it stands.
    pub status: RunStatus,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// RFC 3339, UTC; `None` while it runs, and where its process was killed.
    pub finished_at: Option<String>,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStatus {
    /// Under way, or its process was killed.
    Running,
    /// Every step was carried out.
    Finished,
    /// Interrupted at a checkpoint.
    Stopped,
    /// Ended by a failure.
    Failed,
}

impl RunStatus {
    /// The word in the store and in `--json`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            RunStatus::Running => "running",
            RunStatus::Finished => "finished",
            RunStatus::Stopped => "stopped",
            RunStatus::Failed => "failed",
        }
    }

    fn of(word: &str) -> Option<RunStatus> {
        let all = [RunStatus::Running, RunStatus::Finished, RunStatus::Stopped, RunStatus::Failed];
        all.into_iter().find(|status| status.word() == word)
    }
}

const COLUMNS: &str =
    "id, workflow, kernel, backend, runtime, device, provider, status, started_at, finished_at, options";

impl Store {
    /// Notes that a run starts, and gives its number.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn start_run(&self, run: &NewRun) -> Result<i64, StoreError> {
        let sql = "INSERT INTO runs (workflow, kernel, backend, runtime, device, provider, status, started_at, \
                   options) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let NewRun { workflow, kernel, backend, runtime, device, provider, options } = run;
        let status = RunStatus::Running.word();
        self.connection
            .execute(sql, params![workflow, kernel, backend, runtime, device, provider, status, now(), options])
            .map_err(|error| StoreError::at(&self.path, error))?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Notes that a run goes on.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn continue_run(&self, run: i64) -> Result<(), StoreError> {
        let sql = "UPDATE runs SET status = ?2, finished_at = NULL WHERE id = ?1";
        self.connection
            .execute(sql, params![run, RunStatus::Running.word()])
            .map(|_| ())
            .map_err(|error| StoreError::at(&self.path, error))
    }

    /// Notes how a run ended.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn finish_run(&self, run: i64, status: RunStatus) -> Result<(), StoreError> {
        let sql = "UPDATE runs SET status = ?2, finished_at = ?3 WHERE id = ?1";
        self.connection
            .execute(sql, params![run, status.word(), now()])
            .map(|_| ())
            .map_err(|error| StoreError::at(&self.path, error))
    }

    /// A run by number.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn run(&self, id: i64) -> Result<Option<Run>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE id = ?1");
        self.connection.query_row(&sql, [id], read_run).optional().map_err(|error| StoreError::at(&self.path, error))
    }

    /// Every run, oldest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn runs(&self) -> Result<Vec<Run>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare(&format!("SELECT {COLUMNS} FROM runs ORDER BY id"))?;
            let rows = statement.query_map([], read_run)?;
            rows.collect::<rusqlite::Result<Vec<Run>>>()
        };
        read().map_err(|error| StoreError::at(&self.path, error))
    }
}

fn read_run(row: &Row<'_>) -> rusqlite::Result<Run> {
    let status: String = row.get(7)?;
    Ok(Run {
        id: row.get(0)?,
        of: NewRun {
            workflow: row.get(1)?,
            kernel: row.get(2)?,
            backend: row.get(3)?,
            runtime: row.get(4)?,
            device: row.get(5)?,
            provider: row.get(6)?,
            options: row.get(10)?,
        },
        // A word of a later version: the run is not one of ours to judge, and reads as interrupted.
        status: RunStatus::of(&status).unwrap_or(RunStatus::Stopped),
        started_at: row.get(8)?,
        finished_at: row.get(9)?,
    })
}
