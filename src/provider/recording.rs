//! The file format of a recording: TOML between `+++` lines, then the completion, byte for byte.

use super::{CompletionRequest, KeyParts, RequestIdentity};
use serde::{Deserialize, Serialize};

/// Version of the front matter.
pub const RECORDING_VERSION: u32 = 1;

const FENCE: &str = "+++\n";

/// A completion and what it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The front matter.
    pub head: RecordingHead,
    /// The model's words, unchanged.
    pub completion: String,
}

/// The front matter of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingHead {
    /// [`RECORDING_VERSION`].
    pub version: u32,
    /// The whole key; the file's name holds its first eight digits.
    pub key: String,
    /// The kernel's name.
    pub kernel: String,
    /// `hlsl`, `cuda`, ...
    pub backend: String,
    /// Transformations applied before, in order.
    pub applied: Vec<String>,
    /// The transformation.
    pub transformation: String,
    /// The pass.
    pub pass: String,
    /// The region, as `device-code`, or `choice`.
    pub region: String,
    /// 0 for the first request, N for the Nth repair.
    pub attempt: u32,
    /// The model that answered.
    pub model: String,
    /// Date and time in UTC, RFC 3339.
    pub recorded: String,
    /// SHA-256 of the prompt that was answered.
    pub prompt_sha256: String,
    /// Anything that a reader should know: the provider, what was scrubbed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The parts of the key, each by itself; not in recordings of the first versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<KeyParts>,
}

/// Why a recording cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// It does not start with `+++`, or the second `+++` is missing.
    #[error("its front matter does not stand between two `+++` lines")]
    NoHead,
    /// The front matter is no TOML of the expected form.
    #[error("front matter: {0}")]
    Head(String),
    /// A version that this build does not know.
    #[error("front matter has version {0}, and this build reads {RECORDING_VERSION}")]
    Version(u32),
}

impl RecordingHead {
    /// The front matter for a request.
    #[must_use]
    pub fn of(request: &CompletionRequest, model: &str, recorded: &str, note: &str) -> RecordingHead {
        let RequestIdentity { kernel, backend, applied, transformation, pass, repair, .. } = request.identity.clone();
        RecordingHead {
            version: RECORDING_VERSION,
            key: request.key.clone(),
            kernel,
            backend,
            applied,
            transformation,
            pass,
            region: request.identity.subject().to_owned(),
            attempt: repair,
            model: model.to_owned(),
            recorded: recorded.to_owned(),
            prompt_sha256: request.prompt_sha256(),
            note: note.to_owned(),
            parts: Some(request.parts.clone()),
        }
    }
}

impl Recording {
    /// The file's text.
    ///
    /// # Errors
    /// [`RecordingError::Head`] where the front matter cannot be written as TOML.
    pub fn to_text(&self) -> Result<String, RecordingError> {
        let head = toml::to_string(&self.head).map_err(|error| RecordingError::Head(error.to_string()))?;
        Ok(format!("{FENCE}{head}{FENCE}{}", self.completion))
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// As [`RecordingError`] says.
    pub fn parse(text: &str) -> Result<Recording, RecordingError> {
        let rest = text.strip_prefix(FENCE).ok_or(RecordingError::NoHead)?;
        let (head, completion) = rest.split_once("\n+++\n").ok_or(RecordingError::NoHead)?;
        let head: RecordingHead = toml::from_str(head).map_err(|error| RecordingError::Head(error.to_string()))?;
        match head.version {
            RECORDING_VERSION => Ok(Recording { head, completion: completion.to_owned() }),
            other => Err(RecordingError::Version(other)),
        }
    }
}
