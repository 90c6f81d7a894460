//! What pest could not match, in words.

use super::clause::Rule;
use crate::diagnostics::Diagnostic;
use crate::syntax::{Node, Report, Span};
use pest::error::{Error, ErrorVariant, InputLocation};

/// Clauses that a help shows for a line that is none, at most.
const ALIKE: usize = 3;
/// Forms named in a message, at most.
const NAMED: usize = 6;

/// The diagnostic for a line that `rule` does not match.
pub(super) fn diagnostic(rule: Rule, node: &Node<'_>, error: &Error<Rule>, out: &Report<'_>) -> Diagnostic {
    let at = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at.min(node.text.len()),
    };
    if at == 0 && !node.text.starts_with('"') {
        return unknown(rule, node, out);
    }
    let expected = expected(error);
    let start = node.span.start + at;
    let length = node.text.get(at..).map_or(0, token_length);
    let diagnostic = out.error("peak::syntax", Span::new(start, start + length), format!("expected {expected}"));
    let diagnostic = diagnostic.label(if length == 0 { "the line ends here" } else { "not this" });
    let rest = node.text.get(at..).unwrap_or("");
    match slip(rule, node.text, rest) {
        Some(help) => diagnostic.help(help),
        None if length == 0 && expected.contains("`else`") => {
            diagnostic.help("`where` picks one of two: `a where CONDITION else b`")
        }
        None => diagnostic.help(format!("the clause: {}", shape(node.text, rule))),
    }
}

/// What people write who come from another language; `rest` begins where the line went wrong.
fn slip(rule: Rule, line: &str, rest: &str) -> Option<&'static str> {
    const OPENERS: [&str; 3] = ["because ", "knows ", "known failures "];
    let argument = ["input ", "output ", "inout "].iter().any(|word| line.starts_with(word));
    Some(match rest.trim_start() {
        _ if line.contains("==") => "equality is written `=`",
        rest if rest.starts_with('%') => "a remainder is written `mod`: `n mod 16 = 0`",
        rest if rest.starts_with("&&") || rest.starts_with("||") || rest.starts_with('!') => {
            "conditions are joined by `and`, `or` and `not`"
        }
        rest if rest.starts_with("//") || line.contains("//") && rest.starts_with('/') => {
            "a quotient is rounded by `floor(a / b)` or `ceil(a / b)`; a comment opens with `#`"
        }
        rest if rest.starts_with("<<<") => "`grid` and `block` stand on lines of their own below `launch`",
        rest if rest.starts_with('[') && rule == Rule::kernel_line && argument => {
            "an array is written `array[n] of f32`"
        }
        ":" => "no clause ends in a colon: leave it out",
        _ if OPENERS.iter().any(|opener| line.starts_with(opener)) => {
            "the words stand on lines of their own below it, indented"
        }
        _ => return None,
    })
}

fn unknown(rule: Rule, node: &Node<'_>, out: &Report<'_>) -> Diagnostic {
    let first = node.text.split_whitespace().next().unwrap_or("");
    let span = Span::new(node.span.start, node.span.start + first.len());
    let heads: Vec<&str> = shapes(rule).iter().map(|shape| head(shape)).collect();
    let (code, message) = match rule {
        Rule::file_line => ("peak::unknown-declaration", format!("`{first}` opens no declaration")),
        _ => ("peak::unknown-clause", format!("`{first}` opens no clause of {}", block(rule))),
    };
    let near = heads.iter().filter_map(|head| {
        let words = head.split(' ').count();
        let opening: Vec<&str> = node.text.split_whitespace().take(words).collect();
        crate::diagnostics::nearest(&opening.join(" "), [*head])
    });
    let alike = alike(rule, first);
    let help = match near.into_iter().next() {
        Some(head) => format!("did you mean `{head}`?"),
        None if !alike.is_empty() => format!("the clause: {}", alike.join(", or ")),
        None => format!("known here: {}", heads.join(", ")),
    };
    let help = match rule {
        Rule::step_line => {
            format!("{help}\nput prose in a second `in REGION` block; both run in the order written")
        }
        Rule::transformation_line if help.starts_with("known") => {
            format!("{help}\nwords for people and models stand below `because`, indented")
        }
        _ => help,
    };
    out.error(code, span, message).label("unknown here").help(help)
}

