//! The arguments that choose who is asked for completions; `run` and `lower` share them.

use crate::provider::{DEFAULT_PROVIDER, PROVIDERS};
use crate::session::ProviderChoice;
use std::path::PathBuf;
use std::time::Duration;

/// Who is asked for completions.
#[derive(clap::Args)]
pub struct ProviderArguments {
    /// Who is asked for completions.
    #[arg(long, default_value = DEFAULT_PROVIDER, value_name = "NAME", help = summaries())]
    provider: String,
    /// Write each completion to this folder, as a recording that `--provider recorded` replays.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// The mailbox's folder.
    #[arg(long, value_name = "DIR")]
    mailbox: Option<PathBuf>,
    /// How long to wait for an answer, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    timeout: u64,
    /// Who answers, for the recordings, where the provider cannot know.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

impl ProviderArguments {
    /// What they choose. `record_command` records what is missing; `peak lower` where nothing is said.
    #[must_use]
    pub fn choice(&self, record_command: Option<String>) -> ProviderChoice {
        ProviderChoice {
            name: self.provider.clone(),
            record: self.record.clone(),
            mailbox: self.mailbox.clone(),
            timeout: Duration::from_secs(self.timeout),
            model: self.model.clone(),
            record_command,
            formats: std::collections::BTreeMap::new(),
        }
    }
}

fn summaries() -> String {
    let lines = PROVIDERS.iter().map(|entry| format!("{}: {}", entry.name, entry.summary));
    format!("Who is asked for completions ({})", lines.collect::<Vec<_>>().join("; "))
}
