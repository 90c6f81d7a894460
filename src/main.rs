//! The `peak` command: all it does stands in [`peak::cli`].

fn main() -> std::process::ExitCode {
    peak::cli::main()
}