fn expected(error: &Error<Rule>) -> String {
    let ErrorVariant::ParsingError { positives, .. } = &error.variant else { return "something else".to_owned() };
    let mut names: Vec<String> = Vec::new();
    for name in positives.iter().map(|rule| describe(*rule)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len() > NAMED;
    names.truncate(NAMED);
    match names.as_slice() {
        [] => "the end of the line".to_owned(),
        [one] => one.clone(),
        [first @ .., last] if !more => format!("{} or {last}", first.join(", ")),
        some => format!("{}, ...", some.join(", ")),
    }
}

fn describe(rule: Rule) -> String {
    let name = format!("{rule:?}");
    if let Some(words) = name.strip_prefix("k_") {
        return format!("`{}`", words.replace('_', " "));
    }
    match rule {
        Rule::EOI => "the end of the line",
        Rule::ident | Rule::word => "a name",
        Rule::integer => "a whole number",
        Rule::number | Rule::unsigned => "a number",
        Rule::text | Rule::text_inner => "quoted text",
        Rule::code | Rule::code_inner => "code in backticks",
        Rule::infix | Rule::product_op => "an operator",
        Rule::unit => "a unit",
        Rule::prefix
        | Rule::operand
        | Rule::product
        | Rule::row
        | Rule::expression
        | Rule::expressions
        | Rule::reduction
        | Rule::reference
        | Rule::old
        | Rule::fact
        | Rule::quantity => "an expression",
        Rule::call => "`(`",
        Rule::element => "`[`",
        Rule::bound | Rule::target_index => "an index",
        Rule::filter => "`where`",
        Rule::values => "values",
        Rule::region => "a region (`macros`, `device code`, `host code`)",
        Rule::setting_value => "a value",
        Rule::setting_type => "a type (`int`, `bool`, `text`)",
        Rule::device_fact => "a fact (`NAME = NUMBER`)",
        Rule::spoken => "a language",
        Rule::peak => "a rate (`66.9 TFLOPS f32`)",
        Rule::rate => "a unit of rate",
        Rule::measure => "a unit of bytes",
        _ => return name.replace('_', " "),
    }
    .to_owned()
}

/// The length of the word or sign at the start of `rest`.
fn token_length(rest: &str) -> usize {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let length = rest.find(|c| !word(c)).unwrap_or(rest.len());
    if length > 0 { length } else { rest.chars().next().map_or(0, char::len_utf8) }
}

/// The shape of the clause that `text` opens, or those that open with its first word.
fn shape(text: &str, rule: Rule) -> String {
    let words = || text.split_whitespace().map(|word| word.trim_end_matches(':'));
    let opens = |shape: &&&str| words().zip(head(shape).split(' ')).all(|(a, b)| a == b);
    let longest = shapes(rule).iter().filter(opens).max_by_key(|shape| head(shape).split(' ').count());
    match longest {
        Some(shape) => (*shape).to_owned(),
        None => match alike(rule, words().next().unwrap_or("")).as_slice() {
            [] => section(rule).to_owned(),
            alike => alike.join(", or "),
        },
    }
}

/// The shapes whose fixed words hold `word`: those that open with it, else those that it stands in.
fn alike(rule: Rule, word: &str) -> Vec<&'static str> {
    let holding = |held: fn(&str, &str) -> bool| -> Vec<&'static str> {
        shapes(rule).iter().copied().filter(|shape| held(head(shape), word)).collect()
    };
    let opening = holding(|head, word| head.split(' ').next() == Some(word));
    let found = if opening.is_empty() { holding(|head, word| head.split(' ').any(|own| own == word)) } else { opening };
    if found.len() > ALIKE { Vec::new() } else { found }
}

