//! What stands for what: scalars and arrays of a kernel get slots, local arrays their shapes.

use super::OracleError;
use indexmap::IndexMap;
use peak_grammar::ir::{ArgumentKind, Assignment, Computes, Expr, Kernel, Value};

/// Slots of every name that the generated code reads or writes.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// Scalar inputs; the position is the slot.
    pub scalars: Vec<String>,
    /// Arrays by name; the position is the slot.
    pub arrays: IndexMap<String, Array>,
}

/// An array.
#[derive(Clone, Debug)]
pub(super) struct Array {
    /// Extents, over scalar inputs.
    pub shape: Vec<Expr>,
    /// Slot of its first extent in the table of extents.
    pub first_extent: usize,
    /// Whether a run needs its elements from outside: an input or an inout.
    pub given: bool,
    /// Whether it is an argument, and no local array of `computes`.
    pub argument: bool,
}

impl Names {
    /// The names of a kernel: its arguments, then the local arrays of `computes`.
    pub fn new(kernel: &Kernel, computes: &Computes) -> Result<Names, OracleError> {
        use peak_grammar::ir::Direction;
        let mut names = Names::default();
        for argument in &kernel.arguments {
            match &argument.kind {
                ArgumentKind::Scalar { .. } => names.scalars.push(argument.name.clone()),
                ArgumentKind::Array { shape, .. } => {
                    let given = argument.direction != Direction::Output;
                    names.add(&argument.name, shape.clone(), given, true);
                }
            }
        }
        for assignment in &computes.statements {
            if !names.arrays.contains_key(&assignment.target) {
                let shape = local_shape(assignment, &names)?;
                names.add(&assignment.target, shape, false, false);
            }
        }
        Ok(names)
    }

    fn add(&mut self, name: &str, shape: Vec<Expr>, given: bool, argument: bool) {
        let first_extent = self.arrays.values().map(|array| array.shape.len()).sum();
        self.arrays.insert(name.to_owned(), Array { shape, first_extent, given, argument });
    }

    /// The slot of a scalar input.
    pub fn scalar(&self, name: &str) -> Option<usize> {
        self.scalars.iter().position(|scalar| scalar == name)
    }

    /// An array that must exist and have as many dimensions as `used`.
    pub fn array(&self, target: &str, name: &str, used: usize) -> Result<(usize, &Array), OracleError> {
        let (slot, _, array) = self
            .arrays
            .get_full(name)
            .ok_or_else(|| OracleError::UnknownName { target: target.to_owned(), name: name.to_owned() })?;
        match array.shape.len() == used {
            true => Ok((slot, array)),
            false => Err(OracleError::Dimensions {
                target: target.to_owned(),
                array: name.to_owned(),
                declared: array.shape.len(),
                used,
            }),
        }
    }
}

/// The shape of a local array: each index runs over the dimension of a known array that it indexes alone.
fn local_shape(assignment: &Assignment, names: &Names) -> Result<Vec<Expr>, OracleError> {
    let extent = |index: &String| {
        extent_of(index, &assignment.value, names).ok_or_else(|| OracleError::Unsupported {
            target: assignment.target.clone(),
            what: format!(
                "an index `{index}` of a local array that indexes no array by itself (its extent is unknown)"
            ),
        })
    };
    assignment.indices.iter().map(extent).collect()
}

fn extent_of(index: &str, value: &Value, names: &Names) -> Option<Expr> {
    match value {
        Value::Number(_) | Value::Integer(_) => None,
        Value::Element { array, indices } => {
            let dimension = indices.iter().position(|expr| matches!(expr, Expr::Name(name) if name == index))?;
            names.arrays.get(array)?.shape.get(dimension).cloned()
        }
        Value::Negate(inner) => extent_of(index, inner, names),
        Value::Binary(_, a, b) => extent_of(index, a, names).or_else(|| extent_of(index, b, names)),
        Value::Call(_, arguments) => arguments.iter().find_map(|argument| extent_of(index, argument, names)),
        Value::Reduce { variable, body, .. } if variable != index => extent_of(index, body, names),
        Value::Reduce { .. } => None,
        Value::Where { then, otherwise, .. } => {
            extent_of(index, then, names).or_else(|| extent_of(index, otherwise, names))
        }
    }
}
