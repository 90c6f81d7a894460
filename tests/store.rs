//! The store: what is put comes back, from several processes, and after a kill.

use indexmap::IndexMap;
use peak::context::{CONTEXT_VERSION, KernelContext, Regions};
use peak::store::{
    AnswerPlace, CheckpointResult, JournalEntry, NewAnswer, NewAttempt, NewCheckpoint, NewRun, RunStatus, Store,
    StoreError,
};
use peak_grammar::ir::{
    BinaryOp, CompareOp, Condition, ElementType, Expr, Kernel, LaunchPlan, Origin, Requirement, Tolerance,
    TuningParameter, Values,
};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A context with one tuning parameter and one requirement.
pub fn context(device_code: &str) -> KernelContext {
    let kernel = Kernel {
        name: "matmul-f32".to_owned(),
        title: None,
        computes: None,
        element: ElementType::F32,
        accumulator: ElementType::F32,
        arguments: Vec::new(),
        tolerance: Tolerance::SumLength,
        tuning: Vec::new(),
        requirements: Vec::new(),
        code: IndexMap::new(),
        host_code: String::new(),
        launch: LaunchPlan::default(),
        origin: Origin::default(),
    };
    let block = TuningParameter {
        name: "BLOCK_X".to_owned(),
        values: Values::List(vec![8, 16, 32]),
        start: None,
        introduced_by: None,
    };
    let whole = Condition::Compare(
        CompareOp::Equal,
        Expr::Binary(BinaryOp::Mod, Box::new(Expr::Name("n".to_owned())), Box::new(Expr::Name("BLOCK_X".to_owned()))),
        Expr::Integer(0),
    );
    KernelContext {
        version: CONTEXT_VERSION,
        kernel,
        backend: "hlsl".to_owned(),
        regions: Regions {
            macros: String::new(),
            device_code: device_code.to_owned(),
            host_code: "launch matmul\n  grid n / BLOCK_X\n  block BLOCK_X\n".to_owned(),
        },
        plan: LaunchPlan::default(),
        tuning: vec![block],
        requirements: vec![Requirement { name: "whole-tiles".to_owned(), condition: whole, added_by: None }],
        applied: Vec::new(),
    }
}

/// Starts a run on a device of no maker.
pub fn start_run(store: &Store) -> i64 {
    let run = NewRun {
        workflow: "matmul-f32".to_owned(),
        kernel: "matmul-f32".to_owned(),
        backend: "hlsl".to_owned(),
        runtime: "vulkan".to_owned(),
        device: "llvmpipe".to_owned(),
        provider: "recorded".to_owned(),
        options: "{}".to_owned(),
    };
    store.start_run(&run).expect("the run is kept")
}

/// Keeps a checkpoint that took `ms` milliseconds.
pub fn put(store: &mut Store, run: i64, name: &str, context: &KernelContext, parent: Option<i64>, ms: f64) -> i64 {
    let result = CheckpointResult {
        inputs: IndexMap::from([("n".to_owned(), 512)]),
        configuration: IndexMap::from([("BLOCK_X".to_owned(), 16)]),
        time_ns_median: Some(ms * 1e6),
        time_ns_p20: Some(ms * 0.99e6),
        time_ns_p80: Some(ms * 1.01e6),
        speedup_step: None,
        speedup_total: Some(215.0 / ms),
    };
    let new = NewCheckpoint {
        run,
        name,
        parent,
        context,
        step: u32::from(parent.is_some()),
        transformation: parent.map(|_| name),
        verdict: "accepted",
        verified_by: &["outputs".to_owned()],
        results: &[result],
    };
    store.put_checkpoint(&new).expect("the checkpoint is kept")
}

fn open(folder: &Path) -> Store {
    Store::open(folder).expect("the store opens")
}

#[test]
fn a_checkpoint_comes_back_as_it_was_put() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut store = open(folder.path());
    let run = start_run(&store);
    let first = context("void matmul() {}");
    let baseline = put(&mut store, run, "baseline", &first, None, 215.0);
    let tiled = put(&mut store, run, "tiled", &context("void matmul() { tiled; }"), Some(baseline), 83.0);
    store.finish_run(run, RunStatus::Finished).expect("noted");
    drop(store);

    assert_eq!(peak::store::nearest_project(&folder.path().join(".peak")).as_deref(), Some(folder.path()));
    assert!(Store::find(&folder.path().join(".peak")).is_err(), "a project is a folder, not what is in it");
    let store = Store::find(folder.path()).expect("found");
    let read = store.resolve("tiled").expect("there");
    assert_eq!((read.id, read.parent, read.step), (tiled, Some(baseline), 1));
    assert_eq!(read.results[0].configuration["BLOCK_X"], 16);
    assert_eq!(read.results[0].time_ns_median, Some(83.0e6));
    assert_eq!(read.verified_by, ["outputs"]);
    assert_eq!((read.run.status, read.run.finished_at.is_some()), (RunStatus::Finished, true));
    let baseline = store.resolve("baseline").expect("there");
    assert_eq!(store.context(&baseline).expect("read"), first);
    assert_eq!(baseline.context, first.hash());
}

