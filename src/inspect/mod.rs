//! Looks into compiled code: what its instructions are, in which loops and from which source lines. Runs nothing, starts
//! nothing, and knows no language: backends say what an instruction is.

mod counters;
mod listing;
mod loops;
mod margin;

pub use counters::{CounterSource, Counters, Tally, counters};
pub use listing::listing;
pub use margin::{MARGIN_KINDS, margin};
