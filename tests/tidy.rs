//! What the layout promises and the compiler does not check: who may use whom, how files begin and how long they are.

use std::path::{Path, PathBuf};

/// Modules of the root package, low to high: each may use those above it in this list, and no other.
///
/// A new module takes the lowest place that lets it use what it needs.
const MODULES: [&str; 22] = [
    "error", "hash", "scrub", "context", "edit", "store", "library", "report", "provider", "data", "oracle",
    "backends", "runner", "plan", "validate", "evaluate", "inspect", "tune", "lowering", "workflow", "session", "cli",
];

/// What is allowed beside that order: who, whom, why.
const EXCEPTIONS: [(&str, &str, &str); 1] =
    [("data", "runner", "plain data of the runner's contract says what an input is filled with (`Fill`)")];

/// Lines of a file at most.
const MAX_LINES: usize = 600;

/// Classes of failure.
const CLASSES: [&str; 8] = ["apply", "compile", "launch", "results", "sanitizer", "timeout", "crash", "provider"];

/// What the front end may not touch.
const IMPURE: [&str; 6] = ["std::fs", "std::net", "std::time", "std::process", "std::env", "std::thread"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file of the workspace with its path from the root and its text.
fn rust_files() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    for folder in ["src", "tests", "examples", "grammar", "stdlib", "backends"] {
        collect(&root().join(folder), &mut paths);
    }
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a source file is UTF-8");
        let name = path.strip_prefix(root()).expect("below the root").to_string_lossy().replace('\\', "/");
        (name, text)
    };
    paths.into_iter().map(read).collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the workspace") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("target") {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}

fn assert_none(complaints: &[String], law: &str) {
    assert!(complaints.is_empty(), "{law}\n  {}", complaints.join("\n  "));
}

#[test]
fn modules_use_only_lower_ones() {
    let place = |module: &str| MODULES.iter().position(|known| *known == module);
    let mut complaints = Vec::new();
    for (file, text) in rust_files() {
        let Some(rest) = file.strip_prefix("src/") else { continue };
        let module = rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs");
        if ["lib", "main"].contains(&module) {
            continue;
        }
        let Some(own) = place(module) else {
            complaints.push(format!("{file}: `{module}` has no place in MODULES"));
            continue;
        };
        for used in used_modules(&text) {
            match place(&used) {
                Some(place) if place <= own || is_exception(module, &used) => {}
                Some(_) => complaints.push(format!("{file}: `{module}` uses `{used}`, which stands above it")),
                None => complaints.push(format!("{file}: `crate::{used}` has no place in MODULES")),
            }
        }
    }
    assert_none(&complaints, "modules depend one way (the order is in tests/tidy.rs)");
}

fn is_exception(module: &str, used: &str) -> bool {
    EXCEPTIONS.iter().any(|(who, whom, _)| (*who, *whom) == (module, used))
}

/// First components of `crate::...` paths, `crate::{a, b::c}` included.
fn used_modules(text: &str) -> Vec<String> {
    let code: String =
        text.lines().filter(|line| !line.trim_start().starts_with("//")).map(|l| format!("{l}\n")).collect();
    let mut used = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => used.extend(group_heads(group)),
            None => used.push(identifier(rest)),
        }
    }
    used
}

/// The first identifier of each entry of a `{...}` group of imports, whose opening brace is gone.
fn group_heads(group: &str) -> Vec<String> {
    let mut heads = vec![identifier(group.trim_start())];
    let mut depth = 0;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => heads.push(identifier(group[at + 1..].trim_start())),
            _ => {}
        }
    }
    heads.retain(|head| !head.is_empty());
    heads
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn the_scan_sees_every_form_of_import() {
    let text = "use crate::{context::{Inputs, launch}, hash};\ncrate::store::Store; // crate::cli::x\n/// crate::cli\n";
    assert_eq!(used_modules(text), ["context", "hash", "store", "cli"]);
}

#[test]
fn every_file_says_what_it_is() {
    let bad = |(file, text): &(String, String)| (!text.starts_with("//! ")).then(|| file.clone());
    let complaints: Vec<String> = rust_files().iter().filter_map(bad).collect();
    assert_none(&complaints, "a file begins with `//!`: what it is, and what it never does");
}

#[test]
fn no_file_is_long() {
    let long = |(file, text): &(String, String)| {
        let lines = text.lines().count();
        (lines > MAX_LINES).then(|| format!("{file}: {lines} lines"))
    };
    let complaints: Vec<String> = rust_files().iter().filter_map(long).collect();
    assert_none(&complaints, &format!("a file has at most {MAX_LINES} lines; split it by purpose"));
}

#[test]
fn nothing_is_left_for_later() {
    // Put together here, so that this file does not hold them.
    let marks = [["TO", "DO"].concat(), ["FIX", "ME"].concat(), ["#[ig", "nore"].concat(), ["todo", "!("].concat()];
    let mut complaints = Vec::new();
    for (file, text) in rust_files() {
        complaints.extend(marks.iter().filter(|mark| text.contains(*mark)).map(|mark| format!("{file}: {mark}")));
    }
    assert_none(&complaints, "nothing is left for later: build it, or file an issue");
}

#[test]
fn every_code_of_a_diagnostic_is_explained() {
    let reference = std::fs::read_to_string(root().join("spec/diagnostics.md")).expect("spec/diagnostics.md");
    let mut complaints = Vec::new();
    for (file, text) in rust_files().into_iter().filter(|(file, _)| file.starts_with("src/")) {
        for code in codes(&text) {
            let known = peak_grammar::diagnostics::code_entry(&code).is_some();
            if !known && !reference.contains(&format!("### `{code}`\n")) {
                complaints.push(format!("{file}: {code}"));
            }
        }
    }
    assert_none(&complaints, "a code has a section in spec/diagnostics.md, which `peak explain` prints");
}

