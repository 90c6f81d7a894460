//! The body of an answer as JSON values: server-sent events, or one value that came at once. Knows no dialect.

use serde_json::Value;

/// One piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A JSON value.
    Data(Value),
    /// The word that the stream is over.
    Done,
}

/// What cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// It is of another form; the words hold its start, as it came.
    Form(String),
    /// One value that ends in its middle.
    CutShort,
}

/// Bytes of an answer that are shown where it is of another form.
const SHOWN: usize = 80;

/// Bytes as they come, and the events that are whole.
#[derive(Default)]
pub struct Events {
    buffer: Vec<u8>,
    /// Bytes that were read off.
    at: usize,
    /// Up to here there is no end of a line: a long one is not searched again with each piece.
    searched: usize,
    seen: u64,
    whole: Option<bool>,
}

impl Events {
    /// More bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        // What was read off goes when it is the larger part, so that the cost stays in proportion to the bytes.
        if self.at > self.buffer.len() / 2 {
            self.buffer.drain(..self.at);
            self.searched = self.searched.saturating_sub(self.at);
            self.at = 0;
        }
        self.seen += bytes.len() as u64;
        self.buffer.extend_from_slice(bytes);
    }

    /// Bytes that came.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// What was not read off.
    pub fn unread(&self) -> &[u8] {
        &self.buffer[self.at..]
    }

    /// The next event that is whole; at the end, what is left counts as whole.
    ///
    /// # Errors
    /// It is of another form, or ends in its middle.
    pub fn next(&mut self, end: bool) -> Result<Option<Event>, Unknown> {
        match self.is_one_value() {
            None => Ok(None),
            Some(true) if !end => Ok(None),
            Some(true) => self.one_value(),
            Some(false) => self.event(end),
        }
    }

    /// Whether the body is one JSON value; events do not begin with a bracket.
    pub fn is_one_value(&mut self) -> Option<bool> {
        if self.whole.is_none() {
            let first = self.unread().iter().find(|byte| !byte.is_ascii_whitespace())?;
            self.whole = Some(matches!(first, b'{' | b'['));
        }
        self.whole
    }

    fn one_value(&mut self) -> Result<Option<Event>, Unknown> {
        if self.unread().iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        let value = serde_json::from_slice(self.unread());
        self.at = self.buffer.len();
        match value {
            Ok(value) => Ok(Some(Event::Data(value))),
            Err(error) if error.is_eof() => Err(Unknown::CutShort),
            Err(error) => Err(Unknown::Form(format!("it is no JSON ({error})"))),
        }
    }

    /// The data of the next event: its `data` lines; comments, names and numbers do not count.
    fn event(&mut self, end: bool) -> Result<Option<Event>, Unknown> {
        while let Some(line) = self.line(end) {
            let Some(data) = line.strip_prefix(b"data:") else {
                let known = line.is_empty() || line[0] == b':' || is_field(&line);
                if known {
                    continue;
                }
                return Err(Unknown::Form(format!("it begins with `{}`", start(&line))));
            };
            let data = data.trim_ascii();
            if data == b"[DONE]" {
                return Ok(Some(Event::Done));
            }
            if data.is_empty() {
                continue;
            }
            return match serde_json::from_slice(data) {
                Ok(value) => Ok(Some(Event::Data(value))),
                // Where the stream breaks off, its last line is no word on its form.
                Err(error) if error.is_eof() && end => Err(Unknown::CutShort),
                Err(error) => Err(Unknown::Form(format!("an event is no JSON ({error}): `{}`", start(data)))),
            };
        }
        Ok(None)
    }

    fn line(&mut self, end: bool) -> Option<Vec<u8>> {
        let from = self.searched.max(self.at);
        let found = self.buffer[from..].iter().position(|byte| *byte == b'\n').map(|offset| from + offset);
        self.searched = found.map_or(self.buffer.len(), |at| at + 1);
        let (line, next) = match found {
            Some(at) => (self.buffer[self.at..at].to_vec(), at + 1),
            None if end && self.at < self.buffer.len() => (self.unread().to_vec(), self.buffer.len()),
            None => return None,
        };
        self.at = next;
        Some(line.strip_suffix(b"\r").map_or_else(|| line.clone(), <[u8]>::to_vec))
    }
}

fn is_field(line: &[u8]) -> bool {
    ["event", "id", "retry"].iter().any(|name| line.starts_with(name.as_bytes()))
}

fn start(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn all(bytes: &[u8], piece: usize) -> Result<Vec<Event>, Unknown> {
        let (mut events, mut found) = (Events::default(), Vec::new());
        for part in bytes.chunks(piece) {
            events.push(part);
            while let Some(event) = events.next(false)? {
                found.push(event);
            }
        }
        while let Some(event) = events.next(true)? {
            found.push(event);
        }
        Ok(found)
    }

    #[test]
    fn events_are_the_same_however_the_bytes_come() {
        let body = b": hello\r\nevent: x\r\ndata: {\"a\": 1}\r\n\r\ndata:{\"b\":2}\n\nid: 3\ndata: [DONE]\n\n";
        let expected = [Event::Data(json!({"a": 1})), Event::Data(json!({"b": 2})), Event::Done];
        for piece in [1, 2, 7, body.len()] {
            assert_eq!(all(body, piece).expect("known"), expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn one_value_is_an_event_and_half_a_value_is_cut() {
        assert_eq!(all(b" {\"a\":\n1}\n", 3).expect("known"), [Event::Data(json!({"a": 1}))]);
        assert_eq!(all(b"{\"a\": [1,", 4), Err(Unknown::CutShort));
        assert_eq!(all(b"data: {\"a\": 1", 4), Err(Unknown::CutShort));
        assert!(matches!(all(b"<html>", 6), Err(Unknown::Form(words)) if words.contains("<html>")));
        assert!(matches!(all(b"data: {a}\n\n", 6), Err(Unknown::Form(_))));
        assert_eq!(all(b"", 1), Ok(Vec::new()));
    }
}
