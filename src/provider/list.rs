//! The list of providers. A new one is a file and a line here, alphabetical.

use super::{Mailbox, Provider, ProviderError, Recorded, RecordingSource};
use std::path::PathBuf;
use std::time::Duration;

/// The provider where nothing is said.
pub const DEFAULT_PROVIDER: &str = "recorded";

/// What providers are opened with; each takes what it needs.
pub struct ProviderOptions {
    /// Where recordings lie, the project's own first.
    pub sources: Vec<Box<dyn RecordingSource>>,
    /// The folder of the mailbox.
    pub mailbox: PathBuf,
    /// How long to wait for an answer.
    pub timeout: Duration,
    /// Who answers, where the provider cannot know.
    pub model: Option<String>,
    /// The command line that records what is missing, where the caller knows a better one than `peak lower`.
    pub record_command: Option<String>,
}

/// A provider in the list.
pub struct ProviderEntry {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line for help texts.
    pub summary: &'static str,
    /// Opens it.
    pub open: fn(ProviderOptions) -> Box<dyn Provider>,
}

/// Every provider.
pub const PROVIDERS: &[ProviderEntry] = &[
    ProviderEntry {
        name: "mailbox",
        summary: "a folder: NNN.prompt.md goes out, NNN.completion.md comes in",
        open: |options| Box::new(Mailbox::new(options.mailbox, options.timeout, options.model)),
    },
    ProviderEntry {
        name: "recorded",
        summary: "completions that a model gave earlier, kept as files (the default)",
        open: |options| Box::new(Recorded::new(options.sources).recorded_by(options.record_command)),
    },
];

/// Opens a provider by name.
///
/// # Errors
/// [`ProviderError::Unknown`], with the nearest name.
pub fn open(name: &str, options: ProviderOptions) -> Result<Box<dyn Provider>, ProviderError> {
    match PROVIDERS.iter().find(|entry| entry.name == name) {
        Some(entry) => Ok((entry.open)(options)),
        None => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> ProviderError {
    let near = PROVIDERS
        .iter()
        .map(|entry| (strsim::jaro_winkler(name, entry.name), entry.name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let known: Vec<&str> = PROVIDERS.iter().map(|entry| entry.name).collect();
    ProviderError::Unknown {
        name: name.to_owned(),
        suggestion: near.map(|(_, name)| format!("; did you mean `{name}`?")).unwrap_or_default(),
        known: known.join(", "),
    }
}
