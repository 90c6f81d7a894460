//! Rules to functions of `Matcher` (`src/syntax/read/matcher.rs`), each `true` where it matched; where it did not, the
//! position and the parts are as before.
//!
//! Follows pest's own meaning of each form, blanks included. A form that Peak's grammar has no use for is refused.

use crate::bytes::{Bytes, Grammar};
use crate::mode::Mode;
use pest_meta::optimizer::{OptimizedExpr as Expr, OptimizedRule};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The functions of every rule that a line may open with (`..._line`) and of those that they use.
pub fn compile(rules: &[OptimizedRule]) -> String {
    let mut compiler = Compiler { grammar: Grammar::new(rules), known: BTreeSet::new(), wanted: Vec::new() };
    let mut code =
        String::from("/// Matches a whole line.\npub(super) fn line(rule: Rule, m: &mut Matcher<'_>) -> bool {\n");
    code.push_str("    match rule {\n");
    for rule in rules.iter().filter(|rule| rule.name.ends_with("_line")) {
        let call = compiler.call(&rule.name, Mode::CLAUSE);
        // Writing to a string cannot fail.
        let _ = writeln!(code, "        Rule::{} => {call},", rule.name);
    }
    code.push_str("        _ => false,\n    }\n}\n");
    let _ = writeln!(code, "\nfn blanks(m: &mut Matcher<'_>) -> bool {{\n    {}\n}}", run(&compiler.grammar.blanks()));
    while let Some((rule, mode)) = compiler.wanted.pop() {
        code.push_str(&compiler.function(rule, mode));
    }
    code
}

struct Compiler<'r> {
    grammar: Grammar<'r>,
    /// Functions that are compiled or wanted.
    known: BTreeSet<(&'r str, Mode)>,
    wanted: Vec<(&'r OptimizedRule, Mode)>,
}

impl Compiler<'_> {
    fn function(&mut self, rule: &OptimizedRule, mode: Mode) -> String {
        let body = self.expr(&rule.expr, mode.inside(&rule.name, rule.ty));
        let head = format!("\nfn {}_{}(m: &mut Matcher<'_>) -> bool {{\n", rule.name, mode.suffix());
        match mode.keeps(rule.ty) {
            true => format!(
                "{head}    let open = m.open(Rule::{});\n    let found = {body};\n    m.close(open, found)\n}}\n",
                rule.name
            ),
            false => format!("{head}    {body}\n}}\n"),
        }
    }

    /// The use of a rule.
    fn call(&mut self, name: &str, mode: Mode) -> String {
        match (self.grammar.rule(name), name) {
            (Some(rule), _) => {
                if self.known.insert((rule.name.as_str(), mode)) {
                    self.wanted.push((rule, mode));
                }
                format!("{name}_{}(m)", mode.suffix())
            }
            (None, "SOI") => "m.starts()".to_owned(),
            (None, "EOI") => "m.ends()".to_owned(),
            (None, "ANY") => "m.any()".to_owned(),
            (None, _) => panic!("`{name}` of pest is not compiled"),
        }
    }

    fn expr(&mut self, expr: &Expr, mode: Mode) -> String {
        if let Some(class) = self.grammar.class(expr).filter(|_| !self.keeps(expr, mode)) {
            return format!("m.one(|byte| matches!(byte, {}))", class.pattern());
        }
        match expr {
            Expr::Str(text) => format!("m.literal(b\"{}\")", text.as_bytes().escape_ascii()),
            Expr::Ident(name) => self.call(name, mode),
            Expr::Seq(left, right) => self.sequence(left, right, mode),
            Expr::Choice(left, right) => {
                format!("({} || {})", self.guarded(left, mode), self.guarded(right, mode))
            }
            Expr::Opt(inner) => format!("maybe({})", self.guarded(inner, mode)),
            Expr::Rep(inner) => self.repetition(inner, mode),
            Expr::PosPred(inner) => self.lookahead(inner, mode),
            Expr::NegPred(inner) => format!("!{}", self.lookahead(inner, mode)),
            Expr::Skip(until) => self.until(until),
            other => panic!("this form of the grammar is not compiled: {other:?}"),
        }
    }

    /// Whether an expression is a rule that becomes a part.
    fn keeps(&self, expr: &Expr, mode: Mode) -> bool {
        match expr {
            Expr::Ident(name) => self
                .grammar
                .rule(name)
                .is_some_and(|rule| mode.keeps(rule.ty) || self.keeps(&rule.expr, mode.inside(name, rule.ty))),
            Expr::Choice(left, right) => self.keeps(left, mode) || self.keeps(right, mode),
            _ => false,
        }
    }

    /// The expression, entered only where the next byte can begin it.
    fn guarded(&mut self, expr: &Expr, mode: Mode) -> String {
        // A choice guards each of its sides, a byte is its own guard.
        let own = matches!(expr, Expr::Choice(..)) || self.grammar.class(expr).is_some_and(|_| !self.keeps(expr, mode));
        match self.grammar.guard(expr).filter(|_| !own) {
            Some(first) => format!("({} && {})", next(&first), self.expr(expr, mode)),
            None => self.expr(expr, mode),
        }
    }

    fn sequence(&mut self, left: &Expr, right: &Expr, mode: Mode) -> String {
        let mut pieces = vec![self.expr(left, mode)];
        let mut rest = right;
        while let Expr::Seq(left, right) = rest {
            pieces.push(self.expr(left, mode));
            rest = right;
        }
        pieces.push(self.expr(rest, mode));
        let between = if mode.blanks { " && blanks(m) && " } else { " && " };
        format!("{{ let mark = m.mark(); ({}) || m.back(mark) }}", pieces.join(between))
    }

    /// Blanks stand between one and the next, and not after the last.
    fn repetition(&mut self, inner: &Expr, mode: Mode) -> String {
        match self.grammar.class(inner).filter(|_| !self.keeps(inner, mode)) {
            Some(class) if !mode.blanks => run(&class),
            _ if !mode.blanks => format!("{{ while {} {{}} true }}", self.guarded(inner, mode)),
            _ => {
                let one = self.guarded(inner, mode);
                format!(
                    "{{ if {one} {{ while {{ let mark = m.mark(); (blanks(m) && {one}) || m.back(mark) }} {{}} }} true }}"
                )
            }
        }
    }

    fn lookahead(&mut self, inner: &Expr, mode: Mode) -> String {
        match self.grammar.class(inner) {
            Some(class) => next(&class),
            None => {
                let inner = self.guarded(inner, mode.unkept());
                format!("{{ let mark = m.mark(); let found = {inner}; m.back(mark); found }}")
            }
        }
    }

    /// Everything up to the first of some bytes, or to the end.
    fn until(&self, stops: &[String]) -> String {
        let mut bytes = Bytes::NONE;
        for stop in stops {
            let class = self.grammar.class(&Expr::Str(stop.clone()));
            bytes = bytes.or(&class.expect("what text is skipped to is one byte"));
        }
        format!("m.run(|byte| !matches!(byte, {}))", bytes.pattern())
    }
}

fn next(class: &Bytes) -> String {
    format!("m.next(|byte| matches!(byte, {}))", class.pattern())
}

fn run(class: &Bytes) -> String {
    format!("m.run(|byte| matches!(byte, {}))", class.pattern())
}
