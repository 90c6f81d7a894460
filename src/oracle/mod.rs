//! The oracle: a kernel's `computes` (index notation) compiled with Cranelift and evaluated in double precision.
//!
//! It knows what a kernel should compute without running it, for whole arrays ([`Oracle::evaluate`]) or at chosen
//! elements of large ones ([`Oracle::sample`], which computes of local arrays only what those elements read), and how
//! far rounding may move each element ([`Judged::scales`]). A plain product is known as one ([`Oracle::product`]). An
//! [`Alteration`] asks what a *wrong* kernel would compute: terms left out, inputs exchanged. It never sees device code,
//! and a `computes` that reads outside an array is an error, never a fault.

mod error;
mod generate;
mod module;
mod names;
mod product;
mod ranges;
mod run;
mod sample;

pub use error::OracleError;
pub use product::Product;
pub use run::{Alteration, Arrays, Judged};

use crate::context::Inputs;
use module::CompiledModule;
use names::Names;
use peak_grammar::ir::{Computes, EvalError, Expr, Function, Kernel, ReduceOp, Scope, Value, ValueOp};
use ranges::{Cost, Walk};

/// Elements of one array at most: 2 GiB of doubles.
pub const MAX_ELEMENTS: usize = 1 << 28;
/// Array reads of one evaluation at most, of whole arrays or at sampled elements: a few seconds.
pub const MAX_READS: f64 = 4e9;

/// A kernel's `computes`, compiled.
pub struct Oracle {
    kernel: String,
    computes: Computes,
    names: Names,
    module: CompiledModule,
}

impl std::fmt::Debug for Oracle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Oracle").field("kernel", &self.kernel).field("computes", &self.computes).finish_non_exhaustive()
    }
}

/// Scalar inputs as a scope: shapes read nothing else.
struct InputScope<'a>(&'a Inputs);

impl Scope for InputScope<'_> {
    fn value(&self, name: &str) -> Option<i64> {
        self.0.get(name).copied()
    }
    fn fact(&self, _: &str) -> Option<i64> {
        None
    }
    fn size_of(&self, _: &str) -> Option<i64> {
        None
    }
}

impl Oracle {
    /// Compiles a kernel's `computes`.
    ///
    /// # Errors
    /// [`OracleError::Absent`], an unknown name, what is not supported.
    pub fn compile(kernel: &Kernel) -> Result<Oracle, OracleError> {
        let computes = kernel.computes.clone().ok_or_else(|| OracleError::Absent(kernel.name.clone()))?;
        let names = Names::new(kernel, &computes)?;
        let module = module::compile(&computes, &names)?;
        Ok(Oracle { kernel: kernel.name.clone(), computes, names, module })
    }