/// Where the clauses of a block are described.
fn section(rule: Rule) -> &'static str {
    match rule {
        Rule::file_line => "see \"How a file is read\" in `spec/language.md`",
        Rule::kernel_line => "see \"Kernel\" in `spec/language.md`",
        Rule::computes_line => "see \"What a kernel computes\" in `spec/language.md`",
        Rule::plan_line | Rule::launch_line => "see \"Launch plan\" in `spec/language.md`",
        Rule::utility_line => "see \"Utility\" in `spec/language.md`",
        Rule::step_line => "see \"Patterns\" in `spec/language.md`",
        Rule::check_line => "see \"Checks\" in `spec/language.md`",
        Rule::device_line => "see \"Device\" in `spec/language.md`",
        Rule::pack_line | Rule::specialize_line => "see \"Pack\" in `spec/language.md`",
        Rule::workflow_line | Rule::workflow_step_line => "see \"Workflow\" in `spec/language.md`",
        Rule::build_line => "see \"Build\" in `spec/language.md`",
        _ => "see \"Transformation\" in `spec/language.md`",
    }
}

/// The fixed opening words of a shape.
fn head(shape: &str) -> &str {
    let end = shape.find(|c: char| !(c.is_ascii_lowercase() || c == ' ')).unwrap_or(shape.len());
    match shape[..end].rfind(' ') {
        Some(space) if end < shape.len() => shape[..space].trim_end(),
        _ => &shape[..end],
    }
}

fn block(rule: Rule) -> &'static str {
    match rule {
        Rule::kernel_line => "a kernel",
        Rule::plan_line => "host code",
        Rule::launch_line => "a launch",
        Rule::utility_line => "a utility",
        Rule::transformation_line => "a transformation",
        Rule::pass_line => "a pass",
        Rule::step_line => "a region's steps",
        Rule::check_line => "checks",
        Rule::device_line => "a device",
        Rule::pack_line => "a pack",
        Rule::specialize_line => "a specialization",
        Rule::workflow_line => "a workflow",
        Rule::workflow_step_line => "a block of steps",
        Rule::build_line => "a build",
        Rule::computes_line => "an index notation",
        _ => "this block",
    }
}

