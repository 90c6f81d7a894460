//! Matched rules as a flat list, and each with its place in the file.

use crate::syntax::{Name, Report, Span, Spanned};
use pest::iterators::Pairs;

pub(super) use grammar::{Grammar, Rule};

mod grammar {
    //! What `pest_derive` makes of `peak.pest`.

    /// The parser.
    #[derive(pest_derive::Parser)]
    #[grammar = "../peak.pest"]
    pub(in crate::syntax) struct Grammar;
}

/// A rule that matched; those inside follow it in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The rule.
    pub(super) rule: Rule,
    /// The first byte in the line.
    pub(super) start: u32,
    /// One past the last.
    pub(super) end: u32,
    /// One past the last part inside.
    pub(super) next: u32,
}

/// What pest matched, as such a list; the end of the line is no part of it.
pub(super) fn parts(pairs: Pairs<'_, Rule>) -> Vec<Part> {
    let mut parts = Vec::new();
    add(pairs, &mut parts);
    parts
}

/// As deep as brackets are nested.
fn add(pairs: Pairs<'_, Rule>, parts: &mut Vec<Part>) {
    let small = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    for pair in pairs.filter(|pair| pair.as_rule() != Rule::EOI) {
        let (open, span) = (parts.len(), pair.as_span());
        parts.push(Part { rule: pair.as_rule(), start: small(span.start()), end: small(span.end()), next: 0 });
        add(pair.into_inner(), parts);
        let next = small(parts.len());
        if let Some(part) = parts.get_mut(open) {
            part.next = next;
        }
    }
}

/// The rules that a line matched.
pub(super) struct Line<'n> {
    /// Outermost first; there is one.
    pub(super) parts: Vec<Part>,
    /// The line.
    pub(super) text: &'n str,
    /// Its first byte in the file.
    pub(super) base: usize,
}

impl Line<'_> {
    /// The outermost rule.
    pub(super) fn piece(&self) -> Piece<'_> {
        // A line without any is not made: every kind of line is one rule or another.
        let nothing = Part { rule: Rule::EOI, start: 0, end: 0, next: 0 };
        Piece { line: self, part: self.parts.first().copied().unwrap_or(nothing), at: 0 }
    }
}

/// A matched rule, with its place in the file.
#[derive(Clone, Copy)]
pub(super) struct Piece<'p> {
    line: &'p Line<'p>,
    part: Part,
    /// Where it is in the list.
    at: usize,
}

impl<'p> Piece<'p> {
    /// The rule.
    pub(super) fn rule(&self) -> Rule {
        self.part.rule
    }

    /// The matched text.
    pub(super) fn text(&self) -> &'p str {
        self.line.text.get(self.part.start as usize..self.part.end as usize).unwrap_or("")
    }

    /// Where it is in the file.
    pub(super) fn span(&self) -> Span {
        let start = self.line.base + self.part.start as usize;
        Span::new(start, start + self.kept().len())
    }

    /// The matched text without what follows it: a rule that ends in an optional part may have taken the blanks before
    /// that.
    fn kept(&self) -> &'p str {
        self.text().trim_end()
    }

    /// The rules directly inside.
    pub(super) fn parts(&self) -> impl Iterator<Item = Piece<'p>> + use<'p> {
        let (line, end) = (self.line, self.part.next as usize);
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            let part = *line.parts.get(at).filter(|_| at < end)?;
            let piece = Piece { line, part, at };
            at = part.next as usize;
            Some(piece)
        })
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
        Spanned::new(self.kept().to_owned(), self.span())
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
        let inner = self.parts().next().map_or("", |inner| inner.text());
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
