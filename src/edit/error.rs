//! Why an edit cannot be made.

use super::code::PatternProblem;
use peak_grammar::ir::Region;

/// Why an edit cannot be made. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[allow(missing_docs, reason = "each field is what the message says of it")]
pub enum EditError {
    #[error("two edits of the {region} overlap at byte {at}")]
    #[diagnostic(code("peak::edits-overlap"), help("make the edits in two steps"))]
    Overlap { region: Region, at: usize },

    #[error("the {region} does not hold `{expected}` at byte {at}")]
    #[diagnostic(code("peak::edit-precondition"), help("the text changed since the edit was made: make it anew"))]
    Precondition { region: Region, at: usize, expected: String },

    #[error("`{pattern}` is nowhere in the {region}{}", near(nearest.as_ref()))]
    #[diagnostic(
        code("peak::pattern-not-found"),
        help(
            "a pattern is compared token by token, comments aside: correct it, or say `if any` where it may be missing"
        )
    )]
    NotFound { region: Region, pattern: String, nearest: Option<(usize, String)> },

    #[error("`{pattern}` is found {count} times in the {region} ({}), and must be found {}", on_lines(lines), times(*wanted))]
    #[diagnostic(
        code("peak::pattern-not-unique"),
        help("name more of the code, say `first`, `last` or `every`, or `inside` other code")
    )]
    Count { region: Region, pattern: String, count: usize, wanted: usize, lines: Vec<usize> },

    #[error("`{pattern}` is found on line {line} of the {region}, in code that does not parse")]
    #[diagnostic(
        code("peak::match-does-not-parse"),
        help("a macro may hide the code's structure: change it in words, or move the macro out of the way")
    )]
    MatchDoesNotParse { region: Region, pattern: String, line: usize },

    #[error("`{pattern}` is no pattern: {problem}")]
    #[diagnostic(
        code("peak::pattern-does-not-parse"),
        help("a pattern is one expression, whole statements (with their `;`), a declaration or a parameter")
    )]
    Pattern { pattern: String, problem: PatternProblem },

    #[error("{} on line {line} of the {region}, the code there would not parse", with(replacement))]
    #[diagnostic(
        code("peak::replacement-does-not-fit"),
        help("replace a statement by statements, and an expression by one; name more of the code around it")
    )]
    DoesNotFit { region: Region, replacement: String, line: usize },

    #[error("the pattern binds no `{name}`")]
    #[diagnostic(code("peak::metavariable"), help("a replacement holds only what its pattern binds"))]
    Unbound { name: String },

    #[error("the {region} is larger or more tangled than what is rewritten")]
    #[diagnostic(
        code("peak::code-too-large"),
        help("look for less at a time: name more of the code in the pattern, or say `inside` other code")
    )]
    TooLarge { region: Region },

    #[error("line {line} of the {region} is in a macro, where no line can be inserted")]
    #[diagnostic(code("peak::insert-in-macro"), help("use `rewrite`, which keeps to the line"))]
    InsertInMacro { region: Region, line: usize },

    #[error("line {line} of the {region} is all that its loop or branch takes, since it has no braces")]
    #[diagnostic(
        code("peak::insert-without-braces"),
        help("insert beside the loop or branch, or put braces around its body first: `rewrite`")
    )]
    InsertIntoBareBody { region: Region, line: usize },

    #[error("what is found on line {line} of the {region} shares its line with other code")]
    #[diagnostic(
        code("peak::insert-within-line"),
        help("`insert` adds whole lines: name the whole statement, or use `rewrite`")
    )]
    InsertWithinLine { region: Region, line: usize },

    #[error("the {region} is changed by `set` and `rename` alone")]
    #[diagnostic(code("peak::not-code"), help("`insert` and `rewrite` change device code and macros"))]
    NotCode { region: Region },

    #[error("there is no identifier `{name}` in the {region}")]
    #[diagnostic(
        code("peak::rename-finds-nothing"),
        help("name an identifier that the region uses; comments, quotes and members do not count")
    )]
    NothingToRename { region: Region, name: String },

    #[error("`{name}` already stands in the {region}, so renaming `{from}` would join the two")]
    #[diagnostic(code("peak::rename-joins-names"), help("choose a name that means nothing there yet"))]
    NameTaken { region: Region, from: String, name: String },

    #[error("`{name}` cannot be renamed: {why}")]
    #[diagnostic(code("peak::rename-fixed-name"), help("rename what is the code's own: variables, functions, macros"))]
    NameIsFixed { name: String, why: String },

    #[error("`{name}` is no identifier")]
    #[diagnostic(
        code("peak::rename-to-no-identifier"),
        help("letters, digits and `_`, not starting with a digit, and no word of the language")
    )]
    NoIdentifier { name: String },

    #[error("the {region} cannot be changed by `set`")]
    #[diagnostic(code("peak::set-outside-host-code"), help("`set` changes the launch plan: write it in `host code`"))]
    SetOutsideHostCode { region: Region },

    #[error("the launch plan has no {what} to set")]
    #[diagnostic(
        code("peak::set-finds-nothing"),
        help("`set` changes what is there: a launch, or a `let` of that name")
    )]
    NothingToSet { what: String },

    #[error("`set` gives {count} expressions for {what}, which takes {takes}")]
    #[diagnostic(
        code("peak::set-count"),
        help("give one expression for each of x, y and z, or one for a size or a `let`")
    )]
    SetCount { what: String, count: usize, takes: &'static str },
}

impl EditError {
    /// Whether the step itself is wrong, whatever the code.
    #[must_use]
    pub fn is_in_the_step(&self) -> bool {
        matches!(self, EditError::Pattern { .. } | EditError::Unbound { .. } | EditError::NotCode { .. })
    }

    /// More of it, for those who read a failure's facts.
    #[must_use]
    pub fn facts(&self) -> Vec<String> {
        match self {
            EditError::NotFound { region, nearest: Some((line, text)), .. } => {
                vec![format!("nearest in the {region}, line {line}: {text}")]
            }
            EditError::Count { region, lines, .. } => {
                lines.iter().map(|line| format!("found in the {region}, line {line}")).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn near(nearest: Option<&(usize, String)>) -> String {
    nearest.map(|(line, text)| format!("; nearest, on line {line}: `{text}`")).unwrap_or_default()
}

fn with(replacement: &str) -> String {
    match replacement.trim() {
        "" => "with nothing in its place".to_owned(),
        text => format!("with `{text}`"),
    }
}

fn on_lines(lines: &[usize]) -> String {
    let words = if lines.len() == 1 { "line" } else { "lines" };
    format!("{words} {}", lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", "))
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}
