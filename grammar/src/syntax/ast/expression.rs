//! Expressions as they were written: one tree for sizes, conditions and the oracle's values.

use crate::ir::{BinaryOp, CompareOp, ReduceOp};
use crate::syntax::{Name, Span, Spanned};
use serde::Serialize;

/// An expression.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Expression {
    /// Where it is.
    pub span: Span,
    /// What it is.
    pub kind: ExpressionKind,
}

/// The forms of an expression.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpressionKind {
    /// A whole number, its unit folded in.
    Integer(i64),
    /// A number with a point or an exponent.
    Number(f64),
    /// A name.
    Name(String),
    /// `device.NAME`.
    Fact(String),
    /// `A[i, k]`.
    Element(Name, Vec<Expression>),
    /// `old A[i, k]`.
    Old(Name, Vec<Expression>),
    /// `f(a, b)`.
    Call(Name, Vec<Expression>),
    /// `sum(k in LOW..HIGH, ... where CONDITION) BODY`: the ranges, the condition, the body.
    Reduce(ReduceOp, Vec<Bound>, Option<Box<Expression>>, Box<Expression>),
    /// `A where CONDITION else B`: the condition, then both sides.
    Where(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `-a`.
    Negate(Box<Expression>),
    /// `a op b`.
    Binary(BinaryOp, Box<Expression>, Box<Expression>),
    /// `a op b`, a truth value.
    Compare(CompareOp, Box<Expression>, Box<Expression>),
    /// `a and b`.
    And(Vec<Expression>),
    /// `a or b`.
    Or(Vec<Expression>),
    /// `not a`.
    Not(Box<Expression>),
}

/// `k in LOW..HIGH`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bound {
    /// The variable.
    pub variable: Name,
    /// First value.
    pub low: Expression,
    /// One past the last.
    pub high: Expression,
}

/// `C[i, j] = VALUE`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assignment {
    /// Where it is.
    pub span: Span,
    /// The array.
    pub target: Name,
    /// Index variables.
    pub indices: Vec<Name>,
    /// `i in 0..n`, where an index says how far it runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<Bound>,
    /// The value.
    pub value: Expression,
}

/// What stands after `in`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueSet {
    /// `8, 16, 32`.
    List(Vec<Spanned<i64>>),
    /// `powers of BASE from LOW to HIGH`.
    Powers {
        /// The base.
        base: Spanned<i64>,
        /// Lower bound.
        low: Spanned<i64>,
        /// Upper bound.
        high: Spanned<i64>,
    },
    /// `LOW to HIGH [step STEP]`.
    Range {
        /// First value.
        low: Spanned<i64>,
        /// Last value.
        high: Spanned<i64>,
        /// Distance.
        step: Option<Spanned<i64>>,
    },
}
