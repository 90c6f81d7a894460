//! `command` with shell scripts: one that answers, hangs, floods, fails, prints its surroundings.

use super::ask::{KEY, Watched, options, request, told};
use peak::preferences::ProviderSettings;
use peak::provider::{Completion, Conduct, MAX_COMPLETION_BYTES, ProviderError, Scrubber, open};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

fn run_with(script: &str, prompt: &str, conduct: Conduct) -> Result<Completion, ProviderError> {
    let program = ["sh", "-c", script].map(str::to_owned).to_vec();
    let settings = ProviderSettings { program: Some(program), ..ProviderSettings::default() };
    open(options("command", settings, conduct))?.complete(&request(prompt))
}

fn run(script: &str, prompt: &str) -> Result<Completion, ProviderError> {
    run_with(script, prompt, Watched::default().conduct(Duration::from_secs(20)))
}

/// Whether a process is there and no zombie.
fn is_alive(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status.rsplit(')').next().unwrap_or_default().trim().chars().next();
    state.is_some_and(|state| state != 'Z' && state != 'X')
}

#[test]
fn it_reads_the_prompt_and_its_output_is_the_completion() {
    let answer = run("tr a-z A-Z; echo noise >&2", "some words\n").expect("answered");
    assert_eq!((answer.text.as_str(), answer.model, answer.usage), ("SOME WORDS\n", None, None));
    // No shell reads the prompt, and a program need not read it all.
    let prompt = format!("$(touch /tmp/never) `id` '; exit 1 {}", "x".repeat(1 << 20));
    assert_eq!(run("head -c 5", &prompt).expect("answered").text, "$(tou");
    assert_eq!(run("echo fine", &prompt).expect("answered").text, "fine\n");
}

#[test]
fn one_that_hangs_is_killed_with_all_that_it_started() {
    let folder = tempfile::tempdir().expect("a folder");
    let pids = folder.path().join("pids");
    let script = format!("sleep 60 & echo $$ $! > {}; wait", pids.display());
    let started = Instant::now();
    let outcome = run_with(&script, "p", Watched::default().conduct(Duration::from_secs(1)));
    assert!(told(&outcome).contains("peak::provider-timeout"), "{}", told(&outcome));
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    let pids = std::fs::read_to_string(pids).expect("it had started");
    assert_eq!(pids.split_whitespace().count(), 2, "{pids}");
    std::thread::sleep(Duration::from_millis(100));
    for pid in pids.split_whitespace() {
        assert!(!is_alive(pid), "process {pid} is still there");
    }
}

#[test]
fn a_stop_kills_it_too() {
    let conduct = Watched::default().conduct(Duration::from_secs(60));
    let stop = std::sync::Arc::clone(&conduct.stop);
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        stop.store(true, Ordering::Relaxed);
    });
    let started = Instant::now();
    let outcome = run_with("sleep 60", "p", conduct);
    assert!(told(&outcome).contains("peak::provider-stopped"), "{}", told(&outcome));
    assert!(started.elapsed() < Duration::from_secs(4));
    stopper.join().expect("it ends");
}

#[test]
fn what_it_does_wrong_is_told() {
    let floods = "head -c 100000000 /dev/zero | tr '\\0' x";
    let scripts = [
        ("it prints 100 MB", floods),
        ("it ends with 1", "echo 'first line' >&2; echo 'quota used up' >&2; exit 1"),
        ("it is killed", "kill -9 $$"),
        ("it says nothing", "echo 'no model is loaded' >&2"),
        ("it prints bytes", "printf '\\377\\376'"),
        ("it floods standard error, and fails", "head -c 10000000 /dev/zero | tr '\\0' e >&2; exit 3"),
    ];
    let told = scripts.map(|(name, script)| format!("{name}\n{}\n", told(&run(script, "p")))).join("\n");
    assert!(told.len() < 10_000 && told.contains(&MAX_COMPLETION_BYTES.to_string()), "{told}");
    insta::assert_snapshot!(told);
    let settings =
        ProviderSettings { program: Some(vec!["/no/such/program".to_owned()]), ..ProviderSettings::default() };
    let provider = open(options("command", settings, Conduct::default())).expect("it opens");
    let outcome = super::ask::told(&provider.complete(&request("p")));
    assert!(outcome.contains("peak::provider-program") && outcome.contains("does not start"), "{outcome}");
}

#[test]
fn what_it_leaves_running_does_not_hold_its_answer() {
    let started = Instant::now();
    assert_eq!(run("sleep 5 & echo done", "p").expect("answered").text, "done\n");
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
}

#[test]
fn its_words_are_scrubbed() {
    let conduct = || Conduct {
        scrubber: Scrubber::new([("MODEL_API_KEY".to_owned(), KEY.to_owned())]),
        ..Watched::default().conduct(Duration::from_secs(20))
    };
    let failed = told(&run_with(&format!("echo 'key {KEY} is wrong' >&2; exit 1"), "p", conduct()));
    assert!(!failed.contains(KEY) && failed.contains("key [secret removed] is wrong"), "{failed}");
    let answer = run_with(&format!("echo {KEY}"), "p", conduct()).expect("answered");
    assert_eq!(answer.text, "[secret removed]\n");
}
