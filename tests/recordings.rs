//! Recordings as a whole: every chain of the library is walked, without a device; what no longer answers is told, and
//! why; what goes is what was said to go.

use crate::program::{Outcome, command, folder, peak};
use crate::resume::Model;
use peak::library::{Standard, load};
use peak::session::{ProviderChoice, RecordingState, Survey};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;

const TINY: &str = include_str!("suite/workflow/tiny.peak");
const RESUMED: &str = include_str!("suite/workflow/resumed.peak");
const MECHANICS: &str = include_str!("suite/workflow/mechanics.peak");

/// A workflow of what [`recorded`] records.
const CHAIN: &str = "
workflow chain
  start from kernel tiny
  apply hold-values
  apply split-k
  apply name-index
";

/// Bytes of a prompt of the library, at most.
const MAX_PROMPT_BYTES: usize = 24 << 10;

fn library() -> Survey {
    let project = tempfile::tempdir().expect("a temporary folder");
    let loaded = load(&[], Standard::Embedded);
    Survey::of(&loaded, &ProviderChoice::default(), project.path()).expect("the library is readable")
}

#[test]
fn every_chain_of_the_library_is_answered_and_every_recording_answers() {
    let survey = library();
    let missing: Vec<String> = survey
        .unanswered()
        .map(|(walked, asked)| format!("{} on {}: {}", walked.workflow, walked.device, asked.identity.stem()))
        .collect();
    assert_eq!(missing, Vec::<String>::new(), "no recording answers");
    let idle: Vec<String> = survey
        .files
        .iter()
        .filter(|file| !matches!(file.state, RecordingState::Answers { .. }))
        .map(|file| format!("{}: {:?}", file.path, file.state))
        .collect();
    assert_eq!(idle, Vec::<String>::new(), "answers nothing");
    let failures: Vec<&String> = survey.walks.iter().flat_map(|walked| &walked.failures).collect();
    assert_eq!(failures, Vec::<&String>::new(), "a recorded answer is rejected");
}

#[test]
fn a_walk_gives_the_same_prompts_and_contexts_each_time() {
    let told = |survey: &Survey| -> String {
        let mut lines = String::new();
        for walked in &survey.walks {
            lines += &format!("{} in {} on {}\n", walked.workflow, walked.backend, walked.device);
            for asked in &walked.asked {
                let (id, sha) = (&asked.identity, &asked.prompt_sha256[..8]);
                lines += &format!("  {} after {}: prompt {sha}\n", id.stem(), id.applied.join("+"));
            }
            for (applied, hash) in &walked.contexts {
                lines += &format!("  context {} after {}\n", &hash[..8], applied.join("+"));
            }
        }
        lines
    };
    let (one, two) = (library(), library());
    assert_eq!(told(&one), told(&two));
    insta::assert_snapshot!(told(&one));
}

/// One for each recorded pass, on the first device that comes to it: to be read as a model reads it.
#[test]
fn the_prompt_of_every_pass() {
    let survey = library();
    let mut seen = std::collections::BTreeSet::new();
    for walked in &survey.walks {
        for asked in &walked.asked {
            let (id, prompt) = (&asked.identity, asked.prompt.as_str());
            let name = format!("{}.{}.{}", id.folder().replace('/', "."), id.stem(), &asked.key[..8]);
            if !seen.insert(name.clone()) {
                continue;
            }
            assert!(prompt.len() < MAX_PROMPT_BYTES, "{name}: {} bytes", prompt.len());
            assert_nothing_twice(&name, prompt);
            insta::with_settings!({ snapshot_path => "snapshots/prompts", prepend_module_to_snapshot => false }, {
                insta::assert_snapshot!(name, prompt);
            });
        }
    }
    assert!(seen.len() >= survey.files.len(), "each recording has a prompt");
}

