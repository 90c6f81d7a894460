//! Seeds from the repository's own files: every `.ptx`, every `.peak`, every kernel and launch plan in one, every source
//! of code. Read from the checkout that a target was built in, or from a copy of it that [`ROOT`] names.

use peak_grammar::PlanNames;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Bytes of a seed of PTX, at most: small ones are run more often.
const MAX_PTX_BYTES: usize = 8 << 10;

/// The variable that names a folder with the repository's files, where the checkout is not there any more.
const ROOT: &str = "PEAK_FUZZ_ROOT";

/// The `.ptx` files, one text an entry; those that are long are left out.
pub fn ptx_entries() -> &'static [String] {
    static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let entries = files("ptx").into_iter().flat_map(|text| entries(&text));
        entries.filter(|text| text.len() <= MAX_PTX_BYTES).collect()
    });
    &TEXTS
}

/// The `.peak` files.
pub fn peak_files() -> &'static [String] {
    static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| files("peak"));
    &TEXTS
}

/// The kernels of the `.peak` files, and a device each with some of them.
pub fn kernels() -> &'static [String] {
    static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let of = |word: &str| -> Vec<String> { peak_files().iter().flat_map(|text| blocks(text, word)).collect() };
        let devices = of("device ");
        let with = |(at, kernel): (usize, String)| match devices.get(at % (2 * devices.len().max(1))) {
            Some(device) => format!("{device}\n{kernel}"),
            None => kernel,
        };
        of("kernel ").into_iter().enumerate().map(with).collect()
    });
    &TEXTS
}

/// Sources of code: language and text.
pub fn code() -> &'static [(&'static str, String)] {
    static TEXTS: LazyLock<Vec<(&'static str, String)>> = LazyLock::new(|| {
        let languages = [("cuda", "cu"), ("hip", "hip"), ("hlsl", "hlsl")];
        languages
            .into_iter()
            .flat_map(|(language, extension)| files(extension).into_iter().map(move |text| (language, text)))
            .collect()
    });
    &TEXTS
}

/// The launch plans of the `.peak` files.
pub fn plans() -> &'static [String] {
    static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let plans: Vec<String> = peak_files().iter().flat_map(|text| host_regions(text)).collect();
        assert!(plans.len() > 5, "the library has kernels");
        plans
    });
    &TEXTS
}

/// Names that any of the plans may use.
pub fn plan_names() -> PlanNames {
    static NAMES: LazyLock<PlanNames> = LazyLock::new(|| {
        let words = plans().iter().flat_map(|plan| plan.split(|it: char| !(it.is_alphanumeric() || it == '_')));
        let words: BTreeSet<&str> = words.filter(|word| word.starts_with(char::is_alphabetic)).collect();
        let owned = |keep: fn(&str) -> bool| words.iter().filter(|it| keep(it)).map(|it| (*it).to_owned()).collect();
        PlanNames {
            arrays: owned(|word| word.len() == 1 && word.starts_with(char::is_uppercase)),
            scalars: owned(|word| word.len() <= 2 && word.starts_with(char::is_lowercase)),
            tuning: owned(|word| word.len() > 1 && word.starts_with(char::is_uppercase)),
            facts: Vec::new(),
        }
    });
    NAMES.clone()
}

/// A module of several entries as modules of one.
fn entries(text: &str) -> Vec<String> {
    let starts: Vec<usize> = text.match_indices(".visible .entry").map(|(at, _)| at).collect();
    let Some(first) = starts.first() else { return vec![text.to_owned()] };
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| format!("{}{}", &text[..*first], &text[*start..end])).collect()
}

/// Declarations of a text that start with a word, each with what stands indented below.
fn blocks(text: &str, word: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let block = |at: usize| -> String {
        let below = lines[at + 1..].iter().take_while(|line| line.is_empty() || line.starts_with(' '));
        std::iter::once(&lines[at]).chain(below).map(|line| format!("{line}\n")).collect()
    };
    (0..lines.len()).filter(|at| lines[*at].starts_with(word)).map(block).collect()
}

/// What stands indented below each `host code`, its indentation taken away.
fn host_regions(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let region = |at: usize| -> String {
        let inside = |line: &&&str| line.trim().is_empty() || depth(line) > depth(lines[at]);
        let body: Vec<&str> = lines[at + 1..].iter().take_while(inside).copied().collect();
        let least = body.iter().filter(|line| !line.trim().is_empty()).map(|line| depth(line)).min().unwrap_or(0);
        body.iter().map(|line| format!("{}\n", line.get(least..).unwrap_or(""))).collect()
    };
    (0..lines.len()).filter(|at| lines[*at].trim() == "host code").map(region).collect()
}

/// The repository's files of an extension, sorted by path.
fn files(extension: &str) -> Vec<String> {
    let root = std::env::var_os(ROOT)
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), |root| Path::new(&root).to_owned());
    let mut paths = Vec::new();
    for folder in ["backends", "grammar", "stdlib", "tests"] {
        collect(&root.join(folder), extension, &mut paths);
    }
    paths.sort();
    let texts: Vec<String> = paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    assert!(!texts.is_empty(), "no `.{extension}` file below {}", root.display());
    texts
}

fn collect(folder: &Path, extension: &str, paths: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() && !path.ends_with("target") {
            collect(&path, extension, paths);
        } else if path.extension().is_some_and(|it| it == extension) {
            paths.push(path);
        }
    }
}
