//! The code that a mechanical step looks for, and which of the places where it stands are meant.

use super::Origin;
use serde::{Deserialize, Serialize};

/// A backticked piece of code, and where it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snippet {
    /// The code; `$NAME` and `$$$NAME` are metavariables.
    pub text: String,
    /// Where it was written.
    pub origin: Origin,
}

/// The code that a step looks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// What is looked for.
    pub pattern: Snippet,
    /// Which of the matches are meant.
    pub which: Which,
    /// Of matches inside one another the innermost, not the outermost.
    pub innermost: bool,
    /// Only those that lie so to other code.
    pub within: Option<Within>,
    /// `if any`: finding nothing is no failure.
    pub if_any: bool,
}

/// Which of several matches are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// All of them, and at least one.
    Every,
    /// The first in the text.
    First,
    /// The last in the text.
    Last,
    /// All of them, and exactly this many.
    Exactly(u32),
}

/// `before`, `after` or `inside` other code, which stands there once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Within {
    /// How a match lies to it.
    pub side: Side,
    /// The other code.
    pub anchor: Snippet,
}

/// How a match lies to an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// It ends before the anchor starts.
    Before,
    /// It starts after the anchor ends.
    After,
    /// It is a part of the anchor.
    Inside,
}
