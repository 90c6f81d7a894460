//! Expressions and conditions compiled for one space: inputs, facts and sizes are numbers, `let`s are written out, and
//! tuning parameters are places in an assignment. Evaluated whole, or bounded while some parameters are still open.
//!
//! Agrees with [`Expr::evaluate`] and [`Condition::evaluate`] on what has a value; keeps no words of errors.

use peak_grammar::ir::{BinaryOp, CompareOp, Condition, Expr};
use std::collections::BTreeSet;

/// Why a formula has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoValue {
    /// An inexact division, an overflow, an unknown name.
    Wrong,
    /// A fact that the device does not state.
    Unstated,
}

/// The least and the greatest value that may still come of something.
pub type Bounds = (i64, i64);

/// A whole number over the places of an assignment.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// A number.
    Constant(i64),
    /// A tuning parameter.
    Place(usize),
    /// None, ever.
    Missing(NoValue),
    /// `-a`.
    Negate(Box<Formula>),
    /// `a op b`.
    Binary(BinaryOp, Box<Formula>, Box<Formula>),
    /// `ceil(a / b)` or `floor(a / b)`: whether it rounds up.
    Divide(bool, Box<Formula>, Box<Formula>),
    /// The least, or (`true`) the greatest.
    Extreme(bool, Vec<Formula>),
}

/// Where a formula's names come from.
pub trait Names {
    /// What a name stands for.
    fn name(&self, name: &str) -> Formula;
    /// A device fact.
    fn fact(&self, name: &str) -> Option<i64>;
    /// Bytes of an element.
    fn size_of(&self, what: &str) -> Option<i64>;
}

impl Formula {
    /// The formula of an expression.
    pub fn new(expr: &Expr, names: &dyn Names) -> Formula {
        let boxed = |inner: &Expr| Box::new(Formula::new(inner, names));
        let all = |items: &[Expr]| items.iter().map(|item| Formula::new(item, names)).collect();
        let formula = match expr {
            Expr::Integer(value) => Formula::Constant(*value),
            Expr::Name(name) => names.name(name),
            Expr::Fact(name) => names.fact(name).map_or(Formula::Missing(NoValue::Unstated), Formula::Constant),
            Expr::SizeOf(what) => names.size_of(what).map_or(Formula::Missing(NoValue::Wrong), Formula::Constant),
            Expr::Negate(inner) => Formula::Negate(boxed(inner)),
            Expr::Binary(op, a, b) => Formula::Binary(*op, boxed(a), boxed(b)),
            Expr::CeilDiv(a, b) => Formula::Divide(true, boxed(a), boxed(b)),
            Expr::FloorDiv(a, b) => Formula::Divide(false, boxed(a), boxed(b)),
            Expr::Min(items) => Formula::Extreme(false, all(items)),
            Expr::Max(items) => Formula::Extreme(true, all(items)),
        };
        formula.folded()
    }

    /// A formula without places is its value.
    fn folded(self) -> Formula {
        let mut places = BTreeSet::new();
        self.places(&mut places);
        match (places.is_empty(), self) {
            (true, whole) => whole.value(&[]).map_or_else(Formula::Missing, Formula::Constant),
            (false, open) => open,
        }
    }

    /// Adds every place that it reads.
    pub fn places(&self, into: &mut BTreeSet<usize>) {
        match self {
            Formula::Constant(_) | Formula::Missing(_) => {}
            Formula::Place(place) => drop(into.insert(*place)),
            Formula::Negate(inner) => inner.places(into),
            Formula::Binary(_, a, b) | Formula::Divide(_, a, b) => {
                a.places(into);
                b.places(into);
            }
            Formula::Extreme(_, items) => items.iter().for_each(|item| item.places(into)),
        }
    }

