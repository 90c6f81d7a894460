//! What is wrong with a `peak.toml`. Messages never quote a value: it may be a key.

/// What is wrong with a `peak.toml`.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[allow(missing_docs, reason = "each field is what the message says of it")]
pub enum PreferencesError {
    #[error("{path} cannot be read: {reason}")]
    #[diagnostic(code("peak::configuration-unreadable"), help("mend the file, or move it away"))]
    Unreadable { path: String, reason: String },

    #[error("{path}, line {line}: {problem}")]
    #[diagnostic(
        code("peak::configuration-malformed"),
        help("it is TOML; spec/lowering.md shows a whole file, word by word")
    )]
    Malformed { path: String, line: usize, problem: String },

    #[error("{path} holds a secret in `{field}`")]
    #[diagnostic(
        code("peak::configuration-secret"),
        help(
            "take it out of the file, and revoke it if others could read it. Keys come from the environment (`key-variable` names the variable) or from the keyring (`peak doctor --keep-key PROVIDER`)"
        )
    )]
    Secret { path: String, field: String },

    #[error("{path} sets `{field}`, and a project's file may not: it would decide where your key goes, or what runs")]
    #[diagnostic(
        code("peak::configuration-untrusted"),
        help("move it to {user}; or, where the project is yours, write there: trusted-projects = [\"{project}\"]")
    )]
    Untrusted { path: String, field: String, user: String, project: String },
}