/// Paragraphs that stand in a prompt twice, fences aside, and parts that are missing.
fn assert_nothing_twice(name: &str, prompt: &str) {
    let mut fenced = false;
    let mut paragraphs = std::collections::BTreeSet::new();
    for paragraph in prompt.split("\n\n") {
        let marks = paragraph.lines().filter(|line| line.starts_with("```")).count();
        let is_code = fenced || marks > 0;
        fenced ^= marks % 2 == 1;
        assert!(is_code || paragraphs.insert(paragraph), "{name} says twice:\n{paragraph}");
    }
    for part in ["# 1. ", "# 2. ", "# 3. ", "# 4. ", "# 5. ", "## macros", "## device code", "## host code"] {
        let count = prompt.lines().filter(|line| line.starts_with(part)).count();
        assert_eq!(count, 1, "{name}: {part}");
    }
    assert_eq!(prompt.matches("(the region to change)").count(), 1, "{name}");
}

/// A project whose three transformations were answered and recorded, no device being asked.
fn recorded() -> tempfile::TempDir {
    let declarations = format!("{TINY}\n{MECHANICS}\n{RESUMED}\n{CHAIN}");
    let folder = folder(&[("mine.peak", &declarations)]);
    lower(folder.path(), "hold-values", "");
    lower(folder.path(), "split-k", "hold-values");
    lower(folder.path(), "name-index", "hold-values,split-k");
    folder
}

fn lower(folder: &Path, transformation: &str, after: &str) {
    let model = Model::answering(&folder.join("mail"));
    let mut arguments = vec!["lower", "mine.peak", "-t", transformation, "-k", "tiny", "--backend", "hlsl", "--device"];
    arguments.extend(["llvmpipe", "--no-run", "--provider", "mailbox", "--mailbox", "mail", "--record", "recordings"]);
    arguments.extend(["--model", "a-test"]);
    if !after.is_empty() {
        arguments.extend(["--after", after]);
    }
    let output = command(folder, &arguments).stdout(Stdio::piped()).output().expect("peak starts");
    model.stop();
    let outcome = Outcome::of(output, folder);
    assert_eq!(outcome.code, 0, "{}{}", outcome.out, outcome.err);
}

fn recordings(folder: &Path, action: &[&str]) -> Outcome {
    peak(folder, &[&["recordings"], action, &["--use", "mine.peak"]].concat())
}

/// `state` and `why` of each recording of a kernel, by transformation, pass and region.
fn states(outcome: &Outcome) -> Vec<(String, String, String)> {
    let word = |event: &Value, name: &str| event[name].as_str().unwrap_or_default().to_owned();
    let mut states: Vec<(String, String, String)> = outcome
        .events()
        .iter()
        .filter(|event| event["event"] == "recording" && event["kernel"] == "tiny")
        .map(|event| {
            let repair = if event["attempt"] == 0 { "" } else { " again" };
            (
                format!("{}.{}{repair}", word(event, "pass"), word(event, "region")),
                word(event, "state"),
                word(event, "why"),
            )
        })
        .collect();
    states.sort();
    states
}

