//! Content-addressed bytes: the same content is held once, and never changes.

use super::{Store, StoreError};
use rusqlite::{Connection, OptionalExtension, params};

impl Store {
    /// Keeps bytes, and gives their address (SHA-256 in hex).
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn put_blob(&self, bytes: &[u8]) -> Result<String, StoreError> {
        put(&self.connection, bytes).map_err(|error| StoreError::at(&self.path, error))
    }

    /// The bytes at an address, if there are any.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn blob(&self, hash: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.connection
            .query_row("SELECT bytes FROM blobs WHERE hash = ?1", [hash], |row| row.get(0))
            .optional()
            .map_err(|error| StoreError::at(&self.path, error))
    }

    /// The text at an address, if there is one.
    ///
    /// # Errors
    /// The store cannot be read, or the bytes are no text.
    pub fn text(&self, hash: &str) -> Result<Option<String>, StoreError> {
        let bytes = self.blob(hash)?;
        bytes.map(|bytes| String::from_utf8(bytes).map_err(|error| StoreError::content("a text", error))).transpose()
    }
}

pub(super) fn put(connection: &Connection, bytes: &[u8]) -> rusqlite::Result<String> {
    let hash = crate::hash::hex(bytes);
    connection.execute("INSERT OR IGNORE INTO blobs (hash, bytes) VALUES (?1, ?2)", params![hash, bytes])?;
    Ok(hash)
}
