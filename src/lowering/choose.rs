//! Lets a model choose one of several transformations: a request that lists them, one name as the answer, repairs.
//!
//! Changes no kernel. An answer that names none of them is rejected, and asked for again with the word why, a bounded
//! number of times.

use super::error::LoweringError;
use super::prompt::{Surroundings, choice_values};
use super::response;
use super::templates::Templates;
use crate::context::KernelContext;
use crate::plan::TransformationPlan;
use crate::provider::{
    ChoiceKey, Completion, CompletionRequest, ParentAnswer, Provider, ProviderError, RequestIdentity, Usage,
};
use crate::runner::{Failure, FailureClass};
use serde_json::json;

/// The code of an answer that names none of the candidates.
pub const UNKNOWN_CHOICE: &str = "peak::answer-unknown-choice";

/// What requests of a choice are filed under, in place of a transformation's name.
pub const CHOICE: &str = "choose";

/// Characters of an answer that a message quotes, at most.
const MAX_QUOTED: usize = 60;

/// Characters of the candidates' names in a file's name, at most.
const MAX_NAMES: usize = 80;

/// What choosing works with.
#[derive(Clone, Copy)]
pub struct Choosing<'a> {
    /// The kernel as it stands.
    pub context: &'a KernelContext,
    /// What is chosen from, bound to the kernel; at least one.
    pub candidates: &'a [TransformationPlan],
    /// Who is asked.
    pub provider: &'a dyn Provider,
    /// The prompts' templates.
    pub templates: &'a Templates,
    /// Language and device.
    pub surroundings: Surroundings<'a>,
    /// Work and traffic: a few lines, no times.
    pub known: &'a [String],
    /// Repairs, at most.
    pub repairs: u32,
}

/// One request, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceAttempt {
    /// The prompt.
    pub prompt: String,
    /// The answer; `None` where none came.
    pub completion: Option<String>,
    /// Why it was rejected; `None` for the answer that stands.
    pub failure: Option<Failure>,
    /// What the answer took, where its provider says.
    pub usage: Option<Usage>,
}

/// What choosing came to.
#[derive(Debug)]
pub struct Choice {
    /// The index of the candidate; else the failure, as data, and the diagnostic for people.
    pub chosen: Result<usize, (Failure, LoweringError)>,
    /// Every request, in order.
    pub attempts: Vec<ChoiceAttempt>,
}

/// Asks until an answer names a candidate, or the repairs are used up.
#[must_use]
pub fn choose(choosing: &Choosing<'_>) -> Choice {
    let mut attempts: Vec<ChoiceAttempt> = Vec::new();
    let mut rejected: Option<(String, Failure)> = None;
    for number in 0..=choosing.repairs {
        let request = match choosing.request(number, rejected.as_ref()) {
            Ok(request) => request,
            Err(error) => return Choice { chosen: Err(unanswered(error)), attempts },
        };
        let prompt = request.prompt.clone();
        let completion = match choosing.provider.complete(&request) {
            Ok(completion) => completion,
            Err(error) => {
                let failed = unanswered(error_after(rejected, error));
                attempts.push(ChoiceAttempt { prompt, completion: None, failure: Some(failed.0.clone()), usage: None });
                return Choice { chosen: Err(failed), attempts };
            }
        };
        let Completion { text: completion, usage, .. } = completion;
        let answer = choosing.answer(&completion);
        let failure = answer.as_ref().err().cloned();
        attempts.push(ChoiceAttempt { prompt, completion: Some(completion.clone()), failure, usage });
        match answer {
            Ok(index) => return Choice { chosen: Ok(index), attempts },
            Err(failure) => rejected = Some((completion, failure)),
        }
    }
    let failure = rejected.map_or_else(|| Failure::new(FailureClass::Provider, "nobody was asked"), |(_, why)| why);
    let diagnostic = LoweringError::Failed {
        pass: CHOICE.to_owned(),
        repairs: choosing.repairs,
        code: Some(UNKNOWN_CHOICE),
        failure: failure.clone(),
        asked: true,
    };
    Choice { chosen: Err((failure, diagnostic)), attempts }
}

fn unanswered(error: LoweringError) -> (Failure, LoweringError) {
    (Failure::new(FailureClass::Provider, error.to_string()), error)
}

fn error_after(rejected: Option<(String, Failure)>, error: ProviderError) -> LoweringError {
    match rejected {
        None => error.into(),
        Some((_, failure)) => LoweringError::Unrepaired { pass: CHOICE.to_owned(), failure, error: Box::new(error) },
    }
}

impl Choosing<'_> {
    fn names(&self) -> Vec<&str> {
        self.candidates.iter().map(|plan| plan.transformation.as_str()).collect()
    }

    /// The candidate that a completion names: alone in a block, or alone on its one line.
    fn answer(&self, completion: &str) -> Result<usize, Failure> {
        let block = response::parse(completion).ok().map(|answer| answer.region().text.clone());
        let words = block.as_deref().unwrap_or(completion).trim().trim_matches('`').trim();
        self.names().iter().position(|name| *name == words).ok_or_else(|| {
            let quoted: String = words.chars().take(MAX_QUOTED).map(|c| if c.is_control() { ' ' } else { c }).collect();
            let message = format!("the answer is `{quoted}`, which is none of: {}", self.names().join(", "));
            Failure::new(FailureClass::Apply, message)
        })
    }

    fn request(&self, number: u32, rejected: Option<&(String, Failure)>) -> Result<CompletionRequest, LoweringError> {
        let message = rejected.map(|(_, failure)| failure.message.as_str());
        let mut values = choice_values(self.context, self.candidates, &self.surroundings, self.known);
        values["rejected"] = json!(message);
        let text = self.templates.render_choice(&values)?;
        let identity = RequestIdentity {
            kernel: self.context.kernel.name.clone(),
            backend: self.context.backend.clone(),
            applied: self.context.applied.clone(),
            transformation: CHOICE.to_owned(),
            pass: short(&self.names().join("+")),
            region: None,
            repair: number,
        };
        let prompt = format!("{}\n", text.trim_end());
        let facts = self.key(rejected);
        Ok(CompletionRequest { prompt, identity, key: facts.key(), parts: facts.parts() })
    }

    fn key(&self, rejected: Option<&(String, Failure)>) -> ChoiceKey {
        let words = |plan: &TransformationPlan| {
            let specific = plan.knowledge.iter().filter(|known| known.specific).map(|known| known.words.key.clone());
            (plan.transformation.clone(), plan.because.key.clone(), specific.collect())
        };
        ChoiceKey {
            backend: self.context.backend.clone(),
            element: self.context.kernel.element.name().to_owned(),
            accumulator: self.context.kernel.accumulator.name().to_owned(),
            candidates: self.candidates.iter().map(words).collect(),
            regions: self.context.regions.clone(),
            parent: rejected.map(|(completion, failure)| ParentAnswer {
                completion_sha256: crate::hash::hex(completion.as_bytes()),
                class: failure.class.name().to_owned(),
            }),
        }
    }
}

/// Long lists would exceed what a file name may hold.
fn short(names: &str) -> String {
    match names.len() {
        0..=MAX_NAMES => names.to_owned(),
        _ => format!("{}-names-{}", names.split('+').count(), &crate::hash::hex(names.as_bytes())[..8]),
    }
}
