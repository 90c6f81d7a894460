//! How far the indices of local arrays run, found from the arrays that they index alone.

use crate::ir::{Argument, ArgumentKind, Expr, Value};
use std::collections::BTreeMap;

/// Extents of every array that is known so far.
#[derive(Debug)]
pub(super) struct Shapes(BTreeMap<String, Vec<Expr>>);

impl Shapes {
    /// Those of the arguments.
    pub(super) fn new(arguments: &[Argument]) -> Shapes {
        let shape = |argument: &Argument| match &argument.kind {
            ArgumentKind::Array { shape, .. } => Some((argument.name.clone(), shape.clone())),
            ArgumentKind::Scalar { .. } => None,
        };
        Shapes(arguments.iter().filter_map(shape).collect())
    }

    /// A local array.
    pub(super) fn add(&mut self, name: &str, extents: &[Expr]) {
        self.0.entry(name.to_owned()).or_insert_with(|| extents.to_vec());
    }

    /// The extent of the first dimension that `index` indexes alone, as in `X[i, k]`.
    pub(super) fn extent(&self, index: &str, value: &Value) -> Option<Expr> {
        match value {
            // Below, the name is another variable.
            Value::Reduce { variable, .. } if variable == index => None,
            Value::Element { array, indices } | Value::Old { array, indices } => {
                let alone = |expr: &Expr| matches!(expr, Expr::Name(name) if name == index);
                self.0.get(array)?.get(indices.iter().position(alone)?).cloned()
            }
            _ => value.parts().into_iter().find_map(|part| self.extent(index, part)),
        }
    }
}
