//! What a name may mean at one place, and prose whose references are checked against it.

use crate::diagnostics::Diagnostic;
use crate::ir::{Prose, Segment};
use crate::syntax::{self, Name, ProseSegment, Report, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Facts that runtimes report and the standard library's devices state; a device may state more.
pub(super) const STANDARD_FACTS: [&str; 14] = [
    "l2",
    "max_block_x",
    "max_block_y",
    "max_block_z",
    "max_grid_x",
    "max_grid_y",
    "max_grid_z",
    "max_threads_per_block",
    "memory",
    "multiprocessors",
    "registers_per_multiprocessor",
    "shared_memory_per_block",
    "shared_memory_per_block_optin",
    "warp",
];

/// Why an array of `computes` cannot be read at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// A later statement defines it.
    Later,
    /// The statement itself defines it.
    Itself,
}

/// The names that are known at a place.
#[derive(Clone, Debug)]
pub(super) struct Scope<'i> {
    /// Usable in expressions.
    pub(super) numbers: BTreeSet<String>,
    /// Those of the numbers that are `yes` or `no`: usable as conditions too.
    pub(super) flags: BTreeSet<String>,
    /// Arrays, with their number of dimensions where it is known.
    pub(super) arrays: BTreeMap<String, Option<usize>>,
    /// Arrays that are named here and cannot be read yet.
    pub(super) unread: BTreeMap<String, Unread>,
    /// Arrays that hold something on entry and something else on exit.
    pub(super) inouts: BTreeSet<String>,
    /// Usable in prose only.
    pub(super) words: BTreeSet<String>,
    /// Device facts.
    pub(super) facts: &'i BTreeSet<String>,
    /// Lets that stand further down.
    pub(super) later: BTreeSet<String>,
    /// Whether names are missing here because what brings them is unknown, which is reported: then only slips are told.
    pub(super) partial: bool,
    /// Whether unknown names are accepted: a pattern's own.
    pub(super) open: bool,
    /// Whether what a kernel has can be named with `needs`: in a transformation.
    pub(super) needs: bool,
}

