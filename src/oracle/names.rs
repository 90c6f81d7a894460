//! What stands for what: scalars and arrays of a kernel get slots, local arrays their shapes.

use super::OracleError;
use indexmap::IndexMap;
use peak_grammar::ir::{ArgumentKind, Computes, Direction, Expr, Kernel};

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
    /// The argument whose elements it has from outside, before any statement: an input, or an inout on entry.
    pub given: Option<String>,
    /// Whether it is an argument, and no local array of `computes`.
    pub argument: bool,
}

/// The name of what an inout holds on entry. No name of the language has a space.
pub(super) fn on_entry(array: &str) -> String {
    format!("old {array}")
}

impl Names {
    /// The names of a kernel: its arguments, then the local arrays of `computes`.
    pub fn new(kernel: &Kernel, computes: &Computes) -> Result<Names, OracleError> {
        let mut names = Names::default();
        for argument in &kernel.arguments {
            let ArgumentKind::Array { shape, .. } = &argument.kind else {
                names.scalars.push(argument.name.clone());
                continue;
            };
            let given = (argument.direction == Direction::Input).then(|| argument.name.clone());
            names.add(&argument.name, shape.clone(), given, true);
            if argument.direction == Direction::InOut {
                names.add(&on_entry(&argument.name), shape.clone(), Some(argument.name.clone()), false);
            }
        }
        for assignment in &computes.statements {
            if names.arrays.contains_key(&assignment.target) {
                continue;
            }
            if assignment.extents.len() != assignment.indices.len() {
                return Err(OracleError::Unsupported {
                    target: assignment.target.clone(),
                    what: "a local array without extents".to_owned(),
                });
            }
            names.add(&assignment.target, assignment.extents.clone(), None, false);
        }
        Ok(names)
    }

    fn add(&mut self, name: &str, shape: Vec<Expr>, given: Option<String>, argument: bool) {
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
