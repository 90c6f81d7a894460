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
    /// `A[i, k + 1]`; outside its extents an element reads as zero only under `where`.
    Element {
        /// The array.
        array: String,
        /// One integer expression a dimension, over index variables and scalar inputs.
        indices: Vec<Expr>,
    },
    /// `-a`.
    Negate(Box<Value>),
    /// `a op b`.
    Binary(ValueOp, Box<Value>, Box<Value>),
    /// `exp(a)`, `pow(a, b)`, ...
    Call(Function, Vec<Value>),
    /// `sum(k in LOW..HIGH) BODY`; the upper bound is excluded.
    Reduce {
        /// How values are combined.
        op: ReduceOp,
        /// The bound variable.
        variable: String,
        /// First value.
        low: Expr,
        /// One past the last.
        high: Expr,
        /// What is combined.
        body: Box<Value>,
    },
    /// `A if CONDITION else B`, written `where(CONDITION, A, B)`; only the chosen side is read.
    Where {
        /// Both sides of the comparison, integers.
        condition: Box<(CompareOp, Expr, Expr)>,
        /// Where it holds.
        then: Box<Value>,
        /// Where it does not.
        otherwise: Box<Value>,
    },
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is the function of its name")]
pub enum Function {
    Exp,
    Log,
    Sqrt,
    Tanh,
    Abs,
    Pow,
    Min,
    Max,
}
