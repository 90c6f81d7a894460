//! Integer expressions and conditions: sizes, grids, requirements. Exact, and never a panic.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// An integer expression over inputs, tuning parameters, `let` names and device facts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expr {
    /// A literal; units such as `KiB` are folded in.
    Integer(i64),
    /// A scalar input, a tuning parameter, a setting or a `let`.
    Name(String),
    /// `device.NAME`.
    Fact(String),
    /// `sizeof(element)`, in bytes; also `sizeof(accumulator)` or the name of an argument.
    SizeOf(String),
    /// `-a`.
    Negate(Box<Expr>),
    /// `a op b`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `ceil(a / b)`: division rounded up.
    CeilDiv(Box<Expr>, Box<Expr>),
    /// `floor(a / b)`: division rounded down.
    FloorDiv(Box<Expr>, Box<Expr>),
    /// `min(a, b, ...)`.
    Min(Vec<Expr>),
    /// `max(a, b, ...)`.
    Max(Vec<Expr>),
}

/// Arithmetic on integers. `Div` is exact: a remainder makes the configuration invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is the operation of its name")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

/// How two expressions are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is the comparison of its name")]
pub enum CompareOp {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A truth value over expressions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// `a op b`.
    Compare(CompareOp, Expr, Expr),
    /// All hold.
    And(Vec<Condition>),
    /// At least one holds.
    Or(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
}

/// Where an expression finds its values.
pub trait Scope {
    /// The value of a name, if it is known.
    fn value(&self, name: &str) -> Option<i64>;
    /// The value of a device fact, if it is known.
    fn fact(&self, name: &str) -> Option<i64>;
    /// Bytes of `element`, `accumulator` or an argument's element.
    fn size_of(&self, what: &str) -> Option<i64>;
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum EvalError {
    /// A name without a value.
    #[error("`{0}` has no value here")]
    UnknownName(String),
    /// A device fact that the device does not state.
    #[error("the device does not say its `{0}`")]
    UnknownFact(String),
    /// `/` left a remainder.
    #[error("{left} / {right} is not a whole number ({text})")]
    NotExact {
        /// Dividend.
        left: i64,
        /// Divisor.
        right: i64,
        /// The expression.
        text: String,
    },
    /// Division or remainder by zero.
    #[error("division by zero in {0}")]
    DivisionByZero(String),
    /// Beyond 64 bits.
    #[error("{0} does not fit 64 bits")]
    Overflow(String),
}

impl Expr {
    /// The value in `scope`.
    ///
    /// # Errors
    /// An unknown name or fact, a division that leaves a remainder, division by zero, overflow.
    pub fn evaluate(&self, scope: &dyn Scope) -> Result<i64, EvalError> {
        match self {
            Expr::Integer(value) => Ok(*value),
            Expr::Name(name) => scope.value(name).ok_or_else(|| EvalError::UnknownName(name.clone())),
            Expr::Fact(name) => scope.fact(name).ok_or_else(|| EvalError::UnknownFact(name.clone())),
            Expr::SizeOf(what) => scope.size_of(what).ok_or_else(|| EvalError::UnknownName(format!("sizeof({what})"))),
            Expr::Negate(inner) => {
                inner.evaluate(scope)?.checked_neg().ok_or_else(|| EvalError::Overflow(self.to_string()))
            }
            Expr::Binary(op, left, right) => self.binary(*op, left.evaluate(scope)?, right.evaluate(scope)?),
            Expr::CeilDiv(left, right) => self.divide(left.evaluate(scope)?, right.evaluate(scope)?, true),
            Expr::FloorDiv(left, right) => self.divide(left.evaluate(scope)?, right.evaluate(scope)?, false),
            Expr::Min(items) => self.extreme(items, scope, i64::min),
            Expr::Max(items) => self.extreme(items, scope, i64::max),
        }
    }

    fn binary(&self, op: BinaryOp, left: i64, right: i64) -> Result<i64, EvalError> {
        let overflow = || EvalError::Overflow(self.to_string());
        match op {
            BinaryOp::Add => left.checked_add(right).ok_or_else(overflow),
            BinaryOp::Sub => left.checked_sub(right).ok_or_else(overflow),
            BinaryOp::Mul => left.checked_mul(right).ok_or_else(overflow),
            BinaryOp::Div | BinaryOp::Mod if right == 0 => Err(EvalError::DivisionByZero(self.to_string())),
            BinaryOp::Mod => left.checked_rem_euclid(right).ok_or_else(overflow),
            BinaryOp::Div => match left.checked_rem(right).ok_or_else(overflow)? {
                0 => Ok(left / right),
                _ => Err(EvalError::NotExact { left, right, text: self.to_string() }),
            },
        }
    }

