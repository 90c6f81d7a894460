//! `mailbox`: a folder. `NNN.prompt.md` goes out, `NNN.completion.md` comes in; a person or an agent answers at leisure.
//!
//! Resumable: a prompt that lies there already, byte for byte, keeps its number and its completion. The folder is the
//! only thing it touches, and it deletes nothing.

use super::record::write_whole;
use super::{AskError, Completion, CompletionRequest, MAX_COMPLETION_BYTES, Provider, ProviderError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often the folder is looked at.
const POLL: Duration = Duration::from_millis(250);

/// Prompts and completions as files.
pub struct Mailbox {
    folder: PathBuf,
    timeout: Duration,
    poll: Duration,
    model: Option<String>,
    stop: Arc<AtomicBool>,
    /// Numbers are given one at a time.
    numbering: Mutex<()>,
}

impl Mailbox {
    /// Waits up to `timeout` for each answer. `model` is who answers, for recordings.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>, timeout: Duration, model: Option<String>) -> Mailbox {
        Mailbox { folder: folder.into(), timeout, poll: POLL, model, stop: Arc::default(), numbering: Mutex::new(()) }
    }

    /// Looks at the folder every `poll`.
    #[must_use]
    pub fn polling_every(mut self, poll: Duration) -> Mailbox {
        self.poll = poll;
        self
    }

    /// Waits no longer once this is set.
    #[must_use]
    pub fn stopped_by(mut self, stop: Arc<AtomicBool>) -> Mailbox {
        self.stop = stop;
        self
    }

    /// The number of a prompt: the one that it has already, else the next.
    fn post(&self, prompt: &str) -> Result<String, ProviderError> {
        // The lock guards no data: a panic elsewhere leaves the folder as usable as before.
        let _held = self.numbering.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut last = 0;
        for number in self.numbers() {
            let posted = std::fs::read(self.file(&number, "prompt")).unwrap_or_default();
            if posted == prompt.as_bytes() {
                return Ok(number);
            }
            last = last.max(number.parse::<u64>().unwrap_or(0));
        }
        let number = format!("{:03}", last + 1);
        write_whole(&self.file(&number, "prompt"), prompt)?;
        Ok(number)
    }

    fn numbers(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let numbers = names.filter_map(|name| Some(name.strip_suffix(".prompt.md")?.to_owned()));
        let mut numbers: Vec<String> = numbers.filter(|number| number.parse::<u64>().is_ok()).collect();
        numbers.sort();
        numbers
    }

    fn file(&self, number: &str, what: &str) -> PathBuf {
        self.folder.join(format!("{number}.{what}.md"))
    }

    /// Waits until the file is whole: there, not empty, and of one size at two looks in a row.
    fn wait(&self, path: &Path) -> Result<String, ProviderError> {
        let started = Instant::now();
        let mut seen = None;
        loop {
            let now = std::fs::metadata(path).ok().map(|data| (data.len(), data.modified().ok()));
            match now {
                Some((bytes, _)) if bytes > MAX_COMPLETION_BYTES as u64 => {
                    let place = format!("{} has {bytes} bytes", path.display());
                    return Err(ProviderError::TooLong { place, limit: MAX_COMPLETION_BYTES as u64 });
                }
                Some((1.., _)) if now == seen => return read(path),
                _ => seen = now,
            }
            if self.stop.load(Ordering::Relaxed) {
                return Err(AskError::Stopped { place: "the mailbox".to_owned() }.into());
            }
            if started.elapsed() >= self.timeout {
                let seconds = self.timeout.as_secs();
                return Err(ProviderError::MailboxTimeout { seconds, path: path.display().to_string() });
            }
            std::thread::sleep(self.poll.min(self.timeout));
        }
    }
}

impl Provider for Mailbox {
    fn name(&self) -> &str {
        "mailbox"
    }

    fn complete(&self, request: &CompletionRequest) -> Result<Completion, ProviderError> {
        let number = self.post(&request.prompt)?;
        let answer = self.file(&number, "completion");
        if !answer.exists() {
            let (prompt, id) = (self.file(&number, "prompt"), &request.identity);
            eprintln!("waiting for an answer ({}, {}):", id.stem(), id.kernel_folder());
            eprintln!("  read  {}\n  write {}", prompt.display(), answer.display());
        }
        Ok(Completion { text: self.wait(&answer)?, model: self.model.clone(), usage: None })
    }
}

fn read(path: &Path) -> Result<String, ProviderError> {
    std::fs::read_to_string(path).map_err(|error| ProviderError::File {
        what: "cannot read",
        path: path.display().to_string(),
        reason: error.to_string(),
    })
}
