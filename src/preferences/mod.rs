//! `peak.toml`: what a person, or a project, prefers. The user's own file is read first, the project's over it.
//!
//! A file never holds a key, and a project's file never decides alone where a key goes or what program runs: whoever
//! clones a project has not read it yet.

mod error;
mod merge;

pub use error::PreferencesError;

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The file's name, in a project and in the user's folder.
pub const FILE: &str = "peak.toml";

/// Bytes of such a file, at most.
const MAX_BYTES: u64 = 1 << 20;

/// What the files say.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Preferences {
    /// The provider where the command line names none.
    pub provider: Option<String>,
    /// Providers by name.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// What a run may cost.
    pub budget: Budget,
    /// Projects whose own file may say where keys go and what is run; counts in the user's file alone.
    pub trusted_projects: Vec<PathBuf>,
}

/// One provider, as a file describes it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ProviderSettings {
    /// Which provider of the list it is, where its own name says nothing: `kind = "openai"`.
    pub kind: Option<String>,
    /// The address that requests go below.
    pub url: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The environment variable that holds the key.
    pub key_variable: Option<String>,
    /// A PEM file of certificates that are trusted in place of the usual ones.
    pub certificates: Option<PathBuf>,
    /// The program and its arguments, for `command`.
    pub program: Option<Vec<String>>,
    /// Tokens of an answer, at most.
    pub max_output_tokens: Option<u64>,
    /// How long an answer may take.
    pub timeout_seconds: Option<u64>,
    /// What a million tokens cost.
    pub price: Option<Price>,
    /// Members that are added to the body of each request.
    pub body: Option<toml::Table>,
}

/// What a million tokens cost, in a currency of one's own choice.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// A million tokens of prompts.
    pub input: f64,
    /// A million tokens of answers, reasoning included.
    pub output: f64,
}

/// What a run may cost; nothing where nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Requests.
    pub calls: Option<u64>,
    /// Tokens of prompts and answers together.
    pub tokens: Option<u64>,
    /// Money, in the currency of the prices.
    pub money: Option<f64>,
    /// Minutes since the start, after which nobody is asked any more.
    pub minutes: Option<f64>,
}

impl Preferences {
    /// Those of the user and of a project.
    ///
    /// # Errors
    /// A file that cannot be read or understood, that holds a key, or that says what a project may not say.
    pub fn load(project: &Path) -> Result<Preferences, PreferencesError> {
        Preferences::load_from(user_file().as_deref(), project)
    }

    /// As [`Preferences::load`], with the user's file named.
    ///
    /// # Errors
    /// As [`Preferences::load`].
    pub fn load_from(user: Option<&Path>, project: &Path) -> Result<Preferences, PreferencesError> {
        let own = user.map(read).transpose()?.flatten().unwrap_or_default();
        let path = project.join(FILE);
        let Some(of_project) = read(&path)? else { return Ok(own) };
        if !own.trusts(project) {
            of_project.check_untrusted(&path, user)?;
        }
        Ok(own.overlaid(of_project))
    }

    /// What is said of a provider; nothing where it has no section.
    #[must_use]
    pub fn settings(&self, name: &str) -> ProviderSettings {
        self.providers.get(name).cloned().unwrap_or_default()
    }

    fn trusts(&self, project: &Path) -> bool {
        let Ok(project) = project.canonicalize() else { return false };
        self.trusted_projects.iter().any(|trusted| trusted.canonicalize().is_ok_and(|trusted| trusted == project))
    }

    /// A project's file may choose a model, never where a key goes or what program runs.
    fn check_untrusted(&self, path: &Path, user: Option<&Path>) -> Result<(), PreferencesError> {
        for (name, settings) in &self.providers {
            let said = [
                ("url", settings.url.is_some()),
                ("key-variable", settings.key_variable.is_some()),
                ("certificates", settings.certificates.is_some()),
                ("program", settings.program.is_some()),
            ];
            if let Some((field, _)) = said.into_iter().find(|(_, said)| *said) {
                return Err(PreferencesError::Untrusted {
                    path: path.display().to_string(),
                    field: format!("providers.{name}.{field}"),
                    user: user.map_or_else(|| "a peak.toml of your own".to_owned(), |user| user.display().to_string()),
                    project: path.parent().map(absolute).unwrap_or_default(),
                });
            }
        }
        Ok(())
    }
}

fn absolute(folder: &Path) -> String {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).display().to_string()
}

/// `$XDG_CONFIG_HOME/peak/peak.toml`, else `~/.config/peak/peak.toml`.
#[must_use]
pub fn user_file() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("peak").join(FILE))
}

/// A file's content; `None` where there is no such file.
fn read(path: &Path) -> Result<Option<Preferences>, PreferencesError> {
    let shown = || path.display().to_string();
    let unreadable = |reason: String| PreferencesError::Unreadable { path: shown(), reason };
    let bytes = match std::fs::metadata(path) {
        Ok(data) if data.len() > MAX_BYTES => {
            return Err(unreadable(format!("it has {} bytes, and {MAX_BYTES} are allowed", data.len())));
        }
        Ok(_) => std::fs::read(path).map_err(|error| unreadable(error.to_string()))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned()))?;
    parse(&text, &shown()).map(Some)
}

/// Reads a file's text; `path` is for messages.
fn parse(text: &str, path: &str) -> Result<Preferences, PreferencesError> {
    let malformed = |error: &toml::de::Error| {
        let line =
            error.span().map_or(1, |span| text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1);
        // The message alone: the rendered form quotes the line, which may hold what should not be shown.
        PreferencesError::Malformed { path: path.to_owned(), line, problem: unquoted(error.message()) }
    };
    let table: toml::Table = toml::from_str(text).map_err(|error| malformed(&error))?;
    if let Some(field) = secret(&table, "") {
        return Err(PreferencesError::Secret { path: path.to_owned(), field });
    }
    let read: Preferences = toml::from_str(text).map_err(|error| malformed(&error))?;
    match read.nonsense() {
        Some(problem) => Err(PreferencesError::Malformed { path: path.to_owned(), line: 1, problem }),
        None => Ok(read),
    }
}

/// The words without what stands in double quotes: a value of the file.
fn unquoted(message: &str) -> String {
    let pieces = message.split('"').enumerate();
    pieces.map(|(index, piece)| if index % 2 == 0 { piece } else { "\"...\"" }).collect()
}

/// The first member whose name says that it holds a secret.
fn secret(table: &toml::Table, above: &str) -> Option<String> {
    for (name, value) in table {
        let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
        let word = name.to_ascii_lowercase().replace('_', "-");
        let names_one = ["key", "token", "secret", "password", "authorization"]
            .iter()
            .any(|end| word == *end || word.ends_with(&format!("-{end}")));
        match value {
            toml::Value::String(_) if names_one => return Some(path),
            toml::Value::Table(table) => {
                if let Some(found) = secret(table, &path) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}
