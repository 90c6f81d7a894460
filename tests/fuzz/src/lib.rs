//! What the fuzz targets share: seeds, mutations that keep a text's structure or make more of it, bounds, guarded memory.
//!
//! A mutation is a function of the input and a number, so a run with `-seed=N` can be had again. Nothing here judges:
//! what must hold stands in `fuzz_targets/`.

pub mod bound;
pub mod context;
pub mod grow;
pub mod guard;
pub mod ptx;
pub mod rewriting;
pub mod seeds;
pub mod text;