/// Every clause of a block, for people: fixed words in lower case, what varies in capitals.
fn shapes(rule: Rule) -> &'static [&'static str] {
    match rule {
        Rule::file_line => &[
            "kernel NAME \"TITLE\"",
            "utility NAME \"TITLE\"",
            "transformation NAME \"TITLE\"",
            "device NAME \"TITLE\"",
            "pack NAME \"TITLE\"",
            "workflow NAME \"TITLE\"",
            "build NAME \"TITLE\"",
            "use \"FILE\"",
        ],
        Rule::kernel_line => &[
            "computes OUT[I, J] = VALUE",
            "element TYPE, accumulate TYPE",
            "accumulate TYPE",
            "input NAME: int in VALUES; checked at VALUES, or input NAME: array[SHAPE] of TYPE, random uniform LOW to HIGH",
            "output NAME: array[SHAPE] of TYPE",
            "inout NAME: array[SHAPE] of TYPE, zeros",
            "tolerance (relative to the sum's length, relative X, absolute X, exact)",
            "tune NAME in VALUES start at N",
            "require NAME: CONDITION",
            "device code for LANGUAGE from \"FILE\"",
            "macros for LANGUAGE from \"FILE\"",
            "host code",
        ],
        Rule::plan_line => &[
            "let NAME = EXPRESSION",
            "scratch NAME: array[SHAPE] of TYPE",
            "fill NAME with NUMBER",
            "tensor map NAME over ARRAY box (EXTENT, EXTENT) swizzle BYTES",
            "launch NAME",
            "repeat COUNT times",
            "reject when CONDITION \"WHY\"",
        ],
        Rule::launch_line => &[
            "grid X, Y, Z",
            "block X, Y, Z",
            "shared BYTES bytes",
            "cluster X, Y, Z",
            "cooperative",
            "arguments NAME, NAME",
        ],
        Rule::utility_line => &["takes NAME, NAME", "code for LANGUAGE, LANGUAGE"],
        Rule::transformation_line => &[
            "for kernels NAME, or for kernels computing PATTERN",
            "on LANGUAGE, LANGUAGE",
            "needs tuning NAME, NAME",
            "needs let NAME, NAME",
            "after TRANSFORMATION",
            "conflicts with TRANSFORMATION",
            "because",
            "takes NAME: TYPE = DEFAULT",
            "introduces NAME in VALUES start at N",
            "requires NAME: CONDITION",
            "expects COUNTER to fall by at least N times",
            "pass NAME \"TITLE\"",
            "known failures",
        ],
        Rule::pass_line => &[
            "in REGION for LANGUAGE",
            "keeps results",
            "may break results",
            "may break the build",
            "checks",
            "replace requirement NAME: CONDITION",
            "retire NAME",
        ],
        Rule::step_line => &[
            "insert UTILITY PLACE, or insert PLACE and a fenced block; PLACE is `at the top` (unsaid), `at the end`, before `PATTERN` or after `PATTERN`",
            "rewrite `PATTERN` to `PATTERN`",
            "rename `OLD` to `NEW`",
            "set NAME to EXPRESSION",
        ],
        Rule::check_line => &[
            "macros mentions NAME",
            "device code mentions NAME, or device code has N nested loops",
            "host code does not mention NAME",
        ],
        Rule::device_line => &[
            "speaks LANGUAGE TARGET, LANGUAGE",
            "matches \"DRIVER NAME\"",
            "has NAME = NUMBER KiB, or has for LANGUAGE NAME = NUMBER",
            "peaks at NUMBER TFLOPS TYPE, NUMBER GB/s memory",
            "knows",
        ],
        Rule::pack_line => &[
            "for devices NAME, NAME",
            "extends PACK",
            "has NAME = NUMBER KiB, or has for LANGUAGE NAME = NUMBER",
            "knows",
            "specialize TRANSFORMATION",
            "transformation NAME \"TITLE\"",
            "workflow NAME \"TITLE\"",
        ],
        Rule::specialize_line => &[
            "replace pass NAME",
            "introduces NAME in VALUES start at N",
            "requires NAME: CONDITION",
            "takes NAME = VALUE",
            "knows",
        ],
        Rule::build_line => &[
            "kernels NAME, NAME",
            "sizes INPUT in VALUES",
            "for devices NAME, NAME",
            "using workflow NAME",
            "output \"FOLDER\"",
        ],
        Rule::workflow_line => WORKFLOW,
        Rule::workflow_step_line => STEPS,
        _ => &["OUT[I, J] = VALUE"],
    }
}

const WORKFLOW: &[&str] = &[
    "start from kernel NAME",
    "target DEVICE",
    "on failure retry N times, then ask or stop",
    "on LANGUAGE",
    "validate N samples, with VALIDATOR",
    "tune up to N configurations after each step by STRATEGY",
    "time at NAME = VALUES",
    "apply TRANSFORMATION with NAME in VALUES",
    "try TRANSFORMATION or keep going",
    "choose best of",
    "repeat at most N times until the gain is below P percent",
    "let the model choose from TRANSFORMATION, TRANSFORMATION",
    "search TRANSFORMATION, TRANSFORMATION with beam N, at most M model calls",
    "checkpoint \"NAME\"",
    "restore \"NAME\"",
    "compare with LIBRARY",
    "keep best",
];

const STEPS: &[&str] = &[
    "apply TRANSFORMATION with NAME in VALUES",
    "try TRANSFORMATION or keep going",
    "branch",
    "choose best of",
    "repeat at most N times until the gain is below P percent",
    "let the model choose from TRANSFORMATION, TRANSFORMATION",
    "search TRANSFORMATION, TRANSFORMATION with beam N, at most M model calls",
    "checkpoint \"NAME\"",
    "restore \"NAME\"",
    "compare with LIBRARY",
    "keep best",
];
