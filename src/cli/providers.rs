//! The arguments that choose who is asked for completions, and what people see of it; `run` and `lower` share them.

use super::output::App;
use crate::preferences::Budget;
use crate::provider::{DEFAULT_PROVIDER, Heard, PROVIDERS};
use crate::report::{Progress, units};
use crate::session::ProviderChoice;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Who is asked for completions.
#[derive(clap::Args)]
pub struct ProviderArguments {
    /// Who is asked for completions.
    #[arg(long, value_name = "NAME", help = summaries())]
    provider: Option<String>,
    /// The model that is asked; who answers, for the recordings, where the provider cannot know.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The server's address, such as http://localhost:8080/v1. A key is sent there only if `peak.toml` names one for it.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Write each completion to this folder, as a recording that `--provider recorded` replays.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// The mailbox's folder.
    #[arg(long, value_name = "DIR")]
    mailbox: Option<PathBuf>,
    /// How long to wait for an answer, in seconds: 3600 for the mailbox, else 900.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Requests, at most; past a budget the work ends at the last checkpoint.
    #[arg(long, value_name = "N")]
    budget_calls: Option<u64>,
    /// Tokens of prompts and answers, at most.
    #[arg(long, value_name = "N")]
    budget_tokens: Option<u64>,
    /// Money, at most, in the currency of the prices in `peak.toml`.
    #[arg(long, value_name = "AMOUNT", value_parser = amount)]
    budget_money: Option<f64>,
    /// Minutes after which nobody is asked any more.
    #[arg(long, value_name = "N", value_parser = amount)]
    budget_minutes: Option<f64>,
}

impl ProviderArguments {
    /// What they choose. `record_command` records what is missing; `peak lower` where nothing is said.
    #[must_use]
    pub fn choice(&self, record_command: Option<String>) -> ProviderChoice {
        ProviderChoice {
            name: self.provider.clone(),
            record: self.record.clone(),
            mailbox: self.mailbox.clone(),
            timeout: self.timeout.map(Duration::from_secs),
            model: self.model.clone(),
            url: self.url.clone(),
            budget: Budget {
                calls: self.budget_calls,
                tokens: self.budget_tokens,
                money: self.budget_money,
                minutes: self.budget_minutes,
            },
            record_command,
            ..ProviderChoice::default()
        }
    }
}

/// A number from 0 on.
fn amount(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    if number.is_finite() && number >= 0.0 { Ok(number) } else { Err("it should be a number from 0 on".to_owned()) }
}

fn summaries() -> String {
    let lines = PROVIDERS.iter().map(|entry| format!("{}: {}", entry.name, entry.summary));
    let lines = lines.collect::<Vec<_>>().join("; ");
    format!(
        "Who is asked for completions; `{DEFAULT_PROVIDER}`, or the `provider` of peak.toml, where nothing is said ({lines}; or the name of a section [providers.NAME] of peak.toml)"
    )
}

/// The first interrupt stops at the next safe point, the second at once.
pub fn stop_on_interrupt() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    // Without a handler an interrupt ends the process, and the store still opens.
    let _ = ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("stopping at the next safe point; interrupt again to stop at once");
    });
    stop
}

/// A progress line of its own, for `peak lower`: there while somebody is asked, and quiet where nobody looks.
pub fn asking_line(app: &App) -> impl Fn(&Heard<'_>) + Send + Sync + use<> {
    let bar = Progress::new(app.quiet || app.json);
    let shown = AtomicBool::new(false);
    move |heard| {
        match heard {
            Heard::Receiving { .. } if bar.is_live() && !shown.swap(true, Ordering::Relaxed) => {
                bar.stage("asking", None);
            }
            Heard::Over if shown.swap(false, Ordering::Relaxed) => bar.finish(),
            _ => {}
        }
        hear(&bar, heard);
    }
}

#[allow(clippy::cast_precision_loss, reason = "three digits are shown")]
fn bytes_shown(bytes: u64) -> f64 {
    bytes as f64
}

/// Shows what is heard of a request on a bar.
pub fn hear(bar: &Progress, heard: &Heard<'_>) {
    match heard {
        Heard::Receiving { provider, model, bytes, elapsed } => {
            let who = if model.is_empty() { (*provider).to_owned() } else { format!("{provider} {model}") };
            bar.detail(&format!("{who}, {}, {} s", units::bytes(bytes_shown(*bytes)), elapsed.as_secs()));
        }
        Heard::Waiting { why, pause } => {
            bar.note(&format!("{why}; trying again in {} s", pause.as_secs_f64().ceil()));
        }
        Heard::Over => bar.detail(""),
    }
}
