//! The journal of a run: steps that ended and decisions, in order. A run that goes on after a kill reads it instead of
//! doing them again. A step's entry is written in one transaction with its checkpoint: both are there, or neither.

use super::checkpoints::insert_whole;
use super::{NewCheckpoint, Store, StoreError, now};
use rusqlite::{Connection, TransactionBehavior, params};

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalEntry {
    /// What it is: `step`, `failed`, `decision`.
    pub kind: String,
    /// Where in the workflow: what must be the same when the run goes on.
    pub place: String,
    /// What there is to know of it, as JSON.
    pub value: String,
    /// The checkpoint that the step made.
    pub checkpoint: Option<i64>,
}

impl Store {
    /// Appends an entry to the journal of a run, with the checkpoint that goes with it; gives the checkpoint's number.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn append(
        &mut self,
        run: i64,
        position: u32,
        entry: &JournalEntry,
        checkpoint: Option<&NewCheckpoint<'_>>,
    ) -> Result<Option<i64>, StoreError> {
        let context = checkpoint.map(|new| serde_json::to_vec(new.context)).transpose();
        let context = context.map_err(|error| StoreError::content("a context", error))?;
        let value = self.clean(&entry.value);
        let put = |connection: &mut Connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let id = match (checkpoint, &context) {
                (Some(new), Some(context)) => Some(insert_whole(&transaction, new, context)?),
                _ => entry.checkpoint,
            };
            transaction.execute(
                "INSERT OR REPLACE INTO journal (run, position, kind, place, value, checkpoint, created_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![run, position, entry.kind, entry.place, value, id, now()],
            )?;
            transaction.commit()?;
            Ok(id)
        };
        put(&mut self.connection).map_err(|error| StoreError::at(&self.path, error))
    }

    /// The journal of a run, in order.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn journal(&self, run: i64) -> Result<Vec<JournalEntry>, StoreError> {
        let read = || {
            let sql = "SELECT kind, place, value, checkpoint FROM journal WHERE run = ?1 ORDER BY position";
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map([run], |row| {
                Ok(JournalEntry { kind: row.get(0)?, place: row.get(1)?, value: row.get(2)?, checkpoint: row.get(3)? })
            })?;
            rows.collect::<rusqlite::Result<Vec<JournalEntry>>>()
        };
        read().map_err(|error| StoreError::at(&self.path, error))
    }

    /// Takes back what a run's journal holds from a position on.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn cut_journal(&self, run: i64, from: u32) -> Result<(), StoreError> {
        let sql = "DELETE FROM journal WHERE run = ?1 AND position >= ?2";
        self.connection.execute(sql, params![run, from]).map(|_| ()).map_err(|error| StoreError::at(&self.path, error))
    }
}
