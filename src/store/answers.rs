//! Answers of a run by step, key and count: what was answered is not asked again when the run goes on. Never shared
//! between runs: a new run asks anew.

use super::{Store, StoreError, blobs, now};
use rusqlite::{Connection, OptionalExtension, params};

/// Which request of a run an answer is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerPlace<'a> {
    /// The run.
    pub run: i64,
    /// The step, from 0.
    pub step: u32,
    /// The key of the request.
    pub key: &'a str,
    /// Which request of that key in this step, from 0.
    pub number: u32,
}

/// An answer to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewAnswer<'a> {
    /// The prompt's text.
    pub prompt: &'a str,
    /// The completion's text.
    pub completion: &'a str,
    /// Where it came from.
    pub provider: &'a str,
    /// The model, where it is known.
    pub model: Option<&'a str>,
}

/// An answer of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAnswer {
    /// The completion's text.
    pub completion: String,
    /// Where it came from.
    pub provider: String,
    /// The model, where it is known.
    pub model: Option<String>,
}

impl Store {
    /// Keeps an answer; when this returns, it survives a kill.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn put_answer(&mut self, place: &AnswerPlace<'_>, new: &NewAnswer<'_>) -> Result<(), StoreError> {
        let (prompt, completion) = (self.clean(new.prompt), self.clean(new.completion));
        let put = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            let prompt = blobs::put(&transaction, prompt.as_bytes())?;
            let completion = blobs::put(&transaction, completion.as_bytes())?;
            transaction.execute(
                "INSERT OR REPLACE INTO answers (run, step, key, number, prompt, completion, provider, model, created_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                params![
                    place.run,
                    place.step,
                    place.key,
                    place.number,
                    prompt,
                    completion,
                    new.provider,
                    new.model,
                    now()
                ],
            )?;
            transaction.commit()
        };
        put(&mut self.connection).map_err(|error| StoreError::at(&self.path, error))
    }

    /// The answer at a place, if there is one.
    ///
    /// # Errors
    /// The store cannot be read, or the answer is no text.
    pub fn answer(&self, place: &AnswerPlace<'_>) -> Result<Option<KeptAnswer>, StoreError> {
        let sql = "SELECT bytes, provider, model FROM answers JOIN blobs ON hash = completion \
                   WHERE run = ?1 AND step = ?2 AND key = ?3 AND number = ?4";
        let row: Option<(Vec<u8>, String, Option<String>)> = self
            .connection
            .query_row(sql, params![place.run, place.step, place.key, place.number], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .optional()
            .map_err(|error| StoreError::at(&self.path, error))?;
        row.map(|(bytes, provider, model)| {
            let completion = String::from_utf8(bytes).map_err(|error| StoreError::content("an answer", error))?;
            Ok(KeptAnswer { completion, provider, model })
        })
        .transpose()
    }

    /// The addresses of the prompts that a run has answers to, in the order in which they came.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn answered_prompts(&self, run: i64) -> Result<Vec<String>, StoreError> {
        let read = || {
            let sql = "SELECT prompt FROM answers WHERE run = ?1 ORDER BY created_at, step, number";
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map([run], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<Vec<String>>>()
        };
        read().map_err(|error| StoreError::at(&self.path, error))
    }
}