#[test]
fn every_code_that_is_explained_is_used() {
    let reference = std::fs::read_to_string(root().join("spec/diagnostics.md")).expect("spec/diagnostics.md");
    let used: Vec<String> = rust_files()
        .iter()
        .filter(|(file, _)| file.starts_with("src/") || file.contains("/src/"))
        .flat_map(|(_, text)| codes(text))
        .collect();
    let headings = reference.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'));
    // `peak::failed-CLASS` is put together from a class of failure.
    let class = |code: &str| code.strip_prefix("peak::failed-").is_some_and(|class| CLASSES.contains(&class));
    let unused: Vec<String> =
        headings.filter(|code| !class(code) && !used.iter().any(|used| used == code)).map(str::to_owned).collect();
    assert_none(&unused, "spec/diagnostics.md explains only what is there");
}

#[test]
fn every_event_of_json_is_described() {
    let reference = std::fs::read_to_string(root().join("spec/json.md")).expect("spec/json.md");
    let described: Vec<&str> =
        reference.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`')).collect();
    let mut sent: Vec<String> = Vec::new();
    for (_, text) in rust_files().iter().filter(|(file, _)| file.starts_with("src/cli/")) {
        let calls = text.split(".event(").skip(1);
        sent.extend(calls.filter_map(|call| call.trim_start().strip_prefix('"')?.split('"').next().map(str::to_owned)));
    }
    assert!(sent.len() > 10, "{sent:?}");
    let silent: Vec<String> = sent.iter().filter(|event| !described.contains(&event.as_str())).cloned().collect();
    assert_none(&silent, "an event of `--json` has a section in spec/json.md");
    let gone: Vec<String> =
        described.iter().filter(|event| !sent.iter().any(|sent| sent == *event)).map(|e| (*e).to_owned()).collect();
    assert_none(&gone, "spec/json.md describes only what is sent");
}

#[test]
fn every_field_of_a_step_and_of_an_attempt_is_described() {
    let reference = std::fs::read_to_string(root().join("spec/json.md")).expect("spec/json.md");
    for file in ["src/workflow/row.rs", "src/lowering/attempt.rs"] {
        let text = std::fs::read_to_string(root().join(file)).expect("a source file");
        let fields = text.lines().filter_map(|line| line.strip_prefix("    pub ")?.split_once(": "));
        let fields: Vec<&str> = fields.map(|(name, _)| name).filter(|name| !name.contains('(')).collect();
        assert!(fields.len() > 8, "{file}: {fields:?}");
        let silent: Vec<String> =
            fields.iter().filter(|name| !reference.contains(&format!("`{name}`"))).map(|n| (*n).to_owned()).collect();
        assert_none(&silent, &format!("spec/json.md describes each field of {file}"));
    }
}

/// Codes of diagnostics in a text: `peak::` and a kebab-case name in quotes.
fn codes(text: &str) -> Vec<String> {
    let quoted = text.split('"').filter(|piece| piece.starts_with("peak::"));
    let kebab =
        |code: &&str| code["peak::".len()..].chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    quoted.filter(|code| code.len() > "peak::".len()).filter(kebab).map(str::to_owned).collect()
}

#[test]
fn only_the_command_line_prints_results() {
    let mark = ["println", "!("].concat();
    let prints = |text: &str| text.lines().any(|line| line.trim_start().starts_with(&mark));
    let complaints: Vec<String> = rust_files()
        .into_iter()
        .filter(|(file, text)| file.starts_with("src/") && !file.starts_with("src/cli/") && prints(text))
        .map(|(file, _)| file)
        .collect();
    assert_none(&complaints, "standard output belongs to src/cli");
}

#[test]
fn backends_depend_on_their_api_alone() {
    let mut complaints = Vec::new();
    for entry in std::fs::read_dir(root().join("backends")).expect("backends/") {
        let manifest = entry.expect("an entry").path().join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest).expect("each backend has a manifest");
        let ours = peak_dependencies(&text);
        complaints.extend(
            ours.into_iter()
                .filter(|name| name != "peak-backend-api")
                .map(|name| format!("{}: {name}", manifest.display())),
        );
    }
    assert_none(&complaints, "a backend depends on backends/api, never on another backend or the root");
}

#[test]
fn the_front_end_and_the_library_stand_alone() {
    let mut complaints = Vec::new();
    for folder in ["grammar", "stdlib", "backends/api"] {
        let manifest = root().join(folder).join("Cargo.toml");
        let text = std::fs::read_to_string(manifest).expect("a manifest");
        complaints.extend(peak_dependencies(&text).into_iter().map(|name| format!("{folder}: depends on {name}")));
    }
    for (file, text) in rust_files().into_iter().filter(|(file, _)| file.starts_with("grammar/src/")) {
        complaints.extend(IMPURE.iter().filter(|path| text.contains(**path)).map(|path| format!("{file}: {path}")));
    }
    assert_none(&complaints, "the front end is pure: no files, no network, no clock");
}

#[test]
fn the_macros_use_the_front_end_and_the_library_alone() {
    let manifest = root().join("grammar/macros/Cargo.toml");
    let text = std::fs::read_to_string(manifest).expect("a manifest");
    assert_eq!(peak_dependencies(&text), ["peak-grammar", "peak-stdlib"]);
}

/// Packages of ours that a manifest depends on.
fn peak_dependencies(manifest: &str) -> Vec<String> {
    let name = |line: &str| line.split(['.', ' ', '=']).next().unwrap_or_default().to_owned();
    manifest.lines().filter(|line| line.starts_with("peak-")).map(name).collect()
}
