//! Workflows on the device, at sizes that take milliseconds and with transformations that ask no model. Run as the
//! program, since its events and exit codes are the contract.

use crate::program::{Outcome, command, folder, peak};
use crate::vulkan;
use peak::library::{Standard, load};
use peak::session::{ProviderChoice, open_provider, start_context, templates};
use peak::store::{RunStatus, Store};
use peak::tune::TuneTiming;
use peak::workflow::{Answer, Environment, Observer, Options, Progress, Question, Row, Verdict};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::AtomicBool;

const TINY: &str = include_str!("suite/workflow/tiny.peak");
const MECHANICS: &str = include_str!("suite/workflow/mechanics.peak");

/// A folder with the kernel, mechanical transformations and their workflows; `None` without a device.
fn project() -> Option<tempfile::TempDir> {
    vulkan::device()?;
    Some(folder(&[("mine.peak", &format!("{TINY}\n{MECHANICS}"))]))
}

fn run(folder: &Path, workflow: &str, more: &[&str]) -> Outcome {
    peak(folder, &[&["run", workflow, "--use", "mine.peak"], more].concat())
}

/// The `step` events, then the last event.
fn steps(outcome: &Outcome) -> (Vec<Value>, Value) {
    let mut events = outcome.events();
    let last = events.pop().expect("an event");
    assert_eq!(last["event"], "finished", "the last event");
    events.retain(|event| event["event"] == "step");
    (events, last)
}

fn column<'a>(steps: &'a [Value], field: &str) -> Vec<&'a str> {
    steps.iter().map(|step| step[field].as_str().unwrap_or_default()).collect()
}

