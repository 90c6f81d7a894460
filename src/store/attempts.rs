//! Attempts of a model at a pass, and completions by the key of their prompt.

use super::{Store, StoreError, Usage, blobs, now};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// One answer of a model to one prompt, to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAttempt<'a> {
    /// The run, if there is one (`peak lower` has none).
    pub run: Option<i64>,
    /// The transformation.
    pub transformation: &'a str,
    /// The pass.
    pub pass: &'a str,
    /// The region's words: `device code`.
    pub region: &'a str,
    /// 1 for the first, then repairs.
    pub number: u32,
    /// The failure's class; `None` where it was accepted.
    pub class: Option<&'a str>,
    /// Why it failed, in one line; empty where it was accepted.
    pub message: &'a str,
    /// The prompt's text.
    pub prompt: &'a str,
    /// The completion's text; `None` where none came.
    pub completion: Option<&'a str>,
    /// Where it came from.
    pub provider: &'a str,
    /// What it took, where that is known.
    pub usage: Option<Usage>,
}

/// An attempt of the store. Texts are addresses of blobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its number, across runs.
    pub id: i64,
    /// The run.
    pub run: Option<i64>,
    /// The transformation.
    pub transformation: String,
    /// The pass.
    pub pass: String,
    /// The region's words.
    pub region: String,
    /// 1 for the first, then repairs.
    pub number: u32,
    /// The failure's class; `None` where it was accepted.
    pub class: Option<String>,
    /// Why it failed.
    pub message: String,
    /// Address of the prompt.
    pub prompt: String,
    /// Address of the completion.
    pub completion: Option<String>,
    /// Where it came from.
    pub provider: String,
    /// RFC 3339, UTC.
    pub created_at: String,
    /// What it took, where that is known.
    pub usage: Option<Usage>,
}

/// A completion of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Its text.
    pub text: String,
    /// Where it came from.
    pub provider: String,
    /// The model's name.
    pub model: String,
    /// RFC 3339, UTC.
    pub created_at: String,
}

impl Store {
    /// Keeps an attempt with its texts, and gives its number.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn put_attempt(&mut self, new: &NewAttempt<'_>) -> Result<i64, StoreError> {
        let put = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            let prompt = blobs::put(&transaction, new.prompt.as_bytes())?;
            let completion = new.completion.map(|text| blobs::put(&transaction, text.as_bytes())).transpose()?;
            transaction.execute(
                "INSERT INTO attempts (run, transformation, pass, region, number, class, message, prompt, completion, \
                 provider, created_at, tokens_in, tokens_out, money_millionths) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
                params![
                    new.run,
                    new.transformation,
                    new.pass,
                    new.region,
                    new.number,
                    new.class,
                    new.message,
                    prompt,
                    completion,
                    new.provider,
                    now(),
                    new.usage.map(|usage| stored(usage.tokens_in)),
                    new.usage.map(|usage| stored(usage.tokens_out)),
                    new.usage.and_then(|usage| usage.money_millionths).map(stored),
                ],
            )?;
            let id = transaction.last_insert_rowid();
            transaction.commit()?;
            Ok(id)
        };
        put(&mut self.connection).map_err(|error| StoreError::at(&self.path, error))
    }

    /// Attempts at a transformation in one run, oldest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn attempts(&self, run: i64, transformation: &str) -> Result<Vec<Attempt>, StoreError> {
        let sql = "SELECT id, run, transformation, pass, region, number, class, message, prompt, completion, provider, \
                   created_at, tokens_in, tokens_out, money_millionths FROM attempts WHERE run = ?1 AND transformation = ?2 ORDER BY id";
        let read = || {
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map(params![run, transformation], read_attempt)?;
            rows.collect::<rusqlite::Result<Vec<Attempt>>>()
        };
        read().map_err(|error| StoreError::at(&self.path, error))
    }

    /// Steps of a run that no answer carried to a checkpoint: the last failed attempt at each, in order.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn failed_steps(&self, run: i64) -> Result<Vec<Attempt>, StoreError> {
        let sql = "SELECT id, run, transformation, pass, region, number, class, message, prompt, completion, provider, \
                   created_at, tokens_in, tokens_out, money_millionths FROM attempts WHERE class IS NOT NULL AND id IN (SELECT max(id) FROM attempts \
                   WHERE run = ?1 GROUP BY transformation) AND transformation NOT IN (SELECT transformation \
                   FROM checkpoints WHERE run = ?1 AND transformation IS NOT NULL) ORDER BY id";
        let read = || {
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map(params![run], read_attempt)?;
            rows.collect::<rusqlite::Result<Vec<Attempt>>>()
        };
        read().map_err(|error| StoreError::at(&self.path, error))
    }

    /// Keeps a completion under the key of its request; one that is there is replaced.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn put_completion(
        &mut self,
        key: &str,
        prompt: &str,
        completion: &str,
        provider: &str,
        model: &str,
    ) -> Result<(), StoreError> {
        let put = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            let prompt = blobs::put(&transaction, prompt.as_bytes())?;
            let completion = blobs::put(&transaction, completion.as_bytes())?;
            transaction.execute(
                "INSERT OR REPLACE INTO completions (key, prompt, completion, provider, model, created_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![key, prompt, completion, provider, model, now()],
            )?;
            transaction.commit()
        };
        put(&mut self.connection).map_err(|error| StoreError::at(&self.path, error))
    }

    /// The completion under a key, if there is one.
    ///
    /// # Errors
    /// The store cannot be read, or the completion is no text.
    pub fn completion(&self, key: &str) -> Result<Option<Completion>, StoreError> {
        let sql = "SELECT bytes, provider, model, created_at FROM completions JOIN blobs ON hash = completion \
                   WHERE key = ?1";
        let row: Option<(Vec<u8>, String, String, String)> = self
            .connection
            .query_row(sql, [key], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
            .optional()
            .map_err(|error| StoreError::at(&self.path, error))?;
        row.map(|(bytes, provider, model, created_at)| {
            let text = String::from_utf8(bytes).map_err(|error| StoreError::content("a completion", error))?;
            Ok(Completion { text, provider, model, created_at })
        })
        .transpose()
    }
}

fn read_attempt(row: &Row<'_>) -> rusqlite::Result<Attempt> {
    Ok(Attempt {
        id: row.get(0)?,
        run: row.get(1)?,
        transformation: row.get(2)?,
        pass: row.get(3)?,
        region: row.get(4)?,
        number: row.get(5)?,
        class: row.get(6)?,
        message: row.get(7)?,
        prompt: row.get(8)?,
        completion: row.get(9)?,
        provider: row.get(10)?,
        created_at: row.get(11)?,
        usage: usage(row)?,
    })
}

fn usage(row: &Row<'_>) -> rusqlite::Result<Option<Usage>> {
    let count = |index: usize| -> rusqlite::Result<Option<u64>> {
        Ok(row.get::<_, Option<i64>>(index)?.and_then(|count| u64::try_from(count).ok()))
    };
    let (tokens_in, tokens_out) = (count(12)?, count(13)?);
    let money_millionths = count(14)?;
    Ok(tokens_in.zip(tokens_out).map(|(tokens_in, tokens_out)| Usage { tokens_in, tokens_out, money_millionths }))
}

/// A count as the database holds it.
fn stored(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