    /// The arrays whose elements an evaluation needs: inputs, and inouts on entry.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        self.names.arrays.values().filter_map(|array| array.given.as_deref())
    }

    /// The index variables of an output, as `computes` names them.
    #[must_use]
    pub fn indices(&self, target: &str) -> Option<&[String]> {
        let last = self.computes.statements.iter().rev().find(|assignment| assignment.target == target)?;
        Some(&last.indices)
    }

    /// The variable of the outermost sum behind an output.
    #[must_use]
    pub fn sum_variable(&self, target: &str) -> Option<&str> {
        let last = self.computes.statements.iter().rev().find(|assignment| assignment.target == target)?;
        sum_variable(&last.value)
    }

    /// The shape of an array.
    ///
    /// # Errors
    /// An unknown array, an extent that is no positive whole number, more than [`MAX_ELEMENTS`].
    pub fn shape(&self, array: &str, inputs: &Inputs) -> Result<Vec<usize>, OracleError> {
        let unknown = || OracleError::Input { name: array.to_owned(), problem: "no array of this name".to_owned() };
        let extents = &self.names.arrays.get(array).ok_or_else(unknown)?.shape;
        let shape = extents.iter().map(|extent| positive(array, extent, inputs)).collect::<Result<Vec<_>, _>>()?;
        let elements = shape.iter().try_fold(1usize, |product, extent| product.checked_mul(*extent));
        match elements.filter(|elements| *elements <= MAX_ELEMENTS) {
            Some(_) => Ok(shape),
            None => Err(OracleError::Limit {
                what: format!("{array}, in elements,"),
                size: shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x "),
                limit: MAX_ELEMENTS.to_string(),
            }),
        }
    }

    /// Terms of the longest sum, nested sums multiplied; at least 1.
    ///
    /// # Errors
    /// As [`Oracle::shape`].
    pub fn sum_length(&self, inputs: &Inputs) -> Result<f64, OracleError> {
        Ok(self.costs(inputs)?.iter().map(|(_, cost)| cost.length).fold(1.0, f64::max))
    }

    /// Roundings in a row behind an output, at most, and local arrays on the way to it.
    ///
    /// # Errors
    /// As [`Oracle::shape`], and a target that `computes` does not assign.
    pub fn roundings(&self, target: &str, inputs: &Inputs) -> Result<(f64, f64), OracleError> {
        let costs = self.costs(inputs)?;
        let (_, cost) = costs[self.statement_of(target)?];
        Ok((cost.roundings(), cost.stores))
    }

    /// The statement that defines an array.
    fn statement_of(&self, target: &str) -> Result<usize, OracleError> {
        let at = self.computes.statements.iter().rposition(|assignment| assignment.target == target);
        let problem = "`computes` does not assign it".to_owned();
        at.ok_or_else(|| OracleError::Input { name: target.to_owned(), problem })
    }

    /// Array reads of a whole evaluation: about a nanosecond each on one core.
    ///
    /// # Errors
    /// As [`Oracle::shape`].
    pub fn work(&self, inputs: &Inputs) -> Result<f64, OracleError> {
        Ok(self.costs(inputs)?.iter().map(|(elements, cost)| elements * cost.reads.max(1.0)).sum())
    }

    /// Whether whole-number inputs give whole-number outputs whose every partial result is whole too: then sums below
    /// 2^p are exact in a type of p bits, in any order.
    #[must_use]
    pub fn keeps_integers(&self) -> bool {
        self.computes.statements.iter().all(|assignment| keeps_integers(&assignment.value))
    }

    /// Whether an output is a plain copy of an input, moved: a copying kernel is then right.
    #[must_use]
    pub fn copies(&self, target: &str) -> bool {
        self.computes
            .statements
            .iter()
            .any(|assignment| assignment.target == target && matches!(assignment.value, Value::Element { .. }))
    }

    /// Elements and the cost of each, for every statement. Also proves that no index expression overflows.
    fn costs(&self, inputs: &Inputs) -> Result<Vec<(f64, Cost)>, OracleError> {
        let mut costs: Vec<(f64, Cost)> = Vec::new();
        for assignment in &self.computes.statements {
            let extents = self.shape(&assignment.target, inputs)?;
            let behind = |array: &str| {
                let mut before = self.computes.statements.iter().zip(&costs);
                before.find(|(known, _)| known.target == array).map(|(_, (_, cost))| *cost)
            };
            let scalars = |name: &str| inputs.get(name).copied();
            let mut walk =
                Walk { scalars: &scalars, behind: &behind, target: &assignment.target, variables: Vec::new() };
            let cost = walk.assignment(assignment, &extents)?;
            costs.push((extents.iter().product::<usize>() as f64, cost));
        }
        Ok(costs)
    }
}

fn positive(array: &str, extent: &Expr, inputs: &Inputs) -> Result<usize, OracleError> {
    let shape = |error| OracleError::Shape { place: format!("the shape of {array}"), error };
    let value = extent.evaluate(&InputScope(inputs)).map_err(shape)?;
    usize::try_from(value)
        .ok()
        .filter(|value| *value > 0)
        .ok_or_else(|| shape(EvalError::Overflow(format!("an extent of {value} ({extent}), which is not positive or"))))
}

fn sum_variable(value: &Value) -> Option<&str> {
    match value {
        Value::Reduce { op: ReduceOp::Sum, variable, .. } => Some(variable),
        _ => value.parts().into_iter().find_map(sum_variable),
    }
}

fn keeps_integers(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.fract() == 0.0,
        Value::Integer(_) | Value::Element { .. } | Value::Old { .. } => true,
        Value::Negate(inner) => keeps_integers(inner),
        Value::Call(Function::Abs | Function::Min | Function::Max, arguments) => arguments.iter().all(keeps_integers),
        Value::Binary(ValueOp::Div, ..) | Value::Call(..) => false,
        Value::Binary(_, left, right) => keeps_integers(left) && keeps_integers(right),
        Value::Reduce { op, body, .. } => *op != ReduceOp::Product && keeps_integers(body),
        Value::Where { then, otherwise, .. } => keeps_integers(then) && keeps_integers(otherwise),
    }
}