#[test]
fn every_construct_is_carried_out_and_told_as_the_contract_says() {
    let Some(folder) = project() else { return };
    let outcome = run(folder.path(), "mechanics", &["--json", "-q"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let (steps, finished) = steps(&outcome);
    let names = ["baseline", "rename-sum", "half-grid", "add-macro", "same-grid", "same-grid", "add-macro"];
    assert_eq!(column(&steps, "name"), names, "`repeat` ends after one round: no gain is so large");
    for (index, step) in steps.iter().enumerate() {
        assert_eq!(step["index"], index, "{step}");
        assert_eq!(step["inputs"], serde_json::json!({ "n": 64 }));
        assert_eq!((&step["backend"], &step["runtime"]), (&"hlsl".into(), &"vulkan".into()));
        assert!(step["device"].is_string() && step["configuration"].is_object(), "{step}");
        match step["name"] == "half-grid" {
            true => is_failed(step),
            false => is_accepted(step),
        }
    }
    // `restore` goes back to before the grid was written out: the macro is added to the renamed kernel again.
    assert_eq!(steps[6]["configuration"].as_object().map(|names| names.contains_key("STEP")), Some(true));
    assert_eq!((&finished["workflow"], &finished["steps"]), (&"mechanics".into(), &7.into()));
    assert_eq!((&finished["accepted"], &finished["stopped"]), (&6.into(), &Value::Null));
    is_best(&finished, &steps);
    let log = peak(folder.path(), &["log"]);
    assert!(log.out.contains("1/renamed"), "the checkpoint has the workflow's name: {}", log.out);
    // The name in the event still leads to it.
    assert_eq!(peak(folder.path(), &["show", "1/rename-sum"]).code, 0);
}

fn is_accepted(step: &Value) {
    assert_eq!((&step["verdict"], &step["failure_class"]), (&"accepted".into(), &Value::Null), "{step}");
    assert_eq!(step["verified_by"], serde_json::json!(["outputs"]));
    for number in ["time_ns_median", "speedup_step", "speedup_total"] {
        assert!(step[number].as_f64().is_some_and(|number| number > 0.0), "{number}: {step}");
    }
}

fn is_failed(step: &Value) {
    assert_eq!((&step["verdict"], &step["failure_class"]), (&"failed".into(), &"results".into()), "{step}");
    assert_eq!((&step["time_ns_median"], &step["verified_by"]), (&Value::Null, &serde_json::json!([])));
}

/// The best is the fastest accepted step, named by its checkpoint.
fn is_best(finished: &Value, steps: &[Value]) {
    let time = |step: &Value| step["time_ns_median"].as_f64();
    let least = steps.iter().filter_map(time).fold(f64::INFINITY, f64::min);
    let best = &finished["best"];
    assert_eq!(best["time_ns_median"].as_f64(), Some(least));
    let speedup = time(&steps[0]).expect("the baseline is timed") / least;
    assert!(best["speedup_total"].as_f64().is_some_and(|told| (told / speedup - 1.0).abs() < 1e-9), "{best}");
    assert!(best["checkpoint"].is_string(), "{best}");
}

#[test]
fn a_second_run_reuses_what_was_steady_and_says_so() {
    let Some(folder) = project() else { return };
    let first = run(folder.path(), "short", &["--json", "-q"]);
    let (_, finished) = steps(&first);
    assert_eq!((first.code, &finished["reused"]["measurements"]), (0, &0.into()), "{}", first.err);
    let (anew, kept) = (finished["reused"]["measured"].as_u64(), run(folder.path(), "short", &["--json", "-q"]));
    assert_eq!(kept.code, 0, "{}", kept.err);
    let (_, finished) = self::steps(&kept);
    let reused = &finished["reused"];
    // Times that varied are taken anew, and may give another winner to validate: how many is the machine's to say.
    assert!(reused["measured"].as_u64() <= anew && reused["asked"] == 0, "{reused}");
    let all = |counts: [&str; 2]| counts.iter().filter_map(|count| reused[count].as_u64()).sum::<u64>();
    assert_eq!(Some(all(["measurements", "measured"])), anew, "each is one or the other: {reused}");
    assert!(all(["validations", "validated"]) > 0, "{reused}");
    let told = run(folder.path(), "short", &["-q"]).out;
    assert!(told.contains("reused (unless `--fresh`): ") && told.contains(" 0 asked"), "{told}");
    let fresh = run(folder.path(), "short", &["--fresh", "--json", "-q"]);
    let (_, finished) = steps(&fresh);
    assert_eq!((&finished["reused"]["measurements"], &finished["reused"]["validations"]), (&0.into(), &0.into()));
}

#[test]
fn a_change_that_changes_nothing_is_no_slow_down() {
    let Some(folder) = project() else { return };
    let (steps, _) = steps(&run(folder.path(), "twice", &["--json", "-q"]));
    let steady = !varied(&steps[1]) && !varied(&steps[2]);
    assert_eq!(column(&steps[..2], "verdict"), ["accepted"; 2]);
    assert!(!steady || steps[2]["verdict"] == "accepted", "{}", steps[2]);
    // The context is the same, so its time is too.
    assert!(is_time_kept(&steps[1], &steps[2]), "{} {}", steps[1], steps[2]);
    assert!(steps[2]["reason"].is_null() || varied(&steps[1]), "{} {}", steps[1], steps[2]);
}

#[test]
fn a_try_that_is_right_and_slower_is_rejected_and_kept_aside() {
    let Some(folder) = project() else { return };
    let (steps, finished) = steps(&run(folder.path(), "cautious", &["--json", "-q"]));
    assert_eq!(column(&steps, "verdict"), ["accepted", "rejected"]);
    assert_eq!((&steps[1]["failure_class"], &steps[1]["verified_by"][0]), (&Value::Null, &"outputs".into()));
    assert!(steps[1]["speedup_step"].as_f64().is_some_and(|speedup| speedup < 1.0), "{}", steps[1]);
    assert_eq!((&finished["accepted"], &finished["best"]["checkpoint"]), (&1.into(), &"1/baseline".into()));
    assert_eq!(peak(folder.path(), &["show", "1/slow-down"]).code, 0);
    assert!(peak(folder.path(), &["log"]).out.contains("* 1/baseline"), "the run stays at the baseline");
}

/// A run whose model is a folder with its answers in it already.
fn answered(folder: &Path, workflow: &str, answers: &[&str], more: &[&str]) -> Outcome {
    std::fs::create_dir_all(folder.join("mail")).expect("a folder");
    for (number, answer) in (1..).zip(answers) {
        std::fs::write(folder.join(format!("mail/{number:03}.completion.md")), answer).expect("written");
    }
    let mailbox = ["--provider", "mailbox", "--mailbox", "mail", "--timeout", "5", "--json", "-q"];
    run(folder, workflow, &[&mailbox, more].concat())
}

#[test]
fn a_model_chooses_among_what_applies_and_is_corrected() {
    let Some(folder) = project() else { return };
    let answers = ["turbo", "```text\nslow-down\n```"];
    let first = answered(folder.path(), "choosy", &answers, &["--record", "recordings"]);
    assert_eq!(first.code, 0, "{}{}", first.out, first.err);
    let (rows, finished) = steps(&first);
    let names = ["baseline", "slow-down", "same-grid", "compare with cublas", "add-macro"];
    assert_eq!(column(&rows, "name"), names, "what was tried is not asked again, and one that is left is taken");
    assert_eq!(
        (&rows[1]["verdict"], &rows[1]["model_calls"], &rows[1]["repairs"]),
        (&"rejected".into(), &2.into(), &1.into())
    );
    assert_eq!((&rows[2]["model_calls"], &rows[4]["model_calls"]), (&0.into(), &0.into()), "nobody is asked");
    assert_eq!((&rows[3]["verdict"], &rows[3]["failure_class"]), (&"skipped".into(), &Value::Null));
    assert!(rows[3]["reason"].as_str().is_some_and(|why| why.contains("not compared")), "{}", rows[3]);
    assert_eq!(finished["reused"]["asked"], 2);
    let replayed = run(folder.path(), "choosy", &["--json", "-q"]);
    let (rows, finished) = steps(&replayed);
    assert_eq!(
        (replayed.code, &finished["reused"]["asked"], &finished["reused"]["completions"]),
        (0, &0.into(), &2.into())
    );
    assert_eq!(column(&rows, "name"), names);
}

#[test]
fn a_choice_that_nobody_makes_ends_the_run() {
    let Some(folder) = project() else { return };
    let outcome = run(folder.path(), "choosy", &["--json", "-q"]);
    assert_eq!(outcome.code, 4, "{}", outcome.err);
    let (rows, _) = steps(&outcome);
    assert_eq!((&rows[1]["name"], &rows[1]["failure_class"]), (&"let the model choose".into(), &"provider".into()));
}

#[test]
fn an_apply_is_repaired_as_often_as_the_workflow_says() {
    let Some(folder) = project() else { return };
    let fenced = |text: &str| format!("```hlsl\n{text}\n```");
    // Two wrong ones that differ: what failed in the same way is asked in the same words, and not answered anew.
    let answers = ["#define THREE 3", "#define FOUR 4", "#define TWO 2"].map(fenced);
    let answers = answers.each_ref().map(String::as_str);
    let once = answered(folder.path(), "one-repair", &answers, &[]);
    let (rows, _) = steps(&once);
    assert_eq!((once.code, column(&rows, "verdict")), (5, vec!["accepted", "failed"]), "{}", once.err);
    assert_eq!((&rows[1]["model_calls"], &rows[1]["repairs"]), (&2.into(), &1.into()), "{}", rows[1]);
    let Some(folder) = project() else { return };
    let twice = answered(folder.path(), "two-repairs", &answers, &[]);
    let (rows, _) = steps(&twice);
    assert_eq!((twice.code, column(&rows, "verdict")), (0, vec!["accepted"; 3]), "{}", twice.err);
    assert_eq!((&rows[1]["model_calls"], &rows[1]["repairs"]), (&3.into(), &2.into()), "{}", rows[1]);
}

#[test]
fn the_fastest_valid_branch_goes_on() {
    let Some(folder) = project() else { return };
    let outcome = run(folder.path(), "fastest-of-three", &["--json", "-q"]);
    let (rows, _) = steps(&outcome);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let wrong = rows.iter().find(|row| row["name"] == "half-grid").expect("a row of the wrong branch");
    assert_eq!(wrong["verdict"], "failed", "a branch that is wrong costs only itself");
    // A hundred times the reads are slower on any device: the branch of two steps goes on.
    let last = peak(folder.path(), &["show", "1/add-macro"]);
    assert!(last.out.contains("ACCUMULATOR total") && !last.out.contains("100 * n"), "{}{}", last.out, last.err);
}

#[test]
fn where_nobody_is_there_to_ask_the_run_ends() {
    let Some(folder) = project() else { return };
    let outcome = run(folder.path(), "asks", &[]);
    assert_eq!(outcome.code, 5, "{}", outcome.err);
    assert!(outcome.err.contains("nobody is there to ask"), "{}", outcome.err);
}

#[test]
fn what_is_checked_and_not_carried_out_says_so() {
    let Some(folder) = project() else { return };
    let search = run(folder.path(), "searches", &["-q"]);
    assert!(search.code == 1 && search.err.contains("`search` is not built yet"), "{}", search.err);
    let build =
        "build all-of-it\n  kernels tiny\n  sizes n in 32, 64\n  for devices llvmpipe\n  using workflow short\n";
    std::fs::write(folder.path().join("build.peak"), build).expect("written");
    let build = run(folder.path(), "all-of-it", &["--use", "build.peak", "-q"]);
    assert!(build.code == 1 && build.err.contains("(2 combinations) is not built yet"), "{}", build.err);
}

#[test]
fn a_failing_apply_ends_the_run_at_the_best_verified_kernel() {
    let Some(folder) = project() else { return };
    let outcome = run(folder.path(), "stumbles", &["--json"]);
    assert_eq!(outcome.code, 5, "{}", outcome.err);
    let (steps, finished) = steps(&outcome);
    assert_eq!(column(&steps, "verdict"), ["accepted", "accepted", "failed"], "nothing runs after it");
    assert_eq!(finished["stopped"], "results: wrong results in C");
    is_best(&finished, &steps);
    let words = outcome.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("half-grid was not applied: peak::failed-results"), "{}", outcome.err);
    assert!(words.contains("pattern: never written") && words.contains("The run ended early"), "{}", outcome.err);
    assert_eq!(status(folder.path()), RunStatus::Failed);
    let store = Store::find(folder.path()).expect("it opens");
    let current = store.current().expect("read").expect("one is current");
    let name = store.checkpoint(current).expect("read").expect("it is there").full_name();
    assert_eq!(finished["best"]["checkpoint"], name);
}

#[test]
fn the_table_and_what_to_do_next_are_for_people() {
    let Some(folder) = project() else { return };
    let outcome = run(folder.path(), "stumbles", &[]);
    let next = outcome.out.split("next: ").nth(1).expect("what to do next");
    for line in next.lines().map(|line| line.trim().split("   ").next().unwrap_or_default()) {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        assert_eq!(peak(folder.path(), &words).code, 0, "`{line}` works as it stands");
    }
    assert!(outcome.out.contains("failed (results)"), "{}", outcome.out);
}

#[test]
fn an_interrupt_stops_cleanly_and_the_next_run_goes_on() {
    let Some(folder) = project() else { return };
    let mut child = command(folder.path(), &["run", "long", "--use", "mine.peak", "--json", "-q"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("peak starts");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut first = String::new();
    out.read_line(&mut first).expect("the baseline's event");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it is still running");
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut out, &mut rest).expect("the other events");
    let outcome = child.wait().expect("it ends");
    assert_eq!(outcome.code(), Some(130), "{first}{rest}");
    let last: Value = serde_json::from_str(rest.lines().last().expect("an event")).expect("JSON");
    assert_eq!((&last["event"], &last["stopped"]), (&"finished".into(), &"stopped on request".into()));
    assert!(last["steps"].as_u64().is_some_and(|steps| steps < 40), "{last}");
    assert!(!rest.contains("\"failed\""), "what was cut short did not fail: {rest}");
    assert_eq!(status(folder.path()), RunStatus::Stopped);
    let again = run(folder.path(), "long", &["--json", "-q"]);
    let (steps, finished) = steps(&again);
    let before: Value = serde_json::from_str(&first).expect("JSON");
    assert_eq!((again.code, &finished["steps"], &finished["stopped"]), (0, &41.into(), &Value::Null));
    assert!(is_time_kept(&before, &steps[0]), "the baseline is not measured again: {before} {}", steps[0]);
}

/// Whether a later row has the time of an earlier one. A time that varied is taken anew, and so is that of a
/// configuration which then comes out first.
fn is_time_kept(earlier: &Value, later: &Value) -> bool {
    let is_same = |field: &str| earlier[field] == later[field];
    is_same("time_ns_median") || !is_same("configuration") || varied(earlier)
}

/// Whether a row says that its times vary.
fn varied(row: &Value) -> bool {
    row["notes"].to_string().contains("its times vary by")
}

/// The status of the newest run.
fn status(folder: &Path) -> RunStatus {
    let store = Store::find(folder).expect("the store opens");
    store.runs().expect("read").into_iter().max_by_key(|run| run.id).expect("a run").status
}

/// Somebody at a terminal, whose answers are known beforehand.
#[derive(Default)]
struct Person {
    answers: Vec<Answer>,
    questions: Vec<(String, String)>,
    rows: Vec<(String, Verdict)>,
}

impl Observer for Person {
    fn progress(&mut self, _: &Progress) {}

    fn rows(&mut self, rows: &[Row]) {
        self.rows.extend(rows.iter().map(|row| (row.name.clone(), row.verdict)));
    }

    fn note(&mut self, _: &str) {}

    fn ask(&mut self, question: &Question<'_>) -> Answer {
        self.questions.push((question.step.to_owned(), question.standing.to_owned()));
        self.answers.remove(0)
    }

    fn cancelled(&self) -> bool {
        false
    }
}

/// A run of the workflow by a person; none without a device.
fn asked(workflow: &str, answers: &[Answer]) -> Option<Person> {
    let folder = project()?;
    let loaded = load(&[folder.path().join("mine.peak")], Standard::Embedded);
    let mut machine = vulkan::machine(&loaded.ir)?;
    let workflow = loaded.ir.workflows.iter().find(|own| own.name == workflow).expect("it is declared");
    let context = start_context(&loaded, &workflow.kernel, "hlsl").expect("its code is inline");
    let provider = open_provider(&ProviderChoice::default(), folder.path(), loaded.standard()).expect("recordings");
    let templates = templates(loaded.standard()).expect("the library has them");
    let mut store = Store::open(folder.path()).expect("a store");
    let cancelled = AtomicBool::new(false);
    let parts = machine.parts();
    let mut environment = Environment {
        library: &loaded.ir,
        info: parts.info,
        device: parts.device,
        facts: parts.facts,
        backend: parts.backend,
        toolchain: parts.toolchain,
        compile: parts.compile,
        execute: parts.execute,
        provider: provider.as_ref(),
        replays: true,
        templates: &templates,
        format: peak::lowering::AnswerFormat::default(),
        store: &mut store,
        timing: TuneTiming::for_device(parts.info.kind),
        options: Options::default(),
        cancelled: &cancelled,
    };
    let mut person = Person { answers: answers.to_vec(), ..Person::default() };
    peak::workflow::run(workflow, context, &mut environment, &mut person).expect("the run ends well");
    Some(person)
}

#[test]
fn a_person_who_is_asked_tries_again_and_goes_on_without() {
    let Some(person) = asked("asks-and-goes-on", &[Answer::Retry, Answer::Skip]) else { return };
    let names: Vec<(&str, Verdict)> = person.rows.iter().map(|(name, verdict)| (name.as_str(), *verdict)).collect();
    assert_eq!(
        names,
        [
            ("baseline", Verdict::Accepted),
            ("half-grid", Verdict::Failed),
            ("half-grid", Verdict::Failed),
            ("same-grid", Verdict::Accepted)
        ]
    );
    let question = ("half-grid".to_owned(), "baseline".to_owned());
    assert_eq!(person.questions, [question.clone(), question]);
}

#[test]
fn a_person_who_says_stop_ends_the_run() {
    let Some(person) = asked("asks-and-goes-on", &[Answer::Stop]) else { return };
    let last = person.rows.last().expect("a row");
    assert_eq!((last.0.as_str(), last.1, person.questions.len()), ("half-grid", Verdict::Failed, 1));
}
