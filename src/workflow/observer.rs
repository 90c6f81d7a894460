//! What a run tells while it goes: to a terminal, to a program, to a test. Observers change a run only where it asks them.

use super::row::Row;
use crate::context::Inputs;
use crate::provider::Usage;
use serde::Serialize;

/// What a run is doing just now.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Order of the step.
    pub index: usize,
    /// `baseline` or the transformation.
    pub step: String,
    /// What is being done: `asking for stage-tiles, device code`, `tuning at n = 512`.
    pub doing: String,
    /// How many are done.
    pub done: usize,
    /// Of how many, where that is known.
    pub total: Option<usize>,
    /// The best time so far, in nanoseconds.
    pub best_ns: Option<f64>,
}

/// The `finished` event of `--json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finished {
    /// The workflow's name.
    pub workflow: String,
    /// Its run in the store.
    pub run: i64,
    /// Steps carried out, the baseline included.
    pub steps: usize,
    /// Of those, accepted.
    pub accepted: usize,
    /// What `keep best` names; the best verified point where the workflow ended early.
    pub best: Best,
    /// What was not done again.
    pub reused: Reused,
    /// What the answers took, where their provider says.
    pub usage: Option<Usage>,
    /// Why the run ended early, where it did.
    pub stopped: Option<String>,
}

/// The best checkpoint of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Best {
    /// Its name in the store, `RUN/NAME`.
    pub checkpoint: String,
    /// Median at the first input size, in nanoseconds.
    pub time_ns_median: Option<f64>,
    /// Times faster than the baseline, at the first input size.
    pub speedup_total: Option<f64>,
    /// The first input size.
    pub inputs: Inputs,
}

/// What a run took from recordings and from earlier runs, and what it did anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reused {
    /// Steps that an earlier part of this run carried out.
    pub steps: usize,
    /// Times taken from the store.
    pub measurements: usize,
    /// Times measured now.
    pub measured: usize,
    /// Validations taken from the store.
    pub validations: usize,
    /// Validations carried out now.
    pub validated: usize,
    /// Completions that were replayed.
    pub completions: usize,
    /// Completions that a model gave now.
    pub asked: usize,
}

/// What a person is asked where `on failure` says `ask`.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The transformation that was not applied.
    pub step: &'a str,
    /// Why not, in one line.
    pub failure: &'a str,
    /// Where the run stands.
    pub standing: &'a str,
}

/// What a person says to a [`Question`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Apply it once more.
    Retry,
    /// Go on without it.
    Skip,
    /// End the run here.
    Stop,
}

/// Is told what a run does. Every method may be left out; `()` listens to nothing.
pub trait Observer {
    /// Something is under way.
    fn progress(&mut self, progress: &Progress) {
        let _ = progress;
    }
    /// A step ended; one row an input size.
    fn rows(&mut self, rows: &[Row]) {
        let _ = rows;
    }
    /// A word for people.
    fn note(&mut self, note: &str) {
        let _ = note;
    }
    /// Asks a person; where nobody is there, the run stops.
    fn ask(&mut self, question: &Question<'_>) -> Answer {
        let Question { step, standing, .. } = question;
        self.note(&format!("{step} failed, and nobody is there to ask: the run ends at `{standing}`"));
        Answer::Stop
    }
    /// Whether the run should stop at the next safe point.
    fn cancelled(&self) -> bool {
        false
    }
}

impl Observer for () {}
