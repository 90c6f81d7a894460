//! A device in this process: a function over arrays stands for the compiled kernel.

use super::build::{context, matmul};
use peak::context::launch::{BufferRole, encode};
use peak::context::scope::Facts;
use peak::context::{Configuration, Inputs, KernelContext};
use peak::data::{decode, fill_buffer};
use peak::oracle::Arrays;
use peak::runner::paired::Pairing;
use peak::runner::*;
use peak::validate::outputs::CheckPlan;
use peak::validate::{Candidate, OutputsValidator, Validator, Verified};
use peak_backend_api::*;
use peak_grammar::ir::Kernel;
use std::sync::Arc;
use std::time::Duration;

/// What a kernel sees.
pub struct Launch<'a> {
    /// Scalar `n`.
    pub n: usize,
    /// Input and inout arrays.
    pub given: &'a Arrays,
    /// Counts runs, from 0.
    pub run: u64,
}

/// A kernel: outputs by name. NaN in a float output stands for poison that was never overwritten.
pub type Run = Box<dyn FnMut(&Launch<'_>) -> Arrays>;

pub struct Device {
    info: DeviceInfo,
    pub candidate: Run,
    pub reference: Run,
    runs: u64,
    pub changed: Vec<String>,
    /// Artifacts that ran, in order.
    pub log: Vec<(String, usize, Fill)>,
}

impl Execute for Device {
    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    fn run(&mut self, job: &Job) -> Result<RunOutcome, Failure> {
        let given: Arrays = job
            .plan
            .buffers
            .iter()
            .filter(|buffer| !matches!(buffer.role, BufferRole::Output | BufferRole::Scratch))
            .map(|buffer| (buffer.name.clone(), decode(buffer.element, &fill_buffer(buffer, job.fill))))
            .collect();
        let n = job.plan.buffers[0].shape[0];
        let launch = Launch { n, given: &given, run: self.runs };
        self.runs += 1;
        let source = String::from_utf8_lossy(&job.artifact.bytes).into_owned();
        let code = if source == "reference" { &mut self.reference } else { &mut self.candidate };
        self.log.push((source, n, job.fill));
        let mut results = code(&launch);
        let mut outcome = RunOutcome { changed_inputs: self.changed.clone(), ..RunOutcome::default() };
        for buffer in &job.plan.buffers {
            let Some(values) = results.swap_remove(&buffer.name) else { continue };
            let width = buffer.element.bytes();
            let poison: Vec<u8> = POISON.iter().copied().cycle().take(width).collect();
            let bytes = values.into_iter().flat_map(|value| match value.is_nan() {
                true => poison.clone(),
                false => encode(buffer.element, value),
            });
            outcome.outputs.insert(buffer.name.clone(), bytes.collect());
        }
        Ok(outcome)
    }

    fn time(&mut self, _: &Job, _: &Timing) -> Result<TimeOutcome, Failure> {
        Ok(TimeOutcome::default())
    }

    fn take_turns(&mut self, _: &[Job], _: &Pairing) -> Result<TurnsOutcome, Failure> {
        Ok(TurnsOutcome::default())
    }
}

/// The artifact is the device code's text.
pub struct Compiler;

impl Compile for Compiler {
    fn compile(&self, request: &CompileRequest) -> Result<Arc<Artifact>, Failure> {
        let text = request.pieces.last().map(|piece| piece.text.clone()).unwrap_or_default();
        Ok(Arc::new(Artifact {
            kind: ArtifactKind::Spirv,
            bytes: text.into_bytes(),
            entries: Vec::new(),
            resources: Resources::default(),
            compiler: "none".to_owned(),
        }))
    }
}

struct Language;

impl Backend for Language {
    fn name(&self) -> &'static str {
        "test"
    }
    fn title(&self) -> &'static str {
        "a language of tests"
    }
    fn toolchains(&self) -> Vec<Toolchain> {
        Vec::new()
    }
    fn spelling(&self) -> &'static Spelling {
        static SPELLING: Spelling =
            Spelling { fence: "test", terms: &[], notes: &[], barrier: "barrier", known_capitals: &[], banned: &[] };
        &SPELLING
    }
    fn prelude(&self, _: &PreludeSpec) -> String {
        String::new()
    }
    fn compile(&self, _: &CompileRequest) -> Result<Artifact, CompileError> {
        Err(CompileError::Interface(vec!["the fake compiler is used".to_owned()]))
    }
    fn runtimes(&self) -> Vec<Box<dyn Runtime>> {
        Vec::new()
    }
}

/// A device with a candidate; the reference is the right one.
pub fn device(candidate: Run) -> Device {
    let info = DeviceInfo {
        index: 0,
        name: "fake".to_owned(),
        backend: "test".to_owned(),
        runtime: "test".to_owned(),
        driver: "none".to_owned(),
        kind: DeviceKind::Software,
        facts: Default::default(),
        features: Vec::new(),
        target: None,
    };
    let reference: Run = Box::new(|launch| output(product(launch, launch.n)));
    Device { info, candidate, reference, runs: 0, changed: Vec::new(), log: Vec::new() }
}

/// Validates with a validator at hand.
pub fn validate_with(
    validator: &mut OutputsValidator,
    context: &KernelContext,
    configurations: &[Configuration],
    timed: &[Inputs],
    device: &mut Device,
) -> Result<Verified, Failure> {
    let facts = Facts::new();
    let deadline = Duration::from_secs(1);
    let candidate = Candidate { context, configurations, timed, backend: &Language, facts: &facts, deadline };
    validator.validate(&candidate, &Compiler, device)
}

/// A validator for a kernel, and its context as reference and as candidate.
pub fn contexts(kernel: Kernel) -> (OutputsValidator, KernelContext) {
    let mut reference = context(kernel);
    reference.regions.device_code = "reference".to_owned();
    let validator = OutputsValidator::new(&reference, &reference.start(), CheckPlan::default()).expect("an oracle");
    let mut candidate = reference;
    candidate.regions.device_code = "candidate".to_owned();
    (validator, candidate)
}

/// Validates a matmul at its start configuration, at the checked sizes and n = 192.
pub fn validate(candidate: impl FnMut(&Launch<'_>) -> Arrays + 'static) -> Result<Verified, Failure> {
    let (mut validator, context) = contexts(matmul());
    let timed = [super::build::inputs(&[("n", 192)])];
    validate_with(&mut validator, &context, &[context.start()], &timed, &mut device(Box::new(candidate)))
}

pub fn output(c: Vec<f64>) -> Arrays {
    [("C".to_owned(), c)].into_iter().collect()
}

/// `A * B` in f32 over the first `terms` terms, as a naive kernel does it.
pub fn product(launch: &Launch<'_>, terms: usize) -> Vec<f64> {
    multiply(launch.n, &launch.given["A"], &launch.given["B"], 0..terms)
}

/// A product in f32 over some terms.
pub fn multiply(n: usize, a: &[f64], b: &[f64], terms: impl Iterator<Item = usize> + Clone) -> Vec<f64> {
    let narrow = |values: &[f64]| values.iter().map(|value| *value as f32).collect::<Vec<f32>>();
    let (a, b) = (narrow(a), narrow(b));
    let mut c = vec![0f32; n * n];
    for (i, row) in c.chunks_mut(n).enumerate() {
        for k in terms.clone() {
            let left = a[i * n + k];
            for (slot, right) in row.iter_mut().zip(&b[k * n..]) {
                *slot += left * right;
            }
        }
    }
    c.into_iter().map(f64::from).collect()
}
