//! The compile pool: sharing, deadlines, crashes, memory, and the cache on disk.

use super::host;
use peak::runner::protocol::Limits;
use peak::runner::{Compile, FailureClass, Gate, PoolOptions, WorkerPool, is_environment};
use peak_backend_api::{CompileRequest, SourcePiece};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn request(code: &str) -> CompileRequest {
    CompileRequest {
        pieces: vec![SourcePiece { name: "device code".to_owned(), text: code.to_owned() }],
        entries: Vec::new(),
        target: String::new(),
        shared_bytes_limit: None,
        threads_limit: None,
    }
}

fn options() -> PoolOptions {
    PoolOptions { workers: 2, ..PoolOptions::default() }
}

fn pool(options: PoolOptions) -> WorkerPool {
    WorkerPool::new(host::program(), "host", options, Arc::new(Gate::new())).expect("a temporary folder")
}

#[test]
fn equal_requests_share_an_artifact_and_others_do_not() {
    let pool = pool(options());
    let results: Vec<_> = std::thread::scope(|scope| {
        let ask = |code| {
            let pool = &pool;
            scope.spawn(move || pool.compile(&request(code)))
        };
        let asked = [ask("one"), ask("one"), ask("two"), ask("one")];
        asked.map(|one| one.join().expect("no panic").expect("it compiles")).to_vec()
    });
    assert!(Arc::ptr_eq(&results[0], &results[1]) && Arc::ptr_eq(&results[0], &results[3]));
    assert_eq!((results[0].bytes.as_slice(), results[2].bytes.as_slice()), (&b"one"[..], &b"two"[..]));
}

#[test]
fn compilers_that_hang_crash_or_panic_cost_one_request() {
    let pool = pool(PoolOptions { deadline: Duration::from_millis(700), workers: 1, ..options() });
    let class = |code: &str| pool.compile(&request(code)).map_err(|failure| (failure.class, failure.message));
    let start = Instant::now();
    let hung = class("compile-hang").expect_err("it hangs");
    assert!(hung.0 == FailureClass::Timeout && start.elapsed() < Duration::from_secs(5), "{hung:?}");
    let crashed = class("compile-crash").expect_err("it crashes");
    assert!(crashed.0 == FailureClass::Crash && crashed.1.contains("SIGABRT"), "{crashed:?}");
    let panicked = class("compile-panic").expect_err("it panics");
    assert!(panicked.0 == FailureClass::Crash && panicked.1.contains("on purpose"), "{panicked:?}");
    assert!(class("one").is_ok(), "the pool goes on");
}

#[test]
fn a_compiler_that_eats_memory_is_ended() {
    let limits = Limits { memory_bytes: 200 << 20, buffer_bytes: 1 << 20 };
    let failure = pool(PoolOptions { limits, ..options() }).compile(&request("compile-eat")).expect_err("it eats");
    assert_eq!(failure.class, FailureClass::Crash);
    assert!(failure.message.contains("ran out of memory while compiling"), "{failure:?}");
}

#[test]
fn messages_come_back_as_facts_and_a_missing_compiler_is_the_machines_fault() {
    let pool = pool(options());
    let failure = pool.compile(&request("compile-error here")).expect_err("an error");
    assert_eq!(failure.class, FailureClass::Compile);
    assert_eq!(failure.facts, ["error in device code, line 1, column 1: no such word\n>    1 | compile-error here"]);
    assert!(!is_environment(&failure));
    assert!(is_environment(&pool.compile(&request("compile-missing")).expect_err("no compiler")));
}

#[test]
fn artifacts_on_disk_are_used_while_their_toolchain_lasts() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let with = |toolchain: &str| {
        let cache_folder = Some(folder.path().to_owned());
        pool(PoolOptions { cache_folder, toolchain: toolchain.to_owned(), ..options() })
    };
    with("1").compile(&request("one")).expect("it compiles");
    let only = || std::fs::read_dir(folder.path()).expect("the folder is there").count();
    assert_eq!(only(), 1);
    // Damage is seen, and made good.
    let file = folder.path().join(format!("{}.artifact", with("1").key(&request("one"))));
    let whole = std::fs::read(&file).expect("it is kept");
    std::fs::write(&file, &whole[..whole.len() - 1]).expect("it can be damaged");
    assert_eq!(with("1").compile(&request("one")).expect("it compiles").bytes, b"one");
    assert_eq!(std::fs::read(&file).expect("it is kept"), whole);
    with("2").compile(&request("one")).expect("it compiles");
    assert_eq!(only(), 2);
}
