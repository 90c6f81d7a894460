//! Providers: where completions come from. One trait, one file each, and the list [`PROVIDERS`].
//!
//! A provider takes a finished prompt and gives back text. It never reads a kernel context, never judges an answer and
//! never changes a byte of it. Recording is a wrapper ([`Record`]), not code in each provider.

mod ahead;
mod anthropic;
mod ask_error;
mod budget;
mod catch;
mod command;
mod conduct;
mod error;
mod gemini;
mod http;
mod key;
mod keyring;
mod list;
mod mailbox;
mod openai;
mod record;
mod recorded;
mod recording;
mod source;

pub use ahead::{Ahead, MAX_PARALLEL};
pub use ask_error::AskError;
pub use budget::Budgeted;
pub use catch::Catch;
pub use conduct::{Conduct, Heard, Listener, Pauses};
pub use error::{MissingRecording, ProviderError};
pub use http::{MAX_PAUSE, MAX_RESPONSE_BYTES, MAX_TRIES};
pub use key::{ChoiceKey, KeyFacts, KeyParts, ParentAnswer};
pub use keyring::{KeySource, Keys, forget_key, keep_key};
pub use list::{DEFAULT_PROVIDER, PROVIDERS, ProviderEntry, ProviderOptions, open};
pub use mailbox::Mailbox;
pub use record::{Record, write_whole as write_recording};
pub use recorded::{Found, Recorded};
pub use recording::{RECORDING_VERSION, Recording, RecordingError, RecordingHead};
pub use source::{EmbeddedSource, FolderSource, RecordingSource};

pub use crate::scrub::Scrubber;
pub use crate::store::Usage;

use peak_grammar::ir::Region;
use serde::{Deserialize, Serialize};

/// Bytes of a completion, at most: a region, not a log.
pub const MAX_COMPLETION_BYTES: usize = 1 << 20;

/// Gives completions. Shared by branches that ask in parallel.
pub trait Provider: Send + Sync {
    /// Its name on the command line and in reports: that of [`PROVIDERS`], or of its section in `peak.toml`.
    fn name(&self) -> &str;

    /// The completion of a prompt, byte for byte as the model gave it.
    ///
    /// # Errors
    /// No answer: a recording that misses, a time-out, a folder that cannot be written.
    fn complete(&self, request: &CompletionRequest) -> Result<Completion, ProviderError>;

    /// Whom it asks, and what for: `gpt-5 at https://api.openai.com/v1`. Never a key.
    fn about(&self) -> String {
        String::new()
    }

    /// Asks for several completions at once, to be fetched by [`Provider::complete`]. Whoever cannot, asks later.
    fn ask_ahead(&self, _requests: &[CompletionRequest]) {}

    /// Why nobody is asked any more, where a budget is spent and a request was refused for it.
    fn refuses(&self) -> Option<String> {
        None
    }

    /// What its answers took so far, where that is known.
    fn usage(&self) -> Usage {
        Usage::default()
    }
}

/// One prompt, and what it is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletionRequest {
    /// What the model reads.
    pub prompt: String,
    /// Which region of which pass it is for.
    pub identity: RequestIdentity,
    /// What counts, hashed ([`KeyFacts::key`]): 64 hex digits. Equal keys may share a completion.
    pub key: String,
    /// What counts, each part hashed by itself: to say what changed where a key is another. Never compared to answer.
    #[serde(default)]
    pub parts: KeyParts,
}

impl CompletionRequest {
    /// The SHA-256 of the prompt, in hex: for reports; never a key.
    #[must_use]
    pub fn prompt_sha256(&self) -> String {
        crate::hash::hex(self.prompt.as_bytes())
    }
}

/// Where a request stands: kernel, pass, region, attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestIdentity {
    /// The kernel's name.
    pub kernel: String,
    /// `hlsl`, `cuda`, ...
    pub backend: String,
    /// Transformations applied before this one, in order.
    pub applied: Vec<String>,
    /// The transformation.
    pub transformation: String,
    /// The pass.
    pub pass: String,
    /// The region that may change; `None` for a choice among transformations, which changes none.
    pub region: Option<Region>,
    /// 0 for the first request, N for the Nth repair of its pass.
    pub repair: u32,
}

impl RequestIdentity {
    /// The folder of recordings for its kernel and backend, `KERNEL/BACKEND`.
    #[must_use]
    pub fn kernel_folder(&self) -> String {
        format!("{}/{}", self.kernel, self.backend)
    }

    /// The folder that its recording lies in: `KERNEL/BACKEND/APPLIED`, with `start` where nothing was applied.
    #[must_use]
    pub fn folder(&self) -> String {
        let joined = self.applied.join("+");
        // Long chains would exceed what a file name may hold.
        let applied = match joined.len() {
            0 => "start".to_owned(),
            1..=120 => joined,
            _ => format!("{}-steps-{}", self.applied.len(), &crate::hash::hex(joined.as_bytes())[..8]),
        };
        format!("{}/{applied}", self.kernel_folder())
    }

    /// What is asked for, in file names: the region's slug, or `choice`.
    #[must_use]
    pub fn subject(&self) -> &'static str {
        self.region.map_or("choice", Region::slug)
    }

    /// The start of its recording's file name: `TRANSFORMATION.PASS.REGION[.repair-N]`.
    #[must_use]
    pub fn stem(&self) -> String {
        let repair = if self.repair > 0 { format!(".repair-{}", self.repair) } else { String::new() };
        format!("{}.{}.{}{repair}", self.transformation, self.pass, self.subject())
    }

    /// The path of its recording under a folder of recordings: `FOLDER/STEM.KEY8.md`.
    #[must_use]
    pub fn path(&self, key: &str) -> String {
        format!("{}/{}.{}.md", self.folder(), self.stem(), key.get(..8).unwrap_or(key))
    }
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// The text, unchanged.
    pub text: String,
    /// The model, where the provider knows it.
    pub model: Option<String>,
    /// What it took, where the provider says.
    pub usage: Option<Usage>,
}

impl Completion {
    /// The SHA-256 of the text, in hex.
    #[must_use]
    pub fn sha256(&self) -> String {
        crate::hash::hex(self.text.as_bytes())
    }
}
