//! Launch plans: names declared before they are used, launches complete.

use super::scope::Scope;
use super::{duplicate_clause, duplicate_name, lower_snake};
use crate::diagnostics::Diagnostic;
use crate::ir::{ElementType, Expr, Launch, LaunchPlan, PlanStatement};
use crate::syntax::ast::{self, LaunchClause};
use crate::syntax::{Name, Report, Span, Spanned, parse_plan, words_of};
use std::collections::BTreeSet;

/// What a launch plan that stands alone may name beside what it declares itself.
#[derive(Clone, Debug, Default)]
pub struct PlanNames {
    /// Array arguments.
    pub arrays: Vec<String>,
    /// Scalar arguments.
    pub scalars: Vec<String>,
    /// Tuning parameters.
    pub tuning: Vec<String>,
    /// Device facts; the standard ones are always known.
    pub facts: Vec<String>,
}

/// Reads and resolves a host region's text.
pub(crate) fn parse_launch_plan(name: &str, text: &str, known: &PlanNames) -> Result<LaunchPlan, Vec<Diagnostic>> {
    let (written, mut diagnostics) = parse_plan(name, text);
    let mut facts: BTreeSet<String> = super::scope::STANDARD_FACTS.iter().map(|fact| (*fact).to_owned()).collect();
    facts.extend(known.facts.iter().cloned());
    let mut scope = Scope::new(&facts);
    scope.arrays.extend(known.arrays.iter().map(|array| (array.clone(), None)));
    scope.numbers.extend(known.scalars.iter().chain(&known.tuning).cloned());
    let lost = words_of(&written.unread);
    let mut out = Report::after(name, written.unread, lost);
    let plan = plan(&written.statements, scope, Span::new(0, text.len()), &mut out);
    diagnostics.extend(out.finish());
    if diagnostics.iter().any(Diagnostic::is_error) { Err(diagnostics) } else { Ok(plan) }
}

/// Resolves statements in `scope`. `span` is where a missing launch is reported.
pub(super) fn plan(
    statements: &[Spanned<ast::PlanStatement>],
    mut scope: Scope<'_>,
    span: Span,
    out: &mut Report<'_>,
) -> LaunchPlan {
    let mut maps = BTreeSet::new();
    let plan = LaunchPlan { statements: block(statements, &mut scope, &mut maps, out) };
    let launches = statements.iter().any(|item| holds_launch(&item.value));
    if !launches && !out.lost_within(span) {
        let diagnostic = out.error("peak::launch", span, "the host code launches nothing");
        out.push(diagnostic.help("add `launch NAME` with `grid`, `block` and `arguments` below it"));
    }
    plan
}

fn holds_launch(statement: &ast::PlanStatement) -> bool {
    match statement {
        ast::PlanStatement::Launch { .. } => true,
        ast::PlanStatement::Repeat(_, body) => body.iter().any(|item| holds_launch(&item.value)),
        _ => false,
    }
}

fn block(
    statements: &[Spanned<ast::PlanStatement>],
    scope: &mut Scope<'_>,
    maps: &mut BTreeSet<String>,
    out: &mut Report<'_>,
) -> Vec<PlanStatement> {
    scope.later.extend(statements.iter().filter_map(|item| declared_let(&item.value)));
    statements.iter().filter_map(|item| statement(&item.value, item.span, scope, maps, out)).collect()
}

fn declared_let(statement: &ast::PlanStatement) -> Option<String> {
    match statement {
        ast::PlanStatement::Let(name, _) => Some(name.value.clone()),
        _ => None,
    }
}

fn statement(
    statement: &ast::PlanStatement,
    span: Span,
    scope: &mut Scope<'_>,
    maps: &mut BTreeSet<String>,
    out: &mut Report<'_>,
) -> Option<PlanStatement> {
    Some(match statement {
        ast::PlanStatement::Let(name, value) => {
            let value = scope.expr(value, out);
            fresh("let", name, scope, maps, out);
            let name = lower_snake(name, out);
            scope.later.remove(&name);
            scope.numbers.insert(name.clone());
            PlanStatement::Let { name, value: value? }
        }
        ast::PlanStatement::Scratch(name, form) => {
            fresh("scratch array", name, scope, maps, out);
            scope.arrays.insert(name.value.clone(), Some(form.shape.len()));
            let element = element_type(&form.element, out);
            PlanStatement::Scratch { name: name.value.clone(), shape: all(&form.shape, scope, out)?, element: element? }
        }
        ast::PlanStatement::Fill(name, value) => {
            scope.check_array(name, None, out);
            PlanStatement::Fill { name: name.value.clone(), value: *value }
        }
        ast::PlanStatement::TensorMap { name, array, extents, swizzle } => {
            scope.check_array(array, Some(extents.len()), out);
            fresh("tensor map", name, scope, maps, out);
            maps.insert(name.value.clone());
            PlanStatement::TensorMap {
                name: name.value.clone(),
                array: array.value.clone(),
                box_shape: all(extents, scope, out)?,
                swizzle: swizzle.as_ref().map_or(0, |size| swizzle_bytes(size, out)),
            }
        }
        ast::PlanStatement::Launch { kernel, clauses } => {
            PlanStatement::Launch(launch(kernel, clauses, span, scope, maps, out))
        }
        ast::PlanStatement::Repeat(count, body) => {
            let count = scope.expr(count, out);
            // What a body declares ends with it.
            let body = block(body, &mut scope.clone(), &mut maps.clone(), out);
            PlanStatement::Repeat { count: count?, body }
        }
        ast::PlanStatement::Reject(condition, why) => {
            if why.trim().is_empty() {
                out.push(out.error("peak::syntax", span, "the reason is empty").help("say why, for people"));
            }
            PlanStatement::Reject { when: scope.condition(condition, out)?, why: why.clone() }
        }
    })
}

