//! One request on a thread of its own, its answer as pieces on a channel: so that whoever waits can stop, and a server
//! that is silent holds nobody. Follows no redirect.

use super::Post;
use super::address::Address;
use crate::provider::AskError;
use crate::provider::conduct::TICK;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender as Channel, bounded};
use std::io::Read;
use std::path::Path;
use std::time::Duration;
use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// Bytes of a response, at most, reasoning and framing included.
pub const MAX_RESPONSE_BYTES: usize = 64 << 20;

/// Bytes of the text that explains a refusal, at most.
const MAX_ERROR_BYTES: u64 = 64 << 10;

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// How long a server may be silent: models that reason send nothing for minutes.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(600);

/// Pieces that wait to be taken.
const PIECES: usize = 16;

/// Bytes of one piece, at most.
const PIECE_BYTES: usize = 16 << 10;

/// Sends requests.
pub struct Sender {
    agent: Agent,
}

/// The start of a response.
pub struct Head {
    /// The status.
    pub status: u16,
    /// The header `Retry-After`.
    pub retry_after: Option<String>,
    /// The header `Location`.
    pub location: Option<String>,
}

impl Head {
    /// Whether an answer follows, and not a word why there is none.
    pub fn is_answer(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// What came next.
pub enum Got {
    /// Nothing yet.
    Nothing,
    /// The start.
    Head(Head),
    /// A piece of the body.
    Bytes(Vec<u8>),
    /// The end, as the server meant it.
    End,
    /// More than [`MAX_RESPONSE_BYTES`].
    TooLong,
    /// It took too long.
    Late,
    /// The connection failed.
    Failed {
        /// Why.
        error: Box<ureq::Error>,
    },
}

/// A response as it comes.
pub struct Stream {
    pieces: Receiver<Got>,
    bytes: u64,
}

impl Sender {
    /// Trusts the usual certificates, or those of a file in their place. No request takes longer than `timeout`.
    pub fn new(
        address: &Address,
        certificates: Option<&Path>,
        timeout: Duration,
        provider: &str,
    ) -> Result<Sender, AskError> {
        let mut tls = TlsConfig::builder();
        if let Some(file) = certificates {
            tls = tls.root_certs(trusted(file, provider)?);
        }
        let config = Agent::config_builder()
            .tls_config(tls.build())
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_per_read(Some(SILENCE_TIMEOUT))
            // The thread of a request that nobody waits for any more ends with it.
            .timeout_global(Some(timeout.saturating_add(Duration::from_secs(1))))
            .user_agent(concat!("peak/", env!("CARGO_PKG_VERSION")));
        let config = if address.is_here() { config.proxy(None) } else { config };
        Ok(Sender { agent: config.build().new_agent() })
    }

    /// Sends a request, and does not wait.
    pub fn send(&self, url: &str, post: &Post) -> Stream {
        let (channel, pieces) = bounded(PIECES);
        let mut request = self.agent.post(url).header("content-type", "application/json");
        for (name, value) in &post.headers {
            request = request.header(*name, value);
        }
        let body = post.body.to_string();
        std::thread::spawn(move || {
            let last = match request.send(body) {
                Ok(response) => receive(response, &channel),
                Err(error) => failed(error),
            };
            // Nobody listens any more where the request was given up.
            let _ = channel.send(last);
        });
        Stream { pieces, bytes: 0 }
    }
}

fn failed(error: ureq::Error) -> Got {
    match error {
        // A connection that does not come about is told of as such.
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => Got::Failed { error: Box::new(error) },
        ureq::Error::Timeout(_) => Got::Late,
        error => Got::Failed { error: Box::new(error) },
    }
}

/// Passes the response on, and gives the last piece.
fn receive(response: ureq::http::Response<ureq::Body>, channel: &Channel<Got>) -> Got {
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let head =
        Head { status: response.status().as_u16(), retry_after: header("retry-after"), location: header("location") };
    let is_answer = head.is_answer();
    if channel.send(Got::Head(head)).is_err() {
        return Got::End;
    }
    let limit = if is_answer { MAX_RESPONSE_BYTES as u64 } else { MAX_ERROR_BYTES };
    // One more than is allowed shows that there is more.
    let mut body = response.into_body().into_reader().take(limit + 1);
    let mut total = 0;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match body.read(&mut piece) {
            Ok(0) => return Got::End,
            Ok(count) => {
                total += count as u64;
                if total > limit {
                    return if is_answer { Got::TooLong } else { Got::End };
                }
                if channel.send(Got::Bytes(piece[..count].to_vec())).is_err() {
                    return Got::End;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // What explains a refusal may as well be cut.
            Err(_) if !is_answer => return Got::End,
            Err(error) => return failed(ureq::Error::from(error)),
        }
    }
}

impl Stream {
    /// What came next, after a tick at most.
    pub fn piece(&mut self) -> Got {
        match self.pieces.recv_timeout(TICK) {
            Ok(got) => {
                if let Got::Bytes(bytes) = &got {
                    self.bytes += bytes.len() as u64;
                }
                got
            }
            Err(RecvTimeoutError::Timeout) => Got::Nothing,
            Err(RecvTimeoutError::Disconnected) => Got::End,
        }
    }

    /// Bytes of the body so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The certificates of a file.
fn trusted(file: &Path, provider: &str) -> Result<RootCerts, AskError> {
    let wrong = |why: String| AskError::NotReady {
        provider: provider.to_owned(),
        lacks: format!("its certificates, {}, {why}", file.display()),
        mend: "name a PEM file of certificates: `certificates` in peak.toml".to_owned(),
    };
    let bytes = std::fs::read(file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let mut found: Vec<Certificate<'static>> = Vec::new();
    for item in parse_pem(&bytes) {
        match item {
            Ok(PemItem::Certificate(certificate)) => found.push(certificate),
            Ok(_) => {}
            Err(error) => return Err(wrong(format!("are no PEM: {error}"))),
        }
    }
    match found.is_empty() {
        true => Err(wrong("hold none".to_owned())),
        false => Ok(RootCerts::Specific(std::sync::Arc::new(found))),
    }
}
