//! The whole line on a real Vulkan device: DXC in one worker, the device in another, results and times that make sense.

use super::build;
use crate::vulkan::{device, program};
use peak::context::launch::concrete_plan;
use peak::context::scope::Facts;
use peak::context::source::compile_request;
use peak::context::{ExecutionParameters, Inputs, KernelContext};
use peak::evaluate::time::{self, WallCheck};
use peak::runner::*;
use peak::tune::{Bench, NoCache, TuneRequest, TuneTiming, tune};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Sums of these are exact in 32 bits.
const FILL: Fill = Fill { seed: 1, distribution: Distribution::ExactIntegers };

fn inputs() -> Inputs {
    Inputs::from([("n".to_owned(), 64)])
}

#[test]
fn a_matmul_runs_is_timed_and_tuned() {
    let Some((backend, device)) = device() else { return };
    let gate = Arc::new(Gate::new());
    let options = PoolOptions { toolchain: backend.toolchain(), ..PoolOptions::default() };
    let pool = WorkerPool::new(program(), "hlsl", options, Arc::clone(&gate)).expect("a folder");
    let mut worker = DeviceWorker::open(program(), &device, DeviceOptions::default(), gate).expect("the device opens");
    let context = build::matmul_hlsl();
    let facts: Facts = device.facts.clone().into_iter().collect();
    let hlsl = peak::backends::backend("hlsl").expect("this build has it");
    let target = device.target.clone().unwrap_or_default();

    let configuration = context.start();
    let parameters = ExecutionParameters { inputs: inputs(), configuration: configuration.clone() };
    let plan = concrete_plan(&context, &parameters, &facts).expect("the start is valid");
    let request = compile_request(&context, &configuration, &plan, hlsl.as_ref(), &target, &facts);
    let artifact = pool.compile(&request).expect("it compiles");
    let job = Job { artifact, plan, fill: FILL, deadline: Duration::from_secs(60) };
    let outcome = worker.run(&job).expect("it runs");
    assert_eq!(outcome.outputs["C"], expected(&job));
    assert!(outcome.changed_inputs.is_empty());

    let timing = TuneTiming::for_device(device.kind).thorough;
    let report = time::evaluate(&mut worker, &job, &timing).expect("it is timed");
    assert_eq!(report.wall, WallCheck::Agrees, "{report:?}");
    println!("matmul at n = 64 on {}: {:.0} ns", device.name, report.time_ns_median);

    let request = TuneRequest {
        context: &context,
        inputs: &inputs(),
        facts: &facts,
        backend: hlsl.as_ref(),
        target: &target,
        toolchain: &backend.toolchain(),
        budget: 10,
        strategy: None,
        incumbents: &[],
        seed: 1,
        fill: FILL,
        timing: TuneTiming::for_device(device.kind),
        compile_threads: 2,
    };
    let cancelled = AtomicBool::new(false);
    let mut bench = Bench {
        compile: &pool,
        execute: &mut worker,
        cache: &mut NoCache,
        progress: &mut |_| {},
        cancelled: &cancelled,
    };
    let tuned = tune(&request, &mut bench).expect("there is something valid");
    assert_eq!(tuned.measured.len(), 3, "64 x 64 threads fit no block: {:?}", tuned.excluded);
    assert!(tuned.best.is_some(), "{:?}", tuned.measured);
    println!("tuned: {:?}", tuned.best);
}

#[test]
fn a_syntax_error_comes_back_with_its_line() {
    if device().is_none() {
        return;
    }
    let pool = WorkerPool::new(program(), "hlsl", PoolOptions::default(), Arc::new(Gate::new())).expect("a folder");
    let mut context = build::matmul_hlsl();
    context.regions.device_code = context.regions.device_code.replace("int row", "itn row");
    let parameters = ExecutionParameters { inputs: inputs(), configuration: context.start() };
    let plan = concrete_plan(&context, &parameters, &Facts::new()).expect("it is valid");
    let hlsl = peak::backends::backend("hlsl").expect("this build has it");
    let request = compile_request(&context, &parameters.configuration, &plan, hlsl.as_ref(), "", &Facts::new());
    let failure = pool.compile(&request).expect_err("it does not compile");
    assert_eq!(failure.class, FailureClass::Compile);
    assert!(failure.facts[0].contains("in device code, line 8"), "{failure:?}");
    assert!(failure.facts[0].contains("itn row = int(at.y)"), "{failure:?}");
}

#[test]
fn a_kernel_that_never_ends_is_killed_and_the_next_one_runs() {
    let Some((_, device)) = device() else { return };
    let gate = Arc::new(Gate::new());
    let pool = WorkerPool::new(program(), "hlsl", PoolOptions::default(), Arc::clone(&gate)).expect("a folder");
    let mut worker = DeviceWorker::open(program(), &device, DeviceOptions::default(), gate).expect("the device opens");
    let good = build::matmul_hlsl();
    let mut endless = good.clone();
    // Mesa's software device cuts a thread's loops off after 65535 turns: with so many threads that takes a minute.
    let loop_head = "for (int k = 0; k < n; ++k)";
    // The store in it keeps a compiler from dropping a loop that has no end.
    // Compared as bits, since drivers differ on comparing the NaN that poisons it.
    let forever = "for (int k = 0; asuint(C[0]) != 7; k = (k + 1) % n, C[1] = k)";
    endless.regions.device_code = endless.regions.device_code.replace(loop_head, forever);
    let mut run = |context: &KernelContext, n, deadline| {
        let facts: Facts = device.facts.clone().into_iter().collect();
        let parameters =
            ExecutionParameters { inputs: Inputs::from([("n".to_owned(), n)]), configuration: context.start() };
        let plan = concrete_plan(context, &parameters, &facts).expect("it is valid");
        let hlsl = peak::backends::backend("hlsl").expect("this build has it");
        let request = compile_request(context, &parameters.configuration, &plan, hlsl.as_ref(), "", &facts);
        let artifact = pool.compile(&request).expect("it compiles");
        worker.run(&Job { artifact, plan, fill: FILL, deadline }).map(|outcome| outcome.outputs.len())
    };
    let failure = run(&endless, 256, Duration::from_secs(2)).expect_err("it never ends");
    // A GPU's own watchdog may be quicker than ours.
    assert!(matches!(failure.class, FailureClass::Timeout | FailureClass::Crash), "{failure:?}");
    run(&good, 64, Duration::from_secs(60)).expect("a fresh worker runs");
}

/// A times B in whole numbers, which 32 bits hold exactly.
fn expected(job: &Job) -> Vec<u8> {
    let numbers = |name: &str| -> Vec<f32> {
        let spec = job.plan.buffers.iter().find(|buffer| buffer.name == name).expect("it is there");
        let bytes = peak::data::fill_buffer(spec, job.fill);
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    };
    let (a, b, n) = (numbers("A"), numbers("B"), 64);
    let product = |at: usize| (0..n).map(|k| a[at / n * n + k] * b[k * n + at % n]).sum::<f32>();
    (0..n * n).flat_map(|at| product(at).to_le_bytes()).collect()
}
