//! The test suite: one binary over the public surface, its data under `tests/suite/`.

mod cli;
mod conformance;
mod cuda;
mod explain;
mod fmt;
mod hostile;
mod inspect;
mod library;
mod lower;
mod lowering;
mod missing;
mod new;
mod oracle;
mod program;
mod providers;
mod run;
mod runner;
mod skipped;
mod standard;
mod store;
mod tidy;
mod tutorial;
mod vulkan;
mod workflow;
mod wrong_kernels;
