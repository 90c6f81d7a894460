//! The tuner end to end, on workers of the tests' own backend.

use super::build::{self, binary, compare, int, name, parameter, requirement};
use super::host;
use peak::context::scope::Facts;
use peak::context::{Configuration, Inputs, KernelContext};
use peak::runner::*;
use peak::tune::*;
use peak_backend_api::*;
use peak_grammar::ir::{BinaryOp, CompareOp};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The prelude of the host backend, for this side.
struct Prelude;

impl Backend for Prelude {
    fn name(&self) -> &'static str {
        "host"
    }
    fn title(&self) -> &'static str {
        "the host backend's text"
    }
    fn toolchains(&self) -> Vec<Toolchain> {
        Vec::new()
    }
    fn spelling(&self) -> &'static Spelling {
        unreachable!("the tuner asks for the prelude only")
    }
    fn prelude(&self, spec: &PreludeSpec) -> String {
        spec.configuration.iter().map(|(name, value)| format!("{name}={value}\n")).collect()
    }
    fn compile(&self, _: &CompileRequest) -> Result<Artifact, CompileError> {
        unreachable!("compiling happens in workers")
    }
    fn runtimes(&self) -> Vec<Box<dyn Runtime>> {
        Vec::new()
    }
}

#[derive(Default)]
struct Kept(HashMap<String, Measured>);

impl Cache for Kept {
    fn get(&mut self, key: &str) -> Option<Measured> {
        self.0.get(key).cloned()
    }
    fn put(&mut self, key: &str, measured: &Measured) {
        self.0.insert(key.to_owned(), measured.clone());
    }
}

struct Setting {
    pool: WorkerPool,
    worker: DeviceWorker,
    cache: Kept,
    inputs: Inputs,
    facts: Facts,
    _folder: tempfile::TempDir,
}

impl Setting {
    fn new() -> Setting {
        let gate = Arc::new(Gate::new());
        let folder = tempfile::tempdir().expect("a temporary folder");
        let devices = inventory(&host::program()).expect("the suite starts as a worker").devices;
        let options = DeviceOptions { lock_file: Some(folder.path().join("lock")), ..DeviceOptions::default() };
        let pool_options = PoolOptions { workers: 2, ..PoolOptions::default() };
        Setting {
            pool: WorkerPool::new(host::program(), "host", pool_options, Arc::clone(&gate)).expect("a folder"),
            worker: DeviceWorker::open(host::program(), &devices[0], options, gate).expect("the device opens"),
            cache: Kept::default(),
            inputs: Inputs::from([("n".to_owned(), 16)]),
            facts: Facts::new(),
            _folder: folder,
        }
    }

    fn tune(&mut self, context: &KernelContext, budget: usize, cancel_after: usize) -> Result<TuneOutcome, TuneError> {
        let cancelled = AtomicBool::new(false);
        let seen = AtomicUsize::new(0);
        let incumbents = [Configuration::from([("X".to_owned(), 2)])];
        let request = TuneRequest {
            context,
            inputs: &self.inputs,
            facts: &self.facts,
            backend: &Prelude,
            target: "",
            toolchain: "host-cc 1.0",
            budget,
            strategy: None,
            incumbents: &incumbents,
            seed: 1,
            fill: Fill { seed: 1, distribution: Distribution::Declared },
            timing: TuneTiming::for_device(DeviceKind::Software),
            compile_threads: 2,
        };
        let mut progress = |event: TuneEvent<'_>| {
            if matches!(event, TuneEvent::Measured { .. }) && seen.fetch_add(1, Ordering::Relaxed) + 1 == cancel_after {
                cancelled.store(true, Ordering::Relaxed);
            }
        };
        let mut bench = Bench {
            compile: &self.pool,
            execute: &mut self.worker,
            cache: &mut self.cache,
            progress: &mut progress,
            cancelled: &cancelled,
        };
        tune(&request, &mut bench)
    }
}

