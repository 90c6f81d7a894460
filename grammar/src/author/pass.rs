//! Builds a pass and its steps.

use super::clause::Clause;

/// A pass under way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Pass {
    head: String,
    clauses: Vec<Clause>,
}

/// A step that needs no model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Step {
    words: String,
    code: Option<String>,
}

impl Pass {
    /// `pass NAME`.
    pub fn new(name: &str) -> Pass {
        Pass { head: name.to_owned(), clauses: Vec::new() }
    }

    /// Its one-line title. Comes first.
    pub fn title(mut self, title: &str) -> Self {
        self.head = format!("{} \"{title}\"", self.head);
        self
    }

    /// `in REGION`, and prose for a model. The region is `device code`, `macros` or `host code`, with `for LANGUAGE, ...`
    /// where it is for some only.
    pub fn words(self, region: &str, prose: &str) -> Self {
        self.with(Clause::kept(format!("in {region}"), prose))
    }

    /// `in REGION`, and steps that need no model. The region is as in [`Pass::words`].
    pub fn steps(self, region: &str, steps: impl IntoIterator<Item = Step>) -> Self {
        self.with(Clause::with(format!("in {region}"), steps.into_iter().map(Step::clause)))
    }

    /// `may break results`.
    pub fn may_break_results(self) -> Self {
        self.with(Clause::line("may break results"))
    }

    /// `may break the build`.
    pub fn may_break_the_build(self) -> Self {
        self.with(Clause::line("may break the build"))
    }

    /// `checks`, one line each: `device code mentions UNROLL`.
    pub fn checks<T: AsRef<str>>(self, checks: impl IntoIterator<Item = T>) -> Self {
        let below = checks.into_iter().map(|check| Clause::line(check.as_ref()));
        self.with(Clause::with("checks", below))
    }

    /// `replace requirement NAME: CONDITION`.
    pub fn replace_requirement(self, name: &str, condition: &str) -> Self {
        self.with(Clause::line(format!("replace requirement {name}: {condition}")))
    }

    /// `retire PARAMETER, ...`.
    pub fn retire<T: AsRef<str>>(self, parameters: impl IntoIterator<Item = T>) -> Self {
        self.with(Clause::list("retire", parameters))
    }

    /// As a clause that opens with `opener`.
    pub(super) fn clause(self, opener: &str) -> Clause {
        Clause::with(format!("{opener} {}", self.head), self.clauses)
    }

    fn with(mut self, clause: Clause) -> Self {
        self.clauses.push(clause);
        self
    }
}

impl Step {
    /// ``rewrite `PATTERN` to `REPLACEMENT` ``: every place found.
    pub fn rewrite(pattern: &str, replacement: &str) -> Step {
        Step::written(&format!("rewrite `{pattern}` to `{replacement}`"))
    }

    /// ``rewrite `PATTERN` to nothing``.
    pub fn remove(pattern: &str) -> Step {
        Step::written(&format!("rewrite `{pattern}` to nothing"))
    }

    /// ``rename `OLD` to `NEW` ``.
    pub fn rename(old: &str, new: &str) -> Step {
        Step::written(&format!("rename `{old}` to `{new}`"))
    }

    /// `set WHAT to EXPR, ...`: `grid`, `block`, `shared` or a let.
    pub fn set(what: &str, to: &str) -> Step {
        Step::written(&format!("set {what} to {to}"))
    }

    /// `insert UTILITY`, at the top.
    pub fn insert_utility(utility: &str) -> Step {
        Step::written(&format!("insert {utility}"))
    }

    /// `insert` and code in a fence, at the top.
    pub fn insert(code: &str) -> Step {
        Step { words: "insert".to_owned(), code: Some(code.to_owned()) }
    }

    /// A step in the language's own words, for what the others do not say: ``rewrite last `a` to `b` if any``.
    pub fn written(words: &str) -> Step {
        Step { words: words.to_owned(), code: None }
    }

    /// Of an insertion: `at the end`.
    pub fn at_the_end(self) -> Step {
        self.more("at the end")
    }

    /// Of an insertion: `before` a place, in the language's words: ``first `return;` ``.
    pub fn before(self, place: &str) -> Step {
        self.more(&format!("before {place}"))
    }

    /// Of an insertion: `after` a place, as in [`Step::before`].
    pub fn after(self, place: &str) -> Step {
        self.more(&format!("after {place}"))
    }

    fn more(mut self, words: &str) -> Step {
        self.words = format!("{} {words}", self.words);
        self
    }

    fn clause(self) -> Clause {
        match &self.code {
            Some(code) => Clause::fence(self.words, code),
            None => Clause::line(self.words),
        }
    }
}
