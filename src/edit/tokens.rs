//! Tokens of C, C++, HLSL and launch plans: enough to compare texts and find identifiers, never to judge them.
//!
//! Every input gives tokens; an unterminated comment or string simply ends with the text.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An identifier or keyword.
    Identifier,
    /// A number.
    Number,
    /// A string or character, quotes included.
    Quoted,
    /// A comment, its marks included.
    Comment,
    /// One punctuation character, or `...`.
    Punctuation,
    /// The end of a preprocessor directive, or of any line of a launch plan.
    LineEnd,
}

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

impl Token {
    /// Its text.
    #[must_use]
    pub fn text<'a>(&self, source: &'a str) -> &'a str {
        &source[self.span.clone()]
    }
}

/// Which comments and line ends count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `//` and `/* */`; only the line end of a directive is a token.
    Code,
    /// `#`; every line end is a token.
    LaunchPlan,
}

impl Syntax {
    /// The syntax of a region.
    #[must_use]
    pub fn of(region: peak_grammar::ir::Region) -> Syntax {
        match region {
            peak_grammar::ir::Region::HostCode => Syntax::LaunchPlan,
            _ => Syntax::Code,
        }
    }
}

/// Every token of `source`, comments included.
#[must_use]
pub fn tokens(source: &str, syntax: Syntax) -> Vec<Token> {
    let mut lexer = Lexer { source, at: 0, syntax, in_directive: false, line_is_blank: true, found: Vec::new() };
    while lexer.at < source.len() {
        lexer.step();
    }
    lexer.found
}

/// The texts of the tokens that count: comments and white space dropped.
#[must_use]
pub fn normalized(source: &str, syntax: Syntax) -> Vec<&str> {
    let mut texts: Vec<&str> = Vec::new();
    for token in tokens(source, syntax) {
        match token.kind {
            Kind::Comment => {}
            Kind::LineEnd if matches!(texts.last(), None | Some(&"\n")) => {}
            Kind::LineEnd => texts.push("\n"),
            _ => texts.push(token.text(source)),
        }
    }
    texts
}

/// Where `pattern` stands in `source`, as byte spans; comments and white space in either do not count.
#[must_use]
pub fn find(source: &str, pattern: &str, syntax: Syntax) -> Vec<Range<usize>> {
    let counted = |text: &str| -> Vec<Token> {
        let kept = |token: &Token| !matches!(token.kind, Kind::Comment | Kind::LineEnd);
        tokens(text, syntax).into_iter().filter(kept).collect()
    };
    let (hay, needle) = (counted(source), counted(pattern));
    if needle.is_empty() {
        return Vec::new();
    }
    let same = |window: &&[Token]| window.iter().zip(&needle).all(|(a, b)| a.text(source) == b.text(pattern));
    hay.windows(needle.len())
        .filter(same)
        .map(|window| window[0].span.start..window[window.len() - 1].span.end)
        .collect()
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    syntax: Syntax,
    in_directive: bool,
    line_is_blank: bool,
    found: Vec<Token>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn step(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return };
        if first == '\n' {
            return self.end_line();
        }
        if rest.starts_with("\\\n") || rest.starts_with("\\\r\n") {
            self.at += rest.find('\n').map_or(1, |at| at + 1);
            return;
        }
        if first.is_whitespace() {
            self.at += first.len_utf8();
            return;
        }
        let (kind, length) = self.classify(first);
        if first == '#' && self.line_is_blank && kind == Kind::Punctuation {
            self.in_directive = true;
        }
        self.line_is_blank = false;
        self.push(kind, length);
    }

    fn classify(&self, first: char) -> (Kind, usize) {
        let rest = self.rest();
        let code = self.syntax == Syntax::Code;
        match first {
            '/' if code && rest.starts_with("//") => (Kind::Comment, line_length(rest)),
            '/' if code && rest.starts_with("/*") => {
                (Kind::Comment, rest[2..].find("*/").map_or(rest.len(), |end| end + 4))
            }
            '#' if !code => (Kind::Comment, line_length(rest)),
            '"' | '\'' => (Kind::Quoted, quoted_length(rest, first)),
            '.' if rest.starts_with("...") => (Kind::Punctuation, 3),
            _ if is_start(first) => (Kind::Identifier, length_while(rest, is_part)),
            _ if first.is_ascii_digit() => (Kind::Number, length_while(rest, |c| is_part(c) || c == '.')),
            _ => (Kind::Punctuation, first.len_utf8()),
        }
    }

    fn end_line(&mut self) {
        let counts = self.in_directive || self.syntax == Syntax::LaunchPlan;
        self.in_directive = false;
        self.line_is_blank = true;
        match counts {
            true => self.push(Kind::LineEnd, 1),
            false => self.at += 1,
        }
    }

    fn push(&mut self, kind: Kind, length: usize) {
        let span = self.at..self.at + length;
        self.at = span.end;
        self.found.push(Token { kind, span });
    }
}

fn is_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn line_length(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

fn length_while(rest: &str, keep: impl Fn(char) -> bool) -> usize {
    rest.find(|c| !keep(c)).unwrap_or(rest.len())
}

/// A quoted text ends at its quote, or at the line's end, since an apostrophe may stand alone in a macro.
fn quoted_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return at,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}
