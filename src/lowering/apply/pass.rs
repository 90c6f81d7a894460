//! One pass: its steps in order, then the judgement of the whole, and repairs of the region at fault.

use super::ask::{Accepted, Budget};
use super::{Run, Stop, hard};
use crate::context::KernelContext;
use crate::lowering::checks::{PassFacts, Rejection, check_pass};
use crate::lowering::error::LoweringError;
use crate::lowering::judge::Event;
use crate::lowering::repair::Repair;
use crate::lowering::step::{StepError, carried_out, carried_out_again, with_requirements, without_retired};
use crate::plan::{PassPlan, PlannedStep};
use crate::runner::{Failure, FailureClass};
use peak_grammar::ir::{Effect, Region};

/// A request that was answered.
struct Answered {
    /// Its place among the pass's steps.
    step: usize,
    region: Region,
    /// The region's text that the request showed.
    shown: String,
    accepted: Accepted,
}

/// Why a pass as a whole fails.
struct Verdict {
    failure: Failure,
    code: Option<&'static str>,
    region: Option<Region>,
    /// It failed where the group ends, in compiling or in validating.
    judged: bool,
}

impl Run<'_, '_> {
    /// The context after a pass.
    pub fn pass(
        &mut self,
        before: &KernelContext,
        pass: &PassPlan,
        last: bool,
        carried: &mut Option<Repair>,
    ) -> Result<KernelContext, Box<Stop>> {
        let mut budget = Budget { used: 0, limit: self.lowering.repairs };
        let mut answers: Vec<Answered> = Vec::new();
        let mut current = with_requirements(before, pass);
        for (step, planned) in pass.steps.iter().enumerate() {
            current = match planned {
                PlannedStep::Mechanical { region, action } => {
                    carried_out(&current, *region, action).map_err(|error| mechanical(pass, error))?
                }
                PlannedStep::Request(request) => {
                    let shown = current.regions.get(request.region).to_owned();
                    let accepted = self.ask(&current, pass, request, &mut budget, carried.take())?;
                    let after = accepted.proposal.after.clone();
                    answers.push(Answered { step, region: request.region, shown, accepted });
                    after
                }
            };
        }
        loop {
            let candidate = without_retired(&current, pass);
            let Err(verdict) = self.judge(&candidate, pass, last) else { return Ok(candidate) };
            current = self.mend(&current, pass, &mut answers, &mut budget, verdict)?;
        }
    }

    /// Checks, compiles and validates what a pass came to.
    fn judge(&mut self, candidate: &KernelContext, pass: &PassPlan, last: bool) -> Result<(), Verdict> {
        let builds = pass.effect != Effect::MayBreakBuild || pass.closes_group;
        let spelling = self.lowering.surroundings.spelling;
        let facts = PassFacts { plan: self.plan, pass, start: &self.start, after: candidate, spelling };
        if let Some(rejection) = check_pass(&facts, builds, last) {
            return Err(rejected(&rejection));
        }
        let judged = |failure: Failure| Verdict { region: None, code: None, judged: pass.closes_group, failure };
        if builds {
            self.lowering.judge.compile(candidate).map_err(judged)?;
            self.lowering.observer.event(&Event::Compiled { pass: &pass.name });
        }
        if pass.closes_group {
            self.lowering.judge.validate(candidate).map_err(judged)?;
            self.lowering.observer.event(&Event::Validated { pass: &pass.name });
        }
        Ok(())
    }

    /// Asks again for the region at fault, with the failure's facts, and carries out what came after it in that region.
    fn mend(
        &mut self,
        current: &KernelContext,
        pass: &PassPlan,
        answers: &mut [Answered],
        budget: &mut Budget,
        verdict: Verdict,
    ) -> Result<KernelContext, Box<Stop>> {
        let Verdict { failure, code, region, judged } = verdict;
        let blamed = blamed(answers, region, &failure);
        if let Some(answered) = blamed.map(|index| &answers[index]) {
            self.mark(answered.accepted.attempt, &failure, code);
        }
        self.failed(pass, blamed.map(|index| answers[index].region), &failure);
        let (Some(index), Some(first)) = (blamed, blamed.and_then(|_| budget.take())) else {
            let (name, repairs) = (pass.name.clone(), budget.used);
            let asked = blamed.is_some();
            let diagnostic = LoweringError::Failed { pass: name, repairs, code, failure: failure.clone(), asked };
            return Err(Box::new(Stop { failure, diagnostic, at_close: judged }));
        };
        let answered = &mut answers[index];
        let repair = Repair {
            failure,
            answer: Some(answered.accepted.proposal.text.clone()),
            completion_sha256: answered.accepted.completion_sha256.clone(),
            known_failures: self.known_failures().filter(|_| first),
            restarts_group: false,
        };
        // The region as the request showed it, the others as they stand now.
        let mut shown = current.clone();
        shown.regions.get_mut(answered.region).clone_from(&answered.shown);
        let PlannedStep::Request(request) = &pass.steps[answered.step] else { return Ok(shown) };
        answered.accepted = self.ask(&shown, pass, request, budget, Some(repair))?;
        let mut mended = answered.accepted.proposal.after.clone();
        for planned in &pass.steps[answered.step + 1..] {
            if let PlannedStep::Mechanical { region, action } = planned {
                mended = carried_out_again(&mended, *region, action, answered.region)
                    .map_err(|error| mechanical(pass, error))?;
            }
        }
        Ok(mended)
    }
}

fn rejected(rejection: &Rejection) -> Verdict {
    Verdict { failure: rejection.failure(), code: Some(rejection.code), region: Some(rejection.region), judged: false }
}

/// The answer to ask for again: of the region that is named, else of the first that the failure's words name, else of
/// the device code, else the last. `None` where the pass asked nobody.
fn blamed(answers: &[Answered], region: Option<Region>, failure: &Failure) -> Option<usize> {
    let of = |region: Region| answers.iter().position(|answered| answered.region == region);
    let words = || std::iter::once(&failure.message).chain(&failure.facts);
    let named = || {
        words().find_map(|text| {
            Region::ALL.into_iter().find(|region| text.contains(&format!("{region}, line"))).and_then(of)
        })
    };
    region.and_then(of).or_else(named).or_else(|| of(Region::DeviceCode)).or_else(|| answers.len().checked_sub(1))
}

fn mechanical(pass: &PassPlan, error: StepError) -> Box<Stop> {
    let name = pass.name.clone();
    match error {
        StepError::Edit(error) => {
            let failure = Failure { facts: error.facts(), ..Failure::new(FailureClass::Apply, error.to_string()) };
            hard(failure, LoweringError::Mechanical { pass: name, error })
        }
        StepError::Rejected(rejection) => {
            let (failure, code) = (rejection.failure(), Some(rejection.code));
            hard(failure.clone(), LoweringError::Failed { pass: name, repairs: 0, code, failure, asked: false })
        }
    }
}