#[test]
fn what_changed_is_told_and_only_what_is_stale_is_pruned() {
    let folder = recorded();
    let check = |more: &[&str]| recordings(folder.path(), &[&["check", "--json", "-q"], more].concat());
    let whole = check(&[]);
    assert_eq!(whole.code, 4, "other workflows of the file ask for more: {}", whole.err);
    let chain: Vec<Value> = whole
        .events()
        .into_iter()
        .filter(|event| event["workflow"] == "chain" && event["device"] == "llvmpipe")
        .collect();
    assert_eq!(chain.len(), 6);
    assert!(chain.iter().all(|prompt| prompt["same_prompt"] == true), "byte for byte as when recorded: {chain:#?}");
    assert!(states(&whole).iter().all(|(_, state, _)| state == "answers"), "{:?}", states(&whole));
    assert_eq!(states(&whole).len(), 6);

    let file = folder.path().join("mine.peak");
    let before = std::fs::read_to_string(&file).expect("readable");
    std::fs::write(&file, before.replace("Hold `row * n` in a variable", "Keep `row * n` in a variable"))
        .expect("written");
    let reworded = check(&[]);
    let start =
        states(&reworded).into_iter().find(|(what, ..)| what == "hold-start.device-code").expect("it is listed");
    assert_eq!((start.1.as_str(), start.2.as_str()), ("stale", "the words of the pass changed"));
    let split = states(&reworded).into_iter().find(|(what, ..)| what == "split.device-code").expect("it is listed");
    assert_eq!(split.1, "unreached", "{split:?}");
    assert!(split.2.contains("nothing answers hold-values.hold-start.device-code before it"), "{split:?}");

    let dry = recordings(folder.path(), &["prune", "--dry-run"]);
    assert!(
        dry.code == 0 && dry.out.contains("would remove") && dry.err.contains("kept 4 recordings"),
        "{}{}",
        dry.out,
        dry.err
    );
    assert_eq!(states(&check(&[])), states(&reworded), "nothing went");
    let pruned = recordings(folder.path(), &["prune"]);
    assert_eq!((pruned.code, pruned.out.lines().count()), (0, 1), "{}", pruned.out);
    let left: Vec<String> = states(&check(&[])).into_iter().map(|(what, ..)| what).collect();
    assert_eq!((left.len(), left.contains(&"hold-start.device-code".to_owned())), (5, false));

    std::fs::write(
        &file,
        before.replace(
            "ACCUMULATOR sum = 0;\n        for (int k",
            "ACCUMULATOR sum = (ACCUMULATOR)0;\n        for (int k",
        ),
    )
    .expect("written");
    let other_code =
        states(&check(&[])).into_iter().find(|(what, ..)| what == "hold-product.device-code").expect("listed");
    assert_eq!((other_code.1.as_str(), other_code.2.as_str()), ("stale", "the code that it is asked about changed"));
}

#[test]
fn a_changed_template_loses_nothing_and_is_told() {
    let folder = recorded();
    let library = folder.path().join("stdlib");
    for (path, bytes) in peak_stdlib::files() {
        let file = library.join(path);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        std::fs::write(file, bytes).expect("written");
    }
    let rules = library.join("prompts/rules.md.j2");
    let text = std::fs::read_to_string(&rules).expect("readable");
    std::fs::write(&rules, text.replace("# 1. Rules", "# 1. The rules")).expect("written");
    let check = command(folder.path(), &["recordings", "check", "--use", "mine.peak", "--json", "-q"])
        .env("PEAK_STDLIB", &library)
        .output()
        .expect("peak starts");
    let outcome = Outcome::of(check, folder.path());
    let own: Vec<Value> = outcome
        .events()
        .into_iter()
        .filter(|event| event["event"] == "recording" && event["kernel"] == "tiny")
        .collect();
    assert_eq!(own.len(), 6);
    assert!(own.iter().all(|event| event["state"] == "answers" && event["same_prompt"] == false), "{own:#?}");
}

#[test]
fn recordings_are_listed_with_who_answered() {
    let folder = recorded();
    let outcome = recordings(folder.path(), &["list"]);
    let own: Vec<&str> = outcome.out.lines().filter(|line| line.starts_with("tiny hlsl")).collect();
    assert_eq!((outcome.code, own.len()), (0, 6), "{}", outcome.out);
    assert!(own.iter().all(|line| line.contains("a-test")), "{own:?}");
    assert!(outcome.out.lines().any(|line| line.contains("split-k.split") && line.contains("device-code, repair 1")));
    std::fs::write(folder.path().join("recordings/tiny/hlsl/start/broken.md"), "no front matter").expect("written");
    let outcome = recordings(folder.path(), &["check"]);
    assert!(outcome.code == 4 && outcome.out.contains("broken.md: it cannot be read"), "{}", outcome.out);
}
