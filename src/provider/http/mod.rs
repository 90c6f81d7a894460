//! Providers over HTTP: one request a prompt, the answer as a stream. What differs from one interface to another is a
//! [`Dialect`], in a file of its own.
//!
//! Follows no redirect, keeps no cookie, writes nothing to disk, and holds no more than [`MAX_RESPONSE_BYTES`].

mod address;
mod events;
mod failing;
mod gathered;
mod send;

pub use failing::{MAX_PAUSE, MAX_TRIES};
pub(super) use gathered::{Gathered, text_at, tokens_at};
pub use send::MAX_RESPONSE_BYTES;

use super::conduct::Reception;
use super::{
    AskError, Completion, CompletionRequest, Conduct, KeySource, Provider, ProviderError, ProviderOptions, Usage,
};
use address::Address;
use events::Events;
use failing::{Fault, backoff, said, status_fault};
use send::{Got, Sender};
use serde_json::{Value, json};

/// What differs from one interface to another.
pub(super) trait Dialect: Send + Sync + 'static {
    /// The address of its maker's own service.
    fn usual_url(&self) -> &'static str;
    /// The variable that usually holds its key.
    fn usual_key_variable(&self) -> &'static str;
    /// The request for a prompt.
    fn post(&self, asked: &Asked<'_>) -> Post;
    /// Takes in one event of the stream, or a whole answer that came at once.
    fn take(&self, event: &Value, into: &mut Gathered);
}

/// What a request is made of.
pub(super) struct Asked<'a> {
    /// What the model reads.
    pub prompt: &'a str,
    /// The model.
    pub model: &'a str,
    /// Tokens of the answer, at most.
    pub max_output_tokens: Option<u64>,
    /// Whether it goes to the maker's own service.
    pub usual_service: bool,
    /// The key.
    pub key: Option<&'a str>,
}

/// A request.
pub(super) struct Post {
    /// Below the address, with `/`.
    pub path: String,
    /// Names and values.
    pub headers: Vec<(&'static str, String)>,
    /// A JSON object.
    pub body: Value,
}

/// A provider over HTTP.
pub(super) struct Http<D> {
    dialect: D,
    name: String,
    address: Address,
    model: String,
    key: Option<(String, KeySource)>,
    variable: Option<String>,
    usual_service: bool,
    max_output_tokens: Option<u64>,
    more: Value,
    conduct: Conduct,
    sender: Sender,
}

/// Opens a provider of a dialect.
///
/// # Errors
/// No model, no key for the maker's own service, an address or a file of certificates that is none.
pub(super) fn open(dialect: impl Dialect, options: ProviderOptions) -> Result<Box<dyn Provider>, ProviderError> {
    let ProviderOptions { name, settings, model, keys, mut conduct, .. } = options;
    let lacks =
        |lacks: &str, mend: String| AskError::NotReady { provider: name.clone(), lacks: lacks.to_owned(), mend };
    let url = settings.url.as_deref().unwrap_or(dialect.usual_url());
    let usual_service = url.trim_end_matches('/') == dialect.usual_url();
    // The key of the maker's own service goes nowhere else: another address gets a key that was named for it.
    let usual_variable = usual_service.then(|| dialect.usual_key_variable().to_owned());
    let variable = settings.key_variable.clone().or(usual_variable);
    let key = keys.find(variable.as_deref(), &name);
    if let Some((key, _)) = &key {
        // Whatever is written anywhere is scrubbed of it, and what is shown from here however short it is.
        crate::scrub::learn(key);
        conduct.scrubber = conduct.scrubber.with(key);
    }
    let address = Address::parse(url, &name, &conduct.scrubber)?;
    let mend = "name it: `--model NAME`, or `model` in peak.toml".to_owned();
    let model = model.or(settings.model).ok_or_else(|| lacks("no model is named", mend))?;
    if key.is_none() && (usual_service || settings.key_variable.is_some()) {
        let variable = variable.as_deref().unwrap_or_default();
        let mend = format!("set {variable}, or keep a key in the keyring: `peak doctor --keep-key {name}`");
        return Err(lacks(&format!("there is no key in {variable}, and none in the keyring"), mend).into());
    }
    let sender = Sender::new(&address, settings.certificates.as_deref(), conduct.timeout, &name)?;
    Ok(Box::new(Http {
        dialect,
        address,
        model,
        key,
        variable,
        usual_service,
        max_output_tokens: settings.max_output_tokens,
        more: settings.body.map_or(json!({}), |body| json!(body)),
        name,
        conduct,
        sender,
    }))
}

impl<D: Dialect> Provider for Http<D> {
    fn name(&self) -> &str {
        &self.name
    }

