//! Builds a workflow and what it applies.

use super::clause::{Clause, Declaration};
use super::{Authored, Values};

/// A workflow under way. Each method adds a clause or a step, in order; `spec/language.md` says what they mean.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Workflow(Declaration);

/// A transformation as a workflow applies it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Application {
    name: String,
    adjustments: Vec<String>,
}

impl Workflow {
    /// `workflow NAME`.
    pub fn new(name: &str) -> Workflow {
        Workflow(Declaration::new("workflow", name))
    }

    /// Its one-line title.
    pub fn title(mut self, title: &str) -> Self {
        self.0.title(title);
        self
    }

    /// `start from kernel NAME`.
    pub fn start_from(self, kernel: &str) -> Self {
        self.step(&format!("start from kernel {kernel}"))
    }

    /// `target DEVICE`.
    pub fn target(self, device: &str) -> Self {
        self.step(&format!("target {device}"))
    }

    /// `on LANGUAGE`.
    pub fn on(self, language: &str) -> Self {
        self.step(&format!("on {language}"))
    }

    /// `validate N samples`.
    pub fn validate(self, samples: u32) -> Self {
        self.step(&format!("validate {samples} samples"))
    }

    /// `tune up to N configurations after each step`.
    pub fn tune_up_to(self, configurations: u32) -> Self {
        self.step(&format!("tune up to {configurations} configurations after each step"))
    }

    /// `time at NAME = VALUES`.
    pub fn time_at(self, name: &str, values: impl Into<Values>) -> Self {
        self.step(&format!("time at {name} = {}", values.into()))
    }

    /// `apply`.
    pub fn apply(self, what: impl Into<Application>) -> Self {
        self.step(&format!("apply {}", what.into().words()))
    }

    /// `try ... or keep going`.
    pub fn attempt(self, what: impl Into<Application>) -> Self {
        self.step(&format!("try {} or keep going", what.into().words()))
    }

    /// `choose best of`, each a branch.
    pub fn choose_best_of<A: Into<Application>>(mut self, branches: impl IntoIterator<Item = A>) -> Self {
        let below = branches.into_iter().map(|branch| Clause::line(format!("apply {}", branch.into().words())));
        self.0.add(Clause::with("choose best of", below));
        self
    }

    /// `let the model choose from ...`.
    pub fn let_the_model_choose_from<A: Into<Application>>(mut self, from: impl IntoIterator<Item = A>) -> Self {
        let from = from.into_iter().map(|one| one.into().words());
        self.0.add(Clause::list("let the model choose from", from));
        self
    }

    /// `checkpoint "NAME"`.
    pub fn checkpoint(self, name: &str) -> Self {
        self.step(&format!("checkpoint \"{name}\""))
    }

    /// `restore "NAME"`.
    pub fn restore(self, name: &str) -> Self {
        self.step(&format!("restore \"{name}\""))
    }

    /// `keep best`.
    pub fn keep_best(self) -> Self {
        self.step("keep best")
    }

    /// A clause or step of one line in the language's own words: `on failure retry 1 times, then stop`.
    pub fn step(mut self, words: &str) -> Self {
        self.0.add(Clause::line(words));
        self
    }
}

impl Authored for Workflow {
    fn declaration(&self) -> &Declaration {
        &self.0
    }
}

impl Application {
    /// The transformation as it is declared.
    pub fn new(transformation: &str) -> Application {
        Application { name: transformation.to_owned(), adjustments: Vec::new() }
    }

    /// `PARAMETER in VALUES`.
    pub fn narrow(self, parameter: &str, values: impl Into<Values>) -> Self {
        self.with(format!("{parameter} in {}", values.into()))
    }

    /// `SETTING = VALUE`.
    pub fn setting(self, name: &str, value: &str) -> Self {
        self.with(format!("{name} = {value}"))
    }

    /// `NEEDED as OTHER`.
    pub fn rename(self, needed: &str, other: &str) -> Self {
        self.with(format!("{needed} as {other}"))
    }

    fn with(mut self, adjustment: String) -> Self {
        self.adjustments.push(adjustment);
        self
    }

    fn words(&self) -> String {
        match self.adjustments.is_empty() {
            true => self.name.clone(),
            false => format!("{} with {}", self.name, self.adjustments.join(", ")),
        }
    }
}

impl From<&str> for Application {
    fn from(name: &str) -> Application {
        Application::new(name)
    }
}

impl From<&super::Transformation> for Application {
    fn from(transformation: &super::Transformation) -> Application {
        Application::new(transformation.name())
    }
}
