//! What surrounds a rule where it is used: a rule is compiled once for each such way.

use pest_meta::ast::RuleType;

/// How an expression is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mode {
    /// Whether blanks may stand between the pieces of a sequence.
    pub blanks: bool,
    /// Whether matched rules are kept as parts.
    pub parts: bool,
}

impl Mode {
    /// A clause's own.
    pub const CLAUSE: Mode = Mode { blanks: true, parts: true };

    /// That of a lookahead: what it matches is no part.
    pub fn unkept(self) -> Mode {
        Mode { parts: false, ..self }
    }

    /// That of the expression of a rule which is used in this mode.
    pub fn inside(self, name: &str, kind: RuleType) -> Mode {
        match kind {
            RuleType::Normal | RuleType::Silent => self,
            RuleType::Atomic => Mode { blanks: false, parts: false },
            RuleType::CompoundAtomic => {
                // Pest keeps such a rule even inside an atomic one; no mode here says so.
                assert!(self.blanks || self.parts, "`{name}` ($) is used inside an atomic rule");
                Mode { blanks: false, parts: self.parts }
            }
            RuleType::NonAtomic => panic!("`{name}`: rules of kind `!` are not compiled"),
        }
    }

    /// Whether a rule that is used in this mode becomes a part.
    pub fn keeps(self, kind: RuleType) -> bool {
        self.parts && kind != RuleType::Silent
    }

    /// The end of a function's name.
    pub fn suffix(self) -> &'static str {
        match (self.blanks, self.parts) {
            (true, true) => "clause",
            (true, false) => "ahead",
            (false, true) => "joined",
            (false, false) => "atom",
        }
    }
}
