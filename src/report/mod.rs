//! How results are shown: plain data in, text out. Measures nothing, and never opens the store.

pub mod progress;
pub mod table;
pub mod units;

pub use progress::Progress;
pub use table::{StepRow, columns, steps};
