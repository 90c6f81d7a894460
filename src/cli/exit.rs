//! Exit codes by class of error, and what is said when Peak itself is at fault.

use crate::error::Class;
use std::panic::PanicHookInfo;

/// Every exit code but 0, with its meaning: the one table.
pub const EXIT_CODES: [(Class, u8, &str); 7] = [
    (Class::Input, 1, "a file, a name or a text that was given is wrong"),
    (Class::Usage, 2, "the command line is wrong"),
    (Class::Environment, 3, "a toolchain, a device or a folder is missing"),
    (Class::Provider, 4, "no answer came from the provider of completions"),
    (Class::Validation, 5, "a kernel is wrong, or was not shown to be right"),
    (Class::Bug, 70, "a defect of Peak"),
    (Class::Interrupted, 130, "it was interrupted; what was done is in the store"),
];

/// The exit code of a class.
#[must_use]
pub fn code(class: Class) -> u8 {
    EXIT_CODES.iter().find(|(of, ..)| *of == class).map_or(70, |(_, code, _)| *code)
}

/// The table as text, for the end of `peak --help`.
#[must_use]
pub fn help() -> String {
    let lines = EXIT_CODES.iter().map(|(_, code, meaning)| format!("\n  {code:>3}  {meaning}"));
    format!("Exit codes:\n    0  all went well{}", lines.collect::<String>())
}

/// From here on a panic says what to report, and ends the process with the code of a bug.
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("{}", bug_report(panic));
        // Not only this thread: the others may wait for it for ever.
        std::process::exit(i32::from(code(Class::Bug)));
    }));
}

fn bug_report(panic: &PanicHookInfo<'_>) -> String {
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let words = panic.payload_as_str().unwrap_or("no words");
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    format!(
        "\nThis is a defect of Peak, not of your files. What was done up to here is in the store.\n\
         Please report it at {}/issues with these lines:\n\
         \n    peak {} ({} {}): peak {}\n    {place}: {words}",
        env!("CARGO_PKG_REPOSITORY"),
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH,
        arguments.join(" "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_none_is_success() {
        let mut codes: Vec<u8> = EXIT_CODES.iter().map(|(_, code, _)| *code).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), EXIT_CODES.len());
        assert!(!codes.contains(&0));
    }

    #[test]
    fn a_class_has_the_code_of_the_table() {
        assert!(EXIT_CODES.iter().all(|(class, of, _)| code(*class) == *of));
    }
}
