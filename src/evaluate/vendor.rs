//! A vendor's library beside a kernel: the call that computes what the kernel declares, on the same operands.

use crate::context::Inputs;
use crate::context::launch::{BufferRole, BufferSpec, ConcretePlan};
use crate::context::tensor_map::element;
use crate::oracle::{self, Oracle, OracleError};
use peak_backend_api::{
    ArgumentValue, LaunchArgument, LaunchSequence, LaunchStep, Library, LibraryCall, Matrix, Product,
};
use peak_grammar::ir::{ElementType, Kernel};

/// Why a library is not called for a kernel.
#[derive(Debug, thiserror::Error)]
pub enum NoCall {
    /// What the kernel computes is no plain product of two matrices.
    #[error("`{kernel}` is not one product of two matrices, `C[i, j] = sum(k in 0..n) A[i, k] * B[k, j]`: {why}")]
    NoProduct {
        /// The kernel.
        kernel: String,
        /// What is in the way.
        why: &'static str,
    },
    /// What it computes cannot be read.
    #[error(transparent)]
    Oracle(#[from] OracleError),
}

/// The call, and a plan with the buffers of `plan` and one launch, that of the library.
///
/// # Errors
/// A kernel that computes something else.
pub fn library_call(
    library: Library,
    kernel: &Kernel,
    inputs: &Inputs,
    plan: &ConcretePlan,
) -> Result<(LibraryCall, ConcretePlan), NoCall> {
    let no = |why| NoCall::NoProduct { kernel: kernel.name.clone(), why };
    let outputs: Vec<&BufferSpec> =
        plan.buffers.iter().filter(|buffer| matches!(buffer.role, BufferRole::Output | BufferRole::InOut(_))).collect();
    let [out] = outputs.as_slice() else { return Err(no("it has several outputs")) };
    if kernel.computes.is_none() {
        return Err(no("it does not say what it computes"));
    }
    let product =
        Oracle::compile(kernel)?.product(&out.name, inputs)?.ok_or_else(|| no("it computes something else"))?;
    let call = LibraryCall {
        library,
        product: described(&product, kernel.accumulator, out, plan).ok_or_else(|| no("of its shape"))?,
    };
    let buffers: Vec<BufferSpec> =
        plan.buffers.iter().filter(|buffer| !matches!(buffer.role, BufferRole::Scratch)).cloned().collect();
    let step = launch(&call);
    Ok((call, ConcretePlan { buffers, sequence: LaunchSequence { steps: vec![step] } }))
}

/// `None` where the elements do not lie at even distances, or there is more than one product.
fn described(
    product: &oracle::Product,
    accumulate: ElementType,
    out: &BufferSpec,
    plan: &ConcretePlan,
) -> Option<Product> {
    let [_] = product.batches.as_slice() else { return None };
    let buffer = |name: &str| plan.buffers.iter().find(|buffer| buffer.name == name);
    let matrix = |buffer: &BufferSpec, row_stride, column_stride| Matrix {
        name: buffer.name.clone(),
        element: element(buffer.element),
        row_stride,
        column_stride,
    };
    let rows = [0, 1].map(|array| stride(product.rows.iter().map(|offsets| offsets[array])));
    let columns = [0, 1].map(|array| stride(product.columns.iter().map(|offsets| offsets[array])));
    let terms = [0, 1].map(|array| stride(product.terms.iter().map(|offsets| offsets[array])));
    Some(Product {
        rows: product.rows.len() as u64,
        columns: product.columns.len() as u64,
        inner: product.terms.len() as u64,
        left: matrix(buffer(&product.left)?, rows[0]?, terms[0]?),
        right: matrix(buffer(&product.right)?, terms[1]?, columns[0]?),
        out: matrix(out, rows[1]?, columns[1]?),
        accumulate: element(accumulate),
    })
}

/// How far apart offsets lie that start at 0; `None` where not all are as far apart. A single one is next to itself.
fn stride(offsets: impl Iterator<Item = usize>) -> Option<u64> {
    let offsets: Vec<usize> = offsets.collect();
    let stride = offsets.get(1).copied().unwrap_or(1);
    offsets.iter().enumerate().all(|(index, offset)| *offset == index * stride).then_some(stride as u64)
}

fn launch(call: &LibraryCall) -> LaunchStep {
    let Product { left, right, out, .. } = &call.product;
    let argument = |matrix: &Matrix| LaunchArgument {
        name: matrix.name.clone(),
        value: ArgumentValue::Buffer(matrix.name.clone()),
    };
    LaunchStep::Launch {
        entry: call.library.name().to_owned(),
        grid: [1; 3],
        block: [1; 3],
        shared_bytes: 0,
        cluster: None,
        cooperative: false,
        arguments: [left, right, out].map(argument).to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_distances_are_strides() {
        assert_eq!(stride([0, 3, 6].into_iter()), Some(3));
        assert_eq!(stride([0].into_iter()), Some(1));
        assert_eq!(stride([0, 1, 64].into_iter()), None);
    }
}