#[test]
fn a_name_is_the_newest_of_that_name_and_older_ones_go_by_run_number_or_hash() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut store = open(folder.path());
    let (one, two) = (start_run(&store), start_run(&store));
    let old = put(&mut store, one, "baseline", &context("old"), None, 2.0);
    let new = put(&mut store, two, "baseline", &context("new"), None, 1.0);
    let again = put(&mut store, two, "baseline", &context("newer"), None, 1.0);
    let id = |name: &str| store.resolve(name).expect("there").id;
    assert_eq!(id("baseline"), new);
    assert_eq!(id("1/baseline"), old);
    assert_eq!(id(&old.to_string()), old);
    assert_eq!(id("baseline-2"), again);
    assert_eq!(id(&context("old").hash()[..8].to_uppercase()), old);
}

#[test]
fn a_checkpoint_that_was_named_anew_is_found_by_what_made_it_too() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut store = open(folder.path());
    let (one, two) = (start_run(&store), start_run(&store));
    let baseline = put(&mut store, one, "baseline", &context("a"), None, 2.0);
    let tiled = put(&mut store, one, "thread-tiling", &context("b"), Some(baseline), 1.0);
    store.name_checkpoint(tiled, "register tiles").expect("named");
    let id = |store: &Store, name: &str| store.resolve(name).map(|checkpoint| checkpoint.id).ok();
    assert_eq!(["register tiles", "thread-tiling", "1/thread-tiling"].map(|name| id(&store, name)), [Some(tiled); 3]);
    assert_eq!(id(&store, "2/thread-tiling"), None);
    // A name is stronger than an origin, in whatever run.
    let named = put(&mut store, two, "other", &context("c"), None, 1.0);
    store.name_checkpoint(named, "thread-tiling").expect("named");
    assert_eq!(id(&store, "thread-tiling"), Some(named));
    assert_eq!(id(&store, "1/thread-tiling"), Some(tiled));
}

#[test]
fn an_unknown_name_suggests_the_nearest() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut store = open(folder.path());
    let run = start_run(&store);
    put(&mut store, run, "thread-tiling", &context("a"), None, 1.0);
    let Err(StoreError::UnknownCheckpoint { name, help }) = store.resolve("thread-tilling") else {
        panic!("it resolves");
    };
    assert_eq!((name.as_str(), help.as_str()), ("thread-tilling", "the nearest names are `1/thread-tiling`"));
}

#[test]
fn measurements_answers_and_attempts_come_back() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut store = open(folder.path());
    let run = start_run(&store);
    store.put_measurement("key", &vec![1.5, 2.5]).expect("kept");
    assert_eq!(store.measurement::<Vec<f64>>("key").expect("read"), Some(vec![1.5, 2.5]));
    assert_eq!(store.measurement::<Vec<f64>>("other").expect("read"), None);
    assert_eq!(store.measurement::<String>("key").expect("read"), None, "another form is measured again");

    let place = AnswerPlace { run, step: 1, key: "request", number: 0 };
    let answer = NewAnswer { prompt: "words", completion: "answer", provider: "mailbox", model: Some("a-model") };
    store.put_answer(&place, &answer).expect("kept");
    let kept = store.answer(&place).expect("read").expect("there");
    assert_eq!((kept.completion.as_str(), kept.model.as_deref()), ("answer", Some("a-model")));
    for other in [AnswerPlace { step: 2, ..place }, AnswerPlace { number: 1, ..place }] {
        assert_eq!(store.answer(&other).expect("read"), None, "another request: {other:?}");
    }

    let attempt = NewAttempt {
        run: Some(run),
        at: Some((1, 0)),
        transformation: "tb-tiling",
        pass: "stage-tiles",
        region: "device code",
        number: 1,
        class: Some("results"),
        code: None,
        message: "rows 16 to 31 are zero",
        facts: &["the first is C[16, 0]".to_owned()],
        prompt: "words",
        completion: Some("answer"),
        provider: "mailbox",
        usage: Some(peak::store::Usage { tokens_in: 900, tokens_out: 70, money_millionths: Some(1825) }),
    };
    store.put_attempt(&attempt).expect("kept");
    store.put_attempt(&attempt).expect("a step that is carried out again keeps it once");
    let read = store.attempts(run, "tb-tiling").expect("read");
    assert_eq!((read.len(), read[0].class.as_deref()), (1, Some("results")));
    assert_eq!(read[0].usage, attempt.usage);
    assert_eq!(read[0].facts, attempt.facts);
    assert_eq!(store.text(&read[0].prompt).expect("read").as_deref(), Some("words"));
}

#[test]
fn a_newer_store_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = open(folder.path()).path().to_owned();
    let newer = rusqlite::Connection::open(&path).expect("opens");
    newer.pragma_update(None, "user_version", 999).expect("set");
    drop(newer);
    assert!(matches!(Store::open(folder.path()), Err(StoreError::Newer { found: 999, .. })));
}

