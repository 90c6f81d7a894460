//! `recorded`: completions that a model gave earlier, kept as files. The default, and it asks nobody.

use super::{Completion, CompletionRequest, MissingRecording, Provider, ProviderError, Recording, RecordingSource};
use peak_grammar::ir::Region;

/// Answers from recordings, the first source that has one first.
pub struct Recorded {
    sources: Vec<Box<dyn RecordingSource>>,
    record_command: Option<String>,
}

/// A recording, and where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Which source, in the order in which they are looked in.
    pub source: usize,
    /// Its path in there.
    pub path: String,
    /// What it holds.
    pub recording: Recording,
}

impl Recorded {
    /// Looks in these, in order: the project's own folder before the library's.
    #[must_use]
    pub fn new(sources: Vec<Box<dyn RecordingSource>>) -> Recorded {
        Recorded { sources, record_command: None }
    }

    /// Shows this command line where a recording is missing, in place of one that lowers the same transformations.
    #[must_use]
    pub fn recorded_by(mut self, command: Option<String>) -> Recorded {
        self.record_command = command;
        self
    }

    /// The recording of a request, if there is one.
    ///
    /// # Errors
    /// [`ProviderError::Malformed`] where the file is there and cannot be read.
    pub fn find(&self, request: &CompletionRequest) -> Result<Option<Recording>, ProviderError> {
        Ok(self.find_at(request)?.map(|found| found.recording))
    }

    /// The recording of a request, and where it lies.
    ///
    /// # Errors
    /// As [`Recorded::find`].
    pub fn find_at(&self, request: &CompletionRequest) -> Result<Option<Found>, ProviderError> {
        let exact = request.identity.path(&request.key);
        for (source, from) in self.sources.iter().enumerate() {
            if let Some(recording) = read(from.as_ref(), &exact, request)? {
                return Ok(Some(Found { source, path: exact, recording }));
            }
        }
        // The same code may have come about by another history: the key alone decides.
        let name = exact.rsplit('/').next().unwrap_or(&exact);
        for (source, from) in self.sources.iter().enumerate() {
            let listed = from.list(&request.identity.kernel_folder());
            for path in listed.into_iter().filter(|path| path.rsplit('/').next() == Some(name)) {
                if let Some(recording) = read(from.as_ref(), &path, request)? {
                    return Ok(Some(Found { source, path, recording }));
                }
            }
        }
        Ok(None)
    }

    /// Where recordings lie.
    #[must_use]
    pub fn sources(&self) -> &[Box<dyn RecordingSource>] {
        &self.sources
    }

    fn missing(&self, request: &CompletionRequest) -> ProviderError {
        let id = &request.identity;
        let stem = format!("{}.", id.stem());
        let other_key = |path: &String| {
            let file = path.rsplit('/').next().unwrap_or(path);
            // What follows the stem is the key alone, so that a first answer does not count for its repairs.
            file.strip_prefix(&stem).and_then(|rest| rest.strip_suffix(".md")).is_some_and(|key| !key.contains('.'))
        };
        let same_pass = self.sources.iter().any(|source| source.list(&id.kernel_folder()).iter().any(other_key));
        let reason = match (same_pass, id.repair) {
            (true, _) => "There is a recording of this pass, but the words or the code changed since it was recorded",
            (false, 0) => "Nobody has recorded this pass for this kernel and language yet",
            (false, _) => "The recorded answer failed here, and no repair of that failure was recorded",
        };
        let places: Vec<String> = self.sources.iter().map(|source| source.name()).collect();
        let repair = if id.repair > 0 { format!(", repair {}", id.repair) } else { String::new() };
        let what = format!(
            "kernel `{}` on {}: transformation `{}`, pass `{}`, {}{repair}",
            id.kernel,
            id.backend,
            id.transformation,
            id.pass,
            id.region.map_or("a choice", Region::words)
        );
        ProviderError::Missing(Box::new(MissingRecording {
            what,
            reason: reason.to_owned(),
            command: self.record_command.clone().unwrap_or_else(|| record_command(request)),
            places: if places.is_empty() { "no folder at all".to_owned() } else { places.join(", ") },
        }))
    }
}

impl Provider for Recorded {
    fn name(&self) -> &str {
        "recorded"
    }

    fn complete(&self, request: &CompletionRequest) -> Result<Completion, ProviderError> {
        match self.find(request)? {
            Some(Recording { head, completion }) => {
                Ok(Completion { text: completion, model: Some(head.model), usage: None })
            }
            None => Err(self.missing(request)),
        }
    }
}

fn read(
    source: &dyn RecordingSource,
    path: &str,
    request: &CompletionRequest,
) -> Result<Option<Recording>, ProviderError> {
    let Some(text) = source.read(path) else { return Ok(None) };
    let recording = Recording::parse(&text)
        .map_err(|problem| ProviderError::Malformed { path: format!("{}/{path}", source.name()), problem })?;
    Ok((recording.head.key == request.key).then_some(recording))
}

/// The command that records what a request asks for. Names are the language's own words, so nothing needs quoting.
fn record_command(request: &CompletionRequest) -> String {
    let id = &request.identity;
    let after = match id.applied.as_slice() {
        [] => String::new(),
        applied => format!(" --after {}", applied.join(",")),
    };
    format!(
        "peak lower -t {} -k {}{after} --backend {} --provider mailbox --record recordings",
        id.transformation, id.kernel, id.backend
    )
}
