//! Checkpoints: a context with its parent, what made it, and how it did on each input size.

use super::{Run, Store, StoreError, blobs, now};
use crate::context::{Configuration, Inputs, KernelContext};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

/// A checkpoint to be kept.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCheckpoint<'a> {
    /// The run that it belongs to.
    pub run: i64,
    /// Its name; where the run has one of that name, `-2`, `-3`, ... is put behind it.
    pub name: &'a str,
    /// The checkpoint it came from.
    pub parent: Option<i64>,
    /// The context.
    pub context: &'a KernelContext,
    /// Which step of the workflow made it; 0 is the baseline.
    pub step: u32,
    /// Which transformation made it.
    pub transformation: Option<&'a str>,
    /// `accepted`, `rejected`.
    pub verdict: &'a str,
    /// Validators that it passed.
    pub verified_by: &'a [String],
    /// One for each input size, the first being the one that is shown.
    pub results: &'a [CheckpointResult],
}

/// How a checkpoint did on one input size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckpointResult {
    /// Scalar inputs.
    pub inputs: Inputs,
    /// The winning configuration.
    pub configuration: Configuration,
    /// Median of the device time, in nanoseconds; `None` where nothing could be timed.
    pub time_ns_median: Option<f64>,
    /// 20th percentile, in nanoseconds.
    pub time_ns_p20: Option<f64>,
    /// 80th percentile, in nanoseconds.
    pub time_ns_p80: Option<f64>,
    /// Times faster than the step before.
    pub speedup_step: Option<f64>,
    /// Times faster than the baseline.
    pub speedup_total: Option<f64>,
}

/// A checkpoint of the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Its number, from 1, across runs.
    pub id: i64,
    /// The run that it belongs to.
    pub run: Run,
    /// Its name, unique in its run.
    pub name: String,
    /// The checkpoint it came from.
    pub parent: Option<i64>,
    /// [`KernelContext::hash`] of its context.
    pub context: String,
    /// Which step of the workflow made it; 0 is the baseline.
    pub step: u32,
    /// Which transformation made it.
    pub transformation: Option<String>,
    /// `accepted`, `rejected`.
    pub verdict: String,
    /// Validators that it passed.
    pub verified_by: Vec<String>,
    /// One for each input size.
    pub results: Vec<CheckpointResult>,
    /// RFC 3339, UTC.
    pub created_at: String,
    blob: String,
}

impl Checkpoint {
    /// `RUN/NAME`, which names it among all runs.
    #[must_use]
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.run.id, self.name)
    }

    /// The beginning of the context's hash, as shown to people.
    #[must_use]
    pub fn short_hash(&self) -> &str {
        self.context.get(..10).unwrap_or(&self.context)
    }
}