/// Fastest at X = 8, Y = 4; X = 1 crashes; X * Y at most 64.
fn valley() -> KernelContext {
    let mut context = build::vectors("valley");
    context.tuning = vec![parameter("X", &[1, 2, 4, 8, 16]), parameter("Y", &[2, 4, 8])];
    let product = binary(BinaryOp::Mul, name("X"), name("Y"));
    context.requirements = vec![requirement("small", compare(CompareOp::LessOrEqual, product, int(64)))];
    context
}

fn point(measured: &Measured) -> (i64, i64) {
    (measured.configuration["X"], measured.configuration["Y"])
}

#[test]
fn a_small_space_is_walked_and_its_best_found_crashes_aside() {
    let mut setting = Setting::new();
    let outcome = setting.tune(&valley(), 100, 0).expect("there is something valid");
    assert_eq!((outcome.strategy, outcome.space.product, outcome.space.valid), ("exhaustive", 15, Some(14)));
    assert_eq!(outcome.excluded["requirement small"], 1);
    assert_eq!(outcome.measured.len(), 14);
    let best = outcome.best.expect("some succeed");
    assert_eq!((point(&best), best.time_ns()), ((8, 4), Some(5000.0)));
    assert!(best.times.is_some_and(|times| times.thorough && times.samples >= 7));
    let crashed: Vec<i64> =
        outcome.measured.iter().filter(|one| one.failure.is_some()).map(|one| point(one).0).collect();
    assert_eq!(crashed, [1, 1, 1]);
    assert!(outcome.measured.iter().any(|one| one.times.is_some_and(|times| times.gave_up)), "X = 16 is hopeless");
}

#[test]
fn a_second_tuning_reuses_what_lasts() {
    let mut setting = Setting::new();
    let first = setting.tune(&valley(), 100, 0).expect("there is something valid");
    assert_eq!(first.reused, 0);
    let second = setting.tune(&valley(), 100, 0).expect("there is something valid");
    // Crashes are tried again.
    assert_eq!(second.reused, 11);
    assert_eq!(second.best.map(|best| (point(&best), best.reused)), Some(((8, 4), true)));
}

#[test]
fn a_budget_is_kept_with_incumbent_and_start_first() {
    let mut setting = Setting::new();
    let outcome = setting.tune(&valley(), 6, 0).expect("there is something valid");
    assert_eq!((outcome.strategy, outcome.measured.len()), ("random", 6));
    // Two threads compile: the first two come in any order.
    let mut first = [point(&outcome.measured[0]), point(&outcome.measured[1])];
    first.sort_unstable();
    assert_eq!(first, [(1, 2), (2, 2)]);
}

#[test]
fn a_cancelled_tuning_returns_what_it_has() {
    let mut setting = Setting::new();
    let outcome = setting.tune(&valley(), 100, 5).expect("there is something valid");
    assert!(outcome.cancelled && outcome.measured.len() == 5, "{}", outcome.measured.len());
    assert!(outcome.best.is_some());
}

#[test]
fn nothing_valid_says_which_requirement_excluded_how_many() {
    let mut context = valley();
    context.requirements.push(requirement("large", compare(CompareOp::Greater, name("X"), int(16))));
    let error = Setting::new().tune(&context, 10, 0).expect_err("nothing is valid");
    assert_eq!(
        error.to_string(),
        "none of 15 configurations is valid: requirement large excludes 15, requirement small excludes 1"
    );
}

#[test]
fn a_missing_compiler_ends_tuning() {
    let mut context = valley();
    context.regions.device_code = "compile-missing".to_owned();
    let error = Setting::new().tune(&context, 10, 0).expect_err("nothing compiles");
    assert!(matches!(&error, TuneError::Environment(failure) if is_environment(failure)), "{error:?}");
}

#[test]
fn a_context_without_parameters_has_one_configuration() {
    let outcome = Setting::new().tune(&build::vectors("nothing"), 10, 0).expect("it is valid");
    assert_eq!((outcome.measured.len(), outcome.space.product), (1, 1));
    assert_eq!(outcome.best.and_then(|best| best.time_ns()), Some(1000.0));
}