impl<'i> Scope<'i> {
    /// Only device facts.
    pub(super) fn new(facts: &'i BTreeSet<String>) -> Scope<'i> {
        let (numbers, arrays, words) = (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
        let (unread, inouts, flags, later) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        Scope { numbers, flags, arrays, unread, inouts, words, facts, later, partial: false, open: false, needs: false }
    }

    /// A scope that takes any name.
    pub(super) fn open(facts: &'i BTreeSet<String>) -> Scope<'i> {
        Scope { open: true, ..Scope::new(facts) }
    }

    /// Checks a name in an expression.
    pub(super) fn check_number(&self, name: &str, span: Span, out: &mut Report<'_>) {
        if self.open || self.numbers.contains(name) {
            return;
        }
        if self.arrays.contains_key(name) {
            let message = format!("`{name}` is an array where a number is needed");
            let help = "a size is made of numbers: use an extent of the array, or a scalar input";
            out.push(out.error("peak::not-an-array", span, message).label("an array").help(help));
            return;
        }
        if self.stands_below(name, span, out) || self.may_be_missing(name) {
            return;
        }
        if self.words.contains(name) {
            let message = format!("`{name}` is no number: it may be named in prose only");
            let help = "texts and index variables have no value in requirements and `set`";
            out.push(out.error("peak::type-mismatch", span, message).label("has no value here").help(help));
            return;
        }
        let diagnostic = out.error("peak::unknown-name", span, format!("`{name}` is not known here")).label("unknown");
        let diagnostic = diagnostic.suggest(name, self.numbers.iter().map(String::as_str));
        out.push_unknown(name, self.or_needs(name, diagnostic));
    }

    /// Whether a name may be one of those that are missing: it is near to none that is known.
    fn may_be_missing(&self, name: &str) -> bool {
        let known = self.numbers.iter().chain(self.arrays.keys()).chain(&self.words).map(String::as_str);
        self.partial && !name.contains('.') && crate::diagnostics::nearest(name, known).is_none()
    }

    /// Whether a name is that of a let which stands further down; that is reported.
    pub(super) fn stands_below(&self, name: &str, span: Span, out: &mut Report<'_>) -> bool {
        if self.later.contains(name) {
            let message = format!("`{name}` is used before its `let`");
            let help = format!("move `let {name} = ...` up, above this line");
            out.push(out.error("peak::used-before-defined", span, message).help(help));
        }
        self.later.contains(name)
    }

    /// The diagnostic of an unknown name, with the clause that makes it known where the kernel has it.
    fn or_needs(&self, name: &str, mut diagnostic: Diagnostic) -> Diagnostic {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !self.needs || self.facts.contains(name) || !name.chars().all(word) {
            return diagnostic;
        }
        let kind = if name.chars().any(|c| c.is_ascii_lowercase()) { "let" } else { "tuning" };
        let needs = match kind {
            "let" => format!("a let of the kernel is named by `needs let {name}`, an input by `for kernels ...`"),
            _ => format!("if the kernel has it, add `needs {kind} {name}`"),
        };
        diagnostic.help = Some(diagnostic.help.map_or(needs.clone(), |help| format!("{help}\n{needs}")));
        diagnostic
    }

    /// Checks the array of an element, a fill or an argument.
    pub(super) fn check_array(&self, name: &Name, indices: Option<usize>, out: &mut Report<'_>) {
        match self.arrays.get(&name.value) {
            _ if self.open => {}
            Some(Some(rank)) if indices.is_some_and(|indices| indices != *rank) => {
                let counted = if *rank == 1 { "1 dimension".to_owned() } else { format!("{rank} dimensions") };
                let message = format!("`{}` has {counted}, not {}", name.value, indices.unwrap_or(0));
                let diagnostic =
                    out.error("peak::wrong-dimensions", name.span, message).label(format!("has {counted}"));
                let form = element_form(&name.value, *rank);
                out.push(diagnostic.help(format!("each dimension takes one index, or one side of a box: `{form}`")));
            }
            Some(_) => {}
            None if self.numbers.contains(&name.value) => {
                let message = format!("`{}` is a number where an array is needed", name.value);
                let diagnostic = out.error("peak::not-an-array", name.span, message).label("a number");
                out.push(diagnostic.suggest(&name.value, self.arrays.keys().map(String::as_str)));
            }
            None => {
                let message = format!("there is no array `{}` here", name.value);
                let diagnostic = out.error("peak::unknown-name", name.span, message).label("unknown");
                out.push_unknown(&name.value, diagnostic.suggest(&name.value, self.arrays.keys().map(String::as_str)));
            }
        }
    }

    /// Checks that an array has a value where it is read.
    pub(super) fn check_read(&self, name: &Name, out: &mut Report<'_>) {
        let (code, message, help) = match self.unread.get(&name.value) {
            _ if self.open => return,
            None => return,
            Some(Unread::Later) => (
                "peak::used-before-defined",
                format!("`{}` is read before the statement that defines it", name.value),
                "move that statement up",
            ),
            Some(Unread::Itself) => (
                "peak::cycle",
                format!("`{}` is defined by itself", name.value),
                "an element may not depend on others of its array; a running sum is `sum(j in 0..i + 1) X[j]`",
            ),
        };
        let help = match self.inouts.contains(&name.value) {
            true => format!("what it holds on entry is written `old {}`", name.value),
            false => help.to_owned(),
        };
        out.push(out.error(code, name.span, message).help(help));
    }

    /// Checks the array of `old A[i]`.
    pub(super) fn check_old(&self, name: &Name, out: &mut Report<'_>) {
        if self.open || self.inouts.contains(&name.value) || !self.arrays.contains_key(&name.value) {
            return;
        }
        let message = format!("`{}` is no `inout`, and has no value of its own on entry", name.value);
        out.push(out.error("peak::type-mismatch", name.span, message).help("leave `old` out, or declare it `inout`"));
    }

    /// Adds an index variable; one that hides another name is reported.
    pub(super) fn fresh_variable(&mut self, name: &Name, out: &mut Report<'_>) {
        if self.arrays.contains_key(&name.value) || !self.numbers.insert(name.value.clone()) {
            super::duplicate_name("index variable", name, out);
        }
    }

    /// Checks `device.NAME`.
    pub(super) fn check_fact(&self, name: &str, span: Span, out: &mut Report<'_>) {
        if self.facts.contains(name) {
            return;
        }
        let diagnostic = out.error("peak::unknown-name", span, format!("no device states a fact `{name}`"));
        out.push_unknown(name, diagnostic.label("unknown").suggest(name, self.facts.iter().map(String::as_str)));
    }

    /// Checks every reference of a prose block.
    pub(super) fn prose(&self, prose: &syntax::Prose, out: &mut Report<'_>) -> Prose {
        let segments = prose.segments.iter().map(|segment| match segment {
            ProseSegment::Text(text) => Segment::Text(text.clone()),
            ProseSegment::Reference(name) => {
                self.check_reference(name, out);
                Segment::Reference(name.value.clone())
            }
        });
        Prose { segments: segments.collect() }
    }

    fn check_reference(&self, name: &Name, out: &mut Report<'_>) {
        let text = name.value.as_str();
        let fact = text.strip_prefix("device.").is_some_and(|fact| self.facts.contains(fact));
        let known = self.numbers.contains(text) || self.arrays.contains_key(text) || self.words.contains(text);
        if self.open || fact || known || self.may_be_missing(text) {
            return;
        }
        let facts: Vec<String> = self.facts.iter().map(|fact| format!("device.{fact}")).collect();
        let names = self.numbers.iter().chain(self.arrays.keys()).chain(&self.words).chain(&facts);
        let message = format!("`{{{text}}}` refers to nothing that is known here");
        let diagnostic = out.error("peak::unknown-name", name.span, message).label("unknown");
        let diagnostic = diagnostic.help("name a parameter, argument or setting; a brace that is text is written `{{`");
        let near = crate::diagnostics::nearest(text, names.map(String::as_str)).map(str::to_owned);
        let diagnostic = match near {
            Some(near) => diagnostic.help(format!("did you mean `{{{near}}}`? a brace that is text is written `{{{{`")),
            None if self.facts.contains(text) => {
                diagnostic.help(format!("a device's fact is written `{{device.{text}}}`"))
            }
            None => diagnostic,
        };
        out.push_unknown(text, self.or_needs(text, diagnostic));
    }
}

/// How an element of an array is written.
pub(super) fn element_form(name: &str, rank: usize) -> String {
    let index = |at: usize| ["i", "j", "k", "l"].get(at).map_or_else(|| format!("i{at}"), |name| (*name).to_owned());
    match rank {
        0 => name.to_owned(),
        _ => format!("{name}[{}]", (0..rank).map(index).collect::<Vec<_>>().join(", ")),
    }
}
