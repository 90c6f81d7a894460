//! Ranges of integer expressions, for what must be known before code runs: that nothing overflows, how long the sums
//! are, how much work an evaluation is.

use super::OracleError;
use peak_grammar::ir::{Assignment, BinaryOp, Expr, Value};

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
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cost {
    /// Terms of the longest sum or product, nested ones multiplied.
    pub length: f64,
    /// Array reads for one element.
    pub reads: f64,
}

/// Walks an assignment with the ranges of its variables.
pub(super) struct Walk<'a> {
    /// Scalar inputs.
    pub scalars: &'a dyn Fn(&str) -> Option<i64>,
    /// The longest sum behind an element of an array: of a local array, that of its own assignment.
    pub behind: &'a dyn Fn(&str) -> f64,
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
        let worse = |a: Cost, b: Cost| Cost { length: a.length.max(b.length), reads: a.reads + b.reads };
        Ok(match value {
            Value::Number(_) => Cost::default(),
            Value::Integer(expr) => {
                self.expr(expr)?;
                Cost::default()
            }
            Value::Element { array, indices } => {
                for index in indices {
                    self.expr(index)?;
                }
                Cost { length: (self.behind)(array), reads: 1.0 }
            }
            Value::Negate(inner) => self.value(inner)?,
            Value::Binary(_, left, right) => worse(self.value(left)?, self.value(right)?),
            Value::Call(_, arguments) => {
                let mut cost = Cost::default();
                for argument in arguments {
                    cost = worse(cost, self.value(argument)?);
                }
                cost
            }
            Value::Reduce { variable, low, high, body, .. } => {
                let (low, high) = (self.expr(low)?, self.expr(high)?);
                let count = (high.high - low.low).max(0) as f64;
                self.variables.push((variable.clone(), Range { low: low.low, high: (high.high - 1).max(low.low) }));
                let inner = self.value(body)?;
                self.variables.pop();
                Cost { length: count * inner.length.max(1.0), reads: count * inner.reads.max(1.0) }
            }
            Value::Where { condition, then, otherwise } => {
                self.expr(&condition.1)?;
                self.expr(&condition.2)?;
                worse(self.value(then)?, self.value(otherwise)?)
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