    fn divide(&self, left: i64, right: i64, up: bool) -> Result<i64, EvalError> {
        if right == 0 {
            return Err(EvalError::DivisionByZero(self.to_string()));
        }
        let floor = left.checked_div_euclid(right).ok_or_else(|| EvalError::Overflow(self.to_string()))?;
        // `div_euclid` rounds towards minus infinity for a positive divisor, the only kind sizes have.
        let exact = left.checked_rem_euclid(right) == Some(0);
        Ok(if up && !exact { floor + 1 } else { floor })
    }

    fn extreme(&self, items: &[Expr], scope: &dyn Scope, pick: fn(i64, i64) -> i64) -> Result<i64, EvalError> {
        let mut best: Option<i64> = None;
        for item in items {
            let value = item.evaluate(scope)?;
            best = Some(best.map_or(value, |held| pick(held, value)));
        }
        best.ok_or_else(|| EvalError::UnknownName(self.to_string()))
    }

    /// Adds every name that the expression reads to `names` (facts and sizes aside).
    pub fn collect_names(&self, names: &mut BTreeSet<String>) {
        match self {
            Expr::Name(name) => {
                names.insert(name.clone());
            }
            Expr::Integer(_) | Expr::Fact(_) | Expr::SizeOf(_) => {}
            Expr::Negate(inner) => inner.collect_names(names),
            Expr::Binary(_, a, b) | Expr::CeilDiv(a, b) | Expr::FloorDiv(a, b) => {
                a.collect_names(names);
                b.collect_names(names);
            }
            Expr::Min(items) | Expr::Max(items) => items.iter().for_each(|item| item.collect_names(names)),
        }
    }

    /// Adds every device fact that the expression reads to `facts`.
    pub fn collect_facts(&self, facts: &mut BTreeSet<String>) {
        match self {
            Expr::Fact(name) => {
                facts.insert(name.clone());
            }
            Expr::Integer(_) | Expr::Name(_) | Expr::SizeOf(_) => {}
            Expr::Negate(inner) => inner.collect_facts(facts),
            Expr::Binary(_, a, b) | Expr::CeilDiv(a, b) | Expr::FloorDiv(a, b) => {
                a.collect_facts(facts);
                b.collect_facts(facts);
            }
            Expr::Min(items) | Expr::Max(items) => items.iter().for_each(|item| item.collect_facts(facts)),
        }
    }

    /// The expression with each name that `replace` knows exchanged.
    #[must_use]
    pub fn substitute(&self, replace: &dyn Fn(&str) -> Option<Expr>) -> Expr {
        let boxed = |inner: &Expr| Box::new(inner.substitute(replace));
        match self {
            Expr::Name(name) => replace(name).unwrap_or_else(|| self.clone()),
            Expr::Integer(_) | Expr::Fact(_) => self.clone(),
            // A pattern's array name may stand inside `sizeof` too.
            Expr::SizeOf(what) => match replace(what) {
                Some(Expr::Name(name)) => Expr::SizeOf(name),
                _ => self.clone(),
            },
            Expr::Negate(inner) => Expr::Negate(boxed(inner)),
            Expr::Binary(op, a, b) => Expr::Binary(*op, boxed(a), boxed(b)),
            Expr::CeilDiv(a, b) => Expr::CeilDiv(boxed(a), boxed(b)),
            Expr::FloorDiv(a, b) => Expr::FloorDiv(boxed(a), boxed(b)),
            Expr::Min(items) => Expr::Min(items.iter().map(|item| item.substitute(replace)).collect()),
            Expr::Max(items) => Expr::Max(items.iter().map(|item| item.substitute(replace)).collect()),
        }
    }

