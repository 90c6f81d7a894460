//! Constructs that no kernel may hold: file access, host calls, library calls, and includes that were not there.

use super::{AnswerFacts, Rejection};
use crate::edit::tokens::{Kind, Syntax, tokens};
use peak_grammar::ir::Region;

pub const CODE: &str = "peak::answer-banned-construct";

pub fn check(facts: &AnswerFacts<'_>) -> Option<Rejection> {
    if facts.region == Region::HostCode {
        return None;
    }
    let code = without_comments(facts.new);
    for (number, line) in code.lines().enumerate() {
        let number = number + 1;
        if is_include(line) && !knows_include(facts, line) {
            return facts
                .reject(CODE, format!("line {number}: `{}` is not allowed: nothing may be included", line.trim()));
        }
        let banned = facts.spelling.banned.iter().find(|(text, _)| line.contains(text) && !is_include(line));
        if let Some((text, why)) = banned {
            return facts.reject(CODE, format!("line {number}: `{text}` is not allowed: {why}"));
        }
    }
    None
}

/// The text with its comments blank, so that lines keep their numbers.
fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut done = 0;
    for token in tokens(text, Syntax::Code).into_iter().filter(|token| token.kind == Kind::Comment) {
        code.push_str(&text[done..token.span.start]);
        code.extend(token.text(text).chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        done = token.span.end;
    }
    code + &text[done..]
}

fn is_include(line: &str) -> bool {
    line.trim_start().strip_prefix('#').is_some_and(|rest| rest.trim_start().starts_with("include"))
}

/// The kernel's own includes stay.
fn knows_include(facts: &AnswerFacts<'_>, line: &str) -> bool {
    Region::ALL.iter().any(|region| facts.before.regions.get(*region).lines().any(|known| known.trim() == line.trim()))
}