impl Store {
    /// Keeps a checkpoint with its context and results, in one transaction, and gives its number.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn put_checkpoint(&mut self, new: &NewCheckpoint<'_>) -> Result<i64, StoreError> {
        let context = serde_json::to_vec(new.context).map_err(|error| StoreError::content("a context", error))?;
        let put = |connection: &mut Connection| {
            // Immediate: the free name that is read must still be free when it is written.
            let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let id = insert_whole(&transaction, new, &context)?;
            transaction.commit()?;
            Ok(id)
        };
        put(&mut self.connection).map_err(|error| StoreError::at(&self.path, error))
    }

    /// A checkpoint by number.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn checkpoint(&self, id: i64) -> Result<Option<Checkpoint>, StoreError> {
        Ok(self.checkpoints_where("id = ?1", &[&id])?.pop())
    }

    /// Every checkpoint, oldest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn checkpoints(&self) -> Result<Vec<Checkpoint>, StoreError> {
        self.checkpoints_where("1", &[])
    }

    /// The context of a checkpoint.
    ///
    /// # Errors
    /// It cannot be read, or another version of Peak wrote it.
    pub fn context(&self, checkpoint: &Checkpoint) -> Result<KernelContext, StoreError> {
        let what = format!("the context of checkpoint {}", checkpoint.full_name());
        let bytes = self.blob(&checkpoint.blob)?.ok_or_else(|| StoreError::content(&what, "it is not there"))?;
        let context: KernelContext =
            serde_json::from_slice(&bytes).map_err(|error| StoreError::content(&what, error))?;
        match context.version == crate::context::CONTEXT_VERSION {
            true => Ok(context),
            false => Err(StoreError::content(&what, format!("it has version {}", context.version))),
        }
    }

    /// The current checkpoint: the one that was last restored or kept.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn current(&self) -> Result<Option<i64>, StoreError> {
        let value: Option<String> = self
            .connection
            .query_row("SELECT value FROM settings WHERE name = 'current'", [], |row| row.get(0))
            .optional()
            .map_err(|error| StoreError::at(&self.path, error))?;
        Ok(value.and_then(|value| value.parse().ok()))
    }

    /// Makes a checkpoint the current one.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn set_current(&self, id: i64) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO settings (name, value) VALUES ('current', ?1)";
        self.connection.execute(sql, [id.to_string()]).map(|_| ()).map_err(|error| StoreError::at(&self.path, error))
    }

    /// Gives a checkpoint a name of its own; where the run has one of that name, `-2`, `-3`, ... is put behind it.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn name_checkpoint(&mut self, id: i64, name: &str) -> Result<(), StoreError> {
        let rename = |connection: &mut Connection| {
            let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let (run, held): (i64, String) =
                transaction.query_row("SELECT run, name FROM checkpoints WHERE id = ?1", [id], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })?;
            if held != name {
                let free = free_name(&transaction, run, name, Some(id))?;
                transaction.execute("UPDATE checkpoints SET name = ?2 WHERE id = ?1", params![id, free])?;
            }
            transaction.commit()
        };
        rename(&mut self.connection).map_err(|error| StoreError::at(&self.path, error))
    }

    /// Checkpoints that meet an SQL condition of ours, oldest first.
    pub(super) fn checkpoints_where(
        &self,
        condition: &str,
        values: &[&dyn rusqlite::ToSql],
    ) -> Result<Vec<Checkpoint>, StoreError> {
        let sql = format!(
            "SELECT id, run, name, parent, context, blob, step, transformation, verdict, verified_by, created_at \
             FROM checkpoints WHERE {condition} ORDER BY id"
        );
        let read = || {
            let mut statement = self.connection.prepare(&sql)?;
            let rows = statement.query_map(values, read_row)?;
            rows.collect::<rusqlite::Result<Vec<CheckpointRow>>>()
        };
        let rows = read().map_err(|error| StoreError::at(&self.path, error))?;
        rows.into_iter().map(|row| self.complete(row)).collect()
    }

    fn complete(&self, row: CheckpointRow) -> Result<Checkpoint, StoreError> {
        let what = format!("checkpoint {}", row.id);
        Ok(Checkpoint {
            id: row.id,
            run: self.run(row.run)?.ok_or_else(|| StoreError::content(&what, "its run is not there"))?,
            name: row.name,
            parent: row.parent,
            context: row.context,
            step: row.step,
            transformation: row.transformation,
            verdict: row.verdict,
            verified_by: serde_json::from_str(&row.verified_by).map_err(|error| StoreError::content(&what, error))?,
            results: self.results(row.id)?,
            created_at: row.created_at,
            blob: row.blob,
        })
    }

    fn results(&self, checkpoint: i64) -> Result<Vec<CheckpointResult>, StoreError> {
        let sql = "SELECT inputs, configuration, time_ns_median, time_ns_p20, time_ns_p80, speedup_step, speedup_total \
                   FROM results WHERE checkpoint = ?1 ORDER BY position";
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map([checkpoint], read_result)?;
            rows.collect::<rusqlite::Result<Vec<(CheckpointResult, String, String)>>>()
        };
        let rows = read().map_err(|error| StoreError::at(&self.path, error))?;
        let parse = |text: &str| {
            serde_json::from_str(text).map_err(|error| StoreError::content(format!("checkpoint {checkpoint}"), error))
        };
        rows.into_iter()
            .map(|(result, inputs, configuration)| {
                Ok(CheckpointResult { inputs: parse(&inputs)?, configuration: parse(&configuration)?, ..result })
            })
            .collect()
    }
}

