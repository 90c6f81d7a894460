//! Where a provider's key comes from: a variable of the environment, else the system's keyring. Never a file, and never
//! written anywhere but into the keyring.

use super::AskError;
use keyring_core::{CredentialStore, Entry, Error};
use std::sync::Arc;

/// The name that keys are kept under.
const SERVICE: &str = "peak";

/// Where a key was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// In that variable of the environment.
    Variable(String),
    /// In the keyring, under that provider's name.
    Keyring(String),
}

impl std::fmt::Display for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            KeySource::Variable(name) => write!(f, "the key of {name}"),
            KeySource::Keyring(provider) => write!(f, "the key that the keyring holds for `{provider}`"),
        }
    }
}

/// Reads a variable.
type Variables = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Looks up a key by variable and provider.
#[derive(Clone)]
pub struct Keys {
    variable: Arc<Variables>,
    keyring: bool,
}

impl Keys {
    /// Those of the environment and of the keyring.
    #[must_use]
    pub fn of_system() -> Keys {
        Keys { variable: Arc::new(|name| std::env::var(name).ok()), keyring: true }
    }

    /// Those given, by variable; no keyring.
    #[must_use]
    pub fn given(variables: impl IntoIterator<Item = (String, String)>) -> Keys {
        let variables: std::collections::HashMap<String, String> = variables.into_iter().collect();
        Keys { variable: Arc::new(move |name| variables.get(name).cloned()), keyring: false }
    }

    /// A provider's key, and where it was found. White space at its ends is no part of it.
    #[must_use]
    pub fn find(&self, variable: Option<&str>, provider: &str) -> Option<(String, KeySource)> {
        let filled = |text: String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let of_variable = variable.and_then(|name| {
            let key = (self.variable)(name).and_then(filled)?;
            Some((key, KeySource::Variable(name.to_owned())))
        });
        of_variable.or_else(|| {
            // A keyring that cannot be asked is as good as one without the key: what is lacking is said later.
            let key = self.keyring.then(|| entry(provider).ok()?.get_password().ok()).flatten().and_then(filled)?;
            Some((key, KeySource::Keyring(provider.to_owned())))
        })
    }
}

/// Keeps a key in the keyring.
///
/// # Errors
/// There is no keyring here, or it refuses.
pub fn keep_key(provider: &str, key: &str) -> Result<(), AskError> {
    entry(provider).and_then(|entry| entry.set_password(key.trim())).map_err(|error| no_keyring(provider, &error))
}

/// Takes a key out of the keyring; whether there was one.
///
/// # Errors
/// As [`keep_key`].
pub fn forget_key(provider: &str) -> Result<bool, AskError> {
    match entry(provider).and_then(|entry| entry.delete_credential()) {
        Ok(()) => Ok(true),
        Err(Error::NoEntry) => Ok(false),
        Err(error) => Err(no_keyring(provider, &error)),
    }
}

fn no_keyring(provider: &str, error: &Error) -> AskError {
    AskError::NotReady {
        provider: provider.to_owned(),
        lacks: format!("the keyring does not take its key: {error}"),
        mend: "put the key into a variable of the environment".to_owned(),
    }
}

fn entry(provider: &str) -> Result<Entry, Error> {
    Entry::new_in_store(&store()?, SERVICE, provider)
}

/// The kernel's own keyring: kept until the machine restarts, and needs no service that runs.
#[cfg(target_os = "linux")]
fn store() -> Result<Arc<CredentialStore>, Error> {
    Ok(linux_keyutils_keyring_store::Store::new()?)
}

#[cfg(not(target_os = "linux"))]
fn store() -> Result<Arc<CredentialStore>, Error> {
    Err(Error::NotSupportedByStore("this build knows no keyring of this system".to_owned()))
}