    fn precedence(&self) -> u8 {
        match self {
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => 1,
            Expr::Binary(..) => 2,
            Expr::Negate(_) => 3,
            _ => 4,
        }
    }
}

impl Condition {
    /// Whether it holds in `scope`.
    ///
    /// # Errors
    /// As [`Expr::evaluate`]. `and` and `or` stop at the first side that decides.
    pub fn evaluate(&self, scope: &dyn Scope) -> Result<bool, EvalError> {
        match self {
            Condition::Compare(op, left, right) => {
                let (left, right) = (left.evaluate(scope)?, right.evaluate(scope)?);
                Ok(match op {
                    CompareOp::Equal => left == right,
                    CompareOp::NotEqual => left != right,
                    CompareOp::Less => left < right,
                    CompareOp::LessOrEqual => left <= right,
                    CompareOp::Greater => left > right,
                    CompareOp::GreaterOrEqual => left >= right,
                })
            }
            Condition::And(items) => {
                for item in items {
                    if !item.evaluate(scope)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Condition::Or(items) => {
                for item in items {
                    if item.evaluate(scope)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Condition::Not(inner) => Ok(!inner.evaluate(scope)?),
        }
    }

    /// Adds every name that the condition reads to `names`.
    pub fn collect_names(&self, names: &mut BTreeSet<String>) {
        match self {
            Condition::Compare(_, a, b) => {
                a.collect_names(names);
                b.collect_names(names);
            }
            Condition::And(items) | Condition::Or(items) => items.iter().for_each(|item| item.collect_names(names)),
            Condition::Not(inner) => inner.collect_names(names),
        }
    }

    /// Adds every device fact that the condition reads to `facts`.
    pub fn collect_facts(&self, facts: &mut BTreeSet<String>) {
        match self {
            Condition::Compare(_, a, b) => {
                a.collect_facts(facts);
                b.collect_facts(facts);
            }
            Condition::And(items) | Condition::Or(items) => items.iter().for_each(|item| item.collect_facts(facts)),
            Condition::Not(inner) => inner.collect_facts(facts),
        }
    }

    /// The condition with each name that `replace` knows exchanged.
    #[must_use]
    pub fn substitute(&self, replace: &dyn Fn(&str) -> Option<Expr>) -> Condition {
        let all = |items: &[Condition]| items.iter().map(|item| item.substitute(replace)).collect();
        match self {
            Condition::Compare(op, a, b) => Condition::Compare(*op, a.substitute(replace), b.substitute(replace)),
            Condition::And(items) => Condition::And(all(items)),
            Condition::Or(items) => Condition::Or(all(items)),
            Condition::Not(inner) => Condition::Not(Box::new(inner.substitute(replace))),
        }
    }
}

impl fmt::Display for BinaryOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Mod => "mod",
        })
    }
}

impl fmt::Display for CompareOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CompareOp::Equal => "=",
            CompareOp::NotEqual => "!=",
            CompareOp::Less => "<",
            CompareOp::LessOrEqual => "<=",
            CompareOp::Greater => ">",
            CompareOp::GreaterOrEqual => ">=",
        })
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, name: &str, items: &[Expr]| {
            write!(f, "{name}(")?;
            for (index, item) in items.iter().enumerate() {
                write!(f, "{}{item}", if index > 0 { ", " } else { "" })?;
            }
            f.write_str(")")
        };
        match self {
            Expr::Integer(value) => write!(f, "{value}"),
            Expr::Name(name) => f.write_str(name),
            Expr::Fact(name) => write!(f, "device.{name}"),
            Expr::SizeOf(what) => write!(f, "sizeof({what})"),
            Expr::Negate(inner) if inner.precedence() < 4 => write!(f, "-({inner})"),
            Expr::Negate(inner) => write!(f, "-{inner}"),
            Expr::Binary(op, left, right) => {
                let side = |f: &mut fmt::Formatter<'_>, e: &Expr, least: u8| match e.precedence() < least {
                    true => write!(f, "({e})"),
                    false => write!(f, "{e}"),
                };
                side(f, left, self.precedence())?;
                write!(f, " {op} ")?;
                side(f, right, self.precedence() + 1)
            }
            Expr::CeilDiv(a, b) => write!(f, "ceil({})", Expr::Binary(BinaryOp::Div, a.clone(), b.clone())),
            Expr::FloorDiv(a, b) => write!(f, "floor({})", Expr::Binary(BinaryOp::Div, a.clone(), b.clone())),
            Expr::Min(items) => list(f, "min", items),
            Expr::Max(items) => list(f, "max", items),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |f: &mut fmt::Formatter<'_>, word: &str, items: &[Condition]| {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    write!(f, " {word} ")?;
                }
                match item {
                    Condition::Compare(..) | Condition::Not(_) => write!(f, "{item}")?,
                    _ => write!(f, "({item})")?,
                }
            }
            Ok(())
        };
        match self {
            Condition::Compare(op, left, right) => write!(f, "{left} {op} {right}"),
            Condition::And(items) => join(f, "and", items),
            Condition::Or(items) => join(f, "or", items),
            Condition::Not(inner) => write!(f, "not ({inner})"),
        }
    }
}
