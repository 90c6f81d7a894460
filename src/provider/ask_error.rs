//! Why somebody who was asked gave no completion. Words that came from outside are cut, scrubbed and on one line before
//! they get here ([`super::Scrubber::line`]).

/// Why somebody who was asked gave no completion.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[allow(missing_docs, reason = "each field is what the message says of it")]
pub enum AskError {
    #[error("provider `{provider}` cannot be used: {lacks}")]
    #[diagnostic(code("peak::provider-not-ready"), help("{mend}\n`peak doctor` says which providers are ready"))]
    NotReady { provider: String, lacks: String, mend: String },

    #[error("{place} cannot be reached: {reason}")]
    #[diagnostic(
        code("peak::provider-unreachable"),
        help("check that the server runs, the address (`url` in peak.toml, or `--url`), and HTTPS_PROXY")
    )]
    Unreachable { place: String, reason: String },

    #[error("no secure connection to {place}: {reason}")]
    #[diagnostic(
        code("peak::provider-tls"),
        help(
            "check the address and the clock; for a server with certificates of your own, name their PEM file: `certificates` in peak.toml"
        )
    )]
    Tls { place: String, reason: String },

    #[error("{place} does not accept the key ({status}): {said}")]
    #[diagnostic(code("peak::provider-key"), help("{key}"))]
    Key { place: String, status: u16, said: String, key: String },

    #[error("{place} rejects the request ({status}): {said}")]
    #[diagnostic(
        code("peak::provider-rejected"),
        help("check the model's name (`--model`), the address (`--url`), and the account at the provider")
    )]
    Rejected { place: String, status: u16, said: String },

    #[error("{place} did not answer after {tries} tries; the last: {said}")]
    #[diagnostic(code("peak::provider-busy"), help("wait, then run the same command again: what was answered is kept"))]
    Busy { place: String, tries: u32, said: String },

    #[error("{place} asks to wait {seconds} s, longer than {limit} s: {said}")]
    #[diagnostic(code("peak::provider-wait"), help("run the same command again then: what was answered is kept"))]
    Wait { place: String, seconds: u64, limit: u64, said: String },

    #[error("{place} redirects ({status}) to {to}, and a prompt goes only where it was sent to")]
    #[diagnostic(
        code("peak::provider-redirect"),
        help("if that is the right server, name it: `url` in peak.toml, or `--url`")
    )]
    Redirect { place: String, status: u16, to: String },

    #[error("the answer of {place} ended too early, {tries} times; the last after {bytes} bytes")]
    #[diagnostic(
        code("peak::provider-stream-cut"),
        help("the connection or a proxy between breaks off; run the same command again")
    )]
    Cut { place: String, tries: u32, bytes: u64 },

    #[error("{place} answers in a form that this provider does not know: {problem}")]
    #[diagnostic(
        code("peak::provider-malformed"),
        help(
            "check that `url` is the address of that provider's own interface, and that no proxy answers in its place"
        )
    )]
    Malformed { place: String, problem: String },

    #[error("{place} gave an empty answer{why}")]
    #[diagnostic(
        code("peak::provider-empty"),
        help(
            "a model that ran out of tokens while it reasoned needs more (`max-output-tokens` in peak.toml); a program's completion belongs on its standard output"
        )
    )]
    Empty { place: String, why: String },

    #[error("the model refused to answer: {said}")]
    #[diagnostic(code("peak::provider-refused"), help("reword the pass, or ask another model (`--model`)"))]
    Refused { said: String },

    #[error("{place} was not done after {seconds} s; {bytes} bytes had come")]
    #[diagnostic(code("peak::provider-timeout"), help("allow more (`--timeout SECONDS`), or ask a faster model"))]
    Timeout { place: String, seconds: u64, bytes: u64 },

    #[error("the answer of {place} has more than {limit} bytes")]
    #[diagnostic(code("peak::completion-too-long"), help("a region is asked for: have the model answer with it alone"))]
    TooLong { place: String, limit: usize },

    #[error("the program {program} failed: {how}")]
    #[diagnostic(code("peak::provider-program"), help("{help}"))]
    Program { program: String, how: String, help: String },

    #[error("the budget is spent: {spent}")]
    #[diagnostic(code("peak::budget-spent"), help("{help}"))]
    BudgetSpent { spent: String, help: String },

    #[error("stopped on request, while {place} was asked")]
    #[diagnostic(code("peak::provider-stopped"), help("run the same command again: what was answered is kept"))]
    Stopped { place: String },
}