    fn complete(&self, request: &CompletionRequest) -> Result<Completion, ProviderError> {
        let post = self.post(&request.prompt);
        let mut tries = 0;
        loop {
            tries += 1;
            let fault = match self.once(&post) {
                Ok(gathered) => return Ok(self.completion(gathered)?),
                Err(fault) => fault,
            };
            let pause = match fault {
                Fault::Final(error) => return Err((*error).into()),
                Fault::Passing { said, wait } => match wait.filter(|wait| *wait > MAX_PAUSE) {
                    Some(wait) => {
                        let (seconds, limit) = (wait.as_secs(), MAX_PAUSE.as_secs());
                        return Err(AskError::Wait { place: self.place(), seconds, limit, said }.into());
                    }
                    None if tries >= MAX_TRIES => {
                        return Err(AskError::Busy { place: self.place(), tries, said }.into());
                    }
                    None => (said, wait.unwrap_or_else(|| backoff(tries))),
                },
                Fault::Cut { bytes } if tries >= MAX_TRIES => {
                    return Err(AskError::Cut { place: self.place(), tries, bytes }.into());
                }
                Fault::Cut { bytes } => (format!("the answer ended after {bytes} bytes"), backoff(tries)),
            };
            self.conduct.pause(&format!("{}: {}", self.name, pause.0), pause.1);
            if self.conduct.is_stopped() {
                return Err(AskError::Stopped { place: self.place() }.into());
            }
        }
    }

    fn about(&self) -> String {
        let key = match &self.key {
            Some((_, source)) => format!("with {source}"),
            None => "without a key".to_owned(),
        };
        format!("{} at {}, {key}", self.model, self.address.shown())
    }
}

impl<D: Dialect> Http<D> {
    fn place(&self) -> String {
        format!("{} ({})", self.name, self.address.host())
    }

    fn post(&self, prompt: &str) -> Post {
        let mut post = self.dialect.post(&Asked {
            prompt,
            model: &self.model,
            max_output_tokens: self.max_output_tokens,
            usual_service: self.usual_service,
            key: self.key.as_ref().map(|(key, _)| key.as_str()),
        });
        if let (Value::Object(body), Value::Object(more)) = (&mut post.body, &self.more) {
            body.extend(more.clone());
        }
        post
    }

    /// One try: sends it, and reads the answer to its end.
    fn once(&self, post: &Post) -> Result<Gathered, Fault> {
        let mut reception = Reception::new(&self.conduct, &self.name, &self.model);
        let mut stream = self.sender.send(&self.address.below(&post.path), post);
        let mut events = Events::default();
        let mut gathered = Gathered::default();
        let mut head = None;
        loop {
            reception.at(stream.bytes());
            if self.conduct.is_stopped() {
                return Err(AskError::Stopped { place: self.place() }.into());
            }
            if reception.is_late() {
                return Err(self.late(stream.bytes()));
            }
            match stream.piece() {
                Got::Nothing => {}
                Got::Head(got) => head = Some(got),
                Got::Bytes(bytes) => {
                    events.push(&bytes);
                    if head.as_ref().is_some_and(send::Head::is_answer) {
                        self.take(&mut events, &mut gathered, false)?;
                    }
                }
                Got::End => break,
                Got::TooLong => return Err(self.too_long(send::MAX_RESPONSE_BYTES)),
                Got::Late => return Err(self.late(stream.bytes())),
                Got::Failed { error, .. } if head.is_none() => return Err(self.no_connection(&error)),
                Got::Failed { .. } => return Err(Fault::Cut { bytes: stream.bytes() }),
            }
        }
        let Some(head) = head else { return Err(Fault::Cut { bytes: 0 }) };
        if !head.is_answer() {
            let (place, scrubber) = (self.place(), &self.conduct.scrubber);
            return Err(status_fault(&head, events.unread(), &place, &self.key_help(), scrubber));
        }
        self.take(&mut events, &mut gathered, true)?;
        match gathered.is_over() {
            true => Ok(gathered),
            // One value that is whole breaks off nowhere.
            false if events.is_one_value() == Some(true) => {
                let problem = "it is JSON, and holds no answer".to_owned();
                Err(AskError::Malformed { place: self.place(), problem }.into())
            }
            false => Err(Fault::Cut { bytes: stream.bytes() }),
        }
    }

