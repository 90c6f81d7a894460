//! Judges candidates: right or wrong, and what the error looks like.
//!
//! A validator runs candidates through the runner's traits only and never loads one into this process. It returns either
//! what stands behind a verdict ([`Verified`]) or a [`Failure`] whose facts feed the next repair.

pub mod outputs;

pub use outputs::OutputsValidator;

use crate::context::scope::Facts;
use crate::context::{Configuration, Inputs, KernelContext};
use crate::oracle::OracleError;
use crate::runner::{Compile, Execute, Failure};
use outputs::CheckPlan;
use peak_backend_api::Backend;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What is to be judged.
#[derive(Clone, Copy)]
pub struct Candidate<'a> {
    /// The context.
    pub context: &'a KernelContext,
    /// The configurations to check, each in full; the winning one is always among them.
    pub configurations: &'a [Configuration],
    /// The sizes at which it is timed.
    pub timed: &'a [Inputs],
    /// Compiles its source.
    pub backend: &'a dyn Backend,
    /// Device facts in force.
    pub facts: &'a Facts,
    /// How long one run may take.
    pub deadline: Duration,
}

/// What stands behind a verdict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    /// What it was compared with, each in a few words.
    pub by: Vec<String>,
    /// The largest error as a share of what was allowed: 1 is the limit, 0 is exact.
    pub largest_error: f64,
    /// Runs whose outputs were compared.
    pub samples: usize,
    /// Seeds that the data came from.
    pub seeds: usize,
    /// What was skipped or is worth knowing, each in a few words.
    pub notes: Vec<String>,
}

/// A judge of candidates.
pub trait Validator {
    /// The name in workflows and reports.
    fn name(&self) -> &'static str;

    /// Judges every configuration of a candidate.
    ///
    /// # Errors
    /// The first failure, with facts for a repair; failures of compiling and running pass through unchanged.
    fn validate(
        &mut self,
        candidate: &Candidate<'_>,
        compile: &dyn Compile,
        execute: &mut dyn Execute,
    ) -> Result<Verified, Failure>;
}

/// Makes a validator for a reference context and its configuration.
pub type Build = fn(&KernelContext, &Configuration, CheckPlan) -> Result<Box<dyn Validator>, OracleError>;

/// A validator that can be asked for by name.
#[derive(Clone, Copy, Debug)]
pub struct ValidatorEntry {
    /// The name in workflows and reports.
    pub name: &'static str,
    /// One line.
    pub title: &'static str,
    /// Makes one.
    pub build: Build,
}

/// Every validator, by name.
pub const VALIDATORS: &[ValidatorEntry] = &[outputs::ENTRY];
