//! Replacements: text with metavariables, filled with what a match bound, with parentheses where they are needed.

use super::language::CodeLanguage;
use super::pattern::{Item, PatternProblem, readings};
use super::precedence::ATOM;
use super::select::{Capture, Found};
use peak_grammar::metavariables::{Metavariable, metavariables};

/// A replacement in one language.
#[derive(Clone, Debug)]
pub struct Template {
    text: String,
    variables: Vec<Metavariable>,
    /// How tightly what stands for each must bind.
    slots: Vec<u8>,
    /// How tightly the whole binds, where it is one expression.
    precedence: Option<u8>,
    /// It is one metavariable and nothing else.
    is_variable: bool,
    /// Statements that it is.
    statements: usize,
    /// Whether it parses in this language.
    pub parses: bool,
}

impl Template {
    /// Reads a replacement. One that does not parse stands as it is written: macros may look as no code does.
    ///
    /// # Errors
    /// A metavariable is misspelled, or it is beyond the bounds.
    pub fn new(language: CodeLanguage, text: &str) -> Result<Template, PatternProblem> {
        let variables =
            metavariables(text).map_err(|wrong| PatternProblem::Metavariable(text[wrong.span].to_owned()))?;
        let reading = readings(language, text)?.into_iter().next();
        let reading = reading.filter(|reading| reading.slots.len() == variables.len());
        let parses = reading.is_some() || text.trim().is_empty();
        let slots = match &reading {
            Some(reading) => reading.slots.clone(),
            None => variables.iter().map(|variable| guessed_slot(text, variable)).collect(),
        };
        let items = reading.as_ref().map_or(&[] as &[Item], |reading| &reading.items);
        Ok(Template {
            is_variable: matches!(items, [Item::One(_)]),
            statements: items.len(),
            precedence: reading.as_ref().and_then(|reading| reading.precedence),
            text: text.to_owned(),
            variables,
            slots,
            parses,
        })
    }

    /// The text in place of a match.
    #[must_use]
    pub fn filled(&self, source: &str, found: &Found) -> String {
        let mut filled = String::with_capacity(self.text.len());
        let mut done = 0;
        for (variable, slot) in self.variables.iter().zip(&self.slots) {
            let capture = variable.name.as_ref().and_then(|name| found.captures.get(name));
            let mut before = &self.text[done.min(variable.span.start)..variable.span.start];
            done = done.max(variable.span.end);
            match capture {
                Some(capture) if !capture.empty => {
                    filled.push_str(before);
                    let gap = filled.chars().next_back();
                    filled.push_str(&operand(&source[capture.span.clone()], capture, *slot, gap));
                }
                // Several that are none take a comma with them: the one after, else the one before.
                _ => {
                    let after = &self.text[done..];
                    let rest = after.trim_start();
                    match rest.strip_prefix(',') {
                        Some(rest) => done = self.text.len() - rest.trim_start().len(),
                        None => before = before.trim_end().strip_suffix(',').unwrap_or(before),
                    }
                    filled.push_str(before);
                }
            }
        }
        filled.push_str(&self.text[done..]);
        self.placed(filled, found)
    }

    /// The whole in its place: an operand in parentheses where it binds less tightly, several statements in braces
    /// where one stood without them.
    fn placed(&self, filled: String, found: &Found) -> String {
        let own = match self.is_variable {
            // Its operand's parentheses are those of the place.
            true => self
                .variables
                .first()
                .and_then(|variable| variable.name.as_ref().and_then(|name| found.captures.get(name)?.precedence)),
            false => self.precedence,
        };
        let loose = own.is_some_and(|own| own < found.slot);
        if loose && found.is_expression {
            return format!("({filled})");
        }
        if found.bare_body && (self.statements > 1 || filled.trim().is_empty()) {
            return if filled.trim().is_empty() { "{}".to_owned() } else { format!("{{ {filled} }}") };
        }
        filled
    }
}

/// What a metavariable stands for, in parentheses where it binds less tightly than its slot, or would join its sign
/// with the one before: `- -a`.
fn operand(text: &str, capture: &Capture, slot: u8, before: Option<char>) -> String {
    let Some(precedence) = capture.precedence else { return text.to_owned() };
    let joins = before.is_some_and(|sign| "+-&".contains(sign) && text.starts_with(sign));
    match precedence < slot || joins {
        true => format!("({text})"),
        false => text.to_owned(),
    }
}

/// The slot in text that does not parse: none between brackets, commas and the ends of statements.
fn guessed_slot(text: &str, variable: &Metavariable) -> u8 {
    let before = text[..variable.span.start].trim_end();
    let after = text[variable.span.end..].trim_start();
    let opens = before.is_empty() || before.ends_with(['(', '[', '{', '}', ';', ',', ')']);
    let closes = after.is_empty() || after.starts_with([')', ']', '}', '{', ';', ',']);
    match (opens, closes) {
        (true, true) if before.ends_with(',') || after.starts_with(',') => 2,
        (true, true) => 0,
        _ => ATOM,
    }
}
