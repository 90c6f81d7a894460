//! Which headers a kernel may include: those of the toolchain in this list, and no other file of the machine.
//!
//! The check looks at the text alone and errs on the side of refusing: a directive that only a comment or a string holds
//! counts as one.

use peak_backend_api::{Severity, SourceMessage, SourcePiece};

/// Headers that define what kernels use, host code aside.
pub(crate) const ALLOWED: &[&str] = &[
    "cooperative_groups.h",
    "cooperative_groups/memcpy_async.h",
    "cooperative_groups/reduce.h",
    "cooperative_groups/scan.h",
    "cuComplex.h",
    "cuda/annotated_ptr",
    "cuda/atomic",
    "cuda/barrier",
    "cuda/pipeline",
    "cuda/ptx",
    "cuda/std/array",
    "cuda/std/bit",
    "cuda/std/cmath",
    "cuda/std/complex",
    "cuda/std/cstdint",
    "cuda/std/limits",
    "cuda/std/tuple",
    "cuda/std/type_traits",
    "cuda/std/utility",
    "cuda_awbarrier.h",
    "cuda_awbarrier_primitives.h",
    "cuda_bf16.h",
    "cuda_fp16.h",
    "cuda_fp4.h",
    "cuda_fp6.h",
    "cuda_fp8.h",
    "cuda_pipeline.h",
    "cuda_pipeline_primitives.h",
    "math_constants.h",
    "mma.h",
    "vector_types.h",
];

/// Words after `#` (or within a condition) that make the preprocessor look at files.
const READERS: &[&str] = &["include", "include_next", "import", "embed"];
/// Operators that tell whether a file is there.
const PROBES: &[&str] = &["__has_include", "__has_include_next", "__has_embed"];

/// Whether any piece includes a header, and a message for each thing that reaches for a file outside the list.
pub(crate) fn check(pieces: &[SourcePiece]) -> (bool, Vec<SourceMessage>) {
    let mut includes = false;
    let mut problems = Vec::new();
    for piece in pieces {
        // The preprocessor joins lines and reads other spellings of `#` before it looks for directives: so here.
        let text = joined(&piece.text);
        for (at, _) in text.match_indices('#') {
            let (word, rest) = word(blanks(&text[at + 1..]));
            if READERS.contains(&word) {
                includes = true;
                if word != "include" || !allowed(rest) {
                    problems.push(refusal(piece, line(&text, at), rest));
                }
            }
        }
        for (at, probe) in PROBES.iter().flat_map(|probe| text.match_indices(probe)) {
            problems.push(refusal(piece, line(&text, at), probe));
        }
    }
    // A directive may be split over two pieces: then it ends in a `#line` of ours, and names no listed header.
    (includes, problems)
}

/// The text with its continued lines joined; the line ends that go are made up for after the joined line.
fn joined(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace("??/", "\\");
    let mut out = String::with_capacity(text.len());
    let mut owed = 0;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                // A compiler may overlook blanks between the backslash and the line end.
                let blanks: String =
                    std::iter::from_fn(|| letters.next_if(|it| it.is_whitespace() && *it != '\n')).collect();
                match letters.next_if_eq(&'\n') {
                    Some(_) => owed += 1,
                    None => out.extend(std::iter::once('\\').chain(blanks.chars())),
                }
            }
            '\n' => out.extend(std::iter::repeat_n('\n', 1 + std::mem::take(&mut owed))),
            other => out.push(other),
        }
    }
    out.replace("??=", "#").replace("%:", "#")
}

/// The text after blanks and comments.
fn blanks(mut text: &str) -> &str {
    loop {
        let trimmed = text.trim_start_matches(|letter: char| letter != '\n' && letter.is_whitespace());
        match trimmed.strip_prefix("/*") {
            Some(comment) => text = comment.find("*/").map_or("", |end| &comment[end + 2..]),
            None => return trimmed,
        }
    }
}

/// The identifier at the start, and what follows.
fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(text.len()))
}

fn allowed(rest: &str) -> bool {
    let name = blanks(rest).strip_prefix('<').and_then(|rest| rest.split_once('>'));
    name.is_some_and(|(name, _)| ALLOWED.contains(&name))
}

fn line(text: &str, at: usize) -> u32 {
    u32::try_from(text[..at].matches('\n').count() + 1).unwrap_or(u32::MAX)
}

fn refusal(piece: &SourcePiece, line: u32, what: &str) -> SourceMessage {
    let what: String = what.lines().next().unwrap_or_default().trim().chars().take(60).collect();
    let text = format!(
        "a kernel includes no file of the machine, and `{what}` is none of the headers that it may include, which are: <{}>",
        ALLOWED.join(">, <")
    );
    SourceMessage { severity: Severity::Error, piece: Some(piece.name.clone()), line, column: 1, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> (bool, Vec<u32>) {
        let piece = SourcePiece { name: "device code".to_owned(), text: text.to_owned() };
        let (includes, problems) = check(&[piece]);
        (includes, problems.iter().map(|problem| problem.line).collect())
    }

    #[test]
    fn headers_of_the_list_are_included() {
        assert_eq!(problems("#include <cuda_fp16.h>\n  #  include /* why */ <mma.h>\n"), (true, vec![]));
        assert_eq!(
            problems("#define INCLUDE 1\n#if INCLUDE\n#endif\nint include; // # of includes\n"),
            (false, vec![])
        );
    }

    #[test]
    fn every_other_way_to_a_file_is_refused() {
        for text in [
            "#include \"/etc/passwd\"",
            "#include </etc/passwd>",
            "#include \"cuda_fp16.h\"",
            "#include <../include/cuda_fp16.h>",
            "#define X <mma.h>\n#include X",
            "#import <mma.h>",
            "#include_next <mma.h>",
            "#embed \"/etc/passwd\"",
            "%:include \"/etc/passwd\"",
            "??=include \"/etc/passwd\"",
            "#/* a */include \"/etc/passwd\"",
            "#/* a \n b */ include \"/etc/passwd\"",
            "#inc\\\nlude \"/etc/passwd\"",
            "#inc??/\nlude \"/etc/passwd\"",
            "#\\  \ninclude \"/etc/passwd\"",
            "#\\\r\n\\\r\ninclude \"/etc/passwd\"",
            "#if __has_include(\"/etc/passwd\")\n#endif",
            "#include \\",
            "%\\\n:include \"/etc/passwd\"",
            "#if __has_\\\ninclude(\"/etc/passwd\")\n#endif",
        ] {
            assert!(!problems(text).1.is_empty(), "{text:?} is let through");
        }
        assert_eq!(problems("\n\\\n\n#include <stdio.h>").1, [4]);
    }
}
