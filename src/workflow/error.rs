//! What keeps a workflow from running at all. A step that fails is a row, not an error.

use crate::runner::Failure;
use crate::store::StoreError;
use miette::Diagnostic;
use thiserror::Error;

/// Why a workflow could not run.
#[derive(Debug, Error, Diagnostic)]
pub enum WorkflowError {
    /// The naive kernel itself is wrong or does not run.
    #[error("the baseline failed ({}): {failure}", failure.class)]
    #[diagnostic(
        code("peak::baseline-failed"),
        help("nothing can be built on it: mend the kernel's own code or its `computes`\n{}", failure.facts.join("\n"))
    )]
    Baseline {
        /// What it failed with.
        failure: Failure,
    },
    /// A construct that is parsed and checked, and not carried out yet.
    #[error("{what} is not built yet")]
    #[diagnostic(
        code("peak::not-built"),
        help("it is parsed and checked; take it out of the workflow to run the rest")
    )]
    NotBuilt {
        /// The construct.
        what: String,
    },
    /// A name that the workflow restores was never made.
    #[error("there is no checkpoint `{name}` in this run to restore")]
    #[diagnostic(code("peak::unknown-checkpoint"), help("`checkpoint \"{name}\"` must come before `restore`"))]
    UnknownCheckpoint {
        /// The name.
        name: String,
    },
    /// It was stopped before the baseline was measured.
    #[error("stopped on request, before the baseline was measured")]
    #[diagnostic(code("peak::interrupted"), help("run the same command again: what was measured is in the store"))]
    Interrupted,
    /// The oracle cannot be compiled.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Oracle(#[from] crate::oracle::OracleError),
    /// The store failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Store(#[from] StoreError),
}
