//! Counts what compiled code executes, on a device that counts: in a worker of its own, on inputs as the kernel declares
//! them. Judges nothing.

use super::compiler::{Compiled, Compiler};
use super::configuration::Chosen;
use crate::error::Result;
use crate::runner::{
    DeviceOptions, DeviceWorker, Distribution, Execute, Failure, Fill, Gate, Job, RunnerError, WorkerProgram,
};
use crate::workflow::COUNT_DEADLINE;
pub use crate::workflow::COUNTED_BLOCKS;
use peak_backend_api::{ArtifactKind, DeviceInfo, LaunchCounts};
use std::sync::Arc;

/// Whether a device counts what it executes.
#[must_use]
pub(super) fn counts(info: &DeviceInfo) -> bool {
    crate::workflow::counts(info)
}

/// What the launches of a configuration execute; `None` where no device here counts such code.
///
/// # Errors
/// The worker does not start. That the code cannot be run, or not in time, is data.
pub fn count(
    compiler: &Compiler,
    compiled: &Compiled,
    chosen: &Chosen,
    blocks_max: Option<u64>,
) -> Result<Option<std::result::Result<Vec<LaunchCounts>, Failure>>> {
    let Some(info) = compiler.counter.as_ref().filter(|_| compiled.artifact.kind == ArtifactKind::Ptx) else {
        return Ok(None);
    };
    let program = WorkerProgram::current().map_err(RunnerError::from)?;
    let options = DeviceOptions { say: Arc::new(|_| {}), ..DeviceOptions::default() };
    let mut worker = DeviceWorker::open(program, info, options, Arc::new(Gate::new()))?;
    let job = Job {
        artifact: Arc::clone(&compiled.artifact),
        plan: chosen.plan.clone(),
        fill: Fill { seed: 0, distribution: Distribution::Declared },
        deadline: COUNT_DEADLINE,
    };
    Ok(Some(worker.count(&job, blocks_max)))
}
