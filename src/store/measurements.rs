//! Measurements by cache key. The key names all that a value depends on; who asks makes it.

use super::{Store, StoreError, now};
use rusqlite::{OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

impl Store {
    /// Keeps a measurement; one that is there under this key is replaced.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn put_measurement<T: Serialize>(&self, key: &str, value: &T) -> Result<(), StoreError> {
        let json = serde_json::to_string(value).map_err(|error| StoreError::content("a measurement", error))?;
        let sql = "INSERT OR REPLACE INTO measurements (key, value, created_at) VALUES (?1, ?2, ?3)";
        self.connection
            .execute(sql, params![key, json, now()])
            .map(|_| ())
            .map_err(|error| StoreError::at(&self.path, error))
    }

    /// The measurement under a key; `None` also where its form is another than `T`, so that it is made again.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn measurement<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, StoreError> {
        let json: Option<String> = self
            .connection
            .query_row("SELECT value FROM measurements WHERE key = ?1", [key], |row| row.get(0))
            .optional()
            .map_err(|error| StoreError::at(&self.path, error))?;
        Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
    }
}
