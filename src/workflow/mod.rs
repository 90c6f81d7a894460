//! Carries out workflows: a naive kernel goes in, a verified faster one comes out, every step on the way is kept.
//!
//! [`run`] works on an [`Environment`] that somebody else put together, and tells an [`Observer`] what happens. It opens
//! no device, asks no model and prints nothing itself.

mod apply;
mod count;
mod decision;
mod engine;
mod environment;
mod error;
mod expect;
mod judge;
mod line;
mod measure;
mod observer;
mod past;
mod remembered;
mod retold;
mod row;
mod rows;

pub use apply::{AppliedStep, ApplyError, Told, Workshop, planned};
pub use count::{COUNT_DEADLINE, COUNTED_BLOCKS, counted_facts, counts};
pub use decision::{Decision, DecisionKind, Decisions, decisions};
pub use engine::{BASELINE, Outcome, run};
pub use environment::{Environment, Options, facts_in_force};
pub use error::WorkflowError;
pub use judge::{Checker, RunJudge, inputs_words};
pub use line::{Line, Pace, Point, SAME_SHARE, SizeResult};
pub use observer::{Answer, Best, Finished, Observer, Progress, Question, Reused};
pub use retold::Retold;
pub use row::{Row, Verdict};
pub use rows::{known_facts, timed_sizes};
