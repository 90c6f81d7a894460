//! Takes secrets out of text before it is recorded or shown: values of environment variables that hold keys and tokens,
//! keys that a provider was given, and names and passwords in addresses.

/// Values shorter than this are no secrets, and would hit ordinary words.
const MIN_SECRET: usize = 8;

/// What stands in a secret's place.
const MARK: &str = "[secret removed]";

/// Characters of somebody else's words in a message, at most.
const MAX_LINE: usize = 300;

/// Knows which texts must not be written.
#[derive(Clone, Default)]
pub struct Scrubber {
    secrets: Vec<String>,
}

impl Scrubber {
    /// The values of every environment variable whose name ends in `_KEY`, `_TOKEN`, `_SECRET` or `_PASSWORD`.
    #[must_use]
    pub fn from_environment() -> Scrubber {
        Scrubber::new(
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
        )
    }

    /// As [`Scrubber::from_environment`], from these names and values.
    #[must_use]
    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Scrubber {
        let secret = |name: &str| ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD"].iter().any(|end| name.ends_with(end));
        let secrets = variables
            .into_iter()
            .filter(|(name, value)| secret(&name.to_ascii_uppercase()) && value.trim().len() >= MIN_SECRET)
            .map(|(_, value)| value.trim().to_owned())
            .collect();
        Scrubber { secrets }.sorted()
    }

    /// Knows one more, however short: a key that a provider was given.
    #[must_use]
    pub fn with(mut self, secret: &str) -> Scrubber {
        if !secret.is_empty() {
            self.secrets.push(secret.to_owned());
        }
        self.sorted()
    }

    /// Longest first: one secret may be the start of another.
    fn sorted(mut self) -> Scrubber {
        self.secrets.sort_by_key(|value| std::cmp::Reverse(value.len()));
        self.secrets.dedup();
        self
    }

    /// The text without secrets, and whether any was there.
    #[must_use]
    pub fn scrub(&self, text: &str) -> (String, bool) {
        let mut clean = without_userinfo(text);
        for secret in &self.secrets {
            if clean.contains(secret.as_str()) {
                clean = clean.replace(secret.as_str(), MARK);
            }
        }
        let found = clean != text;
        (clean, found)
    }

    /// Somebody else's words, for a message: scrubbed, on one line, without control characters, and not long.
    #[must_use]
    pub fn line(&self, text: &str) -> String {
        let (clean, _) = self.scrub(text);
        let words = clean.replace(|c: char| c.is_control(), " ");
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        match words.char_indices().nth(MAX_LINE) {
            Some((end, _)) => format!("{}...", &words[..end]),
            None => words,
        }
    }
}

/// Addresses without name and password: `https://user:word@host` keeps only the host.
fn without_userinfo(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + "://".len());
        clean.push_str(before);
        let end = after.find(|c: char| "/?#\"'`<>".contains(c) || c.is_whitespace()).unwrap_or(after.len());
        let (authority, tail) = after.split_at(end);
        match authority.rsplit_once('@') {
            // A name alone is no secret; `git@host` stands in many texts.
            Some((user, host)) if user.contains(':') => {
                clean.push_str(MARK);
                clean.push('@');
                clean.push_str(host);
            }
            _ => clean.push_str(authority),
        }
        rest = tail;
    }
    clean.push_str(rest);
    clean
}
