//! The names of a kernel's parameters, from its source: PTX has their widths and lost their names. A reading of words, not
//! of C++: where macros hide a declaration there is none, and only places and widths are compared.

use peak_backend_api::SourcePiece;

/// A parameter as the source declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    /// Its name.
    pub name: String,
    /// Whether it is seen to be a pointer to constant elements.
    pub read_only: bool,
    /// Whether it has `__grid_constant__`: its address is the parameter's own, and no thread's copy.
    pub grid_constant: bool,
}

/// The parameters of the kernel of that name, where one of the pieces declares it plainly.
pub(crate) fn declared(pieces: &[SourcePiece], kernel: &str) -> Option<Vec<Declared>> {
    pieces.iter().find_map(|piece| {
        let plain = plain(&piece.text);
        let words = words(&plain);
        let start = (0..words.len()).find(|at| is_declaration(&words, *at, kernel))?;
        list(&words[start + 2..])
    })
}

fn is_declaration(words: &[&str], at: usize, kernel: &str) -> bool {
    let ends = |word: &&&str| matches!(**word, ";" | "{" | "}");
    words[at] == kernel
        && words.get(at + 1) == Some(&"(")
        && words[..at].iter().rev().take_while(|word| !ends(word)).any(|word| *word == "__global__")
}

/// Reads up to the closing parenthesis.
fn list(words: &[&str]) -> Option<Vec<Declared>> {
    let (mut found, mut current, mut depth) = (Vec::new(), Vec::new(), 0u32);
    for word in words {
        match *word {
            ")" if depth == 0 => {
                if !current.is_empty() && current != ["void"] {
                    found.push(parameter(&current)?);
                }
                return Some(found);
            }
            "," if depth == 0 => found.push(parameter(&std::mem::take(&mut current))?),
            word => {
                match word {
                    "(" | "<" | "[" => depth += 1,
                    ")" | ">" | "]" => depth = depth.checked_sub(1)?,
                    _ => {}
                }
                current.push(word);
            }
        }
    }
    None
}

fn parameter(words: &[&str]) -> Option<Declared> {
    let end = words.iter().position(|word| matches!(*word, "=" | "[")).unwrap_or(words.len());
    let name = words[..end].last().filter(|word| is_name(word) && end > 1)?;
    let star = words.iter().position(|word| *word == "*");
    let read_only = star.is_some_and(|star| words[..star].contains(&"const"));
    let grid_constant = words.contains(&"__grid_constant__");
    Some(Declared { name: (*name).to_owned(), read_only, grid_constant })
}

fn is_name(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
}

/// The text without comments, directives and what strings hold.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let skipped = if rest.starts_with("//") || (letter == '#' && line_is_empty(&out)) {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if letter == '"' {
            string_length(rest)
        } else {
            out.push(letter);
            rest = &rest[letter.len_utf8()..];
            continue;
        };
        out.push(' ');
        rest = &rest[skipped..];
    }
    out
}

fn line_is_empty(text: &str) -> bool {
    text.rsplit('\n').next().is_none_or(|line| line.trim().is_empty())
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, letter)| {
        let ends = *letter == '\n' || (*letter == '"' && !escaped);
        escaped = *letter == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

fn words(text: &str) -> Vec<&str> {
    let inside = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(letter) = rest.chars().next() {
        let length = if inside(letter) { rest.find(|it| !inside(it)).unwrap_or(rest.len()) } else { letter.len_utf8() };
        words.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str) -> Option<Vec<(String, bool)>> {
        let piece = SourcePiece { name: "device code".to_owned(), text: source.to_owned() };
        let found = declared(&[piece], "add")?;
        Some(found.into_iter().map(|it| (it.name, it.read_only)).collect())
    }

    #[test]
    fn plain_declarations_are_read() {
        let source = "#define add(x) x\n// __global__ void add(int z)\nextern \"C\" {\n__global__ void __launch_bounds__(64, 2) add(\n\
                      const A_T *__restrict__ A, /* , */ C_T* C, const Pair<int, 3> p, int n = 4) {\n add(1, 2); }}";
        let expected = [("A", true), ("C", false), ("p", false), ("n", false)].map(|(name, it)| (name.to_owned(), it));
        assert_eq!(names(source), Some(expected.to_vec()));
        assert_eq!(names("__global__ void add(void) {}"), Some(vec![]));
    }

    #[test]
    fn grid_constants_are_seen() {
        let text =
            "__global__ void add(const __grid_constant__ CUtensorMap a, __grid_constant__ const CUtensorMap b, int n)";
        let piece = SourcePiece { name: "device code".to_owned(), text: text.to_owned() };
        let found = declared(&[piece], "add").expect("a plain declaration");
        let found: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.grid_constant)).collect();
        assert_eq!(found, [("a", true), ("b", true), ("n", false)]);
    }

    #[test]
    fn what_is_hidden_is_not_guessed() {
        for source in [
            "",
            "void add(int n) {}",
            "__global__ void f(); void add(int n) {}",
            "__global__ void add(ARGUMENTS)",
            "__global__ void add(int n",
        ] {
            assert_eq!(names(source), None, "{source}");
        }
    }
}
