//! Takes secrets out of text before it is written: keys and tokens of the environment, and those that a provider read
//! elsewhere and told of ([`learn`]). Whatever writes a model's or a server's words goes through here; it guesses at no
//! secret by its form, since a guess would change what a model said.

use std::sync::{Mutex, PoisonError};

/// Values shorter than this are no secrets, and would hit ordinary words.
const MIN_SECRET: usize = 8;

/// What stands in a secret's place.
const MARK: &str = "[secret removed]";

/// Ends of names of environment variables that hold secrets.
const ENDS: [&str; 7] = ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASS", "_PAT", "_CREDENTIALS"];

/// Secrets that were told of, for the life of the process.
static LEARNED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Tells of a secret that stands in no environment variable: a key of a file or of a URL. From here on every
/// [`Scrubber`] takes it out.
pub fn learn(secret: &str) {
    if secret.len() >= MIN_SECRET {
        let mut learned = LEARNED.lock().unwrap_or_else(PoisonError::into_inner);
        if learned.iter().all(|known| known != secret) {
            learned.push(secret.to_owned());
        }
    }
}

/// Knows which texts must not be written.
#[derive(Clone, Default)]
pub struct Scrubber {
    secrets: Vec<String>,
}

// Secrets are shown nowhere, a dump for debugging included.
impl std::fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Scrubber({} secrets)", self.secrets.len())
    }
}

impl Scrubber {
    /// The values of every environment variable whose name ends as that of a secret does.
    #[must_use]
    pub fn from_environment() -> Scrubber {
        Scrubber::new(
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
        )
    }

    /// As [`Scrubber::from_environment`], from these names and values.
    #[must_use]
    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Scrubber {
        let secret = |name: &str| ENDS.iter().any(|end| name.ends_with(end));
        let values = variables
            .into_iter()
            .filter(|(name, value)| secret(&name.to_ascii_uppercase()) && value.trim().len() >= MIN_SECRET)
            .map(|(_, value)| value.trim().to_owned());
        Scrubber { secrets: values.collect() }
    }

    /// The text without secrets, in whichever of their forms, and whether any was there.
    #[must_use]
    pub fn scrub(&self, text: &str) -> (String, bool) {
        let learned = LEARNED.lock().unwrap_or_else(PoisonError::into_inner);
        let mut forms: Vec<String> = self.secrets.iter().chain(learned.iter()).flat_map(|s| forms(s)).collect();
        drop(learned);
        // Longest first: one secret may be the start of another.
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        let mut clean = text.to_owned();
        for form in forms {
            if clean.contains(&form) {
                clean = clean.replace(&form, MARK);
            }
        }
        let found = clean != text;
        (clean, found)
    }
}

/// A secret as it stands, in a URL, and in JSON.
fn forms(secret: &str) -> Vec<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let percent = |upper: bool| -> String {
        let escaped = |byte: u8| if upper { format!("%{byte:02X}") } else { format!("%{byte:02x}") };
        secret.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { escaped(byte) }).collect()
    };
    let json = serde_json::Value::from(secret).to_string();
    let within = json.get(1..json.len() - 1).unwrap_or(secret).to_owned();
    let mut forms = vec![secret.to_owned(), percent(true), percent(false), within];
    forms.sort();
    forms.dedup();
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrubber() -> Scrubber {
        let variables = [("MODEL_API_KEY", "sk-+/=\"01234567"), ("short_key", "abc"), ("HOME", "/home/someone")];
        Scrubber::new(variables.map(|(name, value)| (name.to_owned(), value.to_owned())))
    }

    #[test]
    fn a_secret_is_found_in_headers_urls_and_bodies() {
        let texts = [
            "Authorization: Bearer sk-+/=\"01234567",
            "https://host/v1?key=sk-%2B%2F%3D%2201234567&x=1",
            "https://host/v1?key=sk-%2b%2f%3d%2201234567",
            r#"{"error":{"message":"bad key sk-+/=\"01234567"}}"#,
        ];
        for text in texts {
            let (clean, found) = scrubber().scrub(text);
            assert!(found && clean.contains(MARK) && !clean.contains("01234567"), "{clean}");
        }
        let plain = "abc in /home/someone";
        assert_eq!(scrubber().scrub(plain), (plain.to_owned(), false));
    }

    #[test]
    fn what_was_told_of_is_taken_out_by_those_made_before() {
        let before = Scrubber::default();
        learn("from-a-file-0001");
        learn("short");
        assert_eq!(before.scrub("from-a-file-0001 is short"), (format!("{MARK} is short"), true));
        assert_eq!(format!("{:?}", scrubber()), "Scrubber(1 secrets)");
    }
}
