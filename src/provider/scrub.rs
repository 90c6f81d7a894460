//! Takes secrets out of text before it is recorded: values of environment variables that hold keys and tokens.

/// Values shorter than this are no secrets, and would hit ordinary words.
const MIN_SECRET: usize = 8;

/// What stands in a secret's place.
const MARK: &str = "[secret removed]";

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
        let mut secrets: Vec<String> = variables
            .into_iter()
            .filter(|(name, value)| secret(&name.to_ascii_uppercase()) && value.len() >= MIN_SECRET)
            .map(|(_, value)| value)
            .collect();
        // Longest first: one secret may be the start of another.
        secrets.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Scrubber { secrets }
    }

    /// The text without secrets, and whether any was there.
    #[must_use]
    pub fn scrub(&self, text: &str) -> (String, bool) {
        let mut clean = text.to_owned();
        for secret in &self.secrets {
            if clean.contains(secret.as_str()) {
                clean = clean.replace(secret.as_str(), MARK);
            }
        }
        let found = clean != text;
        (clean, found)
    }
}
