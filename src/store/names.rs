//! How people name a checkpoint: `NAME` (of the newest run that has it), `RUN/NAME`, its number, or the beginning of its
//! context's hash. A checkpoint that a workflow gave a name is found by the name of its step, too.

use super::{Checkpoint, Store, StoreError};

/// Digits of a hash at least, so that a number is not taken for one.
const HASH_DIGITS: usize = 6;

/// Names suggested at most.
const SUGGESTIONS: usize = 3;

impl Store {
    /// The checkpoint that `name` means.
    ///
    /// # Errors
    /// [`StoreError::UnknownCheckpoint`] with the nearest names, or [`StoreError::Ambiguous`].
    pub fn resolve(&self, name: &str) -> Result<Checkpoint, StoreError> {
        if let Some(found) = self.checkpoints_where("name = ?1", &[&name])?.pop() {
            return Ok(found);
        }
        if let Some((run, name)) = name.split_once('/')
            && let Ok(run) = run.parse::<i64>()
            && let Some(found) = self.checkpoints_where("run = ?1 AND name = ?2", &[&run, &name])?.pop()
        {
            return Ok(found);
        }
        if let Some(found) = self.by_step(name)? {
            return Ok(found);
        }
        if let Ok(id) = name.parse::<i64>()
            // `07` is the beginning of a hash to whoever types it.
            && id.to_string() == name
            && let Some(found) = self.checkpoint(id)?
        {
            return Ok(found);
        }
        match self.by_hash(name)? {
            Some(found) => Ok(found),
            None => Err(StoreError::UnknownCheckpoint { name: name.to_owned(), help: self.suggestion(name)? }),
        }
    }

    /// The newest checkpoint that a step led to, which a workflow's `checkpoint` may have given another name.
    fn by_step(&self, name: &str) -> Result<Option<Checkpoint>, StoreError> {
        let found = match name.split_once('/').map(|(run, step)| (run.parse::<i64>(), step)) {
            Some((Ok(run), step)) => self.checkpoints_where("run = ?1 AND transformation = ?2", &[&run, &step])?.pop(),
            _ => self.checkpoints_where("transformation = ?1", &[&name])?.pop(),
        };
        Ok(found)
    }

    /// The newest checkpoint whose context's hash begins so.
    fn by_hash(&self, prefix: &str) -> Result<Option<Checkpoint>, StoreError> {
        if prefix.len() < HASH_DIGITS || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let prefix = prefix.to_ascii_lowercase();
        let mut found = self.checkpoints_where("substr(context, 1, length(?1)) = ?1", &[&prefix])?;
        let mut hashes: Vec<String> = found.iter().map(|checkpoint| checkpoint.context.clone()).collect();
        hashes.sort();
        hashes.dedup();
        if hashes.len() > 1 {
            let shown = hashes.iter().map(|hash| hash.chars().take(prefix.len() + 6).collect()).collect();
            return Err(StoreError::Ambiguous { name: prefix, hashes: shown });
        }
        Ok(found.pop())
    }

    fn suggestion(&self, name: &str) -> Result<String, StoreError> {
        let checkpoints = self.checkpoints()?;
        if name.len() < HASH_DIGITS
            && name.bytes().all(|byte| byte.is_ascii_hexdigit())
            && name.bytes().any(|byte| byte.is_ascii_digit())
        {
            return Ok(format!("`peak log` lists names and ids; a hash takes {HASH_DIGITS} digits or more"));
        }
        let wanted = name.rsplit('/').next().unwrap_or(name);
        let mut near: Vec<(f64, String)> = checkpoints
            .iter()
            .map(|checkpoint| (strsim::jaro_winkler(wanted, &checkpoint.name), checkpoint.full_name()))
            .filter(|(likeness, _)| *likeness > 0.75)
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        let names: Vec<String> = near.into_iter().take(SUGGESTIONS).map(|(_, name)| format!("`{name}`")).collect();
        Ok(match (names.is_empty(), checkpoints.is_empty()) {
            (false, _) => format!("the nearest names are {}", names.join(", ")),
            (true, false) => "`peak log` lists the checkpoints".to_owned(),
            (true, true) => "there are none yet: `peak run matmul-f32` makes some".to_owned(),
        })
    }
}
