//! Statements of a launch plan.

use super::{ArrayType, Expression};
use crate::syntax::{Name, Spanned};
use serde::Serialize;

/// A statement of a launch plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatement {
    /// `let NAME = EXPR`.
    Let(Name, Expression),
    /// `scratch NAME: array[...] of T`.
    Scratch(Name, ArrayType),
    /// `fill NAME with NUMBER`.
    Fill(Name, f64),
    /// `tensor map NAME over ARRAY box (...) swizzle N`.
    TensorMap {
        /// Its name.
        name: Name,
        /// The array.
        array: Name,
        /// Box extents.
        extents: Vec<Expression>,
        /// `swizzle N`.
        swizzle: Option<Spanned<i64>>,
    },
    /// `launch KERNEL` and its clauses.
    Launch {
        /// The entry point.
        kernel: Name,
        /// The clauses.
        clauses: Vec<Spanned<LaunchClause>>,
    },
    /// `repeat EXPR times` and its statements.
    Repeat(Expression, Vec<Spanned<PlanStatement>>),
    /// `reject when CONDITION "why"`.
    Reject(Expression, String),
}

/// A clause of `launch`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchClause {
    /// `grid ...`.
    Grid(Vec<Expression>),
    /// `block ...`.
    Block(Vec<Expression>),
    /// `shared EXPR bytes`.
    Shared(Expression),
    /// `cluster ...`.
    Cluster(Vec<Expression>),
    /// `cooperative`.
    Cooperative,
    /// `arguments ...`.
    Arguments(Vec<Name>),
}
