//! Providers: recordings found by what counts, the mailbox resumed, completions recorded byte for byte.

use super::fixture::Scripted;
use peak::context::Regions;
use peak::preferences::ProviderSettings;
use peak::provider::{
    CompletionRequest, Conduct, EmbeddedSource, FolderSource, KeyFacts, KeyParts, Keys, Mailbox, ParentAnswer,
    Provider, ProviderError, ProviderOptions, Record, Recorded, Recording, RecordingSource, RequestIdentity, Scrubber,
    open,
};
use peak_grammar::ir::{Region, SettingValue};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

fn request(prompt: &str) -> CompletionRequest {
    let identity = RequestIdentity {
        kernel: "matmul-f32".to_owned(),
        backend: "hlsl".to_owned(),
        applied: vec!["refactor".to_owned()],
        transformation: "tb-tiling".to_owned(),
        pass: "stage-tiles".to_owned(),
        region: Some(Region::DeviceCode),
        repair: 0,
    };
    CompletionRequest {
        prompt: prompt.to_owned(),
        identity,
        key: peak::hash::hex(b"what counts"),
        parts: KeyParts::default(),
    }
}

fn key_facts() -> KeyFacts {
    KeyFacts {
        backend: "hlsl".to_owned(),
        element: "f32".to_owned(),
        accumulator: "f32".to_owned(),
        region: Region::DeviceCode,
        words: "Stage the tiles.".to_owned(),
        knowledge: vec!["Threads run one by one.".to_owned()],
        regions: Regions {
            macros: "#define X 1\n".to_owned(),
            device_code: "float f() { return X; }\n".to_owned(),
            host_code: "launch f\n  grid 1\n  block 1\n".to_owned(),
        },
        settings: BTreeMap::new(),
        parent: None,
    }
}

fn recorded(folder: &Path) -> Recorded {
    Recorded::new(vec![Box::new(FolderSource::new(folder))])
}

#[test]
fn what_is_recorded_comes_back_byte_for_byte() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let answer = "words +++\n+++\n```hlsl\ncode\r\n```\n\nno line end";
    let record = Record::new(Box::new(Scripted::new(&[answer.to_owned()])), folder.path(), Scrubber::default());
    assert_eq!(record.complete(&request("p")).expect("answered").text, answer);
    let path = folder.path().join("matmul-f32/hlsl/refactor");
    let file = std::fs::read_dir(&path).expect("the folder").next().expect("one file").expect("readable").path();
    let name = format!("tb-tiling.stage-tiles.device-code.{}.md", &request("p").key[..8]);
    assert_eq!(file.file_name().and_then(|name| name.to_str()), Some(name.as_str()));
    let again = recorded(folder.path()).complete(&request("another prompt")).expect("found by its key");
    assert_eq!((again.text.as_str(), again.model.as_deref()), (answer, Some("scripted-1")));
    let recording = Recording::parse(&std::fs::read_to_string(file).expect("readable")).expect("parses");
    assert_eq!(recording.head.prompt_sha256, peak::hash::hex(b"p"));
    assert_eq!(recording.head.attempt, 0);
}

#[test]
fn recordings_are_not_asked_for_twice_and_prompts_lie_aside() {
    let (folder, aside) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let record = Record::new(Box::new(Scripted::new(&["one".to_owned()])), folder.path(), Scrubber::default())
        .with_prompts(aside.path())
        .reusing(recorded(folder.path()));
    assert_eq!(record.complete(&request("p")).expect("asked").text, "one");
    assert_eq!(record.complete(&request("p")).expect("known").text, "one", "the script has one answer");
    let kept = FolderSource::new(aside.path()).list("matmul-f32/hlsl");
    assert!(matches!(kept.as_slice(), [path] if path.ends_with(".prompt.md")), "{kept:?}");
}

