//! The checks before anything is compiled: one file each, and the list [`CHECKS`]. Each has its own code, counted apart.
//!
//! A bad answer is data: a check gives a [`Rejection`] that feeds repair, never an error. Checks look at text only.

mod banned;
mod changes_other_region;
mod defines_tuning;
mod elided;
mod interface;
mod no_change;
mod parses;
mod pass_lines;
mod retired;
mod shrunk;
mod undeclared;
mod unused;
mod words;

use super::response::Answer;
use crate::context::KernelContext;
use crate::plan::{PassPlan, TransformationPlan};
use crate::runner::{Failure, FailureClass};
use peak_backend_api::Spelling;
use peak_grammar::ir::Region;

/// Characters of a rejection's message: it quotes the answer, whose lines have no bound.
const MAX_MESSAGE_CHARS: usize = 400;

/// Why an answer is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The stable code.
    pub code: &'static str,
    /// The region at fault.
    pub region: Region,
    /// One line.
    pub message: String,
    /// More for a repair.
    pub facts: Vec<String>,
}

impl Rejection {
    /// The failure that it is.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let message = self.message.chars().take(MAX_MESSAGE_CHARS).collect();
        Failure { class: FailureClass::Apply, message, facts: self.facts.clone() }
    }
}

/// One answer, applied to a copy.
#[derive(Clone, Copy, Debug)]
pub struct AnswerFacts<'a> {
    /// The region that was asked for.
    pub region: Region,
    /// The answer.
    pub answer: &'a Answer,
    /// The context that the prompt showed.
    pub before: &'a KernelContext,
    /// The region's new text.
    pub new: &'a str,
    /// The language.
    pub spelling: &'a Spelling,
}

impl AnswerFacts<'_> {
    fn old(&self) -> &str {
        self.before.regions.get(self.region)
    }

    fn reject(&self, code: &'static str, message: impl Into<String>) -> Option<Rejection> {
        Some(Rejection { code, region: self.region, message: message.into(), facts: Vec::new() })
    }
}

/// A pass, all of its regions answered.
#[derive(Clone, Copy, Debug)]
pub struct PassFacts<'a> {
    /// The transformation.
    pub plan: &'a TransformationPlan,
    /// The pass.
    pub pass: &'a PassPlan,
    /// The context when the transformation started.
    pub start: &'a KernelContext,
    /// The context as it would stand.
    pub after: &'a KernelContext,
    /// The language.
    pub spelling: &'a Spelling,
}

/// When a check is due, and what it looks at.
#[derive(Clone, Copy)]
pub enum Due {
    /// On every answer.
    Answer(fn(&AnswerFacts<'_>) -> Option<Rejection>),
    /// At the end of every pass.
    Pass(fn(&PassFacts<'_>) -> Option<Rejection>),
    /// At the end of a pass that must compile.
    Build(fn(&PassFacts<'_>) -> Option<Rejection>),
    /// At the end of the last pass.
    End(fn(&PassFacts<'_>) -> Option<Rejection>),
}

/// A check in the list.
pub struct CheckEntry {
    /// Its stable code.
    pub code: &'static str,
    /// What it rejects, in a few words.
    pub title: &'static str,
    /// When and how it is run.
    pub due: Due,
}

/// Every check, in the order in which they are run: the first that rejects gives the code.
pub const CHECKS: &[CheckEntry] = &[
    CheckEntry {
        code: changes_other_region::CODE,
        title: "another region changed",
        due: Due::Answer(changes_other_region::check),
    },
    CheckEntry { code: elided::CODE, title: "elided code", due: Due::Answer(elided::check) },
    CheckEntry { code: no_change::CODE, title: "no change", due: Due::Answer(no_change::check) },
    CheckEntry { code: shrunk::CODE, title: "shrunk with no word why", due: Due::Answer(shrunk::check) },
    CheckEntry { code: banned::CODE, title: "a construct that no kernel may hold", due: Due::Answer(banned::check) },
    CheckEntry {
        code: defines_tuning::CODE,
        title: "a tuning parameter is defined",
        due: Due::Answer(defines_tuning::check),
    },
    CheckEntry { code: parses::CODE, title: "text that does not parse", due: Due::Answer(parses::check) },
    CheckEntry { code: pass_lines::CODE, title: "a `checks` line fails", due: Due::Pass(pass_lines::check) },
    CheckEntry { code: retired::CODE, title: "a retired parameter is read", due: Due::Pass(retired::check) },
    CheckEntry { code: undeclared::CODE, title: "an undeclared tuning parameter", due: Due::Build(undeclared::check) },
    CheckEntry {
        code: interface::CODE,
        title: "the entry does not match its launch",
        due: Due::Build(interface::check),
    },
    CheckEntry { code: unused::CODE, title: "a tuning parameter that nothing uses", due: Due::End(unused::check) },
];

/// What an answer is rejected for; what else is wrong stands in its facts.
#[must_use]
pub fn check_answer(facts: &AnswerFacts<'_>) -> Option<Rejection> {
    first(CHECKS.iter().filter_map(|check| match check.due {
        Due::Answer(run) => run(facts),
        _ => None,
    }))
}

/// What a pass is rejected for. `builds`: it must compile. `last`: it is the last pass.
#[must_use]
pub fn check_pass(facts: &PassFacts<'_>, builds: bool, last: bool) -> Option<Rejection> {
    first(CHECKS.iter().filter_map(|check| match check.due {
        Due::Pass(run) => run(facts),
        Due::Build(run) if builds => run(facts),
        Due::End(run) if last => run(facts),
        _ => None,
    }))
}

fn first(mut rejections: impl Iterator<Item = Rejection>) -> Option<Rejection> {
    let mut held = rejections.next()?;
    for other in rejections {
        held.facts.push(other.message);
        held.facts.extend(other.facts);
    }
    Some(held)
}