    /// Takes in the events that are whole; at the end, what is left too.
    fn take(&self, events: &mut Events, gathered: &mut Gathered, end: bool) -> Result<(), Fault> {
        loop {
            let event = match events.next(end) {
                Ok(Some(event)) => event,
                Ok(None) => return Ok(()),
                Err(events::Unknown::CutShort) => return Err(Fault::Cut { bytes: events.seen() }),
                Err(events::Unknown::Form(problem)) => {
                    let problem = self.conduct.scrubber.line(&problem);
                    return Err(AskError::Malformed { place: self.place(), problem }.into());
                }
            };
            match event {
                events::Event::Done => gathered.ended(None),
                events::Event::Data(value) => {
                    if let Some(fault) = self.stream_error(&value) {
                        return Err(fault);
                    }
                    self.dialect.take(&value, gathered);
                    if gathered.text().len() > super::MAX_COMPLETION_BYTES {
                        return Err(self.too_long(super::MAX_COMPLETION_BYTES));
                    }
                }
            }
        }
    }

    /// An error that comes in the middle of a stream, after the status said that all is well.
    fn stream_error(&self, value: &Value) -> Option<Fault> {
        let error = value.get("error").filter(|error| !error.is_null())?;
        let said = said(&value.to_string(), &self.conduct.scrubber);
        let kind = text_at(error, "/type").or(text_at(error, "/code")).unwrap_or_default();
        let passing = ["overloaded", "rate_limit", "server_error", "api_error", "unavailable", "timeout"];
        let is_passing = passing.iter().any(|word| kind.to_ascii_lowercase().contains(word))
            || error.get("code").and_then(Value::as_u64).is_some_and(|code| code == 429 || code >= 500);
        Some(match is_passing {
            true => Fault::Passing { said, wait: None },
            false => AskError::Rejected { place: self.place(), status: 200, said }.into(),
        })
    }

    fn completion(&self, gathered: Gathered) -> Result<Completion, AskError> {
        if let Some(said) = gathered.refusal() {
            let said = self.conduct.scrubber.line(&said);
            return Err(AskError::Refused { said });
        }
        if gathered.text().trim().is_empty() {
            let why = self.conduct.scrubber.line(&gathered.why_empty());
            let why = if why.is_empty() { why } else { format!(" ({why})") };
            return Err(AskError::Empty { place: self.place(), why });
        }
        let usage: Option<Usage> = gathered.usage();
        let model = gathered.model().unwrap_or_else(|| self.model.clone());
        // A server may echo what it was sent; its key goes neither into the store nor into a kernel.
        let (text, _) = self.conduct.scrubber.scrub(&gathered.into_text());
        Ok(Completion { text, model: Some(model), usage })
    }

    fn late(&self, bytes: u64) -> Fault {
        AskError::Timeout { place: self.place(), seconds: self.conduct.timeout.as_secs(), bytes }.into()
    }

    fn too_long(&self, limit: usize) -> Fault {
        AskError::TooLong { place: self.place(), limit }.into()
    }

    fn no_connection(&self, error: &ureq::Error) -> Fault {
        failing::no_connection(error, &self.place(), self.conduct.timeout, &self.conduct.scrubber)
    }

    /// What to do where the key is not accepted.
    fn key_help(&self) -> String {
        match (&self.key, &self.variable) {
            (Some((_, source)), _) => format!("{source} was sent: replace it, or check what it may do"),
            (None, Some(variable)) => format!("no key was sent: set {variable}"),
            (None, None) => format!(
                "no key was sent: name the variable that holds one for this address, `key-variable` below [providers.{}] in peak.toml",
                self.name
            ),
        }
    }
}
