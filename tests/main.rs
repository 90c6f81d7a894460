//! The test suite.

mod oracle;
