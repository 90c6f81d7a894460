//! The `peak` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((command, rest)) if command == "worker" => peak::runner::worker::serve(rest, peak::backends::BACKENDS),
        _ => ExitCode::from(2),
    }
}
