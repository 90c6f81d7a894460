//! One region of one pass: asks until an answer passes the checks, or the repairs are used up.

use super::{Run, Stop, hard, provider_failure};
use crate::context::KernelContext;
use crate::lowering::answer::{Proposal, Refused, examine};
use crate::lowering::attempt::Attempt;
use crate::lowering::error::LoweringError;
use crate::lowering::judge::Event;
use crate::lowering::prompt::{PromptFacts, render};
use crate::lowering::repair::Repair;
use crate::plan::{PassPlan, RegionRequest};
use crate::provider::{CompletionRequest, KeyFacts, RequestIdentity};
use crate::runner::Failure;

/// How a pass's repairs are counted.
pub struct Budget {
    /// Repairs made so far.
    pub used: u32,
    /// Repairs at most.
    pub limit: u32,
}

impl Budget {
    /// Takes one repair, if there is one left; whether it is the first.
    pub fn take(&mut self) -> Option<bool> {
        (self.used < self.limit).then(|| {
            self.used += 1;
            self.used == 1
        })
    }
}

/// An answer that passed the checks.
pub struct Accepted {
    /// The candidate.
    pub proposal: Proposal,
    /// SHA-256 of the completion.
    pub completion_sha256: String,
    /// Its place in the attempts.
    pub attempt: usize,
}

impl Run<'_, '_> {
    /// Asks for the region of `shown`.
    pub fn ask(
        &mut self,
        shown: &KernelContext,
        pass: &PassPlan,
        request: &RegionRequest,
        budget: &mut Budget,
        mut repair: Option<Repair>,
    ) -> Result<Accepted, Box<Stop>> {
        loop {
            let (completion, attempt) = self.completion(shown, pass, request, repair.as_ref())?;
            let completion_sha256 = crate::hash::hex(completion.as_bytes());
            let spelling = self.lowering.surroundings.spelling;
            let Refused { rejection, proposed } = match examine(shown, request.region, spelling, &completion) {
                Ok(proposal) => {
                    let number = self.attempts[attempt].attempt;
                    let event = Event::Answered { pass: &pass.name, region: request.region, attempt: number };
                    self.lowering.observer.event(&event);
                    return Ok(Accepted { proposal, completion_sha256, attempt });
                }
                Err(refused) => refused,
            };
            let failure = rejection.failure();
            self.mark(attempt, &failure, Some(rejection.code));
            self.failed(pass, Some(request.region), &failure);
            let Some(first) = budget.take() else {
                let (pass, code) = (pass.name.clone(), Some(rejection.code));
                let (repairs, failed) = (budget.used, failure.clone());
                let diagnostic = LoweringError::Failed { pass, repairs, code, failure: failed, asked: true };
                return Err(hard(failure, diagnostic));
            };
            repair = Some(Repair {
                failure,
                answer: proposed,
                completion_sha256,
                known_failures: self.known_failures().filter(|_| first),
                restarts_group: false,
            });
        }
    }

    /// One completion, kept as an attempt.
    fn completion(
        &mut self,
        shown: &KernelContext,
        pass: &PassPlan,
        request: &RegionRequest,
        repair: Option<&Repair>,
    ) -> Result<(String, usize), Box<Stop>> {
        let known = self.lowering.judge.known();
        let surroundings = self.lowering.surroundings;
        let format = self.lowering.format;
        let (plan, known) = (self.plan, known.as_slice());
        let facts = PromptFacts { context: shown, plan, pass, request, surroundings, known, repair, format };
        let prompt = render(self.lowering.templates, &facts).map_err(provider_failure)?;
        let earlier = self.attempts.iter().filter(|a| a.pass == pass.name && a.region == request.region).count();
        let number = u32::try_from(earlier).unwrap_or(u32::MAX);
        let asked = Event::Asked { pass: &pass.name, region: request.region, attempt: number, prompt: &prompt };
        self.lowering.observer.event(&asked);
        let identity = RequestIdentity {
            kernel: self.plan.kernel.clone(),
            backend: self.plan.backend.clone(),
            applied: self.start.applied.clone(),
            transformation: self.plan.transformation.clone(),
            pass: pass.name.clone(),
            region: Some(request.region),
            // A group that starts again may ask afresh: that is no repair, and finds the first recording.
            repair: if repair.is_some() { number } else { 0 },
        };
        let region = request.region;
        let counts = self.counts(shown, request, repair);
        let request = CompletionRequest { prompt, identity, key: counts.key(), parts: counts.parts() };
        let answered = self.lowering.provider.complete(&request);
        self.attempts.push(Attempt {
            pass: pass.name.clone(),
            region,
            attempt: number,
            prompt_sha256: request.prompt_sha256(),
            key: request.key.clone(),
            completion: answered.as_ref().ok().map(|completion| completion.text.clone()),
            model: answered.as_ref().ok().and_then(|completion| completion.model.clone()),
            class: None,
            code: None,
            message: None,
            usage: answered.as_ref().ok().and_then(|completion| completion.usage),
            facts: Vec::new(),
        });
        let attempt = self.attempts.len() - 1;
        match answered {
            Ok(completion) => Ok((completion.text, attempt)),
            Err(error) => {
                let stop = match repair {
                    None => provider_failure(error),
                    Some(Repair { failure, .. }) => {
                        let (pass, failure) = (pass.name.clone(), failure.clone());
                        provider_failure(LoweringError::Unrepaired { pass, failure, error: Box::new(error) })
                    }
                };
                self.mark(attempt, &stop.failure, None);
                self.failed(pass, Some(region), &stop.failure);
                Err(stop)
            }
        }
    }

    /// What counts for the key of a recording.
    fn counts(&self, shown: &KernelContext, request: &RegionRequest, repair: Option<&Repair>) -> KeyFacts {
        // What is known of devices in general does not count: a recording serves every device.
        let specific = self.plan.knowledge.iter().filter(|known| known.specific);
        KeyFacts {
            backend: shown.backend.clone(),
            element: shown.kernel.element.name().to_owned(),
            accumulator: shown.kernel.accumulator.name().to_owned(),
            region: request.region,
            words: request.words.key.clone(),
            knowledge: specific.map(|known| known.words.key.clone()).collect(),
            regions: shown.regions.clone(),
            settings: self.plan.settings.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            parent: repair.map(Repair::parent),
        }
    }

    /// Marks an attempt as failed.
    pub fn mark(&mut self, attempt: usize, failure: &Failure, code: Option<&'static str>) {
        if let Some(attempt) = self.attempts.get_mut(attempt) {
            attempt.class = Some(failure.class);
            attempt.code = code.map(str::to_owned);
            attempt.message = Some(failure.message.clone());
            attempt.facts.clone_from(&failure.facts);
        }
    }
}
