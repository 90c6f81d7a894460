//! One line through pest, and pest's pairs as pieces with spans in the file.

use super::{below, expected, heads, token};
use crate::limits::MAX_BRACKETS;
use crate::syntax::{Name, Node, Report, Span, Spanned};
use pest::Parser;
use pest::iterators::{Pair, Pairs};

pub(super) use grammar::Rule;

mod grammar {
    //! What `pest_derive` makes of `peak.pest`.

    /// The parser.
    #[derive(pest_derive::Parser)]
    #[grammar = "../peak.pest"]
    pub(in crate::syntax) struct Grammar;
}

/// A matched rule, with its place in the file.
#[derive(Clone, Debug)]
pub(super) struct Piece<'p> {
    pair: Pair<'p, Rule>,
    base: usize,
}

impl<'p> Piece<'p> {
    /// The rule.
    pub(super) fn rule(&self) -> Rule {
        self.pair.as_rule()
    }

    /// The matched text.
    pub(super) fn text(&self) -> &'p str {
        self.pair.as_str()
    }

    /// Where it is in the file.
    pub(super) fn span(&self) -> Span {
        let span = self.pair.as_span();
        // A rule that ends in an optional part may have taken the blanks before it.
        Span::new(self.base + span.start(), self.base + span.start() + self.text().trim_end().len())
    }

    /// The rules directly inside.
    pub(super) fn parts(&self) -> impl Iterator<Item = Piece<'p>> + use<'p> {
        let base = self.base;
        self.pair.clone().into_inner().map(move |pair| Piece { pair, base })
    }

    /// The first part of a rule.
    pub(super) fn find(&self, rule: Rule) -> Option<Piece<'p>> {
        self.parts().find(|part| part.rule() == rule)
    }

    /// Every part of a rule.
    pub(super) fn all(&self, rule: Rule) -> impl Iterator<Item = Piece<'p>> + use<'p> {
        self.parts().filter(move |part| part.rule() == rule)
    }

    /// Whether there is a part of a rule.
    pub(super) fn has(&self, rule: Rule) -> bool {
        self.find(rule).is_some()
    }

    /// The piece as a name.
    pub(super) fn as_name(&self) -> Name {
        Spanned::new(self.text().trim_end().to_owned(), self.span())
    }

    /// The first part of a rule as a name; the grammar sees to it that there is one.
    pub(super) fn name(&self, rule: Rule) -> Name {
        self.find(rule).map_or_else(|| Spanned::new(String::new(), self.span()), |part| part.as_name())
    }

    /// Every part of a rule as a name.
    pub(super) fn names(&self, rule: Rule) -> Vec<Name> {
        self.all(rule).map(|part| part.as_name()).collect()
    }

    /// The names in `for LANGUAGE, ...`; empty where there is none.
    pub(super) fn languages(&self) -> Vec<Name> {
        self.find(Rule::languages).map(|languages| languages.names(Rule::word)).unwrap_or_default()
    }

    /// What stands between quotes or backticks.
    pub(super) fn quoted(&self) -> Spanned<String> {
        let inner = self.parts().next().map_or("", |inner| inner.pair.as_str());
        Spanned::new(inner.to_owned(), self.span())
    }

    /// A whole number; one beyond 64 bits is reported and read as zero.
    pub(super) fn integer(&self, out: &mut Report<'_>) -> Spanned<i64> {
        let value = self.text().trim().parse().unwrap_or_else(|_| {
            out.push(
                out.error("peak::number-range", self.span(), "the number does not fit 64 bits")
                    .help(crate::syntax::WHOLE_NUMBERS),
            );
            0
        });
        Spanned::new(value, self.span())
    }

    /// A count; one that is negative or beyond 32 bits is reported and read as one.
    pub(super) fn count(&self, out: &mut Report<'_>) -> u32 {
        self.text().trim().parse().unwrap_or_else(|_| {
            out.push(out.error("peak::number-range", self.span(), "a count from 0 to 4294967295 is needed"));
            1
        })
    }

    /// A finite number; others are reported and read as zero.
    pub(super) fn number(&self, out: &mut Report<'_>) -> f64 {
        let value = self.text().trim().parse().ok().filter(|value: &f64| value.is_finite());
        value.unwrap_or_else(|| {
            out.push(out.error("peak::number-range", self.span(), "the number does not fit double precision"));
            0.0
        })
    }
}

