//! Applies a transformation: passes in order, one request a region, checks, compiling, validating, repairs.
//!
//! Passes that may break results form a group with the pass that mends them. A failure where a group ends repairs its
//! last pass first, then starts the group once more. Everything is bounded ([`MAX_REPAIRS`], one restart), every
//! attempt is kept, and the context that came in is never touched.

mod ask;
mod pass;

use super::attempt::Attempt;
use super::error::LoweringError;
use super::format::AnswerFormat;
use super::judge::{Event, Judge, Observer};
use super::prompt::Surroundings;
use super::repair::Repair;
use super::templates::Templates;
use crate::context::KernelContext;
use crate::plan::{PassPlan, TransformationPlan};
use crate::provider::Provider;
use crate::runner::{Failure, FailureClass};

/// Repairs of one pass, where a workflow says nothing.
pub const MAX_REPAIRS: u32 = 3;

/// What lowering works with.
pub struct Lowering<'a> {
    /// Who is asked.
    pub provider: &'a dyn Provider,
    /// The prompts' templates.
    pub templates: &'a Templates,
    /// Language and device.
    pub surroundings: Surroundings<'a>,
    /// Who compiles and validates.
    pub judge: &'a mut dyn Judge,
    /// Who watches.
    pub observer: &'a mut dyn Observer,
    /// Repairs of one pass, at most: [`MAX_REPAIRS`], or the workflow's `retry`.
    pub repairs: u32,
    /// How answers are asked for.
    pub format: AnswerFormat,
}

/// A transformation that was applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The new context, valid as far as the judge says.
    pub context: KernelContext,
    /// Every request, in order, failed ones included.
    pub attempts: Vec<Attempt>,
}

/// A transformation that was not applied. The context stands as it was.
#[derive(Debug, thiserror::Error)]
#[error("{diagnostic}")]
pub struct Rejected {
    /// Every request, in order.
    pub attempts: Vec<Attempt>,
    /// What failed last.
    pub failure: Failure,
    /// For people.
    pub diagnostic: LoweringError,
}

/// Applies a transformation to a context.
///
/// # Errors
/// The provider has no answer, a mechanical step cannot be carried out, or the repairs are used up.
pub fn apply_transformation(
    context: &KernelContext,
    plan: &TransformationPlan,
    lowering: &mut Lowering<'_>,
) -> Result<Applied, Box<Rejected>> {
    let start = prepared(context, plan);
    let mut run = Run { plan, lowering, start: start.clone(), attempts: Vec::new() };
    let mut current = start;
    let mut first = 0;
    for group in plan.passes.chunk_by(|a, b| a.group == b.group) {
        current = match run.group(&current, first, group) {
            Ok(context) => context,
            Err(stop) => {
                let Stop { failure, diagnostic, .. } = *stop;
                return Err(Box::new(Rejected { attempts: run.attempts, failure, diagnostic }));
            }
        };
        first += group.len();
    }
    current.applied.push(plan.transformation.clone());
    Ok(Applied { context: current, attempts: run.attempts })
}

/// The context with what the transformation brings before its first pass: parameters, ranges, requirements.
#[must_use]
pub fn prepared(context: &KernelContext, plan: &TransformationPlan) -> KernelContext {
    let mut after = context.clone();
    for parameter in &mut after.tuning {
        if let Some(values) = plan.narrows.get(&parameter.name) {
            parameter.values = values.clone();
            parameter.start = parameter.start.filter(|start| values.contains(*start));
        }
    }
    after.tuning.extend(plan.introduces.iter().cloned());
    after.requirements.retain(|old| plan.requires.iter().all(|new| new.name != old.name));
    after.requirements.extend(plan.requires.iter().cloned());
    after
}

/// The application of one transformation.
struct Run<'a, 'b> {
    plan: &'a TransformationPlan,
    lowering: &'a mut Lowering<'b>,
    start: KernelContext,
    attempts: Vec<Attempt>,
}

/// Why a pass, and with it a group, came to an end.
struct Stop {
    failure: Failure,
    diagnostic: LoweringError,
    /// It compiled or ran where the group ends, and failed: another answer to an earlier pass may mend it.
    at_close: bool,
}

impl Run<'_, '_> {
    fn group(&mut self, start: &KernelContext, first: usize, passes: &[PassPlan]) -> Result<KernelContext, Box<Stop>> {
        let failed = match self.group_once(start, first, passes, None) {
            Ok(context) => return Ok(context),
            Err(stop) if stop.at_close && passes.len() > 1 => stop,
            Err(stop) => return Err(stop),
        };
        let Some(repair) = self.restart(passes, &failed.failure) else { return Err(failed) };
        self.lowering.observer.event(&Event::GroupRestarted { pass: &passes[0].name });
        self.group_once(start, first, passes, Some(repair))
    }

    fn group_once(
        &mut self,
        start: &KernelContext,
        first: usize,
        passes: &[PassPlan],
        mut carried: Option<Repair>,
    ) -> Result<KernelContext, Box<Stop>> {
        let mut current = start.clone();
        for (offset, pass) in passes.iter().enumerate() {
            let (index, of) = (first + offset, self.plan.passes.len());
            self.lowering.observer.event(&Event::Pass { name: &pass.name, index, of });
            current = self.pass(&current, pass, index + 1 == of, &mut carried)?;
        }
        Ok(current)
    }

    /// What the first request of a group is told when the group starts again: its answer stood, and the end failed.
    fn restart(&self, passes: &[PassPlan], failure: &Failure) -> Option<Repair> {
        let pass = passes.iter().find(|pass| pass.requests().next().is_some())?;
        let region = pass.requests().next()?.region;
        let stood =
            |attempt: &&Attempt| attempt.pass == pass.name && attempt.region == region && attempt.completion.is_some();
        let completion = self.attempts.iter().rfind(stood)?.completion.clone()?;
        let answer = super::response::parse(&completion).ok().map(|answer| answer.region().text.clone());
        Some(Repair {
            failure: failure.clone(),
            answer,
            completion_sha256: crate::hash::hex(completion.as_bytes()),
            known_failures: self.known_failures(),
            restarts_group: true,
        })
    }

    fn known_failures(&self) -> Option<String> {
        let words = &self.plan.known_failures.text;
        (!words.is_empty()).then(|| words.clone())
    }

    fn failed(&mut self, pass: &PassPlan, region: Option<peak_grammar::ir::Region>, failure: &Failure) {
        let (class, message) = (failure.class, shown(failure));
        let message = message.as_str();
        self.lowering.observer.event(&Event::Failed { pass: &pass.name, region, class, message });
    }
}

/// Facts of a wrong result that people see as it happens: at which sizes, how many, in which pattern.
const SHOWN_FACTS: usize = 3;

/// A failure for those who watch. Wrong results say nothing without their first facts.
fn shown(failure: &Failure) -> String {
    let facts = match failure.class {
        FailureClass::Results => failure.facts.as_slice(),
        _ => &[],
    };
    let words = std::iter::once(&failure.message).chain(facts.iter().take(SHOWN_FACTS));
    words.map(String::as_str).collect::<Vec<_>>().join("; ")
}

/// A stop that no further answer mends.
fn hard(failure: Failure, diagnostic: LoweringError) -> Box<Stop> {
    Box::new(Stop { failure, diagnostic, at_close: false })
}

fn provider_failure(error: impl Into<LoweringError>) -> Box<Stop> {
    let diagnostic = error.into();
    hard(Failure::new(FailureClass::Provider, diagnostic.to_string()), diagnostic)
}
