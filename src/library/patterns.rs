//! Patterns of mechanical steps, checked against the syntax of every language that they are for. The front end knows
//! no language's syntax, so this is where a pattern that could never match is told of.

use crate::edit::code::{CodeLanguage, Pattern, PatternProblem, Template};
use peak_grammar::ir::{self, Action, Pass, Place, Snippet, Step, Target};
use peak_grammar::syntax::Span;
use peak_grammar::{Diagnostic, Severity};

/// What is wrong with the patterns of a library's transformations, packs' own and their changes included.
pub fn problems(library: &ir::Library) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let packs = || library.packs.values();
    let own = library.transformations.values();
    for transformation in own.chain(packs().flat_map(|pack| pack.transformations.values())) {
        passes(&transformation.passes, &transformation.on, &mut found);
    }
    for special in packs().flat_map(|pack| &pack.specializations) {
        let on =
            library.transformations.get(&special.transformation).map(|base| base.on.as_slice()).unwrap_or_default();
        passes(&special.passes, on, &mut found);
    }
    found
}

fn passes<'p>(passes: impl IntoIterator<Item = &'p Pass>, on: &[String], found: &mut Vec<Diagnostic>) {
    for step in passes.into_iter().flat_map(|pass| &pass.steps) {
        for language in languages(step, on) {
            check(&step.action, language, found);
        }
    }
}

/// The languages that a step is for: its own, the transformation's, else all.
fn languages(step: &Step, on: &[String]) -> impl Iterator<Item = CodeLanguage> {
    let holds =
        |names: &[String], language: CodeLanguage| names.is_empty() || names.iter().any(|name| name == language.name());
    let kept = CodeLanguage::ALL.map(|language| (holds(&step.on, language) && holds(on, language)).then_some(language));
    kept.into_iter().flatten()
}

fn check(action: &Action, language: CodeLanguage, found: &mut Vec<Diagnostic>) {
    match action {
        Action::Insert { place: Place::Before(code) | Place::After(code), .. } => target(code, language, found),
        Action::Rewrite { target: code, replacement } => {
            target(code, language, found);
            found.extend(replacement.iter().filter_map(|code| strange_replacement(code, language)));
        }
        _ => {}
    }
}

fn target(target: &Target, language: CodeLanguage, found: &mut Vec<Diagnostic>) {
    let anchor = target.within.as_ref().map(|within| &within.anchor);
    for snippet in std::iter::once(&target.pattern).chain(anchor) {
        match Pattern::new(language, &snippet.text) {
            // The front end has told of those.
            Ok(_) | Err(PatternProblem::Metavariable(_)) => {}
            Err(problem) => found.push(no_pattern(snippet, &problem)),
        }
    }
}

fn no_pattern(snippet: &Snippet, problem: &PatternProblem) -> Diagnostic {
    let help = match problem {
        PatternProblem::DoesNotParse(_) => {
            "a pattern is one expression, whole statements (with their `;`), a declaration or a parameter"
        }
        PatternProblem::TooGeneral => "write some of the code that stands around them",
        _ => "look for less at a time",
    };
    let message = format!("this is no pattern: {problem}");
    at(snippet, "peak::pattern-does-not-parse", Severity::Error, message, help)
}

/// A replacement may be a macro that looks as no code does.
fn strange_replacement(snippet: &Snippet, language: CodeLanguage) -> Option<Diagnostic> {
    match Template::new(language, &snippet.text) {
        Ok(template) if template.parses => None,
        Err(PatternProblem::Metavariable(_)) => None,
        Err(problem) => Some(no_pattern(snippet, &problem)),
        Ok(_) => {
            let message = format!("this replacement does not parse as {language}");
            let help = "where it uses a macro, that may be meant; else correct it";
            Some(at(snippet, "peak::replacement-does-not-parse", Severity::Warning, message, help))
        }
    }
}

fn at(snippet: &Snippet, code: &'static str, severity: Severity, message: String, help: &str) -> Diagnostic {
    let origin = &snippet.origin;
    Diagnostic {
        code,
        severity,
        message,
        file: origin.file.clone(),
        span: Span::new(origin.start, origin.end),
        label: "here".to_owned(),
        help: Some(help.to_owned()),
        related: Vec::new(),
    }
}
