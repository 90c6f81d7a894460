//! The answer changes, repeats or is another region.

use super::words::{defines, function, words};
use super::{AnswerFacts, Rejection};
use peak_grammar::ir::Region;

pub const CODE: &str = "peak::answer-other-region";

pub fn check(facts: &AnswerFacts<'_>) -> Option<Rejection> {
    let (region, answer) = (facts.region, facts.answer);
    if let [_, second, ..] = answer.code.as_slice() {
        let line = second.line;
        return facts
            .reject(CODE, format!("a second block of code opens in line {line}: one block is the new {region}"));
    }
    let language = answer.region().language.as_str();
    if !language.is_empty() && (region == Region::HostCode) != matches!(language, "peak" | "text") {
        return facts.reject(CODE, format!("the block is marked `{language}`: it should be the {region}"));
    }
    if region == Region::HostCode { None } else { repeats(facts).or_else(|| entry_in_macros(facts)) }
}

/// A macro that another region defines, defined here too.
fn repeats(facts: &AnswerFacts<'_>) -> Option<Rejection> {
    let held = defines(facts.old());
    for other in [Region::Macros, Region::DeviceCode].into_iter().filter(|other| *other != facts.region) {
        let others = defines(facts.before.regions.get(other));
        let repeated = |(name, _): &&(&str, usize)| {
            others.iter().any(|(known, _)| known == name) && held.iter().all(|(known, _)| known != name)
        };
        if let Some((name, _)) = defines(facts.new).iter().find(repeated) {
            let region = facts.region;
            return facts
                .reject(CODE, format!("`{name}` is defined by the {other} already: the answer is the {region} alone"));
        }
    }
    None
}

fn entry_in_macros(facts: &AnswerFacts<'_>) -> Option<Rejection> {
    if facts.region != Region::Macros {
        return None;
    }
    let (old, new) = (words(facts.old()), words(facts.new));
    let launches = facts.before.plan.launches();
    let entry = launches
        .iter()
        .map(|launch| &launch.kernel)
        .find(|name| function(&new, name).is_some() && function(&old, name).is_none())?;
    facts.reject(CODE, format!("the entry `{entry}` belongs to the device code: the answer is the macros alone"))
}
