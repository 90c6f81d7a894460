//! Builds a kernel, and a utility.

use super::clause::{Clause, Declaration};
use super::{Authored, Values};

/// A kernel under way. Each method adds a clause; `spec/language.md` says what they mean.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Kernel(Declaration);

impl Kernel {
    /// `kernel NAME`.
    pub fn new(name: &str) -> Kernel {
        Kernel(Declaration::new("kernel", name))
    }

    /// Its one-line title.
    pub fn title(mut self, title: &str) -> Self {
        self.0.title(title);
        self
    }

    /// `computes`, and statements: `C[i, j] = sum(k in 0..n) A[i, k] * B[k, j]`.
    pub fn computes<T: AsRef<str>>(self, statements: impl IntoIterator<Item = T>) -> Self {
        let below = statements.into_iter().map(|statement| Clause::line(statement.as_ref()));
        self.with(Clause::with("computes", below))
    }

    /// `element TYPE`: `f32`.
    pub fn element(self, kind: &str) -> Self {
        self.with(Clause::line(format!("element {kind}")))
    }

    /// `accumulate TYPE`.
    pub fn accumulate(self, kind: &str) -> Self {
        self.with(Clause::line(format!("accumulate {kind}")))
    }

    /// `input NAME: TYPE in VALUES; checked at VALUES`: a scalar.
    pub fn scalar(self, name: &str, kind: &str, values: impl Into<Values>, checked_at: impl Into<Values>) -> Self {
        let (values, checked) = (values.into(), checked_at.into());
        self.with(Clause::line(format!("input {name}: {kind} in {values}; checked at {checked}")))
    }

    /// `input NAME: ARRAY, START`: `array[n] of f32`, `random uniform -1 to 1`.
    pub fn input(self, name: &str, array: &str, start: &str) -> Self {
        self.with(Clause::line(format!("input {name}: {array}, {start}")))
    }

    /// `inout NAME: ARRAY, START`.
    pub fn inout(self, name: &str, array: &str, start: &str) -> Self {
        self.with(Clause::line(format!("inout {name}: {array}, {start}")))
    }

    /// `output NAME: ARRAY`.
    pub fn output(self, name: &str, array: &str) -> Self {
        self.with(Clause::line(format!("output {name}: {array}")))
    }

    /// `tolerance ...`: `relative 1e-5`.
    pub fn tolerance(self, tolerance: &str) -> Self {
        self.with(Clause::line(format!("tolerance {tolerance}")))
    }

    /// `tune NAME in VALUES`.
    pub fn tune(self, name: &str, values: impl Into<Values>) -> Self {
        self.with(Clause::line(format!("tune {name} in {}", values.into())))
    }

    /// `require NAME: CONDITION`.
    pub fn require(self, name: &str, condition: &str) -> Self {
        self.with(Clause::line(format!("require {name}: {condition}")))
    }

    /// `device code for LANGUAGE`, and the code.
    pub fn device_code(self, language: &str, code: &str) -> Self {
        self.with(Clause::fence(format!("device code for {language}"), code))
    }

    /// `macros for LANGUAGE`, and the code.
    pub fn macros(self, language: &str, code: &str) -> Self {
        self.with(Clause::fence(format!("macros for {language}"), code))
    }

    /// `host code`, and the launch plan.
    pub fn host_code(self, plan: &str) -> Self {
        self.with(Clause::kept("host code", plan))
    }

    fn with(mut self, clause: Clause) -> Self {
        self.0.add(clause);
        self
    }
}

impl Authored for Kernel {
    fn declaration(&self) -> &Declaration {
        &self.0
    }
}

/// A utility under way: code that `insert` brings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Utility(Declaration);

impl Utility {
    /// `utility NAME`.
    pub fn new(name: &str) -> Utility {
        Utility(Declaration::new("utility", name))
    }

    /// Its one-line title.
    pub fn title(mut self, title: &str) -> Self {
        self.0.title(title);
        self
    }

    /// `takes NAME, ...`.
    pub fn takes<T: AsRef<str>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.0.add(Clause::list("takes", names));
        self
    }

    /// `code for LANGUAGE, ...`, and the code.
    pub fn code<T: AsRef<str>>(mut self, languages: impl IntoIterator<Item = T>, code: &str) -> Self {
        let languages: Vec<String> = languages.into_iter().map(|language| language.as_ref().to_owned()).collect();
        self.0.add(Clause::fence(format!("code for {}", languages.join(", ")), code));
        self
    }
}

impl Authored for Utility {
    fn declaration(&self) -> &Declaration {
        &self.0
    }
}