#[test]
fn a_file_that_is_no_store_is_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join(".peak")).expect("made");
    std::fs::write(folder.path().join(".peak/peak.db"), "this is no database, however long it is read")
        .expect("written");
    assert!(matches!(Store::open(folder.path()), Err(StoreError::Database { .. })));
}

/// Where [`writes_checkpoints`] writes to when another test started it, and how many it writes.
const FOLDER: &str = "PEAK_TEST_STORE";
const COUNT: &str = "PEAK_TEST_STORE_COUNT";

/// Writes checkpoints and tells of each on standard output once it is kept. Other tests start it as a process.
#[test]
fn writes_checkpoints() {
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let folder = std::env::var_os(FOLDER).map_or_else(|| temporary.path().to_owned(), Into::into);
    let count = std::env::var(COUNT).ok().and_then(|count| count.parse().ok()).unwrap_or(3);
    let mut store = open(&folder);
    let run = start_run(&store);
    for index in 0..count {
        let id = put(&mut store, run, "step", &context(&format!("{run} {index}")), None, 1.0);
        // Not by a macro: the test harness would hold it back.
        writeln!(std::io::stdout(), "kept {id}").expect("a reader");
    }
    let own = store.checkpoints().expect("read").into_iter().filter(|checkpoint| checkpoint.run.id == run).count();
    assert_eq!(own, count);
}

fn writer(folder: &Path, count: usize) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "store::writes_checkpoints", "--nocapture"])
        .env(FOLDER, folder)
        .env(COUNT, count.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the writer starts")
}

/// Numbers of the checkpoints that the writer reports as kept, as it reports them.
fn kept(child: &mut Child) -> impl Iterator<Item = i64> + use<> {
    let out = child.stdout.take().expect("piped");
    // The harness's own words may stand before the first.
    BufReader::new(out).lines().map_while(Result::ok).filter_map(|line| line.split("kept ").nth(1)?.parse().ok())
}

#[test]
fn two_processes_write_at_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut writers = [writer(folder.path(), 40), writer(folder.path(), 40)];
    for child in &mut writers {
        assert_eq!(kept(child).count(), 40);
        assert!(child.wait().expect("ends").success());
    }
    let store = Store::find(folder.path()).expect("opens");
    assert_eq!(store.checkpoints().expect("read").len(), 80);
    assert_eq!(store.runs().expect("read").len(), 2);
}

#[test]
fn a_killed_writer_leaves_all_that_it_reported() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut child = writer(folder.path(), 1_000_000);
    let reported: Vec<i64> = kept(&mut child).take(25).collect();
    child.kill().expect("killed");
    child.wait().expect("gone");
    assert_eq!(reported.len(), 25);
    let store = Store::find(folder.path()).expect("opens after a kill");
    for id in reported {
        let checkpoint = store.checkpoint(id).expect("read").expect("what was reported is there");
        store.context(&checkpoint).expect("with its context");
        assert_eq!(checkpoint.results.len(), 1);
    }
    assert_eq!(store.runs().expect("read")[0].status, RunStatus::Running);
}

#[test]
fn secrets_reach_no_file_of_the_store() {
    const SECRET: &str = "sk-of-a-test-0123456789";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let variables = [("MODEL_API_KEY".to_owned(), SECRET.to_owned())];
    let mut store = open(folder.path()).scrubbed_by(peak::provider::Scrubber::new(variables));
    let run = start_run(&store);
    let place = AnswerPlace { run, step: 0, key: "request", number: 0 };
    let (prompt, completion) = (format!("use {SECRET}"), format!("https://host/?key={SECRET}"));
    let answer = NewAnswer { prompt: &prompt, completion: &completion, provider: "mailbox", model: None };
    store.put_answer(&place, &answer).expect("kept");
    let facts = [format!("the server said: {{\"error\":\"bad key {SECRET}\"}}")];
    let attempt = NewAttempt {
        run: Some(run),
        at: None,
        transformation: "tb-tiling",
        pass: "stage-tiles",
        region: "device code",
        number: 1,
        class: Some("provider"),
        code: None,
        message: &facts[0],
        facts: &facts,
        prompt: &prompt,
        completion: Some(&completion),
        provider: "mailbox",
        usage: None,
    };
    store.put_attempt(&attempt).expect("kept");
    let value = serde_json::json!({ "failure": facts[0] }).to_string();
    let entry = JournalEntry { kind: "failed".to_owned(), place: "step 1".to_owned(), value, checkpoint: None };
    store.append(run, 0, &entry, None).expect("kept");
    assert_eq!(store.answer(&place).expect("read").expect("there").completion, "https://host/?key=[secret removed]");
    let value: serde_json::Value =
        serde_json::from_str(&store.journal(run).expect("read")[0].value).expect("still JSON");
    assert!(value["failure"].as_str().is_some_and(|words| words.contains("[secret removed]")), "{value}");
    for file in std::fs::read_dir(folder.path().join(".peak")).expect("a folder") {
        let path = file.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("readable");
        let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!found, "{} holds the secret", path.display());
    }
}