    /// The value at an assignment.
    ///
    /// # Errors
    /// It has none; the first part without a value decides which.
    pub fn value(&self, values: &[i64]) -> Result<i64, NoValue> {
        match self {
            Formula::Constant(value) => Ok(*value),
            Formula::Place(place) => values.get(*place).copied().ok_or(NoValue::Wrong),
            Formula::Missing(why) => Err(*why),
            Formula::Negate(inner) => inner.value(values)?.checked_neg().ok_or(NoValue::Wrong),
            Formula::Binary(op, a, b) => apply(*op, a.value(values)?, b.value(values)?).ok_or(NoValue::Wrong),
            Formula::Divide(up, a, b) => divide(*up, a.value(values)?, b.value(values)?).ok_or(NoValue::Wrong),
            Formula::Extreme(greatest, items) => {
                let mut best: Option<i64> = None;
                for item in items {
                    let value = item.value(values)?;
                    best = Some(best.map_or(value, |held| if *greatest { held.max(value) } else { held.min(value) }));
                }
                best.ok_or(NoValue::Wrong)
            }
        }
    }

    /// Bounds of the values that it may have while each place is within its own; `None` where none are known.
    pub fn bounds(&self, open: &[Bounds]) -> Option<Bounds> {
        match self {
            Formula::Constant(value) => Some((*value, *value)),
            Formula::Place(place) => open.get(*place).copied(),
            Formula::Missing(_) => None,
            Formula::Negate(inner) => {
                let (low, high) = inner.bounds(open)?;
                Some((high.checked_neg()?, low.checked_neg()?))
            }
            Formula::Binary(op, a, b) => binary_bounds(*op, a.bounds(open)?, b.bounds(open)?),
            Formula::Divide(_, a, b) => quotient_bounds(a.bounds(open)?, b.bounds(open)?),
            Formula::Extreme(greatest, items) => {
                let pick = |a: i64, b: i64| if *greatest { a.max(b) } else { a.min(b) };
                let bounds = items.iter().map(|item| item.bounds(open)).collect::<Option<Vec<_>>>()?;
                bounds.into_iter().reduce(|held, next| (pick(held.0, next.0), pick(held.1, next.1)))
            }
        }
    }

    /// A number that every value divides by: the product of the factors that are known already.
    fn known_factor(&self, open: &[Bounds]) -> i64 {
        match self {
            Formula::Binary(BinaryOp::Mul, a, b) => a.known_factor(open).checked_mul(b.known_factor(open)).unwrap_or(1),
            other => match other.bounds(open) {
                Some((low, high)) if low == high && low > 0 => low,
                _ => 1,
            },
        }
    }
}

fn apply(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Div => (a.checked_rem(b)? == 0).then(|| a / b),
        BinaryOp::Mod => a.checked_rem_euclid(b),
    }
}

fn divide(up: bool, a: i64, b: i64) -> Option<i64> {
    let floor = a.checked_div_euclid(b)?;
    Some(if up && a.checked_rem_euclid(b) != Some(0) { floor.checked_add(1)? } else { floor })
}

fn binary_bounds(op: BinaryOp, a: Bounds, b: Bounds) -> Option<Bounds> {
    match op {
        BinaryOp::Add => Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?)),
        BinaryOp::Sub => Some((a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?)),
        BinaryOp::Mul => corners(a, b, i64::checked_mul),
        BinaryOp::Div => quotient_bounds(a, b),
        BinaryOp::Mod => {
            let most = b.0.checked_abs()?.max(b.1.checked_abs()?);
            Some((0, most.saturating_sub(1).max(0)))
        }
    }
}

/// A quotient, rounded either way.
fn quotient_bounds(a: Bounds, b: Bounds) -> Option<Bounds> {
    if b.0 <= 0 && b.1 >= 0 {
        return None;
    }
    let (low, high) = corners(a, b, i64::checked_div_euclid)?;
    Some((low.checked_sub(1)?, high.checked_add(1)?))
}

fn corners(a: Bounds, b: Bounds, op: fn(i64, i64) -> Option<i64>) -> Option<Bounds> {
    let all = [op(a.0, b.0)?, op(a.0, b.1)?, op(a.1, b.0)?, op(a.1, b.1)?];
    Some((*all.iter().min()?, *all.iter().max()?))
}

