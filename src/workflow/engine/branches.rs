//! Constructs that times decide: `choose best of`, `repeat`, `keep best`. Each decision is kept, and one that is
//! recorded is followed.

use super::{Flow, Run};
use crate::workflow::decision::DecisionKind;
use crate::workflow::error::WorkflowError;
use crate::workflow::line::Pace;
use peak_grammar::ir::WorkflowStep;

/// The words of `choose best of` in decisions.
const CHOOSE: &str = "choose best of";

/// The words of `keep best` in decisions.
const KEEP: &str = "keep best";

impl<'e> Run<'e, '_> {
    /// `choose best of`: every branch from here; the fastest valid one goes on.
    pub(super) fn choose(&mut self, branches: &'e [Vec<WorkflowStep>]) -> Result<Flow, WorkflowError> {
        self.ask_ahead(branches);
        let start = self.line.position();
        let mut ended: Vec<(String, usize)> = Vec::new();
        let mut fastest: Option<usize> = None;
        let mut last_failure = None;
        for (number, branch) in (1..).zip(branches) {
            self.line.go_to(start);
            match self.steps(branch)? {
                Flow::Stopped(failure) if self.ended().is_some() => return Ok(Flow::Stopped(failure)),
                Flow::Stopped(failure) => last_failure = Some(failure),
                Flow::Done => {
                    let held = fastest.map(|index| ended[index].1);
                    let wins = held
                        .is_none_or(|held| self.line.current().compared_with(self.line.at(held)) == Some(Pace::Faster));
                    ended.push((format!("{number}"), self.line.position()));
                    if wins {
                        fastest = Some(ended.len() - 1);
                    }
                }
            }
        }
        let context = self.line.at(start).context.hash();
        // Where no branch came to its end there is nothing to decide: when the run goes on, they are tried again.
        let Some(made) = fastest.map(|index| ended[index].0.clone()) else {
            self.line.go_to(start);
            self.environment.store.set_current(self.line.current().checkpoint)?;
            return Ok(last_failure.map_or(Flow::Done, Flow::Stopped));
        };
        let outcome = self.decide(DecisionKind::ChooseBest, CHOOSE, context.clone(), |_| made)?;
        let Some((_, position)) = ended.iter().find(|(number, _)| *number == outcome) else {
            return Err(Self::unfollowed(DecisionKind::ChooseBest, CHOOSE, context, &outcome));
        };
        self.line.go_to(*position);
        self.environment.store.set_current(self.line.current().checkpoint)?;
        Ok(Flow::Done)
    }

    /// `repeat at most N times until the gain is below P percent`; once where nothing is timed. A round that ends slower
    /// than it began is undone, and the last.
    pub(super) fn repeat(
        &mut self,
        times: u32,
        least: Option<f64>,
        body: &'e [WorkflowStep],
    ) -> Result<Flow, WorkflowError> {
        for _ in 0..times {
            let start = self.line.position();
            if let Flow::Stopped(failure) = self.steps(body)? {
                return Ok(Flow::Stopped(failure));
            }
            let context = self.line.at(start).context.hash();
            let made = self.round(start, least).to_owned();
            match self.decide(DecisionKind::Repeat, "repeat", context, |_| made)?.as_str() {
                "on" => {}
                "undo" => {
                    self.line.go_to(start);
                    self.environment.store.set_current(self.line.current().checkpoint)?;
                    self.observer.note("this round made the kernel slower: it is undone, and `repeat` ends");
                    break;
                }
                _ => break,
            }
        }
        Ok(Flow::Done)
    }

    /// What the times say of a round that began at `start`.
    fn round(&self, start: usize, least: Option<f64>) -> &'static str {
        let (before, now) = (self.line.at(start), self.line.current());
        let (Some(old), Some(new)) = (before.score(), now.score()) else { return "end" };
        let gain = (old / new - 1.0) * 100.0;
        match () {
            () if now.compared_with(before) == Some(Pace::Slower) => "undo",
            () if least.is_some_and(|least| gain < least) => "end",
            () => "on",
        }
    }

    /// Moves to the fastest point, or to the one that is recorded as such.
    pub(super) fn keep_best(&mut self) -> Result<(), WorkflowError> {
        let baseline = self.line.baseline().context.hash();
        let fastest = self.line.best();
        let made = self.line.at(fastest).context.hash();
        let outcome = self.decide(DecisionKind::KeepBest, KEEP, baseline.clone(), |_| made.clone())?;
        let position = if outcome == made { Some(fastest) } else { self.line.with_context(&outcome) };
        match position {
            Some(position) => self.line.go_to(position),
            None => return Err(Self::unfollowed(DecisionKind::KeepBest, KEEP, baseline, &outcome)),
        }
        Ok(())
    }
}
