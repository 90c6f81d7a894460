//! The program with models: `peak lower`, `peak run` and `peak doctor` against the server and against scripts.

use super::ask::KEY;
use super::server::{Reply, Server, events, response};
use crate::program::{Outcome, command, folder};
use crate::vulkan;
use peak::store::Store;
use std::path::Path;
use std::process::Stdio;

const UNROLL: &str = include_str!("../suite/lower/unroll-k.peak");
const NAIVE: &str = include_str!("../../stdlib/kernels/matmul/matmul_f32.hlsl");
const TINY: &str = include_str!("../suite/workflow/tiny.peak");
const ASKING: &str = include_str!("../suite/workflow/asking.peak");

/// What a model would answer to the words of `unroll-k`.
fn unrolled() -> String {
    let old = "    for (int k = 0; k < n; ++k) {\n        sum += A[i * n + k] * B[k * n + j];\n    }\n";
    let new = "    for (int k0 = 0; k0 < n; k0 += UNROLL) {\n        [unroll]\n        for (int k = k0; k < k0 + UNROLL; ++k) {\n            sum += A[i * n + k] * B[k * n + j];\n        }\n    }\n";
    assert!(NAIVE.contains(old));
    format!("```hlsl\n{}```\n", NAIVE.replace(old, new))
}

/// An answer of the `openai` kind, with what it took.
fn answer(text: &str) -> Reply {
    let content = serde_json::json!({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]}).to_string();
    events(&[&content, r#"{"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":50}}"#, "[DONE]"])
}

/// A user's `peak.toml` with a server below `openai`.
fn configure(folder: &Path, url: &str) {
    let file = format!(
        "[providers.openai]\nurl = \"{url}\"\nmodel = \"model-1\"\nkey-variable = \"TEST_MODEL_KEY\"\nprice = {{ input = 2, output = 10 }}\n"
    );
    write_own(folder, &file);
}

fn write_own(folder: &Path, text: &str) {
    std::fs::create_dir_all(folder.join("config/peak")).expect("a folder");
    std::fs::write(folder.join("config/peak/peak.toml"), text).expect("written");
}

fn peak(folder: &Path, arguments: &[&str]) -> Outcome {
    let mut command = command(folder, arguments);
    for usual in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"] {
        command.env_remove(usual);
    }
    Outcome::of(command.env("TEST_MODEL_KEY", KEY).output().expect("peak starts"), folder)
}

#[test]
fn a_model_is_asked_over_http_and_its_answer_applied_recorded_and_replayed() {
    let folder = folder(&[("unroll-k.peak", UNROLL)]);
    let server = Server::start(vec![answer(&unrolled())]);
    configure(folder.path(), &server.url());
    let lower = ["lower", "unroll-k.peak", "--no-run", "--backend", "hlsl"];
    let asked = peak(folder.path(), &[&lower[..], &["--provider", "openai", "--record", "recordings"]].concat());
    assert_eq!(asked.code, 0, "{}", asked.err);
    assert!(asked.out.contains("+        [unroll]"), "{}", asked.out);
    assert_eq!(server.requests().len(), 1);
    assert!(server.requests()[0].contains(&format!("Bearer {KEY}")));
    let replayed = peak(folder.path(), &lower);
    assert_eq!((replayed.code, &replayed.out), (0, &asked.out), "{}", replayed.err);
    let source = peak::provider::FolderSource::new(folder.path().join("recordings"));
    let path = &peak::provider::RecordingSource::list(&source, "matmul-f32/hlsl")[0];
    let recording = peak::provider::RecordingSource::read(&source, path).expect("it is there").into_owned();
    assert!(recording.contains("by openai; 1000 tokens in, 50 out, 0.0025 in money"), "{recording}");
}

#[test]
fn a_provider_that_fails_is_exit_code_4_with_its_code() {
    let folder = folder(&[("unroll-k.peak", UNROLL)]);
    let server = Server::start(vec![response("401 No", &[], &format!("{{\"error\": \"{KEY} is wrong\"}}"))]);
    configure(folder.path(), &server.url());
    let lower = ["lower", "unroll-k.peak", "--no-run", "--backend", "hlsl", "--provider", "openai"];
    let outcome = peak(folder.path(), &lower);
    assert_eq!(outcome.code, 4, "{}", outcome.err);
    assert!(outcome.err.contains("peak::provider-key") && outcome.err.contains("TEST_MODEL_KEY"), "{}", outcome.err);
    assert!(!outcome.err.contains(KEY), "{}", outcome.err);
    // An address from the command line gets no key that was meant for another.
    let other = Server::start(vec![response("401 No", &[], "")]);
    let outcome = peak(folder.path(), &[&lower[..], &["--url", &other.url()]].concat());
    assert_eq!(outcome.code, 4, "{}", outcome.err);
    assert!(!other.requests()[0].contains(KEY), "{}", other.requests()[0]);
    let none = peak(folder.path(), &[&lower[..6], &["anthropic", "--model", "m"]].concat());
    assert!(none.code == 4 && none.err.contains("peak::provider-not-ready"), "{}", none.err);
    let unused = peak(folder.path(), &[&lower[..5], &["--url", "http://localhost:1"]].concat());
    assert!(unused.code == 2 && unused.err.contains("of no use"), "{}", unused.err);
}

