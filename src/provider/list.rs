//! The list of providers. A new one is a file and a line here, alphabetical.

use super::{
    Conduct, Keys, Mailbox, Provider, ProviderError, Recorded, RecordingSource, anthropic, command, gemini, openai,
};
use crate::preferences::ProviderSettings;
use std::path::PathBuf;
use std::time::Duration;

/// The provider where nothing is said.
pub const DEFAULT_PROVIDER: &str = "recorded";

/// How long a person may take to answer, where nothing is said.
const MAILBOX_TIMEOUT: Duration = Duration::from_secs(3600);

/// What providers are opened with; each takes what it needs.
pub struct ProviderOptions {
    /// The name it goes by: its own, or that of a section of `peak.toml`.
    pub name: String,
    /// What `peak.toml` and the command line say of it.
    pub settings: ProviderSettings,
    /// Where keys are found.
    pub keys: Keys,
    /// How it asks.
    pub conduct: Conduct,
    /// Where recordings lie, the project's own first.
    pub sources: Vec<Box<dyn RecordingSource>>,
    /// The folder of the mailbox.
    pub mailbox: PathBuf,
    /// How long to wait for an answer, where that is said.
    pub timeout: Option<Duration>,
    /// Who answers.
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
    /// Opens it; an error says what it lacks.
    pub open: fn(ProviderOptions) -> Result<Box<dyn Provider>, ProviderError>,
}

/// Every provider.
pub const PROVIDERS: &[ProviderEntry] = &[
    ProviderEntry { name: "anthropic", summary: "Anthropic's models", open: anthropic::open },
    ProviderEntry {
        name: "command",
        summary: "a program: prompt on its standard input, completion on its standard output",
        open: command::open,
    },
    ProviderEntry { name: "gemini", summary: "Google's Gemini models", open: gemini::open },
    ProviderEntry {
        name: "mailbox",
        summary: "a folder: NNN.prompt.md goes out, NNN.completion.md comes in",
        open: |options| {
            let timeout = options.timeout.unwrap_or(MAILBOX_TIMEOUT);
            let mailbox = Mailbox::new(options.mailbox, timeout, options.model);
            Ok(Box::new(mailbox.stopped_by(options.conduct.stop)))
        },
    },
    ProviderEntry {
        name: "openai",
        summary: "OpenAI's models, or any server that speaks its chat completions (--url)",
        open: openai::open,
    },
    ProviderEntry {
        name: "recorded",
        summary: "completions that a model gave earlier, kept as files (the default)",
        open: |options| Ok(Box::new(Recorded::new(options.sources).recorded_by(options.record_command))),
    },
];

/// Opens a provider by the name of its kind, else its own.
///
/// # Errors
/// [`ProviderError::Unknown`], with the nearest name; what the provider lacks.
pub fn open(mut options: ProviderOptions) -> Result<Box<dyn Provider>, ProviderError> {
    let kind = options.settings.kind.clone().unwrap_or_else(|| options.name.clone());
    let seconds = options.settings.timeout_seconds.map(Duration::from_secs);
    options.timeout = options.timeout.or(seconds);
    if let Some(timeout) = options.timeout {
        options.conduct.timeout = timeout;
    }
    match PROVIDERS.iter().find(|entry| entry.name == kind) {
        Some(entry) => (entry.open)(options),
        None => Err(unknown(&kind)),
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
