//! Metavariables of patterns: `$NAME` stands for one piece of code, `$$$NAME` for several, `$_` and `$$$` for some that
//! are not named. Found by their spelling alone, outside of quotes: nothing here knows a language.

use std::ops::Range;

/// A metavariable, as it is written once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metavariable {
    /// Its name; `None` for `$_` and `$$$`.
    pub name: Option<String>,
    /// `$$$NAME`: any number of pieces, none included.
    pub many: bool,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// Text that starts as a metavariable and is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAMetavariable {
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// Every metavariable of `code`, in order.
///
/// # Errors
/// The first `$` outside of quotes that starts none: names are `UPPER_SNAKE`, after one `$` or three.
pub fn metavariables(code: &str) -> Result<Vec<Metavariable>, NotAMetavariable> {
    let mut found = Vec::new();
    let (mut at, mut quote) = (0, None);
    while let Some(c) = code[at..].chars().next() {
        match (quote, c) {
            // What follows a backslash never ends a quote.
            (Some(_), '\\') => at += code[at + 1..].chars().next().map_or(0, char::len_utf8),
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '$') => {
                let one = read(code, at)?;
                at = one.span.end;
                found.push(one);
                continue;
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    Ok(found)
}

fn read(code: &str, start: usize) -> Result<Metavariable, NotAMetavariable> {
    let rest = &code[start..];
    let dollars = rest.len() - rest.trim_start_matches('$').len();
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let name = &rest[dollars..];
    let name = &name[..name.find(|c| !word(c)).unwrap_or(name.len())];
    let span = start..start + dollars + name.len();
    let upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let named = name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(upper);
    let unnamed = if dollars == 1 { name == "_" } else { name.is_empty() || name == "_" };
    match matches!(dollars, 1 | 3) && (named || unnamed) {
        true => Ok(Metavariable { name: named.then(|| name.to_owned()), many: dollars == 3, span }),
        false => Err(NotAMetavariable { span }),
    }
}

#[cfg(test)]
mod tests {
    use super::metavariables;

    fn spelled(code: &str) -> Vec<(Option<String>, bool)> {
        metavariables(code).expect("they are right").into_iter().map(|one| (one.name, one.many)).collect()
    }

    #[test]
    fn one_several_and_unnamed_ones_are_found_outside_of_quotes() {
        let name = |name: &str| Some(name.to_owned());
        assert_eq!(spelled("f($A, $$$REST)"), [(name("A"), false), (name("REST"), true)]);
        assert_eq!(spelled("f($_, $$$) + \"$x\""), [(None, false), (None, true)]);
        assert_eq!(spelled("$A_1+$B"), [(name("A_1"), false), (name("B"), false)]);
    }

    #[test]
    fn what_is_spelled_otherwise_is_told() {
        for (code, span) in [("a + $x", 4..6), ("$$A", 0..3), ("$", 0..1), ("$A$B", 0..4), ("é$1", 2..4), ("$Aé", 0..4)]
        {
            assert_eq!(metavariables(code).expect_err(code).span, span, "{code}");
        }
    }
}
