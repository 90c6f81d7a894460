//! `--record`: a wrapper that writes each completion as a recording.

use super::{
    Completion, CompletionRequest, Provider, ProviderError, Recorded, Recording, RecordingHead, Scrubber, Usage,
};
use std::path::{Path, PathBuf};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Asks `inner` and writes what it answers; what is recorded already is not asked again.
pub struct Record {
    inner: Box<dyn Provider>,
    folder: PathBuf,
    prompts: Option<PathBuf>,
    known: Option<Recorded>,
    scrubber: Scrubber,
    clock: fn() -> OffsetDateTime,
}

impl Record {
    /// Writes below `folder`.
    #[must_use]
    pub fn new(inner: Box<dyn Provider>, folder: impl Into<PathBuf>, scrubber: Scrubber) -> Record {
        let clock = OffsetDateTime::now_utc;
        Record { inner, folder: folder.into(), prompts: None, known: None, scrubber, clock }
    }

    /// Keeps each prompt too, below `folder`, as `.prompt.md`. Recordings themselves hold none.
    #[must_use]
    pub fn with_prompts(mut self, folder: impl Into<PathBuf>) -> Record {
        self.prompts = Some(folder.into());
        self
    }

    /// Answers from these recordings where they have one. To record a pass anew, its file is deleted first.
    #[must_use]
    pub fn reusing(mut self, known: Recorded) -> Record {
        self.known = Some(known);
        self
    }

    fn write(&self, request: &CompletionRequest, completion: &Completion) -> Result<Completion, ProviderError> {
        let (text, scrubbed) = self.scrubber.scrub(&completion.text);
        let path = request.identity.path(&request.key);
        let model = completion.model.as_deref().unwrap_or("unknown");
        let date = (self.clock)().replace_nanosecond(0).unwrap_or_else(|_| (self.clock)());
        let recorded = date.format(&Rfc3339).unwrap_or_else(|_| date.to_string());
        let took = completion.usage.map(|usage| format!("; {usage}")).unwrap_or_default();
        let note = format!("by {}{took}{}", self.inner.name(), if scrubbed { "; a secret was removed" } else { "" });
        let recording = Recording { head: RecordingHead::of(request, model, &recorded, &note), completion: text };
        let file = recording.to_text().map_err(|problem| ProviderError::Malformed { path: path.clone(), problem })?;
        write_whole(&self.folder.join(&path), &file)?;
        if let Some(prompts) = &self.prompts {
            let (prompt, _) = self.scrubber.scrub(&request.prompt);
            write_whole(&prompts.join(path.replace(".md", ".prompt.md")), &prompt)?;
        }
        // What goes on is what was written, so that the recording gives the same kernel.
        Ok(Completion { text: recording.completion, model: completion.model.clone(), usage: completion.usage })
    }
}

impl Provider for Record {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn complete(&self, request: &CompletionRequest) -> Result<Completion, ProviderError> {
        if let Some(Recording { head, completion }) =
            self.known.as_ref().map(|known| known.find(request)).transpose()?.flatten()
        {
            return Ok(Completion { text: completion, model: Some(head.model), usage: None });
        }
        let completion = self.inner.complete(request)?;
        self.write(request, &completion)
    }

    fn about(&self) -> String {
        self.inner.about()
    }

    /// Only what no recording answers.
    fn ask_ahead(&self, requests: &[CompletionRequest]) {
        let unknown = |request: &&CompletionRequest| {
            !self.known.as_ref().is_some_and(|known| matches!(known.find(request), Ok(Some(_))))
        };
        let unknown: Vec<CompletionRequest> = requests.iter().filter(unknown).cloned().collect();
        self.inner.ask_ahead(&unknown);
    }

    fn refuses(&self) -> Option<String> {
        self.inner.refuses()
    }

    fn usage(&self) -> Usage {
        self.inner.usage()
    }
}

/// Writes a file so that a reader sees all of it or nothing.
///
/// # Errors
/// [`ProviderError::File`] where it cannot be written.
pub fn write_whole(path: &Path, text: &str) -> Result<(), ProviderError> {
    let failed = |error: std::io::Error| ProviderError::File {
        what: "cannot write",
        path: path.display().to_string(),
        reason: error.to_string(),
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    std::io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
