//! Why something cannot be specialized.

use crate::diagnostics::nearest;

/// Why a name has no meaning for a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum SpecializeError {
    /// Nothing of that kind and name is in the library.
    #[error("there is no {kind} `{name}`")]
    #[diagnostic(code("peak::unknown-name"))]
    Unknown {
        /// `transformation`, `workflow`, `device`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// "did you mean ...?", or where to look.
        #[help]
        help: String,
    },
    /// It exists, but not for this device or backend.
    #[error("the {kind} `{name}` is not for {place}")]
    #[diagnostic(code("peak::not-for-device"))]
    NotFor {
        /// `transformation`, `workflow`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// The device and backend.
        place: String,
        /// What it is for.
        #[help]
        help: String,
    },
    /// Two packs, neither of which builds on the other, change the same thing.
    #[error("the packs `{first}` and `{second}` both change {what} of `{transformation}`")]
    #[diagnostic(
        code("peak::pack-conflict"),
        help("let one of the packs extend the other, or narrow its `for devices`")
    )]
    Conflict {
        /// Applied earlier.
        first: String,
        /// Applied later.
        second: String,
        /// "the pass `x`", "the tuning parameter `X`", ...
        what: String,
        /// The transformation.
        transformation: String,
    },
}

impl SpecializeError {
    pub(super) fn unknown<'a>(
        kind: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> SpecializeError {
        let help = match nearest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("`peak list {kind}s` shows what there is"),
        };
        SpecializeError::Unknown { kind, name: name.to_owned(), help }
    }
}
