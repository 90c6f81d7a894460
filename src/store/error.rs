//! How the store fails, in words for people.

use crate::error::{Class, Classified};
use std::path::{Path, PathBuf};

/// Why the store could not do something.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum StoreError {
    /// The project has no store.
    #[error("there is no store in {}", project.display())]
    #[diagnostic(code("peak::no-store"), help("`peak run matmul-f32` makes one; `--project DIR` names another folder"))]
    NoStore {
        /// The project's folder.
        project: PathBuf,
    },
    /// The project's folder cannot be made.
    #[error("cannot make the folder {}: {reason}", path.display())]
    #[diagnostic(code("peak::store-folder"), help("name a folder that can be written with `--project DIR`"))]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A newer version of Peak wrote it.
    #[error("{} was written by a newer version of Peak: its schema is {found}, this one knows {known}", path.display())]
    #[diagnostic(
        code("peak::store-newer"),
        help("use that version of Peak, or `--project DIR` for a store of its own")
    )]
    Newer {
        /// The store's file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// SQLite failed.
    #[error("{}: {reason}", path.display())]
    #[diagnostic(
        code("peak::store-damaged"),
        help("another file may have taken its place, or the disk is full; move it away to start a new store")
    )]
    Database {
        /// The store's file.
        path: PathBuf,
        /// What SQLite said.
        reason: String,
    },
    /// Another process held it for longer than the time to wait.
    #[error("{} is in use by another process", path.display())]
    #[diagnostic(code("peak::store-busy"), help("wait for the other `peak` to finish, then try again"))]
    Busy {
        /// The store's file.
        path: PathBuf,
    },
    /// A JSON value in it that does not have the expected form.
    #[error("{what} in the store cannot be read: {reason}")]
    #[diagnostic(
        code("peak::store-content"),
        help("it was written by another version of Peak: run the workflow again")
    )]
    Content {
        /// What was read.
        what: String,
        /// Why it cannot be.
        reason: String,
    },
    /// No checkpoint of that name.
    #[error("there is no checkpoint `{name}`")]
    #[diagnostic(code("peak::unknown-checkpoint"))]
    UnknownCheckpoint {
        /// What was asked for.
        name: String,
        /// The nearest names, or what to do.
        #[help]
        help: String,
    },
    /// The beginning of a hash that several contexts share.
    #[error("`{name}` is the beginning of {} different hashes", .hashes.len())]
    #[diagnostic(code("peak::ambiguous-checkpoint"), help("give more digits: {}", .hashes.join(", ")))]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// The beginnings that tell them apart.
        hashes: Vec<String>,
    },
}

impl StoreError {
    /// What SQLite said of the file at `path`.
    pub(super) fn at(path: &Path, error: rusqlite::Error) -> StoreError {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => StoreError::Busy { path },
            _ => StoreError::Database { path, reason: error.to_string() },
        }
    }

    /// A value of the store that has another form than expected.
    pub(crate) fn content(what: impl Into<String>, reason: impl ToString) -> StoreError {
        StoreError::Content { what: what.into(), reason: reason.to_string() }
    }
}

impl Classified for StoreError {
    fn class(&self) -> Class {
        match self {
            StoreError::NoStore { .. } | StoreError::UnknownCheckpoint { .. } | StoreError::Ambiguous { .. } => {
                Class::Input
            }
            _ => Class::Environment,
        }
    }
}