/// Parses a line; what does not fit is reported.
pub(super) fn clause<'n>(rule: Rule, node: &Node<'n>, out: &mut Report<'_>) -> Option<Piece<'n>> {
    if let Some(at) = too_many_brackets(node.text) {
        let message = format!("brackets are nested deeper than {MAX_BRACKETS}");
        let at = node.span.start + at;
        let diagnostic = out.error("peak::too-deep", Span::new(at, at + 1), message).label("one too many");
        out.push(diagnostic.help("simplify, or name parts with a `let` of the host code"));
        out.unread(node.span, node.text);
        return None;
    }
    let whole = |pairs: &Pairs<'_, Rule>| pairs.as_str().len() == node.text.len();
    let alone = heads::form(rule, node.text).and_then(|form| grammar::Grammar::parse(form, node.text).ok());
    match alone.filter(whole).map_or_else(|| grammar::Grammar::parse(rule, node.text), Ok) {
        Ok(mut pairs) => {
            out.write(node.span.start, || token::tokens(pairs.clone(), node));
            pairs.next().map(|pair| Piece { pair, base: node.span.start })
        }
        Err(error) => {
            out.push_if_kept(|out| expected::diagnostic(rule, node, &error, out));
            out.unread(node.span, node.text);
            None
        }
    }
}

/// Every clause below a head, read by `read`.
pub(super) fn clauses<'n, C>(
    rule: Rule,
    node: &Node<'n>,
    out: &mut Report<'_>,
    read: impl FnMut(&Piece<'n>, &Node<'n>, &mut Report<'_>) -> Option<C>,
) -> Vec<Spanned<C>> {
    stray_fences(node, out);
    clauses_of(rule, &node.children, out, read)
}

/// Those of some lines.
pub(super) fn clauses_of<'t, 'n: 't, C>(
    rule: Rule,
    nodes: impl IntoIterator<Item = &'t Node<'n>>,
    out: &mut Report<'_>,
    mut read: impl FnMut(&Piece<'n>, &Node<'n>, &mut Report<'_>) -> Option<C>,
) -> Vec<Spanned<C>> {
    let mut clauses = Vec::new();
    for child in nodes {
        let Some(piece) = clause(rule, child, out) else {
            below::clause(rule, child, out);
            continue;
        };
        match read(&piece, child, out) {
            Some(clause) => clauses.push(Spanned::new(clause, child.whole())),
            None => out.unread(child.span, child.text),
        }
    }
    clauses
}

/// Reports anything below a clause that takes nothing.
pub(super) fn no_block(node: &Node<'_>, out: &mut Report<'_>) {
    stray_fences(node, out);
    if let Some(child) = node.children.first() {
        let head = node.text.split_whitespace().next().unwrap_or("");
        let message = format!("`{head}` takes no indented lines");
        let diagnostic = out.error("peak::unexpected-block", child.span, message);
        out.push(diagnostic.label("indented below it").help("align the line with the clause above"));
        node.children.iter().for_each(|child| out.unread(child.span, child.text));
    }
}

/// Reports what stands below a clause and no longer belongs to its prose.
pub(super) fn no_block_after_prose(node: &Node<'_>, out: &mut Report<'_>) {
    stray_fences(node, out);
    if let Some(child) = node.children.first() {
        let message = "the prose above ended before this line";
        let diagnostic = out.error("peak::unexpected-block", child.span, message);
        out.push(diagnostic.help("indent every line of the prose deeper than the clause that opens it, comments too"));
        node.children.iter().for_each(|child| out.unread(child.span, child.text));
    }
}

/// Reports that a clause has nothing below it.
pub(super) fn missing_block(node: &Node<'_>, out: &mut Report<'_>) {
    // A region is named in full: `in` alone says little.
    let head = match node.text.starts_with("in ") {
        true => node.text,
        false => node.text.split_whitespace().next().unwrap_or(""),
    };
    let diagnostic = out.error("peak::missing-block", node.span, format!("`{head}` needs indented lines below it"));
    out.push(diagnostic.label("nothing is indented below this").help("write its lines below it, two more spaces in"));
}

/// The text of the one fence below a clause.
pub(super) fn one_fence(node: &Node<'_>, out: &mut Report<'_>) -> Option<String> {
    match node.fences.as_slice() {
        [fence] if node.children.is_empty() => Some(fence.text.clone()),
        _ => {
            let diagnostic = out.error("peak::missing-code", node.span, "one fenced block of code is needed here");
            let help = "put the code below it, between two lines of three backticks";
            let takes_a_file = node.text.starts_with("device code") || node.text.starts_with("macros");
            let label = if node.fences.len() > 1 { "more than one block" } else { "no code" };
            out.push(diagnostic.label(label).help(match takes_a_file {
                true => format!("{help}; or name a file that holds it: `{} from \"FILE\"`", node.text),
                false => help.to_owned(),
            }));
            None
        }
    }
}

pub(super) fn stray_fences(node: &Node<'_>, out: &mut Report<'_>) {
    for fence in &node.fences {
        let diagnostic =
            out.error("peak::unexpected-block", fence.span, "a fenced block that this clause does not take");
        out.push(diagnostic.help("indent it below the clause that it belongs to"));
    }
}

/// Where brackets, quotes aside, are nested deeper than the bound.
fn too_many_brackets(text: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0usize, None);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'"' | b'`') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            (None, b'(' | b'[') => depth += 1,
            (None, b')' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_BRACKETS {
            return Some(at);
        }
    }
    None
}
