//! Providers that ask somebody, against a server and programs that follow a script: every way to fail, and to recover.
//! No test waits longer than a second or two: pauses are counted, not slept.

mod answers;
mod ask;
mod budget;
mod command;
mod failures;
mod preferences;
mod program;
mod secrets;
mod server;