#[test]
fn secrets_are_not_recorded() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let variables = [("MODEL_API_KEY", "sk-0123456789"), ("SHORT_KEY", "abc"), ("HOME", "/home/someone")];
    let scrubber = Scrubber::new(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let inner = Scripted::new(&["sk-0123456789 abc /home/someone".to_owned()]);
    let answer = Record::new(Box::new(inner), folder.path(), scrubber).complete(&request("p")).expect("answered");
    assert_eq!(answer.text, "[secret removed] abc /home/someone");
    assert_eq!(recorded(folder.path()).complete(&request("p")).expect("recorded").text, answer.text);
}

#[test]
fn the_projects_recordings_come_before_the_librarys() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let library = |text: &str| {
        let made = tempfile::tempdir().expect("a temporary folder");
        let record = Record::new(Box::new(Scripted::new(&[text.to_owned()])), made.path(), Scrubber::default());
        record.complete(&request("p")).expect("recorded");
        let path = request("p").identity.path(&request("p").key);
        let file = std::fs::read_to_string(made.path().join(&path)).expect("written");
        EmbeddedSource::new("the standard library", [(path, file.into())])
    };
    let sources = || -> Vec<Box<dyn RecordingSource>> {
        vec![Box::new(FolderSource::new(folder.path())), Box::new(library("from the library"))]
    };
    assert_eq!(Recorded::new(sources()).complete(&request("p")).expect("found").text, "from the library");
    let own = Scripted::new(&["the project's own".to_owned()]);
    Record::new(Box::new(own), folder.path(), Scrubber::default()).complete(&request("p")).expect("recorded");
    assert_eq!(Recorded::new(sources()).complete(&request("p")).expect("found").text, "the project's own");
}

#[test]
fn the_same_code_by_another_history_finds_its_recording() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let inner = Scripted::new(&["answer".to_owned()]);
    Record::new(Box::new(inner), folder.path(), Scrubber::default()).complete(&request("p")).expect("recorded");
    let mut other = request("p");
    other.identity.applied = vec!["refactor".to_owned(), "no-op".to_owned()];
    assert_eq!(recorded(folder.path()).complete(&other).expect("found").text, "answer");
}

#[test]
fn a_miss_says_what_is_missing_and_how_to_record_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let told = |request: &CompletionRequest| {
        let error = recorded(folder.path()).complete(request).expect_err("nothing is recorded");
        let help = miette::Diagnostic::help(&error).expect("a help text").to_string();
        format!("{error}\n{}", help.replace(&folder.path().display().to_string(), "FOLDER"))
    };
    let nothing = told(&request("p"));
    let inner = Scripted::new(&["answer".to_owned()]);
    Record::new(Box::new(inner), folder.path(), Scrubber::default()).complete(&request("p")).expect("recorded");
    let mut changed = request("p");
    changed.key = peak::hash::hex(b"other words");
    let other_key = told(&changed);
    changed.identity.repair = 1;
    insta::assert_snapshot!(format!("{nothing}\n\n{other_key}\n\n{}", told(&changed)));
}

#[test]
fn a_spoiled_recording_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(request("p").identity.path(&request("p").key));
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("created");
    for text in ["no front matter", "+++\nversion = 1\n", "+++\nversion = \"x\"\n+++\nanswer"] {
        std::fs::write(&path, text).expect("written");
        let error = recorded(folder.path()).complete(&request("p")).expect_err("cannot be read");
        assert!(matches!(&error, ProviderError::Malformed { path, .. } if path.contains("stage-tiles")), "{error}");
    }
}

