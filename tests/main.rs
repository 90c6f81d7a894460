//! The test suite: one binary over the public surface, its data under `tests/suite/`.
//! The test suite: one binary, a module for each part. Tests go through the public surface.

mod cli;
mod library;
mod lowering;
mod oracle;
mod runner;
mod store;
mod tidy;
