//! The journal of a run under way: what is past is read from it, what happens is appended. A run that goes on must pass
//! the same places in the same order; where it does not, something changed, and that is an error.

use super::Run;
use crate::store::{JournalEntry, NewCheckpoint, Store};
use crate::workflow::decision::{Decision, DecisionKind};
use crate::workflow::error::WorkflowError;
use crate::workflow::past::Past;
use std::collections::VecDeque;

/// The journal of one run.
pub struct Journal {
    run: i64,
    past: VecDeque<JournalEntry>,
    position: u32,
    /// Decisions to follow, where they are given.
    recorded: Option<VecDeque<Decision>>,
}

impl Journal {
    /// That of a run, empty where the run is new. What ended the run the last time is taken out: it is tried again.
    pub fn open(store: &Store, run: i64, recorded: Option<Vec<Decision>>) -> Result<Journal, WorkflowError> {
        let mut past = store.journal(run)?;
        let held = past.len();
        while past.last().is_some_and(ended_it) {
            past.pop();
        }
        if past.len() < held {
            store.cut_journal(run, u32::try_from(past.len()).unwrap_or(u32::MAX))?;
        }
        Ok(Journal { run, past: past.into(), position: 0, recorded: recorded.map(Into::into) })
    }

    /// What is past at a place, with its checkpoint; `None` where the run has not come so far.
    pub fn past(&mut self, place: &str) -> Result<Option<(Past, Option<i64>)>, WorkflowError> {
        let Some(entry) = self.past.pop_front() else { return Ok(None) };
        if entry.place != place {
            return Err(WorkflowError::Diverged { run: self.run, now: place.to_owned(), then: entry.place });
        }
        let past: Past = serde_json::from_str(&entry.value).map_err(|error| WorkflowError::Journal {
            run: self.run,
            place: place.to_owned(),
            reason: error.to_string(),
        })?;
        self.position += 1;
        let (of_past, recorded) = (past.clone().decision(), self.recorded.as_mut());
        if let (Some(_), Some(recorded)) = (of_past, recorded) {
            recorded.pop_front();
        }
        Ok(Some((past, entry.checkpoint)))
    }

    /// Appends what happened, with the checkpoint that came of it; gives the checkpoint's number.
    pub fn append(
        &mut self,
        store: &mut Store,
        place: String,
        past: &Past,
        checkpoint: Option<&NewCheckpoint<'_>>,
    ) -> Result<Option<i64>, WorkflowError> {
        let value = serde_json::to_string(past).map_err(|error| WorkflowError::Journal {
            run: self.run,
            place: place.clone(),
            reason: error.to_string(),
        })?;
        let entry = JournalEntry { kind: past.kind().to_owned(), place, value, checkpoint: None };
        let id = store.append(self.run, self.position, &entry, checkpoint)?;
        self.position += 1;
        Ok(id)
    }

    /// The outcome that is recorded for a decision; `None` where decisions are made here.
    pub fn recorded(&mut self, decision: &Decision) -> Result<Option<String>, WorkflowError> {
        let Some(recorded) = &mut self.recorded else { return Ok(None) };
        match recorded.pop_front().filter(|next| next.is_at(decision)) {
            Some(next) => Ok(Some(next.outcome)),
            None => Err(WorkflowError::NoDecision { what: words(decision) }),
        }
    }
}

/// Whether an entry is how the run ended the last time, and not what it went on from.
fn ended_it(entry: &JournalEntry) -> bool {
    match serde_json::from_str::<Past>(&entry.value) {
        Ok(Past::Failed { .. }) => true,
        Ok(Past::Decision(decision)) => decision.kind == DecisionKind::Ask && decision.outcome == "stop",
        _ => false,
    }
}

/// A place in the workflow: the step's order and name, and the context that it starts from.
pub fn place(index: usize, name: &str, context: &str) -> String {
    format!("step {index}, {name}, from {context}")
}

fn words(decision: &Decision) -> String {
    let what = match decision.kind {
        DecisionKind::Try => format!("`try {}`", decision.step),
        DecisionKind::Ask => format!("the failure of `{}`", decision.step),
        _ => format!("`{}`", decision.step),
    };
    format!("{what} at context {}", decision.context.get(..10).unwrap_or(&decision.context))
}

impl Run<'_, '_> {
    /// Makes a decision, unless it is past or recorded; it is in the journal before it is carried out.
    pub(super) fn decide(
        &mut self,
        kind: DecisionKind,
        step: &str,
        context: String,
        make: impl FnOnce(&mut Self) -> String,
    ) -> Result<String, WorkflowError> {
        let mut decision = Decision { kind, step: step.to_owned(), context, outcome: String::new() };
        let place = words(&decision);
        if let Some((past, _)) = self.journal.past(&place)? {
            return Ok(past.decision().map(|decision| decision.outcome).unwrap_or_default());
        }
        decision.outcome = match self.journal.recorded(&decision)? {
            Some(outcome) => outcome,
            None => make(self),
        };
        let outcome = decision.outcome.clone();
        self.journal.append(self.environment.store, place, &Past::Decision(decision), None)?;
        Ok(outcome)
    }

    /// The error of a decision that cannot be followed here.
    pub(super) fn unfollowed(kind: DecisionKind, step: &str, context: String, outcome: &str) -> WorkflowError {
        let decision = Decision { kind, step: step.to_owned(), context, outcome: outcome.to_owned() };
        WorkflowError::NoDecision { what: format!("{} (recorded: {outcome})", words(&decision)) }
    }
}
