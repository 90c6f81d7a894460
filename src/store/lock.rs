//! One process carries out a run at a time: a lock on a file beside the store, which the system lets go of with the
//! process, however that ends.

use super::{Store, StoreError};
use std::fs::{File, TryLockError};
use std::path::PathBuf;

/// The folder of the lock files, beside the store.
const FOLDER: &str = "runs";

/// Held while a run is carried out.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
    path: PathBuf,
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Left behind, it is empty and free.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Store {
    /// Takes the lock of a run; `None` where another process carries it out.
    ///
    /// # Errors
    /// The lock file cannot be made.
    pub fn lock_run(&self, run: i64) -> Result<Option<RunLock>, StoreError> {
        let folder = self.path.with_file_name(FOLDER);
        let failed = |error: std::io::Error| StoreError::Folder { path: folder.clone(), reason: error.to_string() };
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let path = folder.join(format!("{run}.lock"));
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(RunLock { _file: file, path })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}
