//! Templates to files: names put in, languages left out, a kernel of one's own in place of the template's.

use super::templates::{
    DEVICE, KERNEL, PACK, PROJECT_PAGE, PROJECT_WORKFLOW, SOURCES, TRANSFORMATION, Template, WORKFLOW, WORKFLOW_OF,
};
use peak_grammar::ir::{ArgumentKind, Kernel};
use std::path::PathBuf;

/// A file that is to be written: a path below the folder, and its text.
pub(super) type NewFile = (PathBuf, String);

/// A kernel that something new is for.
pub(super) struct Subject {
    /// Its name.
    pub(super) name: String,
    /// The size that its sum runs over, if it has one.
    pub(super) size: Option<String>,
    /// The file to `use`, as the new file says it; none for the standard library's.
    pub(super) file: Option<String>,
}

impl Subject {
    /// A kernel of the library; `file` as the new file is to say it.
    pub(super) fn new(kernel: &Kernel, file: Option<String>) -> Subject {
        let scalar = |kind: &ArgumentKind| matches!(kind, ArgumentKind::Scalar { .. });
        let size = kernel.arguments.iter().rev().find(|argument| scalar(&argument.kind));
        Subject { name: kernel.name.clone(), size: size.map(|size| size.name.clone()), file }
    }
}

/// A kernel with a source for each of `languages`, and a workflow that runs it.
pub(super) fn kernel(name: &str, languages: &[&str]) -> Vec<NewFile> {
    let (path, text) = named(KERNEL, "my-kernel", name);
    let left_out = |line: &&str| {
        let source = line.trim().strip_prefix("device code for ").and_then(|rest| rest.split(' ').next());
        source.is_none_or(|language| languages.contains(&language))
    };
    let mut files = vec![(path, lines(text.lines().filter(left_out)))];
    let sources = SOURCES.iter().filter(|(language, _)| languages.contains(language));
    files.extend(sources.map(|(_, template)| named(*template, "my-kernel", name)));
    files
}

/// A transformation, for MatMul or for a kernel that is named.
pub(super) fn transformation(name: &str, subject: Option<&Subject>, languages: &[&str]) -> Vec<NewFile> {
    let (path, text) = named(TRANSFORMATION, "my-transformation", name);
    let languages = format!("  on {}", languages.join(", "));
    let line = |line: &str| -> Option<String> {
        match (line.trim().split(' ').next().unwrap_or_default(), subject) {
            ("on", _) => Some(languages.clone()),
            ("for", Some(subject)) => Some(format!("  for kernels {}", subject.name)),
            ("requires", Some(Subject { size: Some(size), .. })) => Some(line.replace("K mod", &format!("{size} mod"))),
            ("requires", Some(Subject { size: None, .. })) => None,
            _ if line.contains("names bind to the kernel's own") => {
                Some(if subject.is_some() { "  # The kernels that it is for.".to_owned() } else { line.to_owned() })
            }
            _ => Some(line.to_owned()),
        }
    };
    let changed: Vec<String> = text.lines().filter_map(line).collect();
    let mut text = lines(changed.iter().map(String::as_str));
    if let Some(Subject { name: kernel, file, .. }) = subject {
        text = text.replace(&format!("{name}.peak --emit"), &format!("{name}.peak -k {kernel} --emit"));
        if let Some(file) = file {
            text = text.replacen("\ntransformation ", &format!("\nuse \"{file}\"\n\ntransformation "), 1);
        }
    }
    vec![(path, text)]
}

/// A pack for a device.
pub(super) fn pack(name: &str, device: Option<&str>) -> Vec<NewFile> {
    let (path, text) = named(PACK, "my-pack", name);
    vec![(path, text.replace("nvidia-h200", device.unwrap_or("nvidia-h200")))]
}

/// A device.
pub(super) fn device(name: &str) -> Vec<NewFile> {
    vec![named(DEVICE, "my-device", name)]
}

/// A workflow, for the naive MatMul or for a kernel that is named.
pub(super) fn workflow(name: &str, subject: Option<&Subject>) -> Vec<NewFile> {
    let Some(subject) = subject else { return vec![named(WORKFLOW, "my-workflow", name)] };
    let (path, text) = named(WORKFLOW_OF, "my-workflow", name);
    let text = match &subject.file {
        Some(file) => text.replace("\"a-kernel.peak\"", &format!("\"{file}\"")),
        None => text.replace("use \"a-kernel.peak\"\n\n", ""),
    };
    vec![(path, text.replace("a-kernel", &subject.name))]
}

/// A folder with a kernel, a transformation and a workflow.
pub(super) fn project(name: &str, languages: &[&str]) -> Vec<NewFile> {
    let subject =
        Subject { name: name.to_owned(), size: Some("n".to_owned()), file: Some(format!("../kernels/{name}.peak")) };
    let below = |folder: &str, files: Vec<NewFile>| {
        let root = PathBuf::from(name).join(folder);
        files.into_iter().map(move |(path, text)| (root.join(path), text)).collect::<Vec<_>>()
    };
    let mut files =
        below("", vec![named(PROJECT_PAGE, "my-kernel", name), (".gitignore".into(), ".peak/\n".to_owned())]);
    files.extend(below("", vec![named(PROJECT_WORKFLOW, "my-kernel", name)]));
    files.extend(below("kernels", kernel(name, languages)));
    files.extend(below("transformations", transformation(&format!("{name}-unroll"), Some(&subject), languages)));
    files
}

/// A template under another name: `my-kernel` as the language spells names, `my_kernel` as source does.
fn named((path, text): Template, old: &str, name: &str) -> NewFile {
    let put = |text: &str| text.replace(old, name).replace(&identifier(old), &identifier(name));
    (PathBuf::from(put(path)), put(text))
}

/// A name as a kernel's source spells it; a single word might be one of the source's language.
fn identifier(name: &str) -> String {
    if name.contains('-') { name.replace('-', "_") } else { format!("{name}_kernel") }
}

fn lines<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.flat_map(|line| [line, "\n"]).collect()
}
