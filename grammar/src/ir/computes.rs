//! The oracle's notation: what a kernel computes, as assignments over index expressions.

use super::{CompareOp, Expr};
use serde::{Deserialize, Serialize};

/// `computes ...`: one or more assignments, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Computes {
    /// The assignments.
    pub statements: Vec<Assignment>,
}

/// `C[i, j] = VALUE`: for every index of the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// An output, or a local array that later statements read.
    pub target: String,
    /// Index variables, outermost first; each runs over the extent of that dimension.
    pub indices: Vec<String>,
    /// How far each index of a local array runs, over scalar inputs; empty for an argument, whose shape says it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extents: Vec<Expr>,
    /// What the element holds.
    pub value: Value,
}

/// A number, in double precision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// A literal.
    Number(f64),
    /// An integer expression over index variables and scalar inputs, as a number.
    Integer(Expr),
    /// `A[i, k + 1]`: as given, or as an earlier statement defines it. Outside its extents it is an error.
    Element {
        /// The array.
        array: String,
        /// One integer expression a dimension, over index variables and scalar inputs.
        indices: Vec<Expr>,
    },
    /// `old A[i, k]`: what an inout holds on entry.
    Old {
        /// The array.
        array: String,
        /// One integer expression a dimension.
        indices: Vec<Expr>,
    },
    /// `-a`.
    Negate(Box<Value>),
    /// `a op b`.
    Binary(ValueOp, Box<Value>, Box<Value>),
    /// `exp(a)`, `pow(a, b)`, ...
    Call(Function, Vec<Value>),
    /// `sum(k in LOW..HIGH where FILTER) BODY`; the upper bound is excluded.
    Reduce {
        /// How values are combined.
        op: ReduceOp,
        /// The bound variable.
        variable: String,
        /// First value.
        low: Expr,
        /// One past the last.
        high: Expr,
        /// Only terms for which it holds count.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filter: Option<Box<Predicate>>,
        /// What is combined.
        body: Box<Value>,
    },
    /// `A where CONDITION else B`; only the chosen side is read.
    Where {
        /// Which side.
        condition: Box<Predicate>,
        /// Where it holds.
        then: Box<Value>,
        /// Where it does not.
        otherwise: Box<Value>,
    },
}

/// A truth value over numbers. Sides that are whole-number expressions are compared as integers, others as doubles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "nearly every predicate is one comparison")]
pub enum Predicate {
    /// `a op b`.
    Compare(CompareOp, Value, Value),
    /// All hold; the first that does not ends it.
    And(Vec<Predicate>),
    /// At least one holds; the first that does ends it.
    Or(Vec<Predicate>),
    /// It does not hold.
    Not(Box<Predicate>),
}

/// Arithmetic on doubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is the operation of its name")]
pub enum ValueOp {
    Add,
    Sub,
    Mul,
    Div,
}

/// How a reduction combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is the reduction of its name")]
pub enum ReduceOp {
    Sum,
    Product,
    Max,
    Min,
}

/// Functions of the oracle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is the function of its name")]
pub enum Function {
    Exp,
    Log,
    Sqrt,
    Rsqrt,
    Tanh,
    Sigmoid,
    Sin,
    Cos,
    Erf,
    Abs,
    Floor,
    Ceil,
    Pow,
    Min,
    Max,
}

impl Function {
    /// Every function.
    pub const ALL: [Function; 15] = [
        Function::Exp,
        Function::Log,
        Function::Sqrt,
        Function::Rsqrt,
        Function::Tanh,
        Function::Sigmoid,
        Function::Sin,
        Function::Cos,
        Function::Erf,
        Function::Abs,
        Function::Floor,
        Function::Ceil,
        Function::Pow,
        Function::Min,
        Function::Max,
    ];

    /// Numbers that it takes.
    #[must_use]
    pub fn arity(self) -> usize {
        match self {
            Function::Pow | Function::Min | Function::Max => 2,
            _ => 1,
        }
    }
}

impl Value {
    /// The values directly inside, those of a condition among them.
    #[must_use]
    pub fn parts(&self) -> Vec<&Value> {
        match self {
            Value::Number(_) | Value::Integer(_) | Value::Element { .. } | Value::Old { .. } => Vec::new(),
            Value::Negate(inner) => vec![inner],
            Value::Binary(_, left, right) => vec![left, right],
            Value::Call(_, arguments) => arguments.iter().collect(),
            Value::Reduce { filter, body, .. } => {
                let mut parts = filter.as_ref().map_or_else(Vec::new, |filter| filter.sides());
                parts.push(body);
                parts
            }
            Value::Where { condition, then, otherwise } => {
                let mut parts = condition.sides();
                parts.extend([then.as_ref(), otherwise.as_ref()]);
                parts
            }
        }
    }

    /// Calls `visit` for the value and every one inside it, outer ones first.
    pub fn visit<'a>(&'a self, visit: &mut dyn FnMut(&'a Value)) {
        visit(self);
        for part in self.parts() {
            part.visit(visit);
        }
    }

    /// Whether some value in it, itself among them, is as asked.
    pub fn any(&self, mut wanted: impl FnMut(&Value) -> bool) -> bool {
        let mut found = false;
        self.visit(&mut |value| found = found || wanted(value));
        found
    }

    /// The integer expressions that stand in this value itself: indices, bounds, a whole number.
    #[must_use]
    pub fn exprs(&self) -> Vec<&Expr> {
        match self {
            Value::Integer(expr) => vec![expr],
            Value::Element { indices, .. } | Value::Old { indices, .. } => indices.iter().collect(),
            Value::Reduce { low, high, .. } => vec![low, high],
            _ => Vec::new(),
        }
    }
}

impl Predicate {
    /// Every value that is compared.
    #[must_use]
    pub fn sides(&self) -> Vec<&Value> {
        match self {
            Predicate::Compare(_, left, right) => vec![left, right],
            Predicate::And(items) | Predicate::Or(items) => items.iter().flat_map(Predicate::sides).collect(),
            Predicate::Not(inner) => inner.sides(),
        }
    }
}
