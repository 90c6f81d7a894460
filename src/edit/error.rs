//! Why an edit cannot be made.

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

    #[error("`{pattern}` is found {count} times in the {region}, and must be found once")]
    #[diagnostic(
        code("peak::pattern-not-unique"),
        help("name a longer piece of code that stands there exactly once; spaces and comments do not count")
    )]
    NotUnique { region: Region, pattern: String, count: usize },

    #[error("there is no identifier `{name}` in the {region}")]
    #[diagnostic(code("peak::rename-finds-nothing"), help("name an identifier that the region uses"))]
    NothingToRename { region: Region, name: String },

    #[error("`{name}` already stands in the {region}, so renaming `{from}` would join the two")]
    #[diagnostic(code("peak::rename-joins-names"), help("choose a name that the region does not use"))]
    NameTaken { region: Region, from: String, name: String },

    #[error("`{name}` is no identifier")]
    #[diagnostic(code("peak::rename-to-no-identifier"), help("letters, digits and `_`, not starting with a digit"))]
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

    #[error("`rewrite` is not built yet")]
    #[diagnostic(
        code("peak::not-built"),
        help("say it in words, or use `insert`, `rename` or `set`, which are carried out without a model")
    )]
    RewriteNotBuilt,
}
