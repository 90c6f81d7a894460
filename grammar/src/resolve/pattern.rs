//! Patterns of mechanical steps: metavariables and what they are said of. Whether a pattern is code of a language is
//! not decided here: that needs the language's own syntax.

use super::origin;
use crate::ir::{self, Action, Snippet, Which, Within};
use crate::metavariables::{Metavariable, metavariables};
use crate::syntax::ast::{Place, Target};
use crate::syntax::{Report, Span, Spanned};

/// `` rewrite `PATTERN` to `PATTERN` ``.
pub(super) fn rewrite(target: &Target, replacement: Option<&Spanned<String>>, out: &mut Report<'_>) -> Action {
    let bound = variables(&target.pattern, out);
    if let (Some(replacement), Some(bound)) = (replacement, bound) {
        for used in variables(replacement, out).unwrap_or_default() {
            check_bound(&used, &bound, replacement, out);
        }
    }
    Action::Rewrite {
        target: resolved(target, Which::Every, out),
        replacement: replacement.map(|replacement| snippet(replacement, out)),
    }
}

/// Where `insert` inserts: unless it is said otherwise, code that stands there once.
pub(super) fn place(place: &Place, out: &mut Report<'_>) -> ir::Place {
    let mut target = |target: &Target| {
        variables(&target.pattern, out);
        resolved(target, Which::Exactly(1), out)
    };
    match place {
        Place::Top => ir::Place::Top,
        Place::End => ir::Place::End,
        Place::Before(code) => ir::Place::Before(target(code)),
        Place::After(code) => ir::Place::After(target(code)),
    }
}

fn resolved(target: &Target, usual: Which, out: &mut Report<'_>) -> ir::Target {
    if target.which == Some(Which::Exactly(0)) {
        let diagnostic = out.error("peak::values", target.pattern.span, "`exactly 0` changes nothing");
        out.push(diagnostic.help("say how many there are, or leave the step out"));
    }
    let within = target.within.as_ref().map(|(side, anchor)| {
        variables(anchor, out);
        Within { side: *side, anchor: snippet(anchor, out) }
    });
    let (which, innermost, if_any) = (target.which.unwrap_or(usual), target.innermost, target.if_any);
    ir::Target { pattern: snippet(&target.pattern, out), which, innermost, within, if_any }
}

fn snippet(code: &Spanned<String>, out: &Report<'_>) -> Snippet {
    Snippet { text: code.value.clone(), origin: origin(code.span, out) }
}

/// The metavariables of a piece of code; `None` where one is not spelled as such, which is reported.
fn variables(code: &Spanned<String>, out: &mut Report<'_>) -> Option<Vec<Metavariable>> {
    match metavariables(&code.value) {
        Ok(found) => {
            check_kinds(&found, code, out);
            Some(found)
        }
        Err(wrong) => {
            let spelled = &code.value[wrong.span.clone()];
            let diagnostic =
                out.error("peak::metavariable", inner(code, &wrong.span), format!("`{spelled}` is no metavariable"));
            out.push(
                diagnostic.help("`$NAME` stands for one piece of code, `$$$NAME` for several; names are UPPER_SNAKE"),
            );
            None
        }
    }
}

/// A name stands for one piece or for several, not for both.
fn check_kinds(found: &[Metavariable], code: &Spanned<String>, out: &mut Report<'_>) {
    let both = |one: &&Metavariable| {
        one.name.is_some() && found.iter().any(|other| other.name == one.name && other.many != one.many)
    };
    if let Some(one) = found.iter().rev().find(both) {
        let name = one.name.as_deref().unwrap_or_default();
        let message = format!("`{name}` stands for one piece of code here and for several there");
        let diagnostic = out.error("peak::metavariable", inner(code, &one.span), message);
        out.push(diagnostic.help(format!("write `${name}` or `$$${name}` everywhere")));
    }
}

fn check_bound(used: &Metavariable, bound: &[Metavariable], code: &Spanned<String>, out: &mut Report<'_>) {
    let span = inner(code, &used.span);
    let spelled = &code.value[used.span.clone()];
    let Some(name) = used.name.as_deref() else {
        let message = format!("`{spelled}` has no name, so it stands for nothing in a replacement");
        out.push(out.error("peak::metavariable", span, message).help("name it in the pattern and here"));
        return;
    };
    match bound.iter().find(|one| one.name.as_deref() == Some(name)) {
        Some(one) if one.many == used.many => {}
        Some(one) => {
            let message = format!("the pattern binds `{}`, not `{spelled}`", sign(one));
            let diagnostic = out.error("peak::metavariable", span, message);
            out.push(diagnostic.help(format!("write `{}`", sign(one))));
        }
        None => {
            let known: Vec<String> = bound.iter().filter(|one| one.name.is_some()).map(sign).collect();
            let message = format!("the pattern binds no `{spelled}`");
            let diagnostic = out.error("peak::metavariable", span, message).label("unbound");
            let diagnostic = diagnostic.help("a replacement holds only what its pattern binds");
            out.push(diagnostic.suggest(spelled, known.iter().map(String::as_str)));
        }
    }
}

fn sign(one: &Metavariable) -> String {
    format!("{}{}", if one.many { "$$$" } else { "$" }, one.name.as_deref().unwrap_or_default())
}

/// A place inside the backticks, in the file.
fn inner(code: &Spanned<String>, span: &std::ops::Range<usize>) -> Span {
    let start = code.span.start + 1;
    Span::new(start + span.start, start + span.end)
}
