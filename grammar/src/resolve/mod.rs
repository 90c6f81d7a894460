//! From the trees of all files to the library: names resolved, expressions typed, values and references checked.
//!
//! Applies no pack and looks at no device: that is [`crate::specialize`]'s.

mod build;
mod computes;
mod constant;
mod cycles;
mod device;
mod expression;
mod extents;
mod index;
mod kernel;
mod pack;
mod pass;
mod pattern;
mod plan;
mod scope;
mod transformation;
mod unmet;
mod values;
mod workflow;

pub use plan::PlanNames;

pub(crate) use plan::parse_launch_plan;

use crate::SourceFile;
use crate::diagnostics::Diagnostic;
use crate::ir::{IR_VERSION, Library, Origin, Utility};
use crate::syntax::ast::{Block, Declaration, File, Header, UtilityClause};
use crate::syntax::{Name, Report, Span, words_of};
use index::Index;

/// The languages of the backends. Registering a backend adds its language here, so that a misspelt one is found.
pub const LANGUAGES: [&str; 3] = ["cuda", "hip", "hlsl"];

/// Resolves files together. Diagnostics come in the order of the files.
pub(crate) fn load(files: &[SourceFile]) -> (Library, Vec<Diagnostic>) {
    let (trees, mut diagnostics): (Vec<File>, Vec<Vec<Diagnostic>>) = files.iter().map(crate::syntax::parse).unzip();
    let lost = words_of(trees.iter().flat_map(|tree| &tree.unread));
    let report = |tree: &File, name| Report::after(name, tree.unread.clone(), lost.clone());
    let mut reports: Vec<Report<'_>> = trees.iter().map(|tree| report(tree, tree.name.as_str())).collect();
    let index = Index::new(&trees, &mut reports);
    cycles::check(&index, &mut reports);
    let mut library = Library { version: IR_VERSION, ..Library::default() };
    for (tree, out) in trees.iter().zip(&mut reports) {
        for declaration in &tree.declarations {
            add(declaration, &index, &mut library, out);
        }
    }
    for (found, report) in diagnostics.iter_mut().zip(reports) {
        // What could not be read is told of once, whatever was taken in its place.
        let unread: Vec<Span> = found.iter().map(|one| one.span).collect();
        found.extend(report.finish().into_iter().filter(|one| !unread.contains(&one.span)));
        found.sort_by_key(|diagnostic| diagnostic.span.start);
    }
    (library, diagnostics.concat())
}

/// Resolves one declaration into the library. Of two with one name the first stays.
fn add(declaration: &Declaration, index: &Index<'_>, library: &mut Library, out: &mut Report<'_>) {
    match declaration {
        Declaration::Kernel(block) => {
            let kernel = kernel::kernel(block, index, out);
            library.kernels.entry(kernel.name.clone()).or_insert(kernel);
        }
        Declaration::Utility(block) => {
            let utility = utility(block, out);
            library.utilities.entry(utility.name.clone()).or_insert(utility);
        }
        Declaration::Transformation(block) => {
            let transformation = transformation::transformation(block, index, out);
            library.transformations.entry(transformation.name.clone()).or_insert(transformation);
        }
        Declaration::Device(block) => {
            let device = device::device(block, index, out);
            library.devices.entry(device.name.clone()).or_insert(device);
        }
        Declaration::Pack(block) => {
            let pack = pack::pack(block, index, out);
            library.packs.entry(pack.name.clone()).or_insert(pack);
        }
        Declaration::Workflow(block) => library.workflows.push(workflow::workflow(block, index, out)),
        Declaration::Build(block) => {
            let build = build::build(block, index, out);
            library.builds.entry(build.name.clone()).or_insert(build);
        }
    }
}

fn utility(block: &Block<UtilityClause>, out: &mut Report<'_>) -> Utility {
    let mut utility = Utility {
        name: declared(&block.header.name, out),
        title: block.header.title.clone(),
        takes: Vec::new(),
        code: indexmap::IndexMap::new(),
        origin: origin(block.header.span, out),
    };
    for clause in &block.clauses {
        match &clause.value {
            UtilityClause::Takes(names) => utility.takes.extend(names.iter().map(|name| name.value.clone())),
            UtilityClause::Code { languages, code } => {
                for language in checked_languages(languages, out) {
                    if utility.code.insert(language, code.clone()).is_some() {
                        duplicate_clause("code for one language", clause.span, out);
                    }
                }
            }
        }
    }
    if utility.code.is_empty() {
        missing_clause("utility", "code for LANGUAGE", &block.header, out);
    }
    utility
}

/// Where a declaration stands.
fn origin(span: Span, out: &Report<'_>) -> Origin {
    Origin { file: out.file().to_owned(), start: span.start, end: span.end }
}

