//! Attempts of a model at a pass: what was asked, what came, what became of it.

use super::{Store, StoreError, Usage, blobs, now};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// One answer of a model to one prompt, to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAttempt<'a> {
    /// The run, if there is one (`peak lower` has none).
    pub run: Option<i64>,
    /// The step of the run, and the attempt's place in it: at the same place an attempt is kept once.
    pub at: Option<(u32, u32)>,
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
    /// The stable code of the check that rejected it, where it was a check.
    pub code: Option<&'a str>,
    /// Why it failed, in one line; empty where it was accepted.
    pub message: &'a str,
    /// What more is known of the failure.
    pub facts: &'a [String],
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
    /// The stable code of the check that rejected it, where it was a check.
    pub code: Option<String>,
    /// Why it failed.
    pub message: String,
    /// What more is known of the failure.
    pub facts: Vec<String>,
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

const COLUMNS: &str = "id, run, transformation, pass, region, number, class, code, message, facts, prompt, completion, \
     provider, created_at, tokens_in, tokens_out, money_millionths";

impl Store {
    /// Keeps an attempt with its texts, and gives its number.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn put_attempt(&mut self, new: &NewAttempt<'_>) -> Result<i64, StoreError> {
        let (prompt, message) = (self.clean(new.prompt), self.clean(new.message));
        let completion = new.completion.map(|text| self.clean(text));
        let facts: Vec<String> = new.facts.iter().map(|fact| self.clean(fact)).collect();
        let (step, place) = new.at.unzip();
        let put = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            let prompt = blobs::put(&transaction, prompt.as_bytes())?;
            let completion = completion.as_ref().map(|text| blobs::put(&transaction, text.as_bytes())).transpose()?;
            transaction.execute(
                "INSERT OR REPLACE INTO attempts (run, step, place, transformation, pass, region, number, class, code, \
                 message, facts, prompt, completion, provider, created_at, tokens_in, tokens_out, money_millionths) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
                params![
                    new.run,
                    step,
                    place,
                    new.transformation,
                    new.pass,
                    new.region,
                    new.number,
                    new.class,
                    new.code,
                    message,
                    serde_json::json!(facts).to_string(),
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
        let sql =
            format!("SELECT {COLUMNS} FROM attempts WHERE run = ?1 AND transformation = ?2 ORDER BY step, place, id");
        let read = || {
            let mut statement = self.connection.prepare(&sql)?;
            let rows = statement.query_map(params![run, transformation], read_attempt)?;
            rows.collect::<rusqlite::Result<Vec<Attempt>>>()
        };
        read().map_err(|error| StoreError::at(&self.path, error))
    }

    /// The run and the transformation that `NAME` or `RUN/NAME` names by its attempts, the newest run first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn attempted(&self, name: &str) -> Result<Option<(i64, String)>, StoreError> {
        let numbered = name.split_once('/').and_then(|(run, step)| Some((run.parse::<i64>().ok()?, step)));
        let (run, step) = numbered.map_or((None, name), |(run, step)| (Some(run), step));
        let sql = "SELECT run FROM attempts WHERE transformation = ?1 AND run IS NOT NULL AND (?2 IS NULL OR run = ?2) \
                   ORDER BY id DESC LIMIT 1";
        let found = self.connection.query_row(sql, params![step, run], |row| row.get(0)).optional();
        let found: Option<i64> = found.map_err(|error| StoreError::at(&self.path, error))?;
        Ok(found.map(|run| (run, step.to_owned())))
    }

    /// Steps of a run that no answer carried to a checkpoint: the last failed attempt at each, in order.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn failed_steps(&self, run: i64) -> Result<Vec<Attempt>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM attempts WHERE class IS NOT NULL AND id IN (SELECT max(id) FROM attempts \
             WHERE run = ?1 GROUP BY transformation) AND transformation NOT IN (SELECT transformation \
             FROM checkpoints WHERE run = ?1 AND transformation IS NOT NULL) ORDER BY id"
        );
        let read = || {
            let mut statement = self.connection.prepare(&sql)?;
            let rows = statement.query_map(params![run], read_attempt)?;
            rows.collect::<rusqlite::Result<Vec<Attempt>>>()
        };
        read().map_err(|error| StoreError::at(&self.path, error))
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
        code: row.get(7)?,
        message: row.get(8)?,
        // Facts are for people: what cannot be read is left out.
        facts: serde_json::from_str(&row.get::<_, String>(9)?).unwrap_or_default(),
        prompt: row.get(10)?,
        completion: row.get(11)?,
        provider: row.get(12)?,
        created_at: row.get(13)?,
        usage: usage(row)?,
    })
}

fn usage(row: &Row<'_>) -> rusqlite::Result<Option<Usage>> {
    let count = |index: usize| -> rusqlite::Result<Option<u64>> {
        Ok(row.get::<_, Option<i64>>(index)?.and_then(|count| u64::try_from(count).ok()))
    };
    let (tokens_in, tokens_out) = (count(14)?, count(15)?);
    let money_millionths = count(16)?;
    Ok(tokens_in.zip(tokens_out).map(|(tokens_in, tokens_out)| Usage { tokens_in, tokens_out, money_millionths }))
}

/// A count as the database holds it.
fn stored(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
