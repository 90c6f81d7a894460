//! What a failed try means: tried again, after which pause, or told of at once.

use super::address::shown;
use super::send::Head;
use crate::provider::{AskError, Scrubber};
use serde_json::Value;
use std::time::Duration;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

/// Tries of one request, at most.
pub const MAX_TRIES: u32 = 5;

/// The longest pause that a server may ask for.
pub const MAX_PAUSE: Duration = Duration::from_secs(120);

/// The first pause where a server asks for none; each later one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(2);

/// Why a try failed.
#[derive(Debug)]
pub enum Fault {
    /// Another try would fail as well.
    Final(Box<AskError>),
    /// The server is busy or broken just now.
    Passing {
        /// In its words.
        said: String,
        /// The pause that it asks for.
        wait: Option<Duration>,
    },
    /// The answer broke off.
    Cut {
        /// After so many bytes.
        bytes: u64,
    },
}

impl From<AskError> for Fault {
    fn from(error: AskError) -> Fault {
        Fault::Final(Box::new(error))
    }
}

/// The pause after a number of tries.
pub fn backoff(tries: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(tries.saturating_sub(1))).min(MAX_PAUSE)
}

/// What a status that is no success means. `key` says what to do about a key.
pub fn status_fault(head: &Head, body: &[u8], place: &str, key: &str, scrubber: &Scrubber) -> Fault {
    let Head { status, retry_after, location } = head;
    let (status, place) = (*status, place.to_owned());
    let text = String::from_utf8_lossy(body);
    let said = said(&text, scrubber);
    // A quota that is used up does not come back within a run.
    let used_up = text.contains("insufficient_quota") || text.contains("billing");
    match status {
        300..=399 => {
            let to = location.as_deref().map_or_else(|| "nowhere".to_owned(), |to| shown(to, scrubber));
            AskError::Redirect { place, status, to }.into()
        }
        401 | 403 => AskError::Key { place, status, said, key: key.to_owned() }.into(),
        429 if used_up => AskError::Rejected { place, status, said }.into(),
        408 | 409 | 425 | 429 | 500 | 502..=504 | 506..=599 => {
            let wait = retry_after.as_deref().and_then(|text| asked_pause(text, OffsetDateTime::now_utc()));
            Fault::Passing { said: format!("{status}: {said}"), wait }
        }
        _ => AskError::Rejected { place, status, said }.into(),
    }
}

/// `Retry-After`: seconds, or a date.
fn asked_pause(text: &str, now: OffsetDateTime) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = OffsetDateTime::parse(text, &Rfc2822).ok()?;
    // A date that has passed asks for no pause.
    Some(Duration::try_from(date - now).unwrap_or_default())
}

/// The words of an error's body: its message where it is of the usual form, else its start.
pub fn said(body: &str, scrubber: &Scrubber) -> String {
    let value: Option<Value> = serde_json::from_str(body).ok();
    // Some interfaces wrap an error into an array of one.
    let value = value.as_ref().map(|value| value.get(0).unwrap_or(value));
    let places = ["/error/message", "/message", "/error", "/detail"];
    let message = value.and_then(|value| places.iter().find_map(|place| value.pointer(place)?.as_str()));
    let words = scrubber.line(message.unwrap_or(body));
    if words.is_empty() { "it says nothing more".to_owned() } else { words }
}

/// What it means that no response came.
pub fn no_connection(error: &ureq::Error, place: &str, timeout: Duration, scrubber: &Scrubber) -> Fault {
    let place = place.to_owned();
    let words = match error {
        ureq::Error::Io(io) => io.to_string(),
        error => error.to_string(),
    };
    let reason = scrubber.line(&words);
    match error {
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::Pem(_) => AskError::Tls { place, reason }.into(),
        ureq::Error::Timeout(ureq::Timeout::Global) => {
            AskError::Timeout { place, seconds: timeout.as_secs(), bytes: 0 }.into()
        }
        ureq::Error::HostNotFound => {
            AskError::Unreachable { place, reason: "there is no server of that name".to_owned() }.into()
        }
        ureq::Error::Io(io) => match io.kind() {
            std::io::ErrorKind::InvalidData => AskError::Tls { place, reason }.into(),
            // It was there, and went away before it answered.
            std::io::ErrorKind::ConnectionReset
            | std::io::ErrorKind::ConnectionAborted
            | std::io::ErrorKind::UnexpectedEof
            | std::io::ErrorKind::BrokenPipe => Fault::Cut { bytes: 0 },
            _ => AskError::Unreachable { place, reason }.into(),
        },
        ureq::Error::Protocol(_) | ureq::Error::LargeResponseHeader(..) => {
            AskError::Malformed { place, problem: format!("it is no HTTP ({reason})") }.into()
        }
        _ => AskError::Unreachable { place, reason }.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_asked_for_in_seconds_or_as_a_date() {
        let now = OffsetDateTime::from_unix_timestamp(1_445_412_470).expect("a time");
        assert_eq!(asked_pause("7", now), Some(Duration::from_secs(7)));
        assert_eq!(asked_pause("Wed, 21 Oct 2015 07:28:00 GMT", now), Some(Duration::from_secs(10)));
        assert_eq!(asked_pause("Wed, 21 Oct 2015 07:00:00 GMT", now), Some(Duration::ZERO));
        assert_eq!((asked_pause("soon", now), asked_pause("-3", now)), (None, None));
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let seconds: Vec<u64> = (1..=8).map(|tries| backoff(tries).as_secs()).collect();
        assert_eq!(seconds, [2, 4, 8, 16, 32, 64, 120, 120]);
    }
}
