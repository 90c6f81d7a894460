//! What a compiler must give and refuse.

use super::{BLOCK, Subject, add_entry, compile, compiled, request};
use crate::{CompileError, Severity};

/// Code compiles, and what it binds is read off it.
///
/// # Panics
/// Where the backend does not conform, as every test here.
pub fn sources_compile_and_reflect(subject: &Subject) {
    let Some(artifact) = compiled(subject) else { return };
    assert!(!artifact.bytes.is_empty() && !artifact.compiler.is_empty());
    let names: Vec<_> = artifact.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["add", "scale"], "entries stand in the request's order");
    for entry in &artifact.entries {
        assert!(entry.block.is_none_or(|block| block == [BLOCK, 1, 1]), "{entry:?}");
        assert!(entry.buffers.iter().all(|buffer| buffer.writable == (buffer.name == "C")), "{entry:?}");
        assert!(entry.buffers.iter().all(|buffer| buffer.stride.is_none_or(|stride| stride == 4)), "{entry:?}");
    }
    let add: Vec<_> = artifact.entries[0].buffers.iter().map(|buffer| buffer.name.as_str()).collect();
    assert!(["A", "B", "C"].iter().all(|name| add.contains(name)) && add.len() == 3, "{add:?}");
}

/// An error of the language names its piece, line and column.
pub fn messages_point_into_their_piece(subject: &Subject) {
    match compile(subject, &request(subject, subject.kernels.broken, vec![add_entry()])) {
        None => {}
        Some(Err(CompileError::Source(messages))) => {
            let error = messages.iter().find(|it| it.severity == Severity::Error).expect("a rejection holds an error");
            assert_eq!((error.piece.as_deref(), error.line), (Some("device code"), 3), "{messages:?}");
            assert!(error.column > 0 && !error.text.is_empty(), "{messages:?}");
        }
        Some(other) => panic!("expected messages, got {other:?}"),
    }
}

/// A launch of an entry that the code lacks is said in words that name it.
pub fn an_unknown_entry_is_a_mismatch(subject: &Subject) {
    let mut entry = add_entry();
    entry.name = "subtract".to_owned();
    expect_mismatch(subject, subject.kernels.source, entry, "subtract");
}

/// An argument that the code lost is named.
pub fn a_lost_argument_is_a_mismatch(subject: &Subject) {
    expect_mismatch(subject, subject.kernels.lost_argument, add_entry(), "`B`");
}

/// A block that differs from the launch's is shown with both sizes.
pub fn a_wrong_block_is_a_mismatch(subject: &Subject) {
    if let Some(source) = subject.kernels.wrong_block {
        expect_mismatch(subject, source, add_entry(), &format!("{}", 2 * BLOCK));
    }
}

fn expect_mismatch(subject: &Subject, source: &str, entry: crate::EntryRequest, word: &str) {
    match compile(subject, &request(subject, source, vec![entry])) {
        None => {}
        Some(Err(CompileError::Interface(problems))) => {
            assert!(problems.iter().any(|problem| problem.contains(word)), "{word} is not in {problems:?}");
        }
        Some(other) => panic!("expected a mismatch, got {other:?}"),
    }
}

/// Shared memory and threads are compared with the limits of the request.
pub fn limits_are_kept(subject: &Subject) {
    let mut fits = request(subject, subject.kernels.shared, vec![add_entry()]);
    fits.shared_bytes_limit = Some(4096);
    fits.threads_limit = Some(BLOCK);
    let Some(result) = compile(subject, &fits) else { return };
    assert_eq!(result.map(|artifact| artifact.resources.shared_bytes), Ok(Some(4096)));
    let mut memory = fits.clone();
    memory.shared_bytes_limit = Some(4095);
    let mut threads = fits;
    threads.threads_limit = Some(BLOCK - 1);
    for (request, expected) in [(memory, (4096, 4095)), (threads, (u64::from(BLOCK), u64::from(BLOCK) - 1))] {
        match compile(subject, &request) {
            Some(Err(CompileError::OverLimit { used, limit, .. })) => assert_eq!((used, limit), expected),
            other => panic!("expected a breach of a limit, got {other:?}"),
        }
    }
}

/// Text that is no code at all is an error, and never a panic or a success.
pub fn garbage_is_an_error(subject: &Subject) {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for round in 0..24 {
        let source = garbage(&mut state, round, subject.kernels.source);
        let Some(result) = compile(subject, &request(subject, &source, vec![add_entry()])) else { return };
        let error = result.expect_err("garbage does not compile");
        assert!(!error.to_string().is_empty());
    }
}

/// Random bytes, a kernel cut short, or a kernel with random characters in its midst.
fn garbage(state: &mut u64, round: usize, kernel: &str) -> String {
    let mut next = || {
        // xorshift: enough to wander, and the same on every run.
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    };
    let noise: String = (0..40).map(|_| char::from_u32((next() % 0x2FF) as u32).unwrap_or('?')).collect();
    let cut = kernel.floor_char_boundary((next() % (kernel.rfind('}').unwrap_or(1) as u64)) as usize);
    match round % 3 {
        0 => noise,
        1 => format!("{}\nvoid ((", &kernel[..cut]),
        _ => format!("{}{noise}(\"{}", &kernel[..cut], &kernel[cut..]),
    }
}
