//! Lowering: from the passes of a plan to a new kernel context, through prompts, answers, checks and repairs.
//!
//! The model never holds the pen: it proposes the text of one region, which becomes an edit script
//! ([`crate::edit`]), is checked ([`checks`]), and only compiling and validating, by a [`Judge`], make it the context.
//! Nothing here runs a kernel or touches a file; an answer is data from first to last.

mod answer;
mod apply;
mod attempt;
mod blocks;
pub mod checks;
mod choose;
mod emit;
mod error;
mod foresee;
mod format;
mod judge;
mod prompt;
mod repair;
mod response;
mod step;
mod syntax;
mod templates;

pub use apply::{Applied, Lowering, MAX_REPAIRS, Rejected, apply_transformation, prepared};
pub use attempt::Attempt;
pub use choose::{CHOICE, Choice, ChoiceAttempt, Choosing, UNKNOWN_CHOICE, choose};
pub use emit::{edit_scripts, edits, source};
pub use error::LoweringError;
pub use foresee::foreseen;
pub use format::{AnswerFormat, LONG_REGION_LINES};
pub use judge::{Event, Judge, Observer, Silent, Unjudged};
pub use prompt::{PromptFacts, Surroundings, render};
pub use repair::Repair;
pub use response::{Answer, Block, MAX_ANSWER_BYTES, ResponseDefect, parse};
pub use templates::{TemplateError, Templates};
