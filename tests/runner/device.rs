//! The device worker: data in and out, deadlines, crashes, and what each is called.

use super::{build, host};
use peak::context::launch::{ConcretePlan, concrete_plan};
use peak::context::scope::Facts;
use peak::context::{ExecutionParameters, Inputs};
use peak::runner::paired::{Pairing, Verdict};
use peak::runner::protocol::Limits;
use peak::runner::*;
use peak_backend_api::{Artifact, ArtifactKind, Caches, DeviceInfo, Resources};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const FILL: Fill = Fill { seed: 3, distribution: Distribution::Declared };

const TIMING: Timing = Timing {
    warmup: 2,
    warmup_ns: 0,
    min_repeats: 6,
    max_repeats: 20,
    relative_interval: 0.05,
    budget_ns: u64::MAX,
    give_up_ns: None,
};

fn devices() -> Vec<DeviceInfo> {
    inventory(&host::program()).expect("the suite starts as a worker").devices
}

fn open(limits: Limits) -> (DeviceWorker, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = DeviceOptions { limits, lock_file: Some(folder.path().join("lock")), ..DeviceOptions::default() };
    let worker = DeviceWorker::open(host::program(), &devices()[0], options, Arc::new(Gate::new()));
    (worker.expect("the device opens"), folder)
}

fn plan(n: i64) -> ConcretePlan {
    let parameters = ExecutionParameters { inputs: Inputs::from([("n".to_owned(), n)]), ..Default::default() };
    concrete_plan(&build::vectors("copy"), &parameters, &Facts::new()).expect("it is valid")
}

fn job(code: &str) -> Job {
    let artifact = Artifact {
        kind: ArtifactKind::LlvmIr,
        bytes: code.as_bytes().to_vec(),
        entries: Vec::new(),
        resources: Resources::default(),
        compiler: "test".to_owned(),
    };
    Job { artifact: Arc::new(artifact), plan: plan(100), fill: FILL, deadline: Duration::from_secs(20) }
}

fn input(job: &Job, name: &str) -> Vec<u8> {
    let spec = job.plan.buffers.iter().find(|buffer| buffer.name == name).expect("it is there");
    peak::data::fill_buffer(spec, job.fill)
}

#[test]
fn inputs_are_filled_and_outputs_come_back() {
    let (mut worker, _folder) = open(default_limits());
    let job = job("copy");
    for _ in 0..2 {
        let outcome = worker.run(&job).expect("it runs");
        assert_eq!(outcome.outputs.keys().collect::<Vec<_>>(), ["B", "C"]);
        assert_eq!(outcome.outputs["C"], input(&job, "A"));
        let mut expected = input(&job, "B");
        expected[0] = expected[0].wrapping_add(1);
        assert_eq!(outcome.outputs["B"], expected, "an inout starts fresh in each run");
        assert!(outcome.changed_inputs.is_empty());
    }
}

#[test]
fn outputs_that_nobody_wrote_are_poison_and_changed_inputs_are_named() {
    let (mut worker, _folder) = open(default_limits());
    worker.run(&job("copy")).expect("it runs");
    let outcome = worker.run(&job("nothing")).expect("it runs");
    assert_eq!(outcome.outputs["C"], POISON.repeat(100), "nothing is left of the run before");
    assert_eq!(worker.run(&job("scribble")).expect("it runs").changed_inputs, ["A"]);
}

#[test]
fn a_hang_is_killed_at_its_deadline_and_the_next_job_runs() {
    let (mut worker, _folder) = open(default_limits());
    let start = Instant::now();
    let failure = worker.run(&Job { deadline: Duration::from_millis(300), ..job("hang") }).expect_err("it hangs");
    assert_eq!(failure.class, FailureClass::Timeout);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    worker.run(&job("copy")).expect("a fresh worker runs");
}

#[test]
fn each_way_to_fail_has_its_class() {
    let (mut worker, _folder) = open(default_limits());
    let cases = [
        ("abort", FailureClass::Crash, "killed by signal 6 (SIGABRT)"),
        ("panic", FailureClass::Crash, "panicked while running: on purpose"),
        ("lost", FailureClass::Crash, "fell off the bus"),
        ("refuse", FailureClass::Launch, "too many threads"),
    ];
    for (code, class, words) in cases {
        let failure = worker.run(&job(code)).expect_err("it fails");
        assert!(failure.class == class && failure.message.contains(words), "{code}: {failure:?}");
        worker.run(&job("copy")).expect("the next job runs");
    }
    let last = worker.run(&job("abort")).expect_err("it fails").facts.join("\n");
    assert!(last.contains("the driver's last words"), "{last}");
}

