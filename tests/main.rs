//! The test suite: one binary over the public surface, its data under `tests/suite/`.

mod cli;
mod library;
mod lowering;
mod oracle;
mod runner;
mod standard;
mod store;
mod tidy;
