//! Ranges of integer expressions, for what must be known before code runs: that nothing overflows, how long the sums
//! are, how many roundings stand in a row, how much work an evaluation is.

use super::OracleError;
use peak_grammar::ir::{Assignment, BinaryOp, Expr, Function, ReduceOp, Value, ValueOp};

/// Inclusive bounds of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub low: i128,
    pub high: i128,
}

impl Range {
    fn of(values: impl IntoIterator<Item = i128>) -> Option<Range> {
        values.into_iter().fold(None, |range, value| {
            let range = range.unwrap_or(Range { low: value, high: value });
            Some(Range { low: range.low.min(value), high: range.high.max(value) })
        })
    }
}

/// What an assignment's value takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    /// Terms of the longest sum or product, nested ones multiplied; 0 without one.
    pub length: f64,
    /// Array reads for one element.
    pub reads: f64,
    /// Terms that a kernel may add up in a row: sums of sums are one sum, whose order is free. At least 1.
    pub terms: f64,
    /// Roundings in a row besides those additions.
    pub others: f64,
    /// Local arrays on the way, each of which a kernel may keep in its element type.
    pub stores: f64,
}

impl Cost {
    const LEAF: Cost = Cost { length: 0.0, reads: 0.0, terms: 1.0, others: 0.0, stores: 0.0 };

    /// Roundings in a row.
    pub fn roundings(self) -> f64 {
        self.terms - 1.0 + self.others
    }

    /// Both, where the larger of all but the reads counts.
    fn worse(self, other: Cost) -> Cost {
        Cost {
            length: self.length.max(other.length),
            reads: self.reads + other.reads,
            terms: self.terms.max(other.terms),
            others: self.others.max(other.others),
            stores: self.stores.max(other.stores),
        }
    }

    /// Both, where the errors of both reach the result.
    fn and(self, other: Cost) -> Cost {
        Cost { others: self.others + other.others, stores: self.stores + other.stores, ..self.worse(other) }
    }

    /// What follows cannot be reordered with what is inside: its additions are roundings like others.
    fn closed(self) -> Cost {
        Cost { terms: 1.0, others: self.roundings(), ..self }
    }

    fn rounded(self, times: f64) -> Cost {
        Cost { others: self.others + times, ..self }
    }
}

/// Walks an assignment with the ranges of its variables.
pub(super) struct Walk<'a> {
    /// Scalar inputs.
    pub scalars: &'a dyn Fn(&str) -> Option<i64>,
    /// The cost behind an element of an array that a statement defines.
    pub behind: &'a dyn Fn(&str) -> Option<Cost>,
    /// The assignment's target.
    pub target: &'a str,
    /// Variables, innermost last.
    pub variables: Vec<(String, Range)>,
}