#[test]
fn damage_done_by_one_candidate_is_not_charged_to_the_next() {
    let (mut worker, _folder) = open(default_limits());
    worker.run(&job("damage")).expect("the damage shows later");
    worker.run(&job("copy")).expect("a fresh worker decides");
}

#[test]
fn a_worker_that_prints_without_end_is_heard_in_part() {
    let (mut worker, _folder) = open(default_limits());
    worker.run(&job("spew")).expect("printing is no failure");
}

#[test]
fn limits_hold() {
    let (mut worker, _folder) = open(Limits { memory_bytes: 200 << 20, buffer_bytes: 1500 });
    let refused = worker.run(&job("copy")).expect_err("four buffers of 400 bytes");
    assert!(refused.class == FailureClass::Launch && refused.message.contains("1600 bytes"), "{refused:?}");
    let eaten = worker.run(&Job { plan: plan(10), ..job("eat") }).expect_err("it eats");
    assert!(eaten.class == FailureClass::Crash && eaten.message.contains("ran out of memory"), "{eaten:?}");
}

#[test]
fn times_are_what_the_device_says() {
    let (mut worker, _folder) = open(default_limits());
    let outcome = worker.time(&job("copy"), &TIMING).expect("it is timed");
    assert_eq!((outcome.samples_ns.as_slice(), outcome.warmup), (&[1000; 6][..], 2));
    let given_up = worker.time(&job("copy"), &Timing { give_up_ns: Some(999), ..TIMING }).expect("it is timed");
    assert!(given_up.gave_up && given_up.samples_ns.len() == 1);
}

#[test]
fn candidates_take_turns_each_in_buffers_of_its_own() {
    let (mut worker, _folder) = open(default_limits());
    let how = Pairing { caches: Caches::Warm, warmup_ns: 0, sample_ns: 3000, budget_ns: u64::MAX, to_the_end: false };
    let jobs = [job("copy"), job("copy")];
    let outcome = worker.take_turns(&jobs, &how).expect("they are timed");
    assert_eq!((outcome.turns.rounds(), outcome.turns.runs.as_slice()), (16, &[3, 3][..]));
    assert_eq!(outcome.turns.ratio(0, 1).expect("rounds enough").verdict, Verdict::Same);
    let alone = worker.run(&jobs[0]).expect("it runs").outputs;
    assert_eq!(outcome.outputs, [alone.clone(), alone], "both leave what one alone does");
    let small = Limits { buffer_bytes: 3000, ..default_limits() };
    let refused = open(small).0.take_turns(&jobs, &how).expect_err("eight buffers of 400 bytes");
    assert!(refused.message.contains("3200 bytes"), "{refused:?}");
}

#[test]
fn nothing_is_timed_while_another_process_holds_the_device() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("lock");
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&heard);
    let say = Arc::new(move |words: &str| listener.lock().expect("no panic").push(words.to_owned()));
    let options = DeviceOptions { lock_file: Some(path.clone()), say, ..DeviceOptions::default() };
    let mut worker =
        DeviceWorker::open(host::program(), &devices()[1], options, Arc::new(Gate::new())).expect("the device opens");
    let mut lock = fd_lock::RwLock::new(std::fs::File::create(&path).expect("a file"));
    let guard = lock.write().expect("a lock");
    let timed = std::thread::scope(|scope| {
        let timing = scope.spawn(|| {
            let start = Instant::now();
            worker.time(&job("copy"), &TIMING).map(|_| start.elapsed())
        });
        std::thread::sleep(Duration::from_millis(300));
        drop(guard);
        timing.join().expect("no panic").expect("it is timed")
    });
    assert!(timed >= Duration::from_millis(250), "{timed:?}");
    assert_eq!(heard.lock().expect("no panic").len(), 1);
}

#[test]
fn a_device_that_is_not_there_does_not_open() {
    let gone = DeviceInfo { runtime: "absent".to_owned(), ..devices()[0].clone() };
    let opened = DeviceWorker::open(host::program(), &gone, DeviceOptions::default(), Arc::new(Gate::new()));
    let error = opened.err().expect("it is absent").to_string();
    assert_eq!(error, "device Host software does not open: there is no device 0; 0 found");
}
