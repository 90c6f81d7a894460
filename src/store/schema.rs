//! The store's tables, and how an older store becomes a newer one.
//!
//! `PRAGMA user_version` counts the migrations that were carried out. A migration is never changed once released: a
//! change of the tables is one more at the end of the list.

use super::{BUSY_TIMEOUT, StoreError};
use rusqlite::{Connection, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// In order; the index of the last, plus one, is the version that this program knows.
pub(super) const MIGRATIONS: &[&str] = &[include_str!("v1.sql"), include_str!("v2.sql"), include_str!("v3.sql")];

/// Between two tries to switch a new store over.
const RETRY_EVERY: Duration = Duration::from_millis(20);

/// Sets the connection up, then brings the store to the newest version.
pub(super) fn prepare(connection: &mut Connection, path: &Path, migrations: &[&str]) -> Result<(), StoreError> {
    let failed = |error| StoreError::at(path, error);
    connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
    let found = version(connection).map_err(failed)?;
    let known = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    if found > known {
        return Err(StoreError::Newer { path: path.to_owned(), found, known });
    }
    use_write_ahead_log(connection).map_err(failed)?;
    // What is reported as done must survive the machine, not only the process.
    connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(failed)?;
    if found == known {
        return Ok(());
    }
    if found > 0 {
        copy(connection, path, found)?;
    }
    migrate(connection, migrations).map_err(failed)
}

/// Two processes that make a store at once may both switch it over, and SQLite does not wait there: one tries again.
fn use_write_ahead_log(connection: &Connection) -> rusqlite::Result<()> {
    let started = Instant::now();
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if is_busy(&error) && started.elapsed() < BUSY_TIMEOUT => std::thread::sleep(RETRY_EVERY),
            result => return result,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Carries out what is missing, in one transaction: another process sees the old tables or the new, nothing between.
fn migrate(connection: &mut Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated while this one waited for the lock.
    let found = usize::try_from(version(&transaction)?).unwrap_or(0);
    for migration in migrations.iter().skip(found) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", i64::try_from(migrations.len()).unwrap_or(i64::MAX))?;
    transaction.commit()
}

/// Where the copy of a store stands that is about to be migrated.
fn copy_path(path: &Path, version: i64) -> PathBuf {
    path.with_extension(format!("v{version}.db"))
}

fn copy(connection: &Connection, path: &Path, version: i64) -> Result<(), StoreError> {
    let copy = copy_path(path, version);
    if copy.exists() {
        return Ok(());
    }
    connection
        .execute("VACUUM INTO ?1", [copy.to_string_lossy()])
        .map(|_| ())
        .map_err(|error| StoreError::at(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_store_is_copied_then_migrated_and_keeps_its_rows() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("peak.db");
        let mut old = Connection::open(&path).expect("opens");
        prepare(&mut old, &path, &MIGRATIONS[..1]).expect("version 1");
        old.execute("INSERT INTO blobs (hash, bytes) VALUES ('a', x'01')", []).expect("inserts");
        drop(old);
        let with_next = [MIGRATIONS[0], "ALTER TABLE blobs ADD COLUMN note TEXT NOT NULL DEFAULT 'none'"];
        let mut new = Connection::open(&path).expect("opens");
        prepare(&mut new, &path, &with_next).expect("version 2");
        assert_eq!(version(&new), Ok(2));
        let note: String = new.query_row("SELECT note FROM blobs WHERE hash = 'a'", [], |row| row.get(0)).expect("row");
        assert_eq!(note, "none");
        let copied = Connection::open(copy_path(&path, 1)).expect("the copy opens");
        assert_eq!(version(&copied), Ok(1));
        let rows: i64 = copied.query_row("SELECT count(*) FROM blobs", [], |row| row.get(0)).expect("count");
        assert_eq!(rows, 1);
    }

    #[test]
    fn a_migration_that_fails_leaves_the_old_version() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("peak.db");
        let mut store = Connection::open(&path).expect("opens");
        prepare(&mut store, &path, &MIGRATIONS[..1]).expect("version 1");
        let broken = [MIGRATIONS[0], "ALTER TABLE blobs ADD COLUMN note TEXT; SELECT * FROM no_such_table"];
        assert!(prepare(&mut store, &path, &broken).is_err());
        assert_eq!(version(&store), Ok(1));
        assert!(store.prepare("SELECT note FROM blobs").is_err());
    }
}
