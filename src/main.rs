//! The `peak` command.
fn main() {}
