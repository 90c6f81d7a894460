//! Looks into compiled code: what its instructions are, in which loops and from which source lines, and what of them was
//! executed where a device counted it. Runs nothing, starts nothing, and knows no language: backends say what an instruction is.

mod counters;
mod executed;
mod listing;
mod loops;
mod margin;

pub use counters::{CounterSource, Counters, Tally, counters};
pub use executed::{
    Busy, Executed, Finding, METRICS, Metric, Standing, accesses, busy, executed, executed_margin, findings, metric,
    ratio,
};
pub use listing::listing;
pub use margin::{MARGIN_KINDS, margin};
