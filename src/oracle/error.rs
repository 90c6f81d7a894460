//! Why the oracle has no answer.

use miette::Diagnostic;
use peak_grammar::ir::EvalError;

/// Why a kernel's `computes` cannot be compiled or evaluated. Never a wrong answer, never a crash.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Diagnostic)]
pub enum OracleError {
    /// The kernel states nothing to compute.
    #[error("kernel `{0}` has no `computes`: there is no oracle")]
    #[diagnostic(
        code("peak::oracle-absent"),
        help("add `computes ...` to the kernel; without it the initial device code is the only reference")
    )]
    Absent(String),
    /// A form that the oracle does not know.
    #[error("`computes` of {target}: {what} is not supported by the oracle")]
    #[diagnostic(
        code("peak::oracle-unsupported"),
        help("write it with index variables, scalar inputs, arrays of the kernel, reductions, functions and `where`")
    )]
    Unsupported {
        /// The assignment's target.
        target: String,
        /// What is not supported.
        what: String,
    },
    /// A name that is no index variable, scalar input or array of the kernel.
    #[error("`computes` of {target}: `{name}` has no value there")]
    #[diagnostic(
        code("peak::oracle-unknown-name"),
        help("declare it as an input, or bind it as an index of the target or of a sum")
    )]
    UnknownName {
        /// The assignment's target.
        target: String,
        /// The name.
        name: String,
    },
    /// An array with the wrong number of indices.
    #[error("`computes` of {target}: {array} has {declared} dimensions and is used with {used} indices")]
    #[diagnostic(code("peak::oracle-dimensions"), help("give one index for each dimension of {array}"))]
    Dimensions {
        /// The assignment's target.
        target: String,
        /// The array.
        array: String,
        /// Its dimensions.
        declared: usize,
        /// How many indices stand there.
        used: usize,
    },
    /// An access outside an array, or an integer expression without a value, found while evaluating.
    #[error("`computes`, at {target}[{}]: {what}", list(.index))]
    #[diagnostic(
        code("peak::oracle-bounds"),
        help("correct the index expression, or guard the access with `... where CONDITION else 0`")
    )]
    Bounds {
        /// The assignment's target.
        target: String,
        /// The first element for which it happens.
        index: Vec<usize>,
        /// What is wrong, with the text of the expression.
        what: String,
    },
    /// A scalar input or an array that was not given, or has the wrong length.
    #[error("the oracle's input `{name}`: {problem}")]
    #[diagnostic(code("peak::oracle-input"), help("give every scalar input a value and every array its elements"))]
    Input {
        /// Which.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A shape or bound that has no value for these inputs.
    #[error("{place} has no value: {error}")]
    #[diagnostic(code("peak::oracle-shape"), help("choose inputs for which every shape is a positive whole number"))]
    Shape {
        /// Where it stands.
        place: String,
        /// Why.
        error: EvalError,
    },
    /// More than a host should hold or compute.
    #[error("{what} is {size}, more than {limit}")]
    #[diagnostic(code("peak::oracle-limit"), help("choose smaller sizes in `checked at`"))]
    Limit {
        /// What.
        what: String,
        /// How large it is.
        size: String,
        /// How large it may be.
        limit: String,
    },
    /// The code generator failed: the host's processor is not supported, or a defect.
    #[error("the oracle's code generator failed: {0}")]
    #[diagnostic(
        code("peak::oracle-host"),
        help("the oracle needs x86-64, aarch64, riscv64 or s390x; report the message if this is one")
    )]
    Host(String),
}

fn list(index: &[usize]) -> String {
    index.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