impl Walk<'_> {
    /// The cost of one element.
    ///
    /// # Errors
    /// [`OracleError::Limit`] for an integer beyond 64 bits, [`OracleError::UnknownName`].
    pub fn assignment(&mut self, assignment: &Assignment, extents: &[usize]) -> Result<Cost, OracleError> {
        for (index, extent) in assignment.indices.iter().zip(extents) {
            self.variables.push((index.clone(), Range { low: 0, high: *extent as i128 - 1 }));
        }
        self.value(&assignment.value)
    }

    fn value(&mut self, value: &Value) -> Result<Cost, OracleError> {
        Ok(match value {
            Value::Number(_) => Cost::LEAF,
            Value::Integer(expr) => {
                self.expr(expr)?;
                Cost::LEAF
            }
            Value::Element { indices, .. } | Value::Old { indices, .. } => {
                for index in indices {
                    self.expr(index)?;
                }
                let behind = match value {
                    Value::Element { array, .. } => (self.behind)(array),
                    _ => None,
                };
                let behind = behind.map(|cost| Cost { stores: cost.stores + 1.0, ..cost });
                Cost { reads: 1.0, ..behind.unwrap_or(Cost::LEAF) }
            }
            Value::Negate(inner) => self.value(inner)?,
            Value::Binary(op, left, right) => arithmetic(*op, self.value(left)?, self.value(right)?),
            Value::Call(function, arguments) => {
                let mut cost = Cost::LEAF;
                for argument in arguments {
                    let next = self.value(argument)?.closed();
                    cost = if is_exact(*function) { cost.worse(next) } else { cost.and(next) };
                }
                cost.rounded(if is_exact(*function) { 0.0 } else { 1.0 })
            }
            Value::Reduce { op, variable, low, high, filter, body } => {
                let (low, high) = (self.expr(low)?, self.expr(high)?);
                let count = (high.high - low.low).max(0) as f64;
                self.variables.push((variable.clone(), Range { low: low.low, high: (high.high - 1).max(low.low) }));
                let mut inner = self.value(body)?;
                for side in filter.iter().flat_map(|filter| filter.sides()) {
                    inner.reads += self.value(side)?.reads;
                }
                self.variables.pop();
                reduction(*op, count, inner)
            }
            Value::Where { condition, then, otherwise } => {
                let mut cost = self.value(then)?.worse(self.value(otherwise)?);
                for side in condition.sides() {
                    cost.reads += self.value(side)?.reads;
                }
                cost
            }
        })
    }

    fn expr(&self, expr: &Expr) -> Result<Range, OracleError> {
        let unknown = |name: &str| OracleError::UnknownName { target: self.target.to_owned(), name: name.to_owned() };
        let range = match expr {
            Expr::Integer(value) => Range { low: i128::from(*value), high: i128::from(*value) },
            Expr::Name(name) => match self.variables.iter().rev().find(|(variable, _)| variable == name) {
                Some((_, range)) => *range,
                None => {
                    let value = i128::from((self.scalars)(name).ok_or_else(|| unknown(name))?);
                    Range { low: value, high: value }
                }
            },
            Expr::Fact(name) | Expr::SizeOf(name) => return Err(unknown(name)),
            Expr::Negate(inner) => {
                let inner = self.expr(inner)?;
                Range { low: -inner.high, high: -inner.low }
            }
            Expr::Binary(op, left, right) => binary(*op, self.expr(left)?, self.expr(right)?),
            Expr::CeilDiv(left, right) | Expr::FloorDiv(left, right) => {
                self.expr(right)?;
                quotient(self.expr(left)?)
            }
            Expr::Min(items) | Expr::Max(items) => {
                let ranges = items.iter().map(|item| self.expr(item)).collect::<Result<Vec<_>, _>>()?;
                let hull = Range::of(ranges.iter().flat_map(|range| [range.low, range.high]));
                let tight = match expr {
                    Expr::Min(_) => ranges.iter().map(|range| range.high).min(),
                    _ => ranges.iter().map(|range| range.low).max(),
                };
                match (hull, tight, expr) {
                    (Some(hull), Some(high), Expr::Min(_)) => Range { low: hull.low, high },
                    (Some(hull), Some(low), _) => Range { low, high: hull.high },
                    _ => return Err(unknown("min or max of nothing")),
                }
            }
        };
        let fits = |value: i128| i64::try_from(value).is_ok();
        match fits(range.low) && fits(range.high) {
            true => Ok(range),
            false => Err(OracleError::Limit {
                what: format!("`{expr}` in `computes` of {}", self.target),
                size: format!("as large as {}", range.high.max(-range.low)),
                limit: "64 bits hold".to_owned(),
            }),
        }
    }
}

fn arithmetic(op: ValueOp, left: Cost, right: Cost) -> Cost {
    match op {
        ValueOp::Add | ValueOp::Sub => Cost { terms: left.terms + right.terms, ..left.worse(right) },
        // Factors may be multiplied into the terms of a sum.
        ValueOp::Mul => Cost { terms: left.terms * right.terms, ..left.and(right) }.rounded(1.0),
        ValueOp::Div => Cost { terms: left.terms, ..left.and(right.closed()) }.rounded(1.0),
    }
}

fn reduction(op: ReduceOp, count: f64, inner: Cost) -> Cost {
    let cost = Cost { length: count * inner.length.max(1.0), reads: count * inner.reads.max(1.0), ..inner };
    match op {
        ReduceOp::Sum => Cost { terms: count.max(1.0) * inner.terms, ..cost },
        ReduceOp::Product => {
            let others = count * (inner.roundings() + 1.0);
            Cost { terms: 1.0, others, stores: count * inner.stores, ..cost }
        }
        ReduceOp::Max | ReduceOp::Min => cost.closed(),
    }
}

/// Functions that round nothing.
fn is_exact(function: Function) -> bool {
    matches!(function, Function::Abs | Function::Floor | Function::Ceil | Function::Min | Function::Max)
}

fn binary(op: BinaryOp, a: Range, b: Range) -> Range {
    match op {
        BinaryOp::Add => Range { low: a.low + b.low, high: a.high + b.high },
        BinaryOp::Sub => Range { low: a.low - b.high, high: a.high - b.low },
        // Each factor fits 64 bits, so the products fit 128.
        BinaryOp::Mul => Range::of([a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high]).unwrap_or(a),
        BinaryOp::Div => quotient(a),
        BinaryOp::Mod => Range { low: 0, high: (b.high - 1).max(0) },
    }
}

/// A quotient by a positive whole number (others are refused when the code runs).
fn quotient(dividend: Range) -> Range {
    Range { low: dividend.low.min(0), high: dividend.high.max(0) }
}
