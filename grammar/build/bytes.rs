//! Which bytes an expression can begin with, and which expressions are one byte of a set.

use pest_meta::optimizer::{OptimizedExpr as Expr, OptimizedRule};
use std::collections::HashMap;

/// A set of bytes.
#[derive(Clone, PartialEq)]
pub struct Bytes([bool; 256]);

impl Bytes {
    /// None.
    pub const NONE: Bytes = Bytes([false; 256]);
    /// All.
    pub const ALL: Bytes = Bytes([true; 256]);

    fn range(from: u8, to: u8) -> Bytes {
        let mut bytes = Bytes::NONE;
        (from..=to).for_each(|byte| bytes.0[usize::from(byte)] = true);
        bytes
    }

    /// Those of either.
    pub fn or(mut self, other: &Bytes) -> Bytes {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own |= other);
        self
    }

    /// As a pattern of Rust.
    pub fn pattern(&self) -> String {
        let (mut ranges, mut from) = (Vec::new(), None);
        for byte in 0..=256 {
            match (self.0.get(byte).copied().unwrap_or(false), from) {
                (true, None) => from = Some(byte),
                (false, Some(start)) => {
                    ranges.push(format!("{start}..={}", byte - 1));
                    from = None;
                }
                _ => {}
            }
        }
        ranges.join(" | ")
    }
}

/// The rules by name.
pub struct Grammar<'r>(HashMap<&'r str, &'r OptimizedRule>);

impl<'r> Grammar<'r> {
    /// Of a list of rules.
    pub fn new(rules: &'r [OptimizedRule]) -> Grammar<'r> {
        assert!(rules.iter().all(|rule| rule.name != "COMMENT"), "comments between tokens are not compiled");
        Grammar(rules.iter().map(|rule| (rule.name.as_str(), rule)).collect())
    }

    /// A rule of the grammar; none for one that pest brings along.
    pub fn rule(&self, name: &str) -> Option<&'r OptimizedRule> {
        self.0.get(name).copied()
    }

    /// What may stand between the pieces of a sequence.
    pub fn blanks(&self) -> Bytes {
        let class = self.class(&Expr::Ident("WHITESPACE".to_owned()));
        class.expect("WHITESPACE is one byte of a set")
    }

    /// The bytes of which the expression is exactly one, if it is that.
    pub fn class(&self, expr: &Expr) -> Option<Bytes> {
        match expr {
            Expr::Str(text) => match text.as_bytes() {
                [byte] => Some(Bytes::range(*byte, *byte)),
                _ => None,
            },
            Expr::Range(from, to) => match (from.as_bytes(), to.as_bytes()) {
                ([from], [to]) => Some(Bytes::range(*from, *to)),
                _ => None,
            },
            Expr::Choice(left, right) => Some(self.class(left)?.or(&self.class(right)?)),
            Expr::Ident(name) => match self.rule(name) {
                Some(rule) => self.class(&rule.expr),
                None => builtin(name),
            },
            _ => None,
        }
    }

    /// The bytes that the expression can begin with; none where it may match nothing at all.
    pub fn guard(&self, expr: &Expr) -> Option<Bytes> {
        let (first, empty) = self.first(expr);
        (!empty && first != Bytes::ALL).then_some(first)
    }

    /// The bytes that the expression can begin with, and whether it may match nothing.
    fn first(&self, expr: &Expr) -> (Bytes, bool) {
        match expr {
            Expr::Str(text) => {
                let first = text.as_bytes().first();
                (first.map_or(Bytes::NONE, |byte| Bytes::range(*byte, *byte)), first.is_none())
            }
            Expr::Range(..) => (self.class(expr).unwrap_or(Bytes::ALL), false),
            Expr::Ident(name) => match (self.rule(name), name.as_str()) {
                (Some(rule), _) => self.first(&rule.expr),
                (None, "SOI" | "EOI") => (Bytes::NONE, true),
                (None, _) => (builtin(name).unwrap_or(Bytes::ALL), false),
            },
            Expr::PosPred(_) | Expr::NegPred(_) => (Bytes::NONE, true),
            Expr::Seq(left, right) => match self.first(left) {
                (first, false) => (first, false),
                (first, true) => {
                    let (next, empty) = self.first(right);
                    (first.or(&self.blanks()).or(&next), empty)
                }
            },
            Expr::Choice(left, right) => {
                let ((first, empty), (other, other_empty)) = (self.first(left), self.first(right));
                (first.or(&other), empty || other_empty)
            }
            Expr::Opt(inner) | Expr::Rep(inner) => (self.first(inner).0, true),
            _ => (Bytes::ALL, true),
        }
    }
}

/// The bytes of a rule that pest brings along.
fn builtin(name: &str) -> Option<Bytes> {
    let (digits, lower, upper) = (Bytes::range(b'0', b'9'), Bytes::range(b'a', b'z'), Bytes::range(b'A', b'Z'));
    match name {
        "ASCII_DIGIT" => Some(digits),
        "ASCII_ALPHA" => Some(lower.or(&upper)),
        "ASCII_ALPHANUMERIC" => Some(lower.or(&upper).or(&digits)),
        _ => None,
    }
}