/// A condition over the places of an assignment.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// `a op b`.
    Compare(CompareOp, Formula, Formula),
    /// All hold; the first that does not, or has no value, decides.
    All(Vec<Test>),
    /// One holds.
    Any(Vec<Test>),
    /// It does not hold.
    Not(Box<Test>),
}

impl Test {
    /// The test of a condition.
    pub fn new(condition: &Condition, names: &dyn Names) -> Test {
        let all = |items: &[Condition]| items.iter().map(|item| Test::new(item, names)).collect();
        match condition {
            Condition::Compare(op, a, b) => Test::Compare(*op, Formula::new(a, names), Formula::new(b, names)),
            Condition::And(items) => Test::All(all(items)),
            Condition::Or(items) => Test::Any(all(items)),
            Condition::Not(inner) => Test::Not(Box::new(Test::new(inner, names))),
        }
    }

    /// Adds every place that it reads.
    pub fn places(&self, into: &mut BTreeSet<usize>) {
        match self {
            Test::Compare(_, a, b) => {
                a.places(into);
                b.places(into);
            }
            Test::All(items) | Test::Any(items) => items.iter().for_each(|item| item.places(into)),
            Test::Not(inner) => inner.places(into),
        }
    }

    /// Whether it holds at an assignment.
    ///
    /// # Errors
    /// A part that decides has no value.
    pub fn holds(&self, values: &[i64]) -> Result<bool, NoValue> {
        match self {
            Test::Compare(op, a, b) => Ok(compare(*op, a.value(values)?, b.value(values)?)),
            Test::All(items) => {
                for item in items {
                    if !item.holds(values)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Test::Any(items) => {
                for item in items {
                    if item.holds(values)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Test::Not(inner) => Ok(!inner.holds(values)?),
        }
    }

    /// Whether it holds nowhere within the bounds: no value is no reason to think so, unless it is certain.
    pub fn never(&self, open: &[Bounds]) -> bool {
        match self {
            Test::Compare(op, a, b) => {
                let apart = match (a.bounds(open), b.bounds(open)) {
                    (Some(a), Some(b)) => apart(*op, a, b),
                    _ => false,
                };
                apart || (*op == CompareOp::Equal && indivisible(a, b, open))
            }
            Test::All(items) => items.iter().any(|item| item.never(open)),
            Test::Any(items) => items.iter().all(|item| item.never(open)),
            Test::Not(_) => false,
        }
    }
}

fn compare(op: CompareOp, a: i64, b: i64) -> bool {
    match op {
        CompareOp::Equal => a == b,
        CompareOp::NotEqual => a != b,
        CompareOp::Less => a < b,
        CompareOp::LessOrEqual => a <= b,
        CompareOp::Greater => a > b,
        CompareOp::GreaterOrEqual => a >= b,
    }
}

/// Whether no two values of these bounds compare so.
fn apart(op: CompareOp, a: Bounds, b: Bounds) -> bool {
    match op {
        CompareOp::Equal => a.1 < b.0 || b.1 < a.0,
        CompareOp::NotEqual => a.0 == a.1 && a == b,
        CompareOp::Less => a.0 >= b.1,
        CompareOp::LessOrEqual => a.0 > b.1,
        CompareOp::Greater => a.1 <= b.0,
        CompareOp::GreaterOrEqual => a.1 < b.0,
    }
}

/// Whether `a` is `x mod (p * ...)`, `b` zero, and the known `p` divides the known `x` not: then no product with it does.
fn indivisible(a: &Formula, b: &Formula, open: &[Bounds]) -> bool {
    let (Formula::Binary(BinaryOp::Mod, dividend, divisor), Formula::Constant(0)) = (a, b) else { return false };
    match dividend.bounds(open) {
        Some((low, high)) if low == high => low.checked_rem(divisor.known_factor(open)).is_some_and(|rest| rest != 0),
        _ => false,
    }
}