#[test]
fn keys_count_words_code_and_settings_and_nothing_else() {
    let key = key_facts().key();
    let changed = |change: fn(&mut KeyFacts)| {
        let mut facts = key_facts();
        change(&mut facts);
        facts.key()
    };
    let same = [
        changed(|f| f.regions.device_code = "float f()\n{ // a comment\n  return X;\n}".to_owned()),
        changed(|f| f.regions.host_code = "# note\nlaunch f\n    grid 1 # x\n    block 1".to_owned()),
        changed(|f| f.words = "Stage\n  the tiles.\n".to_owned()),
    ];
    assert!(same.iter().all(|other| *other == key), "layout and comments do not count");
    let different = [
        changed(|f| f.regions.macros = "#define X 2\n".to_owned()),
        changed(|f| f.regions.macros = "#define X 1 1\n".to_owned()),
        changed(|f| f.regions.host_code = "launch f\ngrid 1\nblock 1\n".to_owned()),
        changed(|f| f.words = "Stage one tile.".to_owned()),
        changed(|f| f.region = Region::Macros),
        changed(|f| f.element = "f16".to_owned()),
        changed(|f| f.knowledge.clear()),
        changed(|f| {
            f.settings.insert("stages".to_owned(), SettingValue::Integer(2));
        }),
        changed(|f| f.parent = Some(ParentAnswer { completion_sha256: "0".to_owned(), class: "compile".to_owned() })),
        changed(|f| f.parent = Some(ParentAnswer { completion_sha256: "0".to_owned(), class: "results".to_owned() })),
    ];
    let distinct: std::collections::BTreeSet<_> = different.iter().chain([&key]).collect();
    assert_eq!(distinct.len(), different.len() + 1);
}

#[test]
fn the_mailbox_waits_and_then_resumes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mailbox = |wait: u64| {
        Mailbox::new(folder.path(), Duration::from_millis(wait), Some("a person".to_owned()))
            .polling_every(Duration::from_millis(5))
    };
    let error = mailbox(20).complete(&request("first")).expect_err("nobody answers");
    assert!(matches!(&error, ProviderError::MailboxTimeout { path, .. } if path.ends_with("001.completion.md")));
    assert_eq!(std::fs::read_to_string(folder.path().join("001.prompt.md")).expect("posted"), "first");
    std::fs::write(folder.path().join("001.completion.md"), "answer").expect("written");
    let answer = mailbox(1000).complete(&request("first")).expect("the number is kept");
    assert_eq!((answer.text.as_str(), answer.model.as_deref()), ("answer", Some("a person")));
    mailbox(20).complete(&request("second")).expect_err("nobody answers");
    assert!(folder.path().join("002.prompt.md").exists());
}

#[test]
fn the_mailbox_does_not_take_half_an_answer() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("001.completion.md");
    std::fs::write(&path, "").expect("an editor makes an empty file first");
    let writer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(60));
        std::fs::write(&path, "whole").expect("written");
    });
    let mailbox = Mailbox::new(folder.path(), Duration::from_secs(20), None).polling_every(Duration::from_millis(20));
    assert_eq!(mailbox.complete(&request("p")).expect("answered").text, "whole");
    writer.join().expect("the writer ends");
}

#[test]
fn the_mailbox_refuses_a_flood() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("001.completion.md"), vec![b'x'; (1 << 20) + 1]).expect("written");
    let error =
        Mailbox::new(folder.path(), Duration::from_secs(5), None).complete(&request("p")).expect_err("too long");
    assert!(matches!(error, ProviderError::TooLong { .. }));
}

#[test]
fn providers_open_by_name() {
    let options = |name: &str| ProviderOptions {
        name: name.to_owned(),
        settings: ProviderSettings::default(),
        keys: Keys::given([]),
        conduct: Conduct::default(),
        sources: Vec::new(),
        mailbox: ".peak/mailbox".into(),
        timeout: None,
        model: None,
        record_command: None,
    };
    assert_eq!(open(options("recorded")).map(|p| p.name().to_owned()).ok().as_deref(), Some("recorded"));
    let Err(error) = open(options("mailbux")) else { panic!("there is no such provider") };
    assert_eq!(error.to_string(), "there is no provider `mailbux`; did you mean `mailbox`?");
    let names: Vec<&str> = peak::provider::PROVIDERS.iter().map(|entry| entry.name).collect();
    assert!(names.is_sorted(), "the list is alphabetical");
}
