//! Builds a transformation.

use super::clause::{Clause, Declaration};
use super::{Authored, Pass, Values};

/// A transformation under way. Each method adds a clause of its name; `spec/language.md` says what they mean.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Transformation(Declaration);

impl Transformation {
    /// `transformation NAME`.
    pub fn new(name: &str) -> Transformation {
        Transformation(Declaration::new("transformation", name))
    }

    /// Its one-line title.
    pub fn title(mut self, title: &str) -> Self {
        self.0.title(title);
        self
    }

    /// `for kernels NAME, ...`.
    pub fn for_kernels<T: AsRef<str>>(self, names: impl IntoIterator<Item = T>) -> Self {
        self.with(Clause::list("for kernels", names))
    }

    /// `for kernels computing`, and statements: `OUT[i] = sum(k in 0..K) IN[i, k]`.
    pub fn for_kernels_computing<T: AsRef<str>>(self, statements: impl IntoIterator<Item = T>) -> Self {
        let below = statements.into_iter().map(|statement| Clause::line(statement.as_ref()));
        self.with(Clause::with("for kernels computing", below))
    }

    /// `on LANGUAGE, ...`.
    pub fn on<T: AsRef<str>>(self, languages: impl IntoIterator<Item = T>) -> Self {
        self.with(Clause::list("on", languages))
    }

    /// `needs tuning NAME, ...`.
    pub fn needs_tuning<T: AsRef<str>>(self, names: impl IntoIterator<Item = T>) -> Self {
        self.with(Clause::list("needs tuning", names))
    }

    /// `needs let NAME, ...`.
    pub fn needs_let<T: AsRef<str>>(self, names: impl IntoIterator<Item = T>) -> Self {
        self.with(Clause::list("needs let", names))
    }

    /// `after NAME, ...`.
    pub fn after<T: AsRef<str>>(self, names: impl IntoIterator<Item = T>) -> Self {
        self.with(Clause::list("after", names))
    }

    /// `conflicts with NAME, ...`.
    pub fn conflicts_with<T: AsRef<str>>(self, names: impl IntoIterator<Item = T>) -> Self {
        self.with(Clause::list("conflicts with", names))
    }

    /// `because`, and prose.
    pub fn because(self, prose: &str) -> Self {
        self.with(Clause::kept("because", prose))
    }

    /// `takes NAME: TYPE = DEFAULT`; the type is `int`, `bool` or `text`.
    pub fn takes(self, name: &str, kind: &str, default: &str) -> Self {
        self.with(Clause::line(format!("takes {name}: {kind} = {default}")))
    }

    /// `introduces NAME in VALUES`.
    pub fn introduces(self, name: &str, values: impl Into<Values>) -> Self {
        self.with(Clause::line(format!("introduces {name} in {}", values.into())))
    }

    /// `requires NAME: CONDITION`.
    pub fn requires(self, name: &str, condition: &str) -> Self {
        self.with(Clause::line(format!("requires {name}: {condition}")))
    }

    /// `expects COUNTER to fall by at least TIMES times`.
    pub fn expects_fall(self, counter: &str, times: f64) -> Self {
        self.with(Clause::line(format!("expects {counter} to fall by at least {times} times")))
    }

    /// `expects COUNTER to rise by at least TIMES times`.
    pub fn expects_rise(self, counter: &str, times: f64) -> Self {
        self.with(Clause::line(format!("expects {counter} to rise by at least {times} times")))
    }

    /// `pass`, in order.
    pub fn pass(self, pass: Pass) -> Self {
        self.with(pass.clause("pass"))
    }

    /// `known failures`, and prose.
    pub fn known_failures(self, prose: &str) -> Self {
        self.with(Clause::kept("known failures", prose))
    }

    fn with(mut self, clause: Clause) -> Self {
        self.0.add(clause);
        self
    }
}

impl Authored for Transformation {
    fn declaration(&self) -> &Declaration {
        &self.0
    }
}
