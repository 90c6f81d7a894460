//! Lines with lines below them: what every builder puts together. Knows indentation and fences, and no clause.

use std::fmt::Write;

/// Spaces of a level.
const INDENT: usize = 2;

/// A declaration under way: its head and its clauses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    kind: &'static str,
    name: String,
    title: Option<String>,
    clauses: Vec<Clause>,
}

/// A line, and what stands below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clause {
    line: String,
    /// Lines that are kept as they are: prose, code, a launch plan.
    kept: Vec<String>,
    below: Vec<Clause>,
}

impl Declaration {
    pub(super) fn new(kind: &'static str, name: &str) -> Declaration {
        Declaration { kind, name: name.to_owned(), title: None, clauses: Vec::new() }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn title(&mut self, title: &str) {
        self.title = Some(title.to_owned());
    }

    pub(super) fn add(&mut self, clause: Clause) {
        self.clauses.push(clause);
    }

    /// As a clause: of a pack, say.
    pub(super) fn clause(&self) -> Clause {
        let title = self.title.as_ref().map(|title| format!(" \"{title}\"")).unwrap_or_default();
        Clause { below: self.clauses.clone(), ..Clause::line(format!("{} {}{title}", self.kind, self.name)) }
    }

    pub(super) fn print(&self) -> String {
        let mut text = String::new();
        self.clause().print(0, &mut text);
        text
    }
}

impl Clause {
    /// One line. Breaks in it are blanks: a clause has none.
    pub(super) fn line(line: impl Into<String>) -> Clause {
        Clause { line: line.into().replace(['\n', '\r'], " "), ..Clause::default() }
    }

    /// `OPENER a, b, c`.
    pub(super) fn list<T: AsRef<str>>(opener: &str, items: impl IntoIterator<Item = T>) -> Clause {
        let items: Vec<String> = items.into_iter().map(|item| item.as_ref().to_owned()).collect();
        Clause::line(format!("{opener} {}", items.join(", ")))
    }

    /// A line with text below it, which is indented as one.
    pub(super) fn kept(line: impl Into<String>, text: &str) -> Clause {
        let lines: Vec<&str> = text.lines().collect();
        let first = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or(lines.len());
        let last = lines.iter().rposition(|line| !line.trim().is_empty()).map_or(first, |last| last + 1);
        let indent = |line: &&str| line.len() - line.trim_start_matches(' ').len();
        let lines = &lines[first..last];
        let shared = lines.iter().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
        let kept = lines.iter().map(|line| line.get(shared..).unwrap_or_default().to_owned()).collect();
        Clause { kept, ..Clause::line(line) }
    }

    /// A line with a fence of code below it.
    pub(super) fn fence(line: impl Into<String>, code: &str) -> Clause {
        let mut clause = Clause::kept(line, code);
        clause.kept.insert(0, "```".to_owned());
        clause.kept.push("```".to_owned());
        clause
    }

    /// A line with clauses below it.
    pub(super) fn with(line: impl Into<String>, below: impl IntoIterator<Item = Clause>) -> Clause {
        Clause { below: below.into_iter().collect(), ..Clause::line(line) }
    }

    fn print(&self, depth: usize, text: &mut String) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{:indent$}{}", "", self.line, indent = INDENT * depth);
        for line in &self.kept {
            let _ = match line.trim().is_empty() {
                true => writeln!(text),
                false => writeln!(text, "{:indent$}{line}", "", indent = INDENT * (depth + 1)),
            };
        }
        self.below.iter().for_each(|clause| clause.print(depth + 1, text));
    }
}
