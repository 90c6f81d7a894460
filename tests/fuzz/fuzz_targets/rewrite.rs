//! Mechanical steps on device code: `rewrite`, `insert` and `rename` with patterns that mostly are in it.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use peak::context::KernelContext;
use peak::edit::code::{
    CodeLanguage, Document, Pattern, RewriteError, Template, is_identifier, occurrences, parse, rewrite_code,
};
use peak::edit::{EditError, mechanical};
use peak_fuzz::bound::within_a_second;
use peak_fuzz::context::context;
use peak_fuzz::rewriting::{self, Case};
use peak_grammar::ir::{Action, Insertion, Kernel, Place, Region, Snippet, Target, Which};
use peak_grammar::{SourceFile, load};
use std::sync::LazyLock;

/// A kernel whose code is taken for what an input brings.
const KERNEL: &str = "
kernel any
  element f32
  input n: int in 64
  input A: array[n] of f32, ones
  output B: array[n] of f32
  device code for cuda from \"any.cu\"
  host code
    let rows = n / 8
    launch any
      grid rows
      block 8
      arguments A, B, n
";

fuzz_target!(|bytes: &[u8]| {
    let Some(case) = std::str::from_utf8(bytes).ok().and_then(Case::of) else { return };
    let after = rewritten(&case);
    let context = context(kernel(), case.language.name(), case.code);
    let target = || target(case.pattern);
    let replacement = Some(case.replacement).filter(|text| !text.trim().is_empty());
    let snippet = replacement.map(|text| Snippet { text: text.to_owned(), ..Snippet::default() });
    let step = carried_out(&context, &Action::Rewrite { target: target(), replacement: snippet });
    assert_eq!(step.ok(), after, "the step and the function differ");
    for place in [Place::Top, Place::End, Place::Before(target()), Place::After(target())] {
        inserted(&context, case.replacement, place);
    }
    renamed(&context, case.pattern.trim(), case.replacement.trim());
});

fn rewritten(case: &Case<'_>) -> Option<String> {
    let Case { language, pattern, replacement, code } = case;
    let outcome = within_a_second(|| rewrite_code(*language, code, pattern, replacement));
    if let Err(RewriteError::DoesNotFit { .. }) = &outcome {
        let both = is_expression(*language, pattern) && is_expression(*language, replacement);
        assert!(!both, "an expression does not fit where one stood: {outcome:?}");
    }
    let after = outcome.ok()?;
    let reads = Template::new(*language, replacement).is_ok_and(|template| template.parses);
    if reads && parses(*language, code) {
        assert!(parses(*language, &after), "what parsed does no more:\n{after}");
    }
    Some(after)
}

/// Whether code is one expression, and nothing else. With several in it, it may be more than one.
fn is_expression(language: CodeLanguage, text: &str) -> bool {
    let plain = text.replace('$', "one_");
    let reads = Template::new(language, text).is_ok_and(|template| template.parses);
    reads && !text.contains("$$$") && !is_word(text) && parses(language, &format!("int peak_value = (\n{plain}\n);"))
}

/// A word may name a type, or what a declaration declares.
fn is_word(text: &str) -> bool {
    text.trim().chars().all(|it| it.is_alphanumeric() || it == '_' || it == '$')
}

fn parses(language: CodeLanguage, text: &str) -> bool {
    parse(language, text).is_ok_and(|tree| !tree.root_node().has_error())
}

fn target(pattern: &str) -> Target {
    let pattern = Snippet { text: pattern.to_owned(), ..Snippet::default() };
    Target { pattern, which: Which::Every, innermost: false, within: None, if_any: false }
}

/// The device code after a step; a step that fails changes nothing, by its type.
fn carried_out(context: &KernelContext, action: &Action) -> Result<String, EditError> {
    let scripts = within_a_second(|| mechanical(context, Region::DeviceCode, action, &|_| None))?;
    let mut code = context.regions.device_code.clone();
    for script in scripts {
        let text = script.apply(context.regions.get(script.region)).expect("a step's own edits fit");
        if script.region == Region::DeviceCode {
            code = text;
        }
    }
    Ok(code)
}

/// What is inserted is new lines: all that was there is there, in order.
fn inserted(context: &KernelContext, code: &str, place: Place) {
    let action = Action::Insert { what: Insertion::Code(code.to_owned()), place };
    let Ok(after) = carried_out(context, &action) else { return };
    let mut rest = after.lines();
    for line in context.regions.device_code.lines() {
        assert!(rest.any(|other| other == line), "`{line}` is lost:\n{after}");
    }
}

/// A name renamed is gone, the new one is where it was, and back again gives the same code.
fn renamed(context: &KernelContext, from: &str, to: &str) {
    let language = CodeLanguage::of(&context.backend);
    if !is_identifier(language, from) || !is_identifier(language, to) || Pattern::new(language, from).is_err() {
        return;
    }
    let count = |code: &str, name: &str| {
        Document::new(language, code).map(|document| occurrences(&document, name).len()).unwrap_or(0)
    };
    let before = &context.regions.device_code;
    let rename = |from: &str, to: &str| Action::Rename { from: from.to_owned(), to: to.to_owned() };
    let Ok(after) = carried_out(context, &rename(from, to)) else { return };
    let (old, new) = (count(before, from), count(before, to));
    assert_eq!((count(&after, from), count(&after, to)), (0, old + new), "`{from}` to `{to}`:\n{after}");
    if new == 0 {
        let mut context = context.clone();
        context.regions.device_code.clone_from(&after);
        let back = carried_out(&context, &rename(to, from));
        assert_eq!(back.as_deref().ok(), Some(before.as_str()), "`{to}` back to `{from}`");
    }
}

fn kernel() -> &'static Kernel {
    static KERNELS: LazyLock<Kernel> = LazyLock::new(|| {
        let (library, found) = load(&[SourceFile::new("any.peak", KERNEL)]);
        assert!(found.is_empty(), "{found:?}");
        library.kernels["any"].clone()
    });
    &KERNELS
}

fuzz_mutator!(|bytes: &mut [u8], size: usize, max: usize, seed: u32| { rewriting::mutate(bytes, size, max, seed) });