/// A row of the table.
struct CheckpointRow {
    id: i64,
    run: i64,
    name: String,
    parent: Option<i64>,
    context: String,
    blob: String,
    step: u32,
    transformation: Option<String>,
    verdict: String,
    verified_by: String,
    created_at: String,
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<CheckpointRow> {
    Ok(CheckpointRow {
        id: row.get(0)?,
        run: row.get(1)?,
        name: row.get(2)?,
        parent: row.get(3)?,
        context: row.get(4)?,
        blob: row.get(5)?,
        step: row.get(6)?,
        transformation: row.get(7)?,
        verdict: row.get(8)?,
        verified_by: row.get(9)?,
        created_at: row.get(10)?,
    })
}

fn read_result(row: &Row<'_>) -> rusqlite::Result<(CheckpointResult, String, String)> {
    let result = CheckpointResult {
        time_ns_median: row.get(2)?,
        time_ns_p20: row.get(3)?,
        time_ns_p80: row.get(4)?,
        speedup_step: row.get(5)?,
        speedup_total: row.get(6)?,
        ..CheckpointResult::default()
    };
    Ok((result, row.get(0)?, row.get(1)?))
}

/// A checkpoint with its results, within a transaction that the caller opened as immediate.
pub(super) fn insert_whole(connection: &Connection, new: &NewCheckpoint<'_>, context: &[u8]) -> rusqlite::Result<i64> {
    let id = insert(connection, new, context)?;
    for (position, result) in new.results.iter().enumerate() {
        insert_result(connection, id, position, result)?;
    }
    Ok(id)
}

fn insert(connection: &Connection, new: &NewCheckpoint<'_>, context: &[u8]) -> rusqlite::Result<i64> {
    let blob = blobs::put(connection, context)?;
    let verified_by = serde_json::json!(new.verified_by).to_string();
    connection.execute(
        "INSERT INTO checkpoints (run, name, parent, context, blob, step, transformation, verdict, verified_by, \
         created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            new.run,
            free_name(connection, new.run, new.name, None)?,
            new.parent,
            new.context.hash(),
            blob,
            new.step,
            new.transformation,
            new.verdict,
            verified_by,
            now()
        ],
    )?;
    Ok(connection.last_insert_rowid())
}

/// `name`, or `name-2`, `name-3`, ... where another checkpoint of the run has it: to name one twice changes nothing.
fn free_name(connection: &Connection, run: i64, name: &str, own: Option<i64>) -> rusqlite::Result<String> {
    let mut statement =
        connection.prepare("SELECT 1 FROM checkpoints WHERE run = ?1 AND name = ?2 AND id IS NOT ?3")?;
    let mut candidate = name.to_owned();
    let mut number = 1;
    while statement.exists(params![run, candidate, own])? {
        number += 1;
        candidate = format!("{name}-{number}");
    }
    Ok(candidate)
}

fn insert_result(
    connection: &Connection,
    checkpoint: i64,
    position: usize,
    result: &CheckpointResult,
) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO results (checkpoint, position, inputs, configuration, time_ns_median, time_ns_p20, time_ns_p80, \
         speedup_step, speedup_total) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            checkpoint,
            i64::try_from(position).unwrap_or(i64::MAX),
            serde_json::json!(result.inputs).to_string(),
            serde_json::json!(result.configuration).to_string(),
            result.time_ns_median,
            result.time_ns_p20,
            result.time_ns_p80,
            result.speedup_step,
            result.speedup_total
        ],
    )?;
    Ok(())
}
