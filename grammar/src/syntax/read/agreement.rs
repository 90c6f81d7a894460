//! Whether the compiled rules and pest agree, parts and all: on lines made from the grammar itself, and on such lines
//! with a few characters changed, which mostly match no more.

use super::matcher::matched;
use super::piece::{Grammar, Rule, parts};
use pest::Parser;
use pest_meta::optimizer::{OptimizedExpr as Expr, OptimizedRule};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::collections::HashMap;

const GRAMMAR: &str = include_str!("../../../peak.pest");
const CASES: u32 = 6000;
/// Names that look like other things.
const NAMES: [&str; 14] =
    ["n", "A", "sum", "mod", "where", "device", "e5", "_", "not", "x1", "old", "in", "to", "with"];
/// What may stand between tokens: mostly one blank.
const BETWEEN: [&str; 8] = [" ", " ", " ", " ", " ", " ", "", "  "];
const SIGNS: [&str; 16] = ["", " ", "\"", "`", "(", ")", "[", ",", ":", "-", "=", "e", "7", ".", "é", "_"];

#[test]
fn the_compiled_rules_and_pest_accept_the_same_lines_with_the_same_parts() {
    let rules = rules();
    let kinds: Vec<Rule> = Rule::all_rules().iter().copied().filter(|rule| name(*rule).ends_with("_line")).collect();
    assert!(kinds.len() > 10, "{kinds:?}");
    let (accepted, refused) = (Cell::new(0), Cell::new(0));
    let choices = proptest::collection::vec(any::<u8>(), 0..120);
    let edits = proptest::collection::vec((any::<usize>(), 0..SIGNS.len()), 1..3);
    let config = ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() };
    let run = TestRunner::new(config).run(&(0..kinds.len(), choices, edits), |(kind, choices, edits)| {
        let line = Speaker { rules: &rules, choices: choices.into_iter() }.line(name(kinds[kind]).as_str());
        for text in [edited(&line, &edits), line] {
            let compiled = matched(kinds[kind], &text);
            prop_assert_eq!(&compiled, &Grammar::parse(kinds[kind], &text).ok().map(parts), "{}", text);
            let count = if compiled.is_some() { &accepted } else { &refused };
            count.set(count.get() + 1);
        }
        Ok(())
    });
    run.expect("both agree");
    // Neither answer may be rare, or little was compared.
    assert!(accepted.get() > CASES / 2 && refused.get() > CASES / 2, "{accepted:?} {refused:?}");
}

fn name(rule: Rule) -> String {
    format!("{rule:?}")
}

fn rules() -> HashMap<String, OptimizedRule> {
    let (_, rules) = pest_meta::unwrap_or_report(pest_meta::parse_and_optimize(GRAMMAR));
    rules.into_iter().map(|rule| (rule.name.clone(), rule)).collect()
}

/// The line with some characters replaced.
fn edited(line: &str, edits: &[(usize, usize)]) -> String {
    let mut pieces: Vec<String> = line.chars().map(String::from).collect();
    for (at, sign) in edits {
        let count = pieces.len().max(1);
        if let Some(piece) = pieces.get_mut(at % count) {
            SIGNS[*sign].clone_into(piece);
        }
    }
    pieces.concat()
}

/// Says lines of the grammar, as the choices say; without choices, the first and shortest form.
struct Speaker<'g> {
    rules: &'g HashMap<String, OptimizedRule>,
    choices: std::vec::IntoIter<u8>,
}

impl Speaker<'_> {
    fn line(mut self, rule: &str) -> String {
        let mut text = String::new();
        self.rule(rule, true, &mut text);
        text
    }

    fn choose(&mut self, count: usize) -> usize {
        self.choices.next().map_or(0, usize::from) % count
    }

    fn rule(&mut self, name: &str, blanks: bool, text: &mut String) {
        let letters = match name {
            "ident" | "word" => {
                text.push_str(NAMES[self.choose(NAMES.len())]);
                return;
            }
            "ASCII_DIGIT" => "0123456789",
            "ASCII_ALPHA" | "ASCII_ALPHANUMERIC" => "xbeGk",
            "ANY" => "a é#",
            "SOI" | "EOI" => return,
            _ => {
                let rule = &self.rules[name];
                let atomic =
                    matches!(rule.ty, pest_meta::ast::RuleType::Atomic | pest_meta::ast::RuleType::CompoundAtomic);
                return self.say(&rule.expr, blanks && !atomic, text);
            }
        };
        let at = self.choose(letters.chars().count());
        text.extend(letters.chars().nth(at));
    }

    fn say(&mut self, expr: &Expr, blanks: bool, text: &mut String) {
        match expr {
            Expr::Str(literal) => text.push_str(literal),
            Expr::Ident(name) => self.rule(name, blanks, text),
            Expr::Seq(left, right) => {
                self.say(left, blanks, text);
                self.between(blanks, text);
                self.say(right, blanks, text);
            }
            Expr::Choice(..) => {
                let mut sides = vec![expr];
                while let Some(Expr::Choice(left, right)) = sides.last().copied() {
                    sides.splice(sides.len() - 1.., [&**left, &**right]);
                }
                let chosen = sides[self.choose(sides.len())];
                self.say(chosen, blanks, text);
            }
            Expr::Opt(inner) if self.choose(2) == 1 => self.say(inner, blanks, text),
            Expr::Rep(inner) => {
                for _ in 0..self.choose(3) {
                    self.between(blanks, text);
                    self.say(inner, blanks, text);
                }
            }
            Expr::Skip(_) => text.push_str(["some é", "", "x"][self.choose(3)]),
            // Lookaheads say nothing; a line that they refuse is a good one to compare too.
            _ => {}
        }
    }

    fn between(&mut self, blanks: bool, text: &mut String) {
        if blanks && !text.is_empty() {
            text.push_str(BETWEEN[self.choose(BETWEEN.len())]);
        }
    }
}
