//! Faults and deaths as failures with a class and facts that a repair can use. Decides no retry.

use super::super::protocol::Fault;
use super::super::worker::MEMORY_MARK;
use super::super::{Failure, FailureClass};
use super::link::LinkError;
use peak_backend_api::{CompileError, CompileRequest, RuntimeError, Severity, SourceMessage};

/// How the fact begins that says how to mend the machine, where not the candidate is at fault.
pub const MEND: &str = "to mend it: ";

/// Messages of a compiler that become facts, at most.
const MESSAGES_MAX: usize = 20;

/// Lines of source above and below the one that a message points at.
const FRAME_LINES: usize = 2;

/// Characters of such a line, at most.
const FRAME_CHARS: usize = 200;

/// Whether a failure is the machine's (a missing toolchain or driver), not the candidate's: never cached, no repair.
#[must_use]
pub fn is_environment(failure: &Failure) -> bool {
    failure.facts.iter().any(|fact| fact.starts_with(MEND))
}

/// The failure of a link, while doing `what` (`compiling`, `running`).
pub fn link_failure(error: LinkError, what: &str) -> Failure {
    match error {
        LinkError::Start(message) => Failure::new(FailureClass::Crash, message)
            .with_fact(format!("{MEND}start Peak from a complete installation (`peak doctor`)")),
        LinkError::Timeout(deadline) => Failure::new(
            FailureClass::Timeout,
            format!("{what} was not done after {:.1} s; the worker was killed", deadline.as_secs_f64()),
        ),
        LinkError::Died { how, stderr } => {
            let memory = stderr.iter().find_map(|line| line.strip_prefix(MEMORY_MARK));
            let message = match memory {
                Some(numbers) => format!("the worker ran out of memory while {what}:{numbers}"),
                None => format!("the worker died while {what}: {how}"),
            };
            let facts = stderr.into_iter().map(|line| format!("last words: {line}")).collect();
            Failure { class: FailureClass::Crash, message, facts }
        }
    }
}

/// The failure that a worker reported while doing `what`, with its last words where it crashed.
pub fn fault_failure(fault: Fault, what: &str, request: Option<&CompileRequest>, last_words: &[String]) -> Failure {
    match fault {
        Fault::Compile { error } => compile_failure(&error, request),
        Fault::Runtime { error } => runtime_failure(&error, what),
        Fault::Refused { why } => Failure::new(FailureClass::Launch, why),
        Fault::Panicked { message } => {
            let facts = last_words.iter().map(|line| format!("last words: {line}")).collect();
            Failure {
                class: FailureClass::Crash,
                message: format!("the worker panicked while {what}: {message}"),
                facts,
            }
        }
        Fault::File { message } | Fault::Protocol { message } => {
            Failure::new(FailureClass::Crash, format!("the worker failed while {what}: {message}"))
        }
    }
}

fn runtime_failure(error: &RuntimeError, what: &str) -> Failure {
    match error {
        RuntimeError::DeviceLost(_) => Failure::new(FailureClass::Crash, format!("while {what}: {error}")),
        RuntimeError::Fault(_) => Failure::new(FailureClass::Sanitizer, format!("while {what}: {error}")),
        RuntimeError::Missing { mend, .. } => {
            Failure::new(FailureClass::Launch, error.to_string()).with_fact(format!("{MEND}{mend}"))
        }
        RuntimeError::NoDevice { .. } => Failure::new(FailureClass::Launch, error.to_string())
            .with_fact(format!("{MEND}`peak doctor` lists the devices that are there")),
        _ => Failure::new(FailureClass::Launch, error.to_string()),
    }
}

fn compile_failure(error: &CompileError, request: Option<&CompileRequest>) -> Failure {
    let failure = Failure::new(FailureClass::Compile, error.to_string());
    match error {
        CompileError::Source(messages) => Failure { facts: source_facts(messages, request), ..failure },
        CompileError::Interface(problems) => Failure { facts: problems.clone(), ..failure },
        CompileError::Toolchain { mend, .. } => failure.with_fact(format!("{MEND}{mend}")),
        CompileError::OverLimit { .. } | CompileError::Internal { .. } => failure,
    }
}

/// Errors first, then the rest, each with the line of source that it points at.
fn source_facts(messages: &[SourceMessage], request: Option<&CompileRequest>) -> Vec<String> {
    let errors = messages.iter().filter(|message| message.severity == Severity::Error);
    let others = messages.iter().filter(|message| message.severity != Severity::Error);
    let mut facts: Vec<String> =
        errors.chain(others).take(MESSAGES_MAX).map(|message| source_fact(message, request)).collect();
    if messages.len() > MESSAGES_MAX {
        facts.push(format!("and {} more messages", messages.len() - MESSAGES_MAX));
    }
    facts
}

fn source_fact(message: &SourceMessage, request: Option<&CompileRequest>) -> String {
    let severity = match message.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let Some(piece) = &message.piece else { return format!("{severity}: {}", message.text) };
    let place = format!("{severity} in {piece}, line {}, column {}: {}", message.line, message.column, message.text);
    let index = usize::try_from(message.line).ok().and_then(|line| line.checked_sub(1));
    let pieces = request.map(|request| request.pieces.as_slice()).unwrap_or_default();
    let source = pieces.iter().find(|known| known.name == *piece);
    match source.zip(index).and_then(|(source, index)| frame(&source.text, index)) {
        Some(frame) => format!("{place}\n{frame}"),
        None => place,
    }
}

/// Lines of source around a line, which is marked.
fn frame(text: &str, index: usize) -> Option<String> {
    text.lines().nth(index)?;
    let first = index.saturating_sub(FRAME_LINES);
    let lines = text.lines().enumerate().skip(first).take(index - first + FRAME_LINES + 1);
    let shown = lines.map(|(at, line)| {
        let cut: String = line.trim_end().chars().take(FRAME_CHARS).collect();
        format!("{} {:>4} | {cut}", if at == index { '>' } else { ' ' }, at + 1).trim_end().to_owned()
    });
    Some(shown.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use peak_backend_api::SourcePiece;

    #[test]
    fn a_compiler_message_carries_its_source_line() {
        let request = CompileRequest {
            pieces: vec![SourcePiece { name: "device code".to_owned(), text: "int a;\n  flot b;\n".to_owned() }],
            entries: Vec::new(),
            target: String::new(),
            shared_bytes_limit: None,
            threads_limit: None,
        };
        let message = |severity, text: &str| SourceMessage {
            severity,
            piece: Some("device code".to_owned()),
            line: 2,
            column: 3,
            text: text.to_owned(),
        };
        let messages = vec![message(Severity::Warning, "odd"), message(Severity::Error, "unknown type 'flot'")];
        let failure = compile_failure(&CompileError::Source(messages), Some(&request));
        assert_eq!(failure.class, FailureClass::Compile);
        let framed = "error in device code, line 2, column 3: unknown type 'flot'\n     1 | int a;\n>    2 |   flot b;";
        assert_eq!(failure.facts[0], framed);
        assert!(failure.facts[1].starts_with("warning"));
        assert!(!is_environment(&failure));
    }

    #[test]
    fn a_missing_toolchain_is_the_machines_fault() {
        let error = CompileError::Toolchain { name: "dxc".into(), reason: "not found".into(), mend: "./run".into() };
        assert!(is_environment(&compile_failure(&error, None)));
    }
}
