//! Matches one line against the grammar, and keeps the rules that matched as a flat list.
//!
//! The rules themselves are compiled from `peak.pest` by the build script. Says yes or no and never why not.

use super::piece::{Part, Rule};

/// Parts of most lines, at most.
const PARTS: usize = 48;

/// What remains of a line, and what matched in it.
pub(super) struct Matcher<'t> {
    text: &'t [u8],
    at: usize,
    parts: Vec<Part>,
}

/// A state to go back to.
#[derive(Clone, Copy)]
struct Mark {
    at: usize,
    parts: usize,
}

/// The rules that a line matches, outermost first; none where it is not one of `rule`'s.
pub(super) fn matched(rule: Rule, text: &str) -> Option<Vec<Part>> {
    let mut matcher = Matcher { text: text.as_bytes(), at: 0, parts: Vec::with_capacity(PARTS) };
    rules::line(rule, &mut matcher).then_some(matcher.parts)
}

/// What the rules are made of.
impl Matcher<'_> {
    fn mark(&self) -> Mark {
        Mark { at: self.at, parts: self.parts.len() }
    }

    /// Goes back: nothing matched.
    fn back(&mut self, mark: Mark) -> bool {
        self.at = mark.at;
        self.parts.truncate(mark.parts);
        false
    }

    /// Opens a part; what matches until it is closed is inside.
    fn open(&mut self, rule: Rule) -> usize {
        self.parts.push(Part { rule, start: small(self.at), end: 0, next: 0 });
        self.parts.len() - 1
    }

    /// Closes a part; it is dropped where it did not match.
    fn close(&mut self, open: usize, found: bool) -> bool {
        if !found {
            self.parts.truncate(open);
            return false;
        }
        let (end, next) = (small(self.at), small(self.parts.len()));
        if let Some(part) = self.parts.get_mut(open) {
            (part.end, part.next) = (end, next);
        }
        true
    }

    fn starts(&self) -> bool {
        self.at == 0
    }

    fn ends(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Whether the next byte is such a one.
    fn next(&self, fits: impl Fn(u8) -> bool) -> bool {
        self.text.get(self.at).is_some_and(|byte| fits(*byte))
    }

    /// Takes one byte.
    fn one(&mut self, fits: impl Fn(u8) -> bool) -> bool {
        let found = self.next(fits);
        self.at += usize::from(found);
        found
    }

    /// Takes every byte up to the first that does not fit.
    fn run(&mut self, fits: impl Fn(u8) -> bool) -> bool {
        while self.one(&fits) {}
        true
    }

    /// Takes one character.
    fn any(&mut self) -> bool {
        let found = self.one(|_| true);
        self.run(|byte| byte & 0b1100_0000 == 0b1000_0000);
        found
    }

    fn literal(&mut self, literal: &[u8]) -> bool {
        let found = self.text.get(self.at..).is_some_and(|rest| rest.starts_with(literal));
        self.at += if found { literal.len() } else { 0 };
        found
    }
}

/// What need not match.
fn maybe(_: bool) -> bool {
    true
}

/// An offset in a line, or a count of its parts: both are bounded by `MAX_LINE_BYTES`.
fn small(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

mod rules {
    //! What the build script makes of `peak.pest`.

    #![allow(clippy::all, clippy::pedantic, unused_parens, unused_braces, reason = "generated")]

    use super::{Matcher, Rule, maybe};

    include!(concat!(env!("OUT_DIR"), "/rules.rs"));
}
