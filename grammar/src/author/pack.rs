//! Builds a pack: what a device wants.

use super::clause::{Clause, Declaration};
use super::{Authored, Pass, Transformation, Values, Workflow};

/// A pack under way. Each method adds a clause; `spec/language.md` says what they mean.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Pack(Declaration);

/// What a pack changes in one transformation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Specialize {
    transformation: String,
    clauses: Vec<Clause>,
}

impl Pack {
    /// `pack NAME`.
    pub fn new(name: &str) -> Pack {
        Pack(Declaration::new("pack", name))
    }

    /// Its one-line title.
    pub fn title(mut self, title: &str) -> Self {
        self.0.title(title);
        self
    }

    /// `for devices NAME, ...`.
    pub fn for_devices<T: AsRef<str>>(self, names: impl IntoIterator<Item = T>) -> Self {
        self.with(Clause::list("for devices", names))
    }

    /// `extends PACK`.
    pub fn extends(self, pack: &str) -> Self {
        self.with(Clause::line(format!("extends {pack}")))
    }

    /// `knows`, and prose.
    pub fn knows(self, prose: &str) -> Self {
        self.with(Clause::kept("knows", prose))
    }

    /// `specialize TRANSFORMATION`.
    pub fn specialize(self, specialize: Specialize) -> Self {
        self.with(Clause::with(format!("specialize {}", specialize.transformation), specialize.clauses))
    }

    /// A transformation of its own.
    pub fn transformation(self, transformation: &Transformation) -> Self {
        self.with(transformation.declaration().clause())
    }

    /// A workflow of its own.
    pub fn workflow(self, workflow: &Workflow) -> Self {
        self.with(workflow.declaration().clause())
    }

    fn with(mut self, clause: Clause) -> Self {
        self.0.add(clause);
        self
    }
}

impl Authored for Pack {
    fn declaration(&self) -> &Declaration {
        &self.0
    }
}

impl Specialize {
    /// Changes to a transformation.
    pub fn new(transformation: &str) -> Specialize {
        Specialize { transformation: transformation.to_owned(), clauses: Vec::new() }
    }

    /// `introduces PARAMETER in VALUES`.
    pub fn introduces(self, name: &str, values: impl Into<Values>) -> Self {
        self.with(Clause::line(format!("introduces {name} in {}", values.into())))
    }

    /// `takes NAME = DEFAULT`.
    pub fn takes(self, name: &str, default: &str) -> Self {
        self.with(Clause::line(format!("takes {name} = {default}")))
    }

    /// `requires NAME: CONDITION`.
    pub fn requires(self, name: &str, condition: &str) -> Self {
        self.with(Clause::line(format!("requires {name}: {condition}")))
    }

    /// `replace pass`.
    pub fn replace_pass(self, pass: Pass) -> Self {
        self.with(pass.clause("replace pass"))
    }

    /// `knows`, and prose.
    pub fn knows(self, prose: &str) -> Self {
        self.with(Clause::kept("knows", prose))
    }

    fn with(mut self, clause: Clause) -> Self {
        self.clauses.push(clause);
        self
    }
}
