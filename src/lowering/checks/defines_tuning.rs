//! The answer defines, or gives a value to, what the prelude defines: tuning parameters and its type names.

use super::words::{declared, defines, line_of, words};
use super::{AnswerFacts, Rejection};
use peak_grammar::ir::Region;

pub const CODE: &str = "peak::answer-defines-tuning-parameter";

pub fn check(facts: &AnswerFacts<'_>) -> Option<Rejection> {
    let tuning = |name: &str| facts.before.parameter(name).is_some();
    if facts.region == Region::HostCode {
        let words = words(facts.new);
        let bound = words.windows(2).find(|pair| pair[0].1 == "let" && tuning(pair[1].1))?;
        return facts
            .reject(CODE, format!("`let {}`: it is a tuning parameter, whose value the tuner chooses", bound[1].1));
    }
    let prelude = |name: &str| {
        let argument = |base: &str| facts.before.kernel.arguments.iter().any(|argument| argument.name == base);
        matches!(name, "ELEMENT" | "ACCUMULATOR") || name.strip_suffix("_T").is_some_and(argument)
    };
    if let Some((name, at)) = defines(facts.new).into_iter().find(|(name, _)| tuning(name) || prelude(name)) {
        let line = line_of(facts.new, at);
        return facts.reject(CODE, format!("line {line} defines `{name}`, which the prelude defines: only use it"));
    }
    let name = declared(facts.new).into_iter().find(|name| tuning(name) && !declared(facts.old()).contains(name))?;
    facts.reject(CODE, format!("`{name}` is declared as a variable, and it is a tuning parameter: only use it"))
}
