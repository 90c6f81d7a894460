//! Products: outputs that are a sum of products of two inputs, `OUT[.., i, j] = sum(k) LEFT[.., i, k] * RIGHT[.., k, j]`
//! in any order of the dimensions. They can be verified in less time than it takes to compute them.

use super::{InputScope, Oracle, OracleError};
use crate::context::Inputs;
use peak_grammar::ir::{Expr, ReduceOp, Value, ValueOp};

/// A product at one size. An element of an array stands where the offsets of its indices add up to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// The factor that has the rows.
    pub left: String,
    /// The factor that has the columns.
    pub right: String,
    /// Offsets of each index that all three have: in left, right and the output. At least one.
    pub batches: Vec<[usize; 3]>,
    /// Offsets of each index that only left and the output have, in these.
    pub rows: Vec<[usize; 2]>,
    /// Offsets of each index that only right and the output have, in these.
    pub columns: Vec<[usize; 2]>,
    /// Offsets of each index that is summed over, in left and right.
    pub terms: Vec<[usize; 2]>,
}

impl Oracle {
    /// The product that an output is; `None` where it is something else, or has no rows or no columns.
    ///
    /// # Errors
    /// As [`Oracle::shape`].
    pub fn product(&self, target: &str, inputs: &Inputs) -> Result<Option<Product>, OracleError> {
        let statement = &self.computes.statements[self.statement_of(target)?];
        let Some(form) = Form::of(&statement.value) else { return Ok(None) };
        let given = |array: &str| self.names.arrays.get(array).is_some_and(|array| array.given.is_some());
        if !given(form.left.0) || !given(form.right.0) {
            return Ok(None);
        }
        let out: Vec<&str> = statement.indices.iter().map(String::as_str).collect();
        let dimensions = [
            (form.left.1.clone(), self.shape(form.left.0, inputs)?),
            (form.right.1.clone(), self.shape(form.right.0, inputs)?),
            (out.clone(), self.shape(target, inputs)?),
        ];
        if dimensions.iter().any(|(names, shape)| names.len() != shape.len()) {
            return Ok(None);
        }
        Ok(form.product(&dimensions, &out, inputs))
    }
}

/// Index variables of an array and its extents.
type Dimensions<'a> = (Vec<&'a str>, Vec<usize>);

/// `sum(k in 0..K, ...) LEFT[...] * RIGHT[...]` with nothing but distinct variables as indices.
struct Form<'a> {
    sums: Vec<(&'a str, &'a Expr)>,
    left: (&'a str, Vec<&'a str>),
    right: (&'a str, Vec<&'a str>),
}

impl<'a> Form<'a> {
    fn of(mut value: &'a Value) -> Option<Form<'a>> {
        let mut sums = Vec::new();
        while let Value::Reduce { op: ReduceOp::Sum, variable, low: Expr::Integer(0), high, filter: None, body } = value
        {
            sums.push((variable.as_str(), high));
            value = body;
        }
        let Value::Binary(ValueOp::Mul, left, right) = value else { return None };
        let form = Form { sums, left: factor(left)?, right: factor(right)? };
        let summed = form.sums.iter().all(|(sum, _)| form.left.1.contains(sum) && form.right.1.contains(sum));
        (summed && !form.sums.is_empty()).then_some(form)
    }

    fn product(&self, [left, right, out]: &[Dimensions<'_>; 3], targets: &[&str], inputs: &Inputs) -> Option<Product> {
        let (mut batches, mut rows) = (vec![[0; 3]], vec![[0; 2]]);
        let (mut columns, mut terms) = (vec![[0; 2]], vec![[0; 2]]);
        let (mut has_rows, mut has_columns) = (false, false);
        for index in targets {
            let (in_out, extent) = (stride(out, index)?.0, stride(out, index)?.1);
            let fits = |found: Option<(usize, usize)>| found.is_none_or(|(_, own)| own >= extent);
            let (in_left, in_right) = (stride(left, index), stride(right, index));
            if !fits(in_left) || !fits(in_right) {
                return None;
            }
            match (in_left, in_right) {
                (Some((a, _)), Some((b, _))) => batches = along(&batches, extent, [a, b, in_out]),
                (Some((a, _)), None) => {
                    rows = along(&rows, extent, [a, in_out]);
                    has_rows = true;
                }
                (None, Some((b, _))) => {
                    columns = along(&columns, extent, [b, in_out]);
                    has_columns = true;
                }
                (None, None) => return None,
            }
        }
        for (sum, high) in &self.sums {
            let ((a, extent_a), (b, extent_b)) = (stride(left, sum)?, stride(right, sum)?);
            let count = usize::try_from(high.evaluate(&InputScope(inputs)).ok()?).ok()?;
            if count > extent_a.min(extent_b) {
                return None;
            }
            terms = along(&terms, count, [a, b]);
        }
        let known = |names: &[&str]| {
            names.iter().all(|name| targets.contains(name) || self.sums.iter().any(|(sum, _)| sum == name))
        };
        let whole = has_rows && has_columns && known(&left.0) && known(&right.0);
        let (left, right) = (self.left.0.to_owned(), self.right.0.to_owned());
        whole.then_some(Product { left, right, batches, rows, columns, terms })
    }
}

fn factor(value: &Value) -> Option<(&str, Vec<&str>)> {
    let Value::Element { array, indices } = value else { return None };
    let mut names = Vec::new();
    for index in indices {
        let Expr::Name(name) = index else { return None };
        if names.contains(&name.as_str()) {
            return None;
        }
        names.push(name.as_str());
    }
    Some((array, names))
}

/// How far apart an index's elements lie, and how many there are.
fn stride((names, shape): &Dimensions<'_>, index: &str) -> Option<(usize, usize)> {
    let at = names.iter().position(|name| *name == index)?;
    Some((shape[at + 1..].iter().product(), shape[at]))
}

/// Offsets with those of one more index.
fn along<const N: usize>(offsets: &[[usize; N]], count: usize, strides: [usize; N]) -> Vec<[usize; N]> {
    let step = |offset: &[usize; N], at: usize| std::array::from_fn(|place| offset[place] + at * strides[place]);
    offsets.iter().flat_map(|offset| (0..count).map(move |at| step(offset, at))).collect()
}
