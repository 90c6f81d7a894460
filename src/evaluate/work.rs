//! How much work a kernel stands for: floating-point operations that its `computes` says, bytes that it must move.
//!
//! Counted from the declaration, never from a candidate's code, so that a candidate cannot look busier than it is.

use crate::context::Inputs;
use peak_grammar::ir::{
    ArgumentKind, Assignment, Direction, ElementType, EvalError, Expr, Kernel, Predicate, Scope, Value,
};
use std::collections::BTreeSet;

/// Index points that bounds over other variables (triangles) may make us visit.
const POINTS_MAX: u64 = 1 << 22;

/// The work of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Additions, multiplications and the like; a sum of n terms counts n additions, a function one operation.
    pub flops: f64,
    /// Bytes of every array argument once, twice where it is read and written: the least that must move.
    pub bytes: f64,
}

impl Work {
    /// Rates at a time in nanoseconds: FLOP/s and bytes/s.
    #[must_use]
    pub fn per_second(&self, time_ns: f64) -> (f64, f64) {
        (self.flops * 1e9 / time_ns, self.bytes * 1e9 / time_ns)
    }
}

/// The work of a kernel at these inputs; `None` where it does not state what it computes, or not in countable terms.
#[must_use]
pub fn work(kernel: &Kernel, inputs: &Inputs) -> Option<Work> {
    Some(Work { flops: flops(kernel, inputs)?, bytes: bytes(kernel, inputs)? })
}

/// Floating-point operations of one run; `None` as [`work`].
#[must_use]
pub fn flops(kernel: &Kernel, inputs: &Inputs) -> Option<f64> {
    let computes = kernel.computes.as_ref()?;
    computes.statements.iter().try_fold(0.0, |sum, statement| Some(sum + assignment(statement, kernel, inputs)?))
}

/// Bytes of the arguments; `None` where a shape has no value.
#[must_use]
pub fn bytes(kernel: &Kernel, inputs: &Inputs) -> Option<f64> {
    kernel.arguments.iter().try_fold(0.0, |sum, argument| {
        let ArgumentKind::Array { shape, element, .. } = &argument.kind else { return Some(sum) };
        let times = if argument.direction == Direction::InOut { 2.0 } else { 1.0 };
        Some(sum + extents(shape, kernel, inputs)?.iter().product::<f64>() * width(*element) * times)
    })
}

fn assignment(statement: &Assignment, kernel: &Kernel, inputs: &Inputs) -> Option<f64> {
    let argument = kernel.arguments.iter().find(|argument| argument.name == statement.target);
    let shape = match argument.map(|argument| &argument.kind) {
        Some(ArgumentKind::Array { shape, .. }) => shape,
        Some(ArgumentKind::Scalar { .. }) => return None,
        None => &statement.extents,
    };
    let extents = extents(shape, kernel, inputs)?;
    if extents.len() != statement.indices.len() {
        return None;
    }
    let mut counter = Counter { kernel, inputs, bound: Vec::new(), points: 0 };
    let read = bounds_of(&statement.value);
    counter.over(&statement.indices, &extents, &read, &statement.value)
}

/// Names that the bounds of reductions read.
fn bounds_of(value: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    value.visit(&mut |value| {
        if let Value::Reduce { low, high, .. } = value {
            low.collect_names(&mut names);
            high.collect_names(&mut names);
        }
    });
    names
}

struct Counter<'a> {
    kernel: &'a Kernel,
    inputs: &'a Inputs,
    /// Index variables that bounds read, innermost last.
    bound: Vec<(String, i64)>,
    points: u64,
}

impl Counter<'_> {
    /// Operations of `value` over all index variables: a factor for each that no bound reads, a visit of each other.
    fn over(&mut self, names: &[String], extents: &[f64], read: &BTreeSet<String>, value: &Value) -> Option<f64> {
        let (Some((name, names)), Some((extent, extents))) = (names.split_first(), extents.split_first()) else {
            return self.cost(value, read);
        };
        if !read.contains(name) {
            return Some(extent * self.over(names, extents, read, value)?);
        }
        #[allow(clippy::cast_possible_truncation, reason = "an extent that was an i64")]
        self.each(name, 0, *extent as i64, |counter| counter.over(names, extents, read, value))
    }

    fn each(&mut self, name: &str, low: i64, high: i64, mut cost: impl FnMut(&mut Self) -> Option<f64>) -> Option<f64> {
        let mut sum = 0.0;
        for index in low..high {
            self.points += 1;
            if self.points > POINTS_MAX {
                return None;
            }
            self.bound.push((name.to_owned(), index));
            let one = cost(self);
            self.bound.pop();
            sum += one?;
        }
        Some(sum)
    }

    fn cost(&mut self, value: &Value, read: &BTreeSet<String>) -> Option<f64> {
        match value {
            Value::Number(_) | Value::Integer(_) | Value::Element { .. } | Value::Old { .. } => Some(0.0),
            Value::Negate(inner) => self.cost(inner, read),
            Value::Binary(_, left, right) => Some(1.0 + self.cost(left, read)? + self.cost(right, read)?),
            Value::Call(_, arguments) => {
                arguments.iter().try_fold(1.0, |sum, argument| Some(sum + self.cost(argument, read)?))
            }
            // Which side is taken may depend on data's place: the dearer one counts.
            Value::Where { condition, then, otherwise } => {
                Some(self.deciding(condition, read)? + self.cost(then, read)?.max(self.cost(otherwise, read)?))
            }
            Value::Reduce { variable, low, high, filter, body, .. } => {
                let (low, high) = (low.evaluate(self).ok()?, high.evaluate(self).ok()?);
                let term = |counter: &mut Self| {
                    let deciding = filter.as_ref().map_or(Some(0.0), |filter| counter.deciding(filter, read))?;
                    Some(1.0 + deciding + counter.cost(body, read)?)
                };
                if read.contains(variable) {
                    return self.each(variable, low, high, term);
                }
                Some(float(high.saturating_sub(low).max(0)) * term(self)?)
            }
        }
    }

    /// What is computed to be compared; comparing itself is no arithmetic.
    fn deciding(&mut self, condition: &Predicate, read: &BTreeSet<String>) -> Option<f64> {
        condition.sides().into_iter().try_fold(0.0, |sum, side| Some(sum + self.cost(side, read)?))
    }
}

impl Scope for Counter<'_> {
    fn value(&self, name: &str) -> Option<i64> {
        let bound = self.bound.iter().rev().find(|(known, _)| known == name).map(|(_, value)| *value);
        bound.or_else(|| self.inputs.get(name).copied())
    }

    fn fact(&self, _: &str) -> Option<i64> {
        None
    }

    fn size_of(&self, what: &str) -> Option<i64> {
        let element = match what {
            "element" => self.kernel.element,
            "accumulator" => self.kernel.accumulator,
            _ => return None,
        };
        i64::try_from(element.bytes()).ok()
    }
}

fn extents(shape: &[Expr], kernel: &Kernel, inputs: &Inputs) -> Option<Vec<f64>> {
    let scope = Counter { kernel, inputs, bound: Vec::new(), points: 0 };
    let values: Result<Vec<i64>, EvalError> = shape.iter().map(|extent| extent.evaluate(&scope)).collect();
    Some(values.ok()?.into_iter().map(float).collect())
}

fn width(element: ElementType) -> f64 {
    float(i64::try_from(element.bytes()).unwrap_or(0))
}

fn float(value: i64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "extents are far below 2^53")]
    {
        value as f64
    }
}
