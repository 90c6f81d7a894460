//! The standard library as it ships: every file is clean, every recording can be read, and the prompts of its
//! transformations are short and read well.

use peak::backends::backend;
use peak::context::scope::Facts;
use peak::library::{Loaded, Standard, load};
use peak::lowering::AnswerFormat;
use peak::provider::Recording;
use peak::session::{LowerRequest, ProviderChoice, open_provider, templates};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Bytes of a prompt, at most.
const MAX_PROMPT_BYTES: usize = 24 << 10;

fn library() -> Loaded {
    load(&[], Standard::Embedded)
}

/// The first prompt of a transformation, or of a pass of it, in HLSL; what comes before it is answered by recordings.
fn prompt(transformation: &str, after: &[&str], pass: Option<&str>, device: Option<&str>) -> String {
    let loaded = library();
    let project = tempfile::tempdir().expect("a temporary folder");
    let backend = backend("hlsl").expect("this build has it");
    let device = device.map(|name| loaded.ir.devices.get(name).expect("the library has it"));
    let facts: Facts = device.map(|device| device.facts_for("hlsl")).unwrap_or_default();
    let provider = open_provider(&ProviderChoice::default(), project.path(), loaded.standard()).expect("it opens");
    let after: Vec<String> = after.iter().map(|name| (*name).to_owned()).collect();
    let request = LowerRequest {
        loaded: &loaded,
        transformation,
        kernel: "matmul-f32",
        after: &after,
        backend: backend.as_ref(),
        device,
        facts: &facts,
        provider: provider.as_ref(),
        templates: &templates(loaded.standard()).expect("the templates parse"),
        counters: false,
        format: AnswerFormat::default(),
    };
    let caught = request.prompt(pass, None, &mut |_| {});
    caught.map_err(|error| format!("{error:?}")).expect("a prompt comes").expect("a model is asked").prompt
}

/// What holds of every prompt.
fn assert_reads_well(prompt: &str) {
    assert!(prompt.len() < MAX_PROMPT_BYTES, "{} bytes", prompt.len());
    assert!(!prompt.contains("\n\n\n"), "two blank lines in a row:\n{prompt}");
    assert!(prompt.lines().all(|line| line == line.trim_end()), "a line ends in white space:\n{prompt}");
    for part in ["# 1. ", "# 2. ", "# 3. ", "# 4. ", "# 5. "] {
        let body = prompt.split(part).nth(1).and_then(|rest| rest.split_once("\n\n")).map(|(_, body)| body);
        assert!(body.is_some_and(|body| !body.starts_with("# ")), "part {part}is empty:\n{prompt}");
    }
}

#[test]
fn every_file_is_clean() {
    let loaded = library();
    let complaints: Vec<String> =
        loaded.diagnostics.iter().map(|found| format!("{}: {}: {}", found.file, found.code, found.message)).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
    let files = Standard::Embedded.paths("peak").expect("the list");
    assert!(files.len() >= 9, "{files:?}");
}

#[test]
fn every_recording_can_be_read_and_says_who_answered_and_when() {
    let files = peak_stdlib::files().filter(|(path, _)| path.starts_with("recordings/") && path.contains('/'));
    let recordings: Vec<_> = files.filter(|(path, _)| !path.ends_with("README.md")).collect();
    assert!(!recordings.is_empty());
    for (path, bytes) in recordings {
        let text = std::str::from_utf8(bytes).unwrap_or_else(|error| panic!("{path}: {error}"));
        let Recording { head, completion } = Recording::parse(text).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(!head.model.is_empty() && head.model != "unknown", "{path} names no model");
        let when = OffsetDateTime::parse(&head.recorded, &Rfc3339).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(when.year() >= 2024, "{path}: {when}");
        assert!(!completion.trim().is_empty(), "{path} is empty");
        assert!(
            head.key.len() == 64 && path.ends_with(&format!(".{}.md", &head.key[..8])),
            "{path} is not named by its key"
        );
        let folder = format!("recordings/{}/{}/", head.kernel, head.backend);
        assert!(path.starts_with(&folder), "{path} does not lie in {folder}");
    }
}

#[test]
fn refactor_asks() {
    let prompt = prompt("refactor", &[], None, None);
    assert_reads_well(&prompt);
    assert!(prompt.contains("#define LAUNCH_INDICES"), "the macros were inserted before the model is asked");
    insta::assert_snapshot!(prompt);
}

#[test]
fn tb_tiling_asks_with_a_device() {
    let prompt = prompt("tb-tiling", &["refactor"], None, Some("nvidia-h200"));
    assert_reads_well(&prompt);
    insta::assert_snapshot!(prompt);
}

#[test]
fn thread_tiling_asks() {
    let prompt = prompt("thread-tiling", &["refactor"], None, None);
    assert_reads_well(&prompt);
    insta::assert_snapshot!(prompt);
}

#[test]
fn a_later_region_of_a_later_pass_can_be_shown() {
    let macros = prompt("refactor", &[], Some("name-accesses"), None);
    assert!(macros.contains("## macros (the region to change)"));
    assert!(macros.contains("void matmul(LAUNCH_INDICES)"), "the pass before it was answered by a recording");
    let code = prompt("refactor", &[], Some("name-accesses.device-code"), None);
    assert!(code.contains("## device code (the region to change)"));
    assert!(code.contains("#define LEFT_AT("), "the region before it was answered by a recording");
    assert_reads_well(&macros);
    assert_reads_well(&code);
}

#[test]
fn a_pass_that_is_not_there_is_named_with_those_that_are() {
    let peak = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_peak"))
            .args(["--json", "lower", "-t", "refactor"])
            .args(arguments)
            .env_remove("PEAK_STDLIB")
            .output()
            .expect("peak starts");
        let event: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one event");
        (output.status.code(), event)
    };
    let (code, event) = peak(&["--no-run", "--emit", "prompt", "--pass", "name-acceses"]);
    assert_eq!((code, event["code"].as_str()), (Some(1), Some("peak::unknown-pass")), "{event}");
    assert!(event["help"].as_str().is_some_and(|help| help.contains("name-primitives, name-accesses")), "{event}");
    let (code, event) = peak(&["--no-run", "--pass", "name-accesses"]);
    assert_eq!((code, event["code"].as_str()), (Some(2), Some("peak::usage")), "{event}");
    let (code, event) = peak(&["--no-run", "--emit", "prompt", "--pass", "name-accesses.device-code"]);
    assert_eq!((code, event["event"].as_str()), (Some(0), Some("emitted")), "{event}");
    assert_eq!(
        (event["pass"].as_str(), event["region"].as_str()),
        (Some("name-accesses"), Some("device code")),
        "{event}"
    );
}