fn fresh(what: &str, name: &Name, scope: &Scope<'_>, maps: &BTreeSet<String>, out: &mut Report<'_>) {
    let text = &name.value;
    if scope.numbers.contains(text) || scope.arrays.contains_key(text) || maps.contains(text) {
        duplicate_name(what, name, out);
    }
}

fn launch(
    kernel: &Name,
    clauses: &[Spanned<LaunchClause>],
    span: Span,
    scope: &Scope<'_>,
    maps: &BTreeSet<String>,
    out: &mut Report<'_>,
) -> Launch {
    let mut launch = Launch {
        kernel: kernel.value.clone(),
        grid: Vec::new(),
        block: Vec::new(),
        shared: None,
        cluster: None,
        cooperative: false,
        arguments: Vec::new(),
    };
    let mut seen = BTreeSet::new();
    for clause in clauses {
        let word = match &clause.value {
            LaunchClause::Grid(items) => {
                launch.grid = extents(items, scope, out);
                "grid"
            }
            LaunchClause::Block(items) => {
                launch.block = extents(items, scope, out);
                "block"
            }
            LaunchClause::Shared(bytes) => {
                launch.shared = scope.expr(bytes, out);
                "shared"
            }
            LaunchClause::Cluster(items) => {
                launch.cluster = Some(extents(items, scope, out));
                "cluster"
            }
            LaunchClause::Cooperative => {
                launch.cooperative = true;
                "cooperative"
            }
            LaunchClause::Arguments(names) => {
                launch.arguments = names.iter().map(|name| argument(name, scope, maps, out)).collect();
                "arguments"
            }
        };
        if !seen.insert(word) {
            duplicate_clause(&format!("`{word}`"), clause.span, out);
        }
    }
    let lost = out.lost_within(span);
    for word in ["grid", "block", "arguments"].iter().filter(|word| !lost && !seen.contains(**word)) {
        let message = format!("the launch of `{}` has no `{word}`", kernel.value);
        out.push(out.error("peak::launch", kernel.span, message).help(format!("add a line `{word} ...` below it")));
    }
    launch
}

/// One to three extents; others are reported.
pub(super) fn extents(items: &[ast::Expression], scope: &Scope<'_>, out: &mut Report<'_>) -> Vec<Expr> {
    if items.len() > 3 {
        let rest = items[3].span.to(items[items.len() - 1].span);
        let message = format!("{} extents; there are at most three", items.len());
        let diagnostic = out.error("peak::launch", rest, message).label("beyond x, y and z");
        out.push(diagnostic.help("leave the rest out, or multiply two into one"));
    }
    all(items, scope, out).unwrap_or_default()
}

fn argument(name: &Name, scope: &Scope<'_>, maps: &BTreeSet<String>, out: &mut Report<'_>) -> String {
    let text = name.value.as_str();
    let known = scope.numbers.contains(text) || scope.arrays.contains_key(text) || maps.contains(text);
    if !known && !scope.stands_below(text, name.span, out) {
        let names = scope.numbers.iter().chain(scope.arrays.keys()).chain(maps);
        let message = format!("there is no argument `{text}` here");
        let diagnostic = out.error("peak::unknown-name", name.span, message).label("unknown");
        out.push_unknown(text, diagnostic.suggest(text, names.map(String::as_str)));
    }
    text.to_owned()
}

/// Every expression, or none if one is wrong; all that are wrong are reported.
pub(super) fn all(items: &[ast::Expression], scope: &Scope<'_>, out: &mut Report<'_>) -> Option<Vec<Expr>> {
    let items: Vec<Option<Expr>> = items.iter().map(|item| scope.expr(item, out)).collect();
    items.into_iter().collect()
}

fn swizzle_bytes(size: &Spanned<i64>, out: &mut Report<'_>) -> u32 {
    match size.value {
        0 => 0,
        32 => 32,
        64 => 64,
        128 => 128,
        _ => {
            let diagnostic = out.error("peak::swizzle", size.span, "a tensor map swizzles 0, 32, 64 or 128 bytes");
            out.push(diagnostic.help("128 for rows of 128 bytes, say"));
            0
        }
    }
}

/// The element type of a name; unknown ones are reported.
pub(super) fn element_type(name: &Name, out: &mut Report<'_>) -> Option<ElementType> {
    let found = match name.value.as_str() {
        "int" => Some(ElementType::I32),
        "uint" => Some(ElementType::U32),
        text => ElementType::ALL.into_iter().find(|element| element.name() == text),
    };
    if found.is_none() {
        let known = ElementType::ALL.iter().map(|element| element.name()).chain(["int", "uint"]);
        let message = format!("`{}` is no element type", name.value);
        let diagnostic = out.error("peak::unknown-type", name.span, message);
        if let Some(own) = elsewhere(&name.value) {
            out.push(diagnostic.help(format!("it is written `{own}` here")));
            return None;
        }
        out.push(
            diagnostic
                .help("the types are f16, bf16, f32, f64, i8, u8, i32, u32, i64, u64")
                .suggest(&name.value, known),
        );
    }
    found
}

/// The type that goes by another name in the languages of kernels.
fn elsewhere(name: &str) -> Option<&'static str> {
    Some(match name {
        "half" | "float16" => "f16",
        "bfloat16" => "bf16",
        "float" | "float32" => "f32",
        "double" | "float64" => "f64",
        "char" | "int8" => "i8",
        "byte" | "uchar" | "uint8" => "u8",
        "int32" => "i32",
        "unsigned" | "uint32" => "u32",
        "long" | "int64" => "i64",
        "ulong" | "uint64" | "size_t" => "u64",
        _ => return None,
    })
}
