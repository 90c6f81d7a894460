//! The test suite.

mod oracle;
mod runner;
