//! `let the model choose from ...`: what applies here is listed, one name comes back, and that one is tried.

use super::{Flow, Run};
use crate::lowering::{CHOICE, Choice, Choosing, UNKNOWN_CHOICE, choose};
use crate::plan::TransformationPlan;
use crate::runner::{Failure, FailureClass};
use crate::store::NewAttempt;
use crate::workflow::apply::{ApplyError, Workshop};
use crate::workflow::environment::Environment;
use crate::workflow::error::WorkflowError;
use crate::workflow::remembered::Remembered;
use crate::workflow::row::Verdict;
use crate::workflow::rows::{self, StepFacts};
use peak_grammar::ir::{Application, WorkflowStep};

/// The name of the step in rows, where no transformation came of it.
const STEP: &str = "let the model choose";

/// What may be chosen here, and why the others may not.
struct Candidates<'w> {
    applications: Vec<&'w Application>,
    plans: Vec<TransformationPlan>,
    left_out: Vec<String>,
}

impl<'e> Run<'e, '_> {
    /// Asks which of them comes next, and carries it out as `try` does: a failure or a slow-down is no harm.
    pub(super) fn let_model_choose(&mut self, from: &'e [Application]) -> Result<Flow, WorkflowError> {
        let candidates = self.candidates(from);
        let chosen = match candidates.applications.as_slice() {
            [] => {
                self.skip(STEP, &format!("there is nothing to choose: {}", candidates.left_out.join("; ")));
                return Ok(Flow::Done);
            }
            [only] => {
                let name = &only.transformation;
                let why = candidates.left_out.join("; ");
                let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
                self.observer.note(&format!("{name} is all that is left to choose from{why}: no model is asked"));
                *only
            }
            _ => match self.asked(&candidates)? {
                Ok(chosen) => chosen,
                Err(failure) => return Ok(Flow::Stopped(failure)),
            },
        };
        let before = self.line.position();
        let hash = self.line.current().context.hash();
        let flow = self.try_apply(chosen)?;
        if self.line.position() == before {
            self.tried.insert((hash, chosen.transformation.clone()));
        }
        Ok(flow)
    }

    fn candidates(&self, from: &'e [Application]) -> Candidates<'e> {
        let context = &self.line.current().context;
        let hash = context.hash();
        let workshop = Workshop::of(self.environment, self.workflow.on_failure.retries);
        let mut found = Candidates { applications: Vec::new(), plans: Vec::new(), left_out: Vec::new() };
        for application in from {
            let name = &application.transformation;
            // The same question would get the same answer.
            if self.tried.contains(&(hash.clone(), name.clone())) {
                found.left_out.push(format!("`{name}` was tried from here, and not kept"));
                continue;
            }
            match workshop.plan(application, context) {
                Ok(plan) => {
                    found.applications.push(application);
                    found.plans.push(plan);
                }
                Err(error) => found.left_out.push(error.to_string()),
            }
        }
        found
    }

    /// The model's choice; its failure is a row, as that of any step.
    fn asked(&mut self, candidates: &Candidates<'e>) -> Result<Result<&'e Application, Failure>, WorkflowError> {
        let retries = self.workflow.on_failure.retries;
        let context = self.line.current().context.clone();
        let workshop = Workshop::of(self.environment, retries);
        let asked = Remembered::new(workshop.provider, &self.answers, self.id, self.steps);
        let choice = choose(&Choosing {
            context: &context,
            candidates: &candidates.plans,
            provider: &asked,
            templates: workshop.templates,
            surroundings: workshop.surroundings(),
            known: &self.known,
            repairs: retries,
        });
        let recalled = asked.recalled();
        keep(&choice, (self.id, self.steps), &candidates.plans, self.environment)?;
        let answered = choice.attempts.iter().filter(|attempt| attempt.completion.is_some()).count();
        self.count_answers(answered, recalled);
        self.choice_calls = (answered, answered.saturating_sub(1));
        match choice.chosen {
            Ok(index) => {
                let chosen = candidates.applications[index];
                let of: Vec<&str> = candidates.applications.iter().map(|one| one.transformation.as_str()).collect();
                self.observer.note(&format!("the model chose {} of {}", chosen.transformation, of.join(", ")));
                Ok(Ok(chosen))
            }
            Err((failure, error)) => {
                let (model_calls, repairs) = std::mem::take(&mut self.choice_calls);
                let facts = StepFacts { index: self.steps, name: STEP, model_calls, repairs, ..StepFacts::default() };
                self.steps += 1;
                let rows = rows::failed(&facts, &self.sizes, &failure, self.environment);
                self.tell(rows, None);
                self.diagnostics.push((STEP.to_owned(), ApplyError::Lowering(error)));
                Ok(Err(failure))
            }
        }
    }

    /// What several branches will ask first is asked at once: none of it hangs on what becomes of another branch.
    pub(super) fn ask_ahead(&mut self, branches: &[Vec<WorkflowStep>]) {
        // A run that goes on may have these answers: each is asked for in its turn, where it is not kept.
        if self.environment.replays || self.environment.options.resume.is_some() {
            return;
        }
        let workshop = Workshop::of(self.environment, self.workflow.on_failure.retries);
        let context = self.line.current().context.clone();
        let mut requests = Vec::new();
        for branch in branches {
            let Some(WorkflowStep::Apply(first) | WorkflowStep::Try(first)) = branch.first() else { continue };
            requests.extend(workshop.first_request(first, &context, &self.known));
        }
        if requests.len() > 1 {
            let names: Vec<&str> = requests.iter().map(|request| request.identity.transformation.as_str()).collect();
            self.observer.note(&format!("asking for the branches at once: {}", names.join(", ")));
            self.environment.provider.ask_ahead(&requests);
        }
    }

    /// A row of a step that was left out, with the word why.
    pub(super) fn skip(&mut self, name: &str, why: &str) {
        let verdict = Verdict::Skipped;
        let facts =
            StepFacts { index: self.steps, name, verdict, reason: Some(why.to_owned()), ..StepFacts::default() };
        self.steps += 1;
        let rows = rows::skipped(&facts, &self.sizes, self.environment);
        self.tell(rows, None);
    }
}

/// Keeps every request and its answer.
fn keep(
    choice: &Choice,
    (run, step): (i64, usize),
    candidates: &[TransformationPlan],
    environment: &mut Environment<'_>,
) -> Result<(), WorkflowError> {
    let names: Vec<&str> = candidates.iter().map(|plan| plan.transformation.as_str()).collect();
    let provider = environment.provider.name();
    for (number, attempt) in (1_u32..).zip(&choice.attempts) {
        environment.store.put_attempt(&NewAttempt {
            run: Some(run),
            at: Some((u32::try_from(step).unwrap_or(u32::MAX), number - 1)),
            transformation: CHOICE,
            pass: &names.join("+"),
            region: "choice",
            number,
            class: attempt.failure.as_ref().map(|failure: &Failure| FailureClass::name(failure.class)),
            code: attempt
                .failure
                .as_ref()
                .filter(|failure| failure.class == FailureClass::Apply)
                .map(|_| UNKNOWN_CHOICE),
            facts: attempt.failure.as_ref().map_or(&[], |failure| failure.facts.as_slice()),
            message: attempt.failure.as_ref().map_or("", |failure| failure.message.as_str()),
            prompt: &attempt.prompt,
            completion: attempt.completion.as_deref(),
            provider,
            usage: attempt.usage,
        })?;
    }
    Ok(())
}