#[test]
fn doctor_says_who_is_ready_and_calls_when_asked() {
    let folder = folder(&[]);
    let server = Server::start(vec![answer("ready")]);
    configure(folder.path(), &server.url());
    let told = peak(folder.path(), &["doctor", "--json"]).events();
    let ready = |name: &str| {
        let found = told.iter().find(|event| event["event"] == "provider" && event["name"] == name);
        found.map(|event| event["ready"].clone()).unwrap_or_default()
    };
    assert_eq!((ready("openai"), ready("recorded"), ready("mailbox")), (true.into(), true.into(), true.into()));
    assert_eq!((ready("anthropic"), ready("gemini"), ready("command")), (false.into(), false.into(), false.into()));
    assert!(server.requests().is_empty(), "nobody is asked without `--call`");
    let called = peak(folder.path(), &["doctor", "--call", "openai"]);
    assert_eq!(called.code, 0, "{}", called.err);
    assert!(called.out.contains("openai answers") && called.out.contains("1000 tokens in"), "{}", called.out);
    assert!(server.requests()[0].contains("\"max_tokens\":1}"), "{}", server.requests()[0]);
    assert!(!format!("{}{}", called.out, called.err).contains(KEY));
    let refused = peak(folder.path(), &["doctor", "--call", "recorded"]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    // A model that reasons spends its one token on that.
    let silent = r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#;
    let server = Server::start(vec![events(&[silent, "[DONE]"])]);
    configure(folder.path(), &server.url());
    assert_eq!(peak(folder.path(), &["doctor", "--call", "openai"]).code, 0);
    let server = Server::start(vec![response("404 No", &[], "{\"error\":\"no such model\"}")]);
    configure(folder.path(), &server.url());
    let failed = peak(folder.path(), &["doctor", "--call", "openai"]);
    assert!(failed.code == 4 && failed.err.contains("no such model"), "{}", failed.err);
}

#[test]
fn a_file_with_a_key_is_refused_by_whatever_reads_it() {
    let folder = folder(&[("peak.toml", "[providers.openai]\nkey = \"sk-secret-value\"\n")]);
    for arguments in [&["doctor"][..], &["run", "matmul-f32"], &["lower", "-t", "refactor", "--no-run"]] {
        let outcome = peak(folder.path(), arguments);
        assert_eq!(outcome.code, 1, "{arguments:?}: {}", outcome.err);
        let words = outcome.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("peak::configuration-secret") && !words.contains("sk-secret"), "{words}");
    }
}

#[test]
fn a_spent_budget_ends_a_run_at_its_last_checkpoint() {
    if vulkan::device().is_none() {
        return;
    }
    let folder = folder(&[("mine.peak", &format!("{TINY}\n{ASKING}"))]);
    let server = Server::start(vec![answer("```hlsl\n#define ONE 1\n```\n"), answer("```hlsl\n#define TWO 2\n```\n")]);
    configure(folder.path(), &server.url());
    let run =
        ["run", "two-questions", "--use", "mine.peak", "--provider", "openai", "--json", "--record", "recordings"];
    let ended = peak(folder.path(), &[&run[..], &["--budget-calls", "1"]].concat());
    assert_eq!(ended.code, 4, "{}{}", ended.out, ended.err);
    let events = ended.events();
    let steps: Vec<_> = events.iter().filter(|event| event["event"] == "step").map(|step| &step["name"]).collect();
    assert_eq!(steps, ["baseline", "define-one"], "what was cut short is no failed step, and nothing comes after");
    let finished = events.last().expect("an event");
    assert_eq!(finished["stopped"], "provider: the budget is spent: 1 of 1 calls");
    assert_eq!(finished["usage"]["money_millionths"], 2500);
    let words = ended.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("peak::budget-spent") && words.contains("--budget-calls"), "{words}");
    assert_eq!(server.requests().len(), 1);
    // With more to spend it goes on: what was answered is not asked again.
    let whole = peak(folder.path(), &[&run[..], &["--budget-calls", "1", "--budget-money", "0.1"]].concat());
    assert_eq!(whole.code, 0, "{}{}", whole.out, whole.err);
    assert_eq!(server.requests().len(), 2);
    let store = Store::find(folder.path()).expect("it opens");
    let kept = store.attempts(1, "define-one").expect("read");
    assert_eq!(kept[0].usage.and_then(|usage| usage.money_millionths), Some(2500));
    assert!(!format!("{}{}{}{}", ended.out, ended.err, whole.out, whole.err).contains(KEY));
}

