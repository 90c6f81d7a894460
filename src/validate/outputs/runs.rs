//! Runs one context at one choice of execution parameters, through the runner's traits.

use crate::context::launch::{BufferRole, BufferSpec, ConcretePlan, Invalid, concrete_plan};
use crate::context::source::compile_request;
use crate::context::{Configuration, ExecutionParameters, KernelContext};
use crate::data::{decode, fill_buffer};
use crate::oracle::Arrays;
use crate::runner::{Compile, Execute, Failure, FailureClass, Fill, Job, RunOutcome};
use crate::validate::Candidate;
use peak_backend_api::{Artifact, CompileRequest};
use std::sync::Arc;

use super::plan::Check;

/// A context in one configuration, with what was compiled for it so far.
pub(super) struct Subject<'a> {
    pub context: &'a KernelContext,
    pub configuration: &'a Configuration,
    compiled: Vec<(CompileRequest, Arc<Artifact>)>,
}

/// What stands around every run.
pub(super) struct Bench<'a> {
    pub candidate: &'a Candidate<'a>,
    pub compile: &'a dyn Compile,
    pub execute: &'a mut dyn Execute,
}

impl<'a> Subject<'a> {
    pub fn new(context: &'a KernelContext, configuration: &'a Configuration) -> Self {
        Subject { context, configuration, compiled: Vec::new() }
    }

    /// The launch plan at a size, or why the size is invalid.
    pub fn plan(&self, check: &Check, candidate: &Candidate<'_>) -> Result<ConcretePlan, Invalid> {
        let parameters = ExecutionParameters { inputs: check.inputs(), configuration: self.configuration.clone() };
        concrete_plan(self.context, &parameters, candidate.facts)
    }

    /// Compiles, unless that was done, and runs once. Every output is there afterwards, in full length.
    pub fn run(&mut self, plan: &ConcretePlan, fill: Fill, bench: &mut Bench<'_>) -> Result<RunOutcome, Failure> {
        let artifact = self.artifact(plan, bench)?;
        let job = Job { artifact, plan: plan.clone(), fill, deadline: bench.candidate.deadline };
        let outcome = bench.execute.run(&job)?;
        for buffer in outputs(plan) {
            let bytes = outcome.outputs.get(&buffer.name).map(Vec::len);
            if bytes != Some(buffer.bytes()) {
                let found = bytes.map_or("nothing".to_owned(), |bytes| format!("{bytes} bytes"));
                let message =
                    format!("the worker read back {found} of {}, which has {} bytes", buffer.name, buffer.bytes());
                return Err(Failure::new(FailureClass::Crash, message));
            }
        }
        Ok(outcome)
    }

    fn artifact(&mut self, plan: &ConcretePlan, bench: &Bench<'_>) -> Result<Arc<Artifact>, Failure> {
        let target = bench.execute.device().target.clone().unwrap_or_default();
        let Candidate { backend, facts, .. } = bench.candidate;
        let request = compile_request(self.context, self.configuration, plan, *backend, &target, facts);
        if let Some((_, artifact)) = self.compiled.iter().find(|(known, _)| *known == request) {
            return Ok(Arc::clone(artifact));
        }
        let artifact = bench.compile.compile(&request)?;
        self.compiled.push((request, Arc::clone(&artifact)));
        Ok(artifact)
    }
}

/// The buffers that a run must leave results in.
pub(super) fn outputs(plan: &ConcretePlan) -> impl Iterator<Item = &BufferSpec> {
    plan.buffers.iter().filter(|buffer| matches!(buffer.role, BufferRole::Output | BufferRole::InOut(_)))
}

/// What the arrays that a kernel reads hold before a run.
pub(super) fn given_arrays(plan: &ConcretePlan, fill: Fill) -> Arrays {
    let given = plan.buffers.iter().filter(|buffer| matches!(buffer.role, BufferRole::Input(_) | BufferRole::InOut(_)));
    given.map(|buffer| (buffer.name.clone(), decode(buffer.element, &fill_buffer(buffer, fill)))).collect()
}