/// A declaration's name, with its style checked.
fn declared(name: &Name, out: &mut Report<'_>) -> String {
    let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    style(name, "declarations are named in kebab-case", kebab, str::to_lowercase, "-", out);
    name.value.clone()
}

/// A tuning parameter's name, with its style checked.
fn upper_snake(name: &Name, out: &mut Report<'_>) -> String {
    let upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    style(name, "tuning parameters are named in UPPER_SNAKE", upper, str::to_uppercase, "_", out);
    name.value.clone()
}

/// A let's or setting's name, with its style checked.
fn lower_snake(name: &Name, out: &mut Report<'_>) -> String {
    let lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    style(name, "lets and settings are named in snake_case", lower, str::to_lowercase, "_", out);
    name.value.clone()
}

fn style(
    name: &Name,
    rule: &str,
    fits: impl Fn(char) -> bool,
    case: fn(&str) -> String,
    to: &str,
    out: &mut Report<'_>,
) {
    if name.value.chars().all(fits) {
        return;
    }
    let diagnostic = out.error("peak::name-style", name.span, rule);
    out.push(diagnostic.help(format!("write `{}`", case(&parted(&name.value)).replace(['-', '_'], to))));
}

/// `blockX` as `block_X`: a capital behind a small letter begins a word.
fn parted(name: &str) -> String {
    let mut parted = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_ascii_uppercase() && parted.ends_with(|before: char| before.is_ascii_lowercase()) {
            parted.push('_');
        }
        parted.push(c);
    }
    parted
}

/// The languages, without those that are not known, which are reported.
fn checked_languages(names: &[Name], out: &mut Report<'_>) -> Vec<String> {
    let mut known = Vec::new();
    for name in names {
        match LANGUAGES.contains(&name.value.as_str()) {
            true => known.push(name.value.clone()),
            false => {
                let message = format!("`{}` is no backend's language", name.value);
                out.push(out.error("peak::unknown-language", name.span, message).suggest(&name.value, LANGUAGES));
            }
        }
    }
    known
}

fn unknown_name<'n>(kind: &str, name: &Name, known: impl IntoIterator<Item = &'n str>, out: &mut Report<'_>) {
    let message = format!("there is no {kind} `{}`", name.value);
    let diagnostic = out.error("peak::unknown-name", name.span, message).label("unknown");
    out.push_unknown(&name.value, diagnostic.suggest(&name.value, known));
}

fn duplicate_name(what: &str, name: &Name, out: &mut Report<'_>) {
    duplicate_name_of(what, name, None, out);
}

/// The same, where it is known where the name came first.
fn duplicate_name_of(what: &str, name: &Name, first: Option<Span>, out: &mut Report<'_>) {
    let message = format!("the {what} `{}` is declared twice", name.value);
    let diagnostic = out.error("peak::duplicate-name", name.span, message).label("again").help("rename or remove one");
    out.push(match first {
        Some(first) => diagnostic.related(out.file(), first, "first here"),
        None => diagnostic,
    });
}

fn duplicate_clause(what: &str, span: Span, out: &mut Report<'_>) {
    let diagnostic = out.error("peak::duplicate-clause", span, format!("{what} is given twice"));
    out.push(diagnostic.label("again").help("keep one of the two"));
}

fn missing_clause(kind: &str, clause: &str, header: &Header, out: &mut Report<'_>) {
    let name = &header.name;
    if out.lost_within(header.span) {
        return;
    }
    let message = format!("the {kind} `{}` has no `{clause}`", name.value);
    let help = match example(clause) {
        Some(example) => format!("add a line `{clause}`, {example}"),
        None => format!("add a line `{clause}`"),
    };
    out.push(out.error("peak::missing-clause", name.span, message).help(help));
}

/// What a clause may look like, where its form does not show it.
fn example(clause: &str) -> Option<&'static str> {
    Some(match clause {
        "element TYPE" => "such as `element f32`",
        "host code" => "and below it a `launch` with its `grid`, `block` and `arguments`",
        "code for LANGUAGE" => "such as `code for cuda`, and below it the code between two lines of three backticks",
        "output NAME: array[SHAPE] of TYPE" => "such as `output C: array[n, n] of f32`",
        "device code for LANGUAGE from \"FILE\"" => "such as `device code for cuda from \"matmul.cu\"`",
        _ => return None,
    })
}

/// Sets what a clause says; a second such clause is reported.
fn once<T>(slot: &mut Option<T>, value: T, what: &str, span: Span, out: &mut Report<'_>) {
    match slot {
        Some(_) => duplicate_clause(what, span, out),
        None => *slot = Some(value),
    }
}
