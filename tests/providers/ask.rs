//! Opens a provider for a server, asks it, and writes down what came: the answer, or the error as people read it.

use super::server::Server;
use peak::preferences::ProviderSettings;
use peak::provider::{
    Completion, CompletionRequest, Conduct, Heard, KeyParts, Keys, Provider, ProviderError, ProviderOptions,
    RequestIdentity, Scrubber, open,
};
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub const KEY: &str = "sk-test-0123456789abcdef";

pub fn request(prompt: &str) -> CompletionRequest {
    let identity = RequestIdentity {
        kernel: "matmul-f32".to_owned(),
        backend: "hlsl".to_owned(),
        applied: Vec::new(),
        transformation: "tb-tiling".to_owned(),
        pass: "stage-tiles".to_owned(),
        region: Some(peak_grammar::ir::Region::DeviceCode),
        repair: 0,
    };
    CompletionRequest {
        prompt: prompt.to_owned(),
        identity,
        key: peak::hash::hex(prompt.as_bytes()),
        parts: KeyParts::default(),
    }
}

/// What was heard, and the pauses that passed.
#[derive(Clone, Default)]
pub struct Watched {
    pub heard: Arc<Mutex<Vec<String>>>,
    paused: Arc<Mutex<Duration>>,
}

impl Watched {
    /// A conduct whose pauses pass at once.
    pub fn conduct(&self, timeout: Duration) -> Conduct {
        let (heard, paused) = (Arc::clone(&self.heard), Arc::clone(&self.paused));
        Conduct {
            timeout,
            listener: Arc::new(move |word| {
                if let Heard::Waiting { why, pause } = word {
                    heard.lock().expect("no panic").push(format!("{why}; {} s", pause.as_secs()));
                }
            }),
            pauses: Arc::new(move |pause| *paused.lock().expect("no panic") += pause),
            scrubber: Scrubber::default(),
            ..Conduct::default()
        }
    }

    pub fn paused(&self) -> Duration {
        *self.paused.lock().expect("no panic")
    }
}

pub fn options(name: &str, settings: ProviderSettings, conduct: Conduct) -> ProviderOptions {
    ProviderOptions {
        name: name.to_owned(),
        settings,
        keys: Keys::given([("TEST_KEY".to_owned(), KEY.to_owned())]),
        conduct,
        sources: Vec::new(),
        mailbox: ".peak/mailbox".into(),
        timeout: None,
        model: None,
        record_command: None,
    }
}

/// The settings of a model at an address.
pub fn settings(url: &str) -> ProviderSettings {
    ProviderSettings {
        url: Some(url.to_owned()),
        model: Some("model-1".to_owned()),
        key_variable: Some("TEST_KEY".to_owned()),
        ..ProviderSettings::default()
    }
}

/// Opens a provider of a kind at an address.
pub fn opened(kind: &str, url: &str, conduct: Conduct) -> Result<Box<dyn Provider>, ProviderError> {
    open(options(kind, settings(url), conduct))
}

/// Asks once, and writes down what came of it; ports and times that differ from run to run are named.
pub fn story(kind: &str, server: &Server, timeout: Duration) -> String {
    let watched = Watched::default();
    let provider = opened(kind, &server.url(), watched.conduct(timeout)).expect("it opens");
    let outcome = provider.complete(&request("the prompt"));
    let mut story = String::new();
    for word in watched.heard.lock().expect("no panic").iter() {
        let _ = writeln!(story, "  waits: {word}");
    }
    let _ = writeln!(story, "{}", told(&outcome));
    let _ = writeln!(story, "  requests: {}", server.requests().len());
    assert!(!story.contains(KEY), "the key is shown: {story}");
    story.replace(&server.address.port().to_string(), "PORT")
}

/// An answer, or an error with its code and help.
pub fn told(outcome: &Result<Completion, ProviderError>) -> String {
    match outcome {
        Ok(Completion { text, model, usage }) => {
            let usage = usage.map_or_else(|| "no usage".to_owned(), |usage| usage.to_string());
            format!("  answer: {text:?} by {}; {usage}", model.as_deref().unwrap_or("nobody"))
        }
        Err(error) => {
            let code = miette::Diagnostic::code(error).map(|code| code.to_string()).unwrap_or_default();
            let help = miette::Diagnostic::help(error).map(|help| help.to_string()).unwrap_or_default();
            format!("  {code}\n  error: {error}\n  help: {}", help.replace('\n', "\n        "))
        }
    }
}

/// A diagnostic with its code and help.
pub fn told_of(error: &impl miette::Diagnostic) -> String {
    let code = error.code().map(|code| code.to_string()).unwrap_or_default();
    let help = error.help().map(|help| help.to_string()).unwrap_or_default();
    format!("  {code}\n  error: {error}\n  help: {help}")
}