#[test]
fn branches_that_ask_are_asked_together() {
    if vulkan::device().is_none() {
        return;
    }
    let folder = folder(&[("mine.peak", &format!("{TINY}\n{ASKING}"))]);
    // Each answers only while the other is under way: one after the other, neither would.
    let meet = "#!/bin/sh\nwords=$(cat)\ncase $words in *'macro ONE'*) me=one; you=two;; *) me=two; you=one;; esac\n\
                touch $me\nfor i in $(seq 100); do [ -e $you ] && break; sleep 0.05; done\n[ -e $you ] || exit 1\n\
                printf '```hlsl\\n#define %s 1\\n```\\n' $(echo $me | tr a-z A-Z)\n";
    std::fs::write(folder.path().join("meet.sh"), meet).expect("written");
    write_own(folder.path(), "[providers.command]\nprogram = [\"sh\", \"meet.sh\"]\n");
    let run = ["run", "two-branches", "--use", "mine.peak", "--provider", "command", "--json"];
    let outcome = peak(folder.path(), &run);
    assert_eq!(outcome.code, 0, "{}{}", outcome.out, outcome.err);
    let events = outcome.events();
    let accepted: Vec<_> = events.iter().filter(|event| event["verdict"] == "accepted").map(|e| &e["name"]).collect();
    assert_eq!(accepted, ["baseline", "define-one", "define-two"]);
}

#[test]
fn an_interrupt_stops_a_program_that_is_asked() {
    let folder = folder(&[("unroll-k.peak", UNROLL)]);
    write_own(folder.path(), "[providers.command]\nprogram = [\"sh\", \"-c\", \"echo $$ > pid; exec sleep 60\"]\n");
    let lower = ["lower", "unroll-k.peak", "--no-run", "--backend", "hlsl", "--provider", "command"];
    let mut started = command(folder.path(), &lower);
    let child = started.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("peak starts");
    let pid = folder.path().join("pid");
    let asked = std::time::Instant::now();
    while std::fs::read_to_string(&pid).unwrap_or_default().trim().is_empty() {
        assert!(asked.elapsed().as_secs() < 20, "the program was not started");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT)
        .expect("it is still running");
    let outcome = Outcome::of(child.wait_with_output().expect("it ends"), folder.path());
    assert_eq!(outcome.code, 130, "{}", outcome.err);
    assert!(outcome.err.contains("peak::provider-stopped"), "{}", outcome.err);
    let pid = std::fs::read_to_string(pid).expect("it was written");
    assert!(!Path::new(&format!("/proc/{}", pid.trim())).exists(), "the program is gone");
}

#[test]
fn a_key_is_kept_in_the_keyring_found_and_forgotten() {
    // A container may forbid the kernel's keyring; then that is said, and there is nothing to find.
    let folder = folder(&[]);
    let keep = |key: &str| {
        let mut started = command(folder.path(), &["doctor", "--keep-key", "peak-test-provider"]);
        let mut child =
            started.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
        std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), key.as_bytes()).expect("read");
        Outcome::of(child.wait_with_output().expect("it ends"), folder.path())
    };
    assert_eq!(keep("\n").code, 2);
    let kept = keep(&format!("{KEY}\n"));
    assert!(!format!("{}{}", kept.out, kept.err).contains(KEY));
    if kept.code == 4 {
        assert!(kept.err.contains("peak::provider-not-ready"), "{}", kept.err);
        crate::skipped::skip("keyring", "this system forbids the kernel's keyring");
        return;
    }
    assert_eq!(kept.code, 0, "{}", kept.err);
    let server = Server::start(vec![answer("ready")]);
    write_own(
        folder.path(),
        &format!("[providers.peak-test-provider]\nkind = \"openai\"\nurl = \"{}\"\nmodel = \"m\"\n", server.url()),
    );
    let called = peak(folder.path(), &["doctor", "--call", "peak-test-provider"]);
    assert_eq!(called.code, 0, "{}", called.err);
    assert!(server.requests()[0].contains(&format!("Bearer {KEY}")));
    assert_eq!(peak(folder.path(), &["doctor", "--forget-key", "peak-test-provider"]).code, 0);
    peak(folder.path(), &["doctor", "--call", "peak-test-provider"]);
    assert!(!server.requests()[1].contains(KEY), "it is forgotten");
}
