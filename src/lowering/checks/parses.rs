//! The text does not parse as the language. (A launch plan is parsed when it is applied, with the same code.)

use super::{AnswerFacts, Rejection};
use crate::lowering::syntax;
use peak_grammar::ir::Region;

pub const CODE: &str = "peak::answer-does-not-parse";

pub fn check(facts: &AnswerFacts<'_>) -> Option<Rejection> {
    if facts.region == Region::HostCode {
        return None;
    }
    let macros: Vec<String> = [facts.new, &facts.before.regions.macros, &facts.before.regions.device_code]
        .iter()
        .flat_map(|text| syntax::defined_macros(text))
        .collect();
    let backend = &facts.before.backend;
    let problem = syntax::problem(backend, facts.new, &macros)?;
    // A text that looked wrong before says more of the grammar than of the answer.
    if syntax::problem(backend, facts.old(), &macros).is_some_and(|old| old.what == problem.what) {
        return None;
    }
    let shown = facts.new.lines().nth(problem.line - 1).unwrap_or_default().trim();
    let mut rejection = facts.reject(CODE, format!("line {} does not parse: {}", problem.line, problem.what))?;
    rejection.facts.push(format!("line {}: `{shown}`", problem.line));
    Some(rejection)
}
