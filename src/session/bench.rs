//! `peak bench` as a library: contenders that compute the same, validated, timed in turns, and compared.

use super::machine::{Machine, Parts};
use super::{Choice, Chosen, choose, failure_class};
use crate::context::KernelContext;
use crate::context::launch::ConcretePlan;
use crate::context::source::compile_request;
use crate::error::{Class, Error, Result};
use crate::evaluate::vendor::library_call;
use crate::runner::paired::{Pairing, Turns};
use crate::runner::{Distribution, Failure, Fill, Job};
use crate::validate::outputs::{CheckPlan, OutputsValidator};
use crate::validate::{Candidate, Validator, Verified};
use peak_backend_api::{Artifact, Library};
use peak_grammar::ir::Kernel;
use std::sync::Arc;
use std::time::Duration;

/// How long all turns together may take.
const DEADLINE: Duration = Duration::from_secs(300);

/// How long one run may take while it is validated.
const RUN_DEADLINE: Duration = Duration::from_secs(30);

/// Somebody to compare.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there are a handful of them")]
pub enum Contender {
    /// A kernel context: a kernel's start or a checkpoint.
    Context {
        /// What it is called.
        name: String,
        /// It.
        context: Box<KernelContext>,
        /// Inputs and configuration, as far as they are named.
        choice: Choice,
    },
    /// A vendor's library.
    Library(Library),
}

impl Contender {
    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Contender::Context { name, .. } => name,
            Contender::Library(library) => library.name(),
        }
    }
}

/// Contenders that are ready to run.
#[derive(Debug)]
pub struct Bench {
    /// What all of them compute.
    pub kernel: Kernel,
    /// The first one's inputs and configuration.
    pub chosen: Chosen,
    /// Each, ready.
    pub ready: Vec<Ready>,
    reference: KernelContext,
    fill: Fill,
}

/// A contender that is compiled.
#[derive(Debug)]
pub struct Ready {
    /// What it is called.
    pub name: String,
    /// Its configuration; `None` of a library.
    pub configuration: Option<crate::context::Configuration>,
    context: Option<KernelContext>,
    job: Job,
}

impl Bench {
    /// Chooses sizes, compiles everyone. `reference` is the kernel's start, which the outputs are compared with; `named`
    /// are the inputs and tuning parameters that a person named, for contenders that have none of their own.
    ///
    /// # Errors
    /// Contenders of different kernels, no valid configuration, a library that does not compute this, or a compiler's error.
    pub fn prepare(
        machine: &mut Machine,
        contenders: &[Contender],
        reference: KernelContext,
        named: &Choice,
        seed: u64,
    ) -> Result<Bench> {
        let Parts { info, facts, backend, compile, .. } = machine.parts();
        let first = contenders.iter().find_map(|contender| match contender {
            Contender::Context { context, choice, .. } => Some((context, choice)),
            Contender::Library(_) => None,
        });
        let (context, choice) = first.map_or((&reference, named), |(context, choice)| (context.as_ref(), choice));
        let chosen = choose(context, choice, facts)?;
        let kernel = context.kernel.clone();
        let fill = Fill { seed, distribution: Distribution::Declared };
        let target = info.target.clone().unwrap_or_default();
        let job = |artifact: Arc<Artifact>, plan: ConcretePlan| Job { artifact, plan, fill, deadline: DEADLINE };
        let mut ready = Vec::new();
        for contender in contenders {
            ready.push(match contender {
                Contender::Context { name, context, choice } => {
                    if context.kernel.computes != kernel.computes || context.kernel.arguments != kernel.arguments {
                        return Err(different(&kernel, name, &context.kernel));
                    }
                    let here = Choice { inputs: chosen.inputs.clone(), ..choice.clone() };
                    let own = choose(context, &here, facts)?;
                    let request = compile_request(context, &own.configuration, &own.plan, backend, &target, facts);
                    let artifact = compile.compile(&request).map_err(|failure| failed(name, &failure))?;
                    Ready {
                        name: name.clone(),
                        configuration: Some(own.configuration),
                        context: Some(context.as_ref().clone()),
                        job: job(artifact, own.plan),
                    }
                }
                Contender::Library(library) => {
                    let (call, plan) = library_call(*library, &kernel, &chosen.inputs, &chosen.plan)
                        .map_err(|why| no_call(*library, &why.to_string()))?;
                    let artifact = Arc::new(call.artifact());
                    Ready {
                        name: library.name().to_owned(),
                        configuration: None,
                        context: None,
                        job: job(artifact, plan),
                    }
                }
            });
        }
        Ok(Bench { kernel, chosen, ready, reference, fill })
    }

