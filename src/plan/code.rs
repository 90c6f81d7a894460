//! Patterns in the kernel's own names: what `for kernels computing` binds, a workflow's `as` maps and a setting holds.

use super::Names;
use crate::edit::tokens::{Kind, Syntax, tokens};
use peak_grammar::ir::{Expr, Place, Snippet, Target, Within};

/// A target in the kernel's own names.
pub fn target(names: &Names, target: &Target) -> Target {
    Target {
        pattern: snippet(names, &target.pattern),
        within: target
            .within
            .as_ref()
            .map(|within| Within { side: within.side, anchor: snippet(names, &within.anchor) }),
        ..target.clone()
    }
}

/// A place in the kernel's own names.
pub fn place(names: &Names, place: &Place) -> Place {
    match place {
        Place::Before(code) => Place::Before(target(names, code)),
        Place::After(code) => Place::After(target(names, code)),
        Place::Top | Place::End => place.clone(),
    }
}

/// Code whose identifiers are the kernel's own, where they stand for one name or number. Metavariables and members
/// are left alone.
pub fn snippet(names: &Names, snippet: &Snippet) -> Snippet {
    let code = &snippet.text;
    let mut text = String::with_capacity(code.len());
    let mut done = 0;
    for token in tokens(code, Syntax::Code).into_iter().filter(|token| token.kind == Kind::Identifier) {
        let before = code[..token.span.start].trim_end();
        if code[..token.span.start].ends_with('$') || before.ends_with('.') || before.ends_with("->") {
            continue;
        }
        let own = match names.expression(token.text(code)) {
            Some(Expr::Name(name)) => name,
            Some(Expr::Integer(value)) => value.to_string(),
            _ => continue,
        };
        text.push_str(&code[done..token.span.start]);
        text.push_str(&own);
        done = token.span.end;
    }
    text.push_str(&code[done..]);
    Snippet { text, origin: snippet.origin.clone() }
}
