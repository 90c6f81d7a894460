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
    /// A run that is to go on is not where it was.
    #[error("run {run} cannot go on: it is at `{now}`, and was at `{then}`")]
    #[diagnostic(
        code("peak::resume-diverged"),
        help("the kernel, the workflow or a transformation changed since: leave `--resume` out to start a new run")
    )]
    Diverged {
        /// The run.
        run: i64,
        /// The place now.
        now: String,
        /// The place then.
        then: String,
    },
    /// An entry of a run's journal that this version cannot read or write.
    #[error("run {run} cannot go on: what it did at `{place}` cannot be read ({reason})")]
    #[diagnostic(
        code("peak::resume-unreadable"),
        help("another version of Peak started it: leave `--resume` out to start a new run")
    )]
    Journal {
        /// The run.
        run: i64,
        /// The place.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Another process carries the run out.
    #[error("run {run} is under way in another process")]
    #[diagnostic(code("peak::run-in-progress"), help("wait for it, or stop it, then use `--resume` again"))]
    InProgress {
        /// The run.
        run: i64,
    },
    /// Decisions are to be followed, and there is none for this place.
    #[error("no decision is recorded for {what}")]
    #[diagnostic(
        code("peak::decision-missing"),
        help(
            "another way was taken than when it was recorded: leave out `--decisions recorded` to go by times, with `--record` to record anew"
        )
    )]
    NoDecision {
        /// The place.
        what: String,
    },
    /// It was stopped before the baseline was measured.
    #[error("stopped on request, before the baseline was measured")]
    #[diagnostic(code("peak::interrupted"), help("`--resume` goes on with it: what was measured is in the store"))]
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
