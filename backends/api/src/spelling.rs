//! How a language spells what transformations speak of, so that one text serves all.

/// A backend's translation table and lexical facts.
#[derive(Clone, Copy, Debug)]
pub struct Spelling {
    /// The fence of a code block: `cuda`, `hlsl`.
    pub fence: &'static str,
    /// Term and spelling, in the order in which a prompt shows them.
    pub terms: &'static [(&'static str, &'static str)],
    /// Rules of the language that a model forgets, one a line.
    pub notes: &'static [&'static str],
    /// The call that is a barrier of the block.
    pub barrier: &'static str,
    /// Identifiers in capitals that the language or its prelude defines.
    pub known_capitals: &'static [&'static str],
    /// Substrings that no kernel may contain, and why: file access, host calls, libraries.
    pub banned: &'static [(&'static str, &'static str)],
}