    /// Validates every contender that is a context, at the checked sizes and at the one that is timed; one entry for each
    /// contender, `None` for a library.
    ///
    /// # Errors
    /// The first that is wrong.
    pub fn validate(&self, machine: &mut Machine, validator: &mut OutputsValidator) -> Result<Vec<Option<Verified>>> {
        let Parts { facts, backend, compile, execute, .. } = machine.parts();
        let timed = [self.chosen.inputs.clone()];
        let mut verified = Vec::new();
        for ready in &self.ready {
            let (Some(context), Some(configuration)) = (&ready.context, &ready.configuration) else {
                verified.push(None);
                continue;
            };
            let configurations = [configuration.clone()];
            let candidate = Candidate {
                context,
                configurations: &configurations,
                timed: &timed,
                backend,
                facts,
                deadline: RUN_DEADLINE,
            };
            let found =
                validator.validate(&candidate, compile, execute).map_err(|failure| failed(&ready.name, &failure))?;
            verified.push(Some(found));
        }
        Ok(verified)
    }

    /// The judge of their outputs.
    ///
    /// # Errors
    /// A `computes` that does not compile.
    pub fn validator(&self, seed: u64) -> Result<OutputsValidator> {
        let plan = CheckPlan { seed, ..CheckPlan::default() };
        OutputsValidator::new(&self.reference, &self.reference.start(), plan).map_err(Error::from)
    }

    /// Times them in turns, and judges what the timed runs left in the outputs.
    ///
    /// # Errors
    /// A run that fails, or outputs that are wrong.
    pub fn time(&self, machine: &mut Machine, how: &Pairing, validator: &mut OutputsValidator) -> Result<Turns> {
        let Parts { facts, backend, compile, execute, .. } = machine.parts();
        let jobs: Vec<Job> = self.ready.iter().map(|ready| ready.job.clone()).collect();
        let outcome = execute.take_turns(&jobs, how).map_err(|failure| failed("timing", &failure))?;
        let timed = [self.chosen.inputs.clone()];
        for (ready, outputs) in self.ready.iter().zip(outcome.outputs) {
            let candidate = Candidate {
                context: &self.reference,
                configurations: &[],
                timed: &timed,
                backend,
                facts,
                deadline: RUN_DEADLINE,
            };
            validator
                .judge_timed(&candidate, compile, execute, &ready.job.plan, (&self.chosen.inputs, self.fill), outputs)
                .map_err(|failure| failed(&ready.name, &failure))?;
        }
        Ok(outcome.turns)
    }
}

fn different(kernel: &Kernel, name: &str, other: &Kernel) -> Error {
    let message = format!("`{name}` is of kernel {}, which does not compute what {} does", other.name, kernel.name);
    Error::plain(
        Class::Input,
        "peak::not-comparable",
        message,
        "compare kernels that compute the same, from the same inputs",
    )
}

fn no_call(library: Library, why: &str) -> Error {
    let message = format!("{} does not compute this: {why}", library.name());
    Error::plain(
        Class::Input,
        "peak::not-comparable",
        message,
        "a library is a comparison for a product of two matrices",
    )
}

fn failed(what: &str, failure: &Failure) -> Error {
    let message = format!("{what}: {failure}");
    Error::plain(failure_class(failure), "peak::failed-bench", message, failure.facts.join("\n"))
}
