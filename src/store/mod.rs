//! The store: one SQLite file in a project's `.peak/` folder, with every checkpoint, measurement, attempt and answer.
//!
//! Written through as results come: what a call reported as done survives a `kill -9`. Two processes may use one store
//! at once (write-ahead log, and waiting for a lock up to [`BUSY_TIMEOUT`]). It never holds anything that only this
//! process understands: texts are content-addressed blobs, structures are JSON. What providers say, it takes secrets out of
//! before it writes ([`crate::scrub`]).

mod answers;
mod attempts;
mod blobs;
mod checkpoints;
mod error;
mod journal;
mod lock;
mod measurements;
mod names;
mod runs;
mod schema;
mod usage;

pub use answers::{AnswerPlace, KeptAnswer, NewAnswer};
pub use attempts::{Attempt, NewAttempt};
pub use checkpoints::{Checkpoint, CheckpointResult, NewCheckpoint};
pub use error::StoreError;
pub use journal::JournalEntry;
pub use lock::RunLock;
pub use runs::{NewRun, Run, RunStatus};
pub use usage::Usage;

use crate::scrub::Scrubber;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder of a project that holds the store.
pub const FOLDER: &str = ".peak";

/// The store's file in [`FOLDER`].
pub const FILE: &str = "peak.db";

/// How long a call waits for another process's write.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// An open store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    scrubber: Scrubber,
}

impl Store {
    /// Opens the store of a project, making it if there is none.
    ///
    /// # Errors
    /// A folder that cannot be written, a file that is no store, or one of a newer version of Peak.
    pub fn open(project: &Path) -> Result<Store, StoreError> {
        let folder = project.join(FOLDER);
        std::fs::create_dir_all(&folder)
            .map_err(|error| StoreError::Folder { path: folder.clone(), reason: error.to_string() })?;
        Store::open_file(folder.join(FILE))
    }

    /// Opens the store that a project has.
    ///
    /// # Errors
    /// [`StoreError::NoStore`] where there is none, else as [`Store::open`].
    pub fn find(project: &Path) -> Result<Store, StoreError> {
        let found = find_file(project).ok_or_else(|| StoreError::NoStore {
            project: std::path::absolute(project).unwrap_or_else(|_| project.to_owned()),
        })?;
        Store::open_file(found)
    }

    fn open_file(path: PathBuf) -> Result<Store, StoreError> {
        let mut connection = Connection::open(&path).map_err(|error| StoreError::at(&path, error))?;
        schema::prepare(&mut connection, &path, schema::MIGRATIONS)?;
        Ok(Store { connection, path, scrubber: Scrubber::from_environment() })
    }

    /// The same store once more, for another thread or beside a borrow of this one.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn again(&self) -> Result<Store, StoreError> {
        Store::open_file(self.path.clone())
    }

    /// Takes these secrets out of what is written from here on, in place of those of the environment.
    #[must_use]
    pub fn scrubbed_by(mut self, scrubber: Scrubber) -> Store {
        self.scrubber = scrubber;
        self
    }

    /// A text without secrets.
    fn clean(&self, text: &str) -> String {
        self.scrubber.scrub(text).0
    }

    /// The store's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the project: the one that holds [`FOLDER`].
    #[must_use]
    pub fn project(&self) -> &Path {
        self.path.parent().and_then(Path::parent).unwrap_or(Path::new("."))
    }
}

/// The store's file in a project, where it has one.
#[must_use]
pub fn find_file(project: &Path) -> Option<PathBuf> {
    let project = std::path::absolute(project).ok()?;
    Some(project.join(FOLDER).join(FILE)).filter(|file| file.is_file())
}

/// The nearest folder, from `start` upwards, that has a store.
#[must_use]
pub fn nearest_project(start: &Path) -> Option<PathBuf> {
    let start = std::path::absolute(start).ok()?;
    start.ancestors().find(|folder| find_file(folder).is_some()).map(Path::to_owned)
}

/// The time now in UTC, as RFC 3339 to the second.
fn now() -> String {
    let now = time::OffsetDateTime::now_utc().replace_nanosecond(0).unwrap_or(time::OffsetDateTime::UNIX_EPOCH);
    now.format(&time::format_description::well_known::Rfc3339).unwrap_or_default()
}
