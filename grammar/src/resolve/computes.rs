//! Index notation: statements in order, each over indices, arguments and earlier results.

use super::extents::Shapes;
use super::scope::{Scope, Unread};
use crate::ir::{Argument, ArgumentKind, Assignment, Computes, Direction, Expr, Value};
use crate::limits::MAX_EXPRESSION_DEPTH;
use crate::syntax::ast;
use crate::syntax::{Report, Spanned};
use std::collections::BTreeSet;

/// The oracle of a kernel. `scope` holds its scalar inputs and arrays.
pub(super) fn computes(
    statements: &[ast::Assignment],
    scope: &Scope<'_>,
    arguments: &[Argument],
    out: &mut Report<'_>,
) -> Computes {
    let mut scope = scope.clone();
    let mut shapes = Shapes::new(arguments);
    let direction = |name: &str| arguments.iter().find(|known| known.name == name).map(|known| known.direction);
    let arrays = arguments.iter().filter(|known| matches!(known.kind, ArgumentKind::Array { .. }));
    let defines = |name: &str| statements.iter().any(|statement| statement.target.value == name);
    for argument in arrays.filter(|argument| argument.direction != Direction::Input) {
        // One that no statement defines is reported as such.
        if defines(&argument.name) {
            scope.unread.insert(argument.name.clone(), Unread::Later);
        }
        if argument.direction == Direction::InOut {
            scope.inouts.insert(argument.name.clone());
        }
    }
    for statement in statements.iter().filter(|statement| !scope.numbers.contains(&statement.target.value)) {
        if direction(&statement.target.value).is_none() {
            scope.unread.insert(statement.target.value.clone(), Unread::Later);
            scope.arrays.entry(statement.target.value.clone()).or_insert(Some(statement.indices.len()));
        }
    }
    let mut resolved = Vec::new();
    let mut defined = BTreeSet::new();
    for statement in statements {
        let target = &statement.target;
        if direction(&target.value) == Some(Direction::Input) {
            let message = format!("`{}` is an input, and cannot be computed", target.value);
            let diagnostic = out.error("peak::type-mismatch", target.span, message).label("an input");
            out.push(diagnostic.help("declare it `output` or `inout`, or compute another array"));
        } else if !defined.insert(target.value.as_str()) {
            let message = format!("`{}` is defined twice", target.value);
            let first = statements.iter().find(|first| first.target.value == target.value);
            let first = first.map_or(target.span, |first| first.target.span);
            let diagnostic = out.error("peak::duplicate-name", target.span, message).label("again");
            let diagnostic = diagnostic.related(out.file(), first, "first here");
            out.push(diagnostic.help("an array has one statement; `a where CONDITION else b` tells its cases apart"));
        } else {
            scope.check_array(target, Some(statement.indices.len()), out);
        }
        scope.unread.entry(target.value.clone()).and_modify(|why| *why = Unread::Itself);
        let local = direction(&target.value).is_none();
        if let Some(value) = value(statement, &scope, out) {
            let extents = extents(statement, &value, local, &scope, &shapes, out);
            shapes.add(&target.value, &extents);
            resolved.push(assignment(statement, extents, value));
        }
        scope.unread.remove(&target.value);
    }
    Computes { statements: resolved }
}

/// How far each index of a local array runs: as the statement says, else as far as an array that it indexes alone.
/// Empty for an argument, and where it is unknown, which is reported.
fn extents(
    statement: &ast::Assignment,
    value: &Value,
    local: bool,
    scope: &Scope<'_>,
    shapes: &Shapes,
    out: &mut Report<'_>,
) -> Vec<Expr> {
    let mut said = Vec::new();
    for range in &statement.ranges {
        let variable = &range.variable;
        if !local {
            let message =
                format!("how far `{}` runs is said by the shape of `{}`", variable.value, statement.target.value);
            let help = format!("leave the range out: `{}`", variable.value);
            out.push(out.error("peak::type-mismatch", variable.span, message).label("needs no range").help(help));
            return Vec::new();
        }
        starts_at_zero(range, scope, out);
        said.push((variable.value.as_str(), scope.expr(&range.high, out)));
    }
    if !local {
        return Vec::new();
    }
    let mut extent = |index: &Spanned<String>| {
        if let Some((_, high)) = said.iter().find(|(variable, _)| *variable == index.value) {
            return high.clone();
        }
        let found = shapes.extent(&index.value, value);
        if found.is_none() {
            let message = format!("nothing says how far `{}` runs", index.value);
            let form = format!("write `{}[{} in 0..EXTENT]`", statement.target.value, index.value);
            let help = format!("{form}; an index that stands alone in an array's brackets runs as far as it does");
            out.push(out.error("peak::extent-unknown", index.span, message).help(help));
        }
        found
    };
    let extents: Vec<Option<Expr>> = statement.indices.iter().map(&mut extent).collect();
    extents.into_iter().collect::<Option<Vec<Expr>>>().unwrap_or_default()
}

/// A pattern: its names are its own.
pub(super) fn pattern(statements: &[ast::Assignment], scope: &Scope<'_>, out: &mut Report<'_>) -> Computes {
    let values = statements.iter().filter_map(|statement| {
        let extents = ranges(statement, scope, out);
        Some(assignment(statement, extents, value(statement, scope, out)?))
    });
    Computes { statements: values.collect() }
}

/// How far the indices of a pattern's target run, where it says so; it says so of all or of none.
fn ranges(statement: &ast::Assignment, scope: &Scope<'_>, out: &mut Report<'_>) -> Vec<Expr> {
    let ranges = &statement.ranges;
    let ranged = |index: &Spanned<String>| ranges.iter().any(|range| range.variable.value == index.value);
    if let Some(bare) = statement.indices.iter().find(|index| !ranges.is_empty() && !ranged(index)) {
        let message = format!("nothing says how far `{}` runs, and the other indices say it", bare.value);
        let help = format!("write `{} in 0..NAME`, which binds NAME, or leave all ranges out", bare.value);
        out.push(out.error("peak::extent-unknown", bare.span, message).help(help));
    }
    let mut extents = Vec::new();
    for range in ranges {
        starts_at_zero(range, scope, out);
        extents.extend(scope.expr(&range.high, out));
    }
    extents
}

fn starts_at_zero(range: &ast::Bound, scope: &Scope<'_>, out: &mut Report<'_>) {
    if scope.expr(&range.low, out).is_some_and(|low| low != Expr::Integer(0)) {
        let message = "an index of an array starts at 0";
        let help = format!("write `{} in 0..EXTENT`", range.variable.value);
        out.push(out.error("peak::type-mismatch", range.low.span, message).label("not 0").help(help));
    }
}

/// The names that a pattern binds, into a scope: arrays, sizes, and index variables (for prose only).
pub(super) fn bound_names(pattern: &Computes, scope: &mut Scope<'_>) {
    for statement in &pattern.statements {
        scope.arrays.insert(statement.target.clone(), Some(statement.indices.len()));
        let mut variables: BTreeSet<String> = statement.indices.iter().cloned().collect();
        let mut names = BTreeSet::new();
        statement.extents.iter().for_each(|extent| extent.collect_names(&mut names));
        statement.value.visit(&mut |value| {
            if let Value::Element { array, indices } | Value::Old { array, indices } = value {
                scope.arrays.entry(array.clone()).or_insert(Some(indices.len()));
            }
            if let Value::Reduce { variable, .. } = value {
                variables.insert(variable.clone());
            }
            value.exprs().into_iter().for_each(|expr| expr.collect_names(&mut names));
        });
        scope.numbers.extend(names.difference(&variables).cloned());
        scope.words.extend(variables);
    }
}

/// The value of a statement, over its index variables. None where it is wrong; that is reported.
fn value(statement: &ast::Assignment, scope: &Scope<'_>, out: &mut Report<'_>) -> Option<Value> {
    let mut inner = scope.clone();
    for index in &statement.indices {
        inner.fresh_variable(index, out);
    }
    let value = inner.value(&statement.value, out)?;
    if value.depth() > MAX_EXPRESSION_DEPTH {
        let message = format!("more than {MAX_EXPRESSION_DEPTH} operations stand inside one another");
        let diagnostic = out.error("peak::too-deep", statement.span, message);
        out.push(diagnostic.help("compute parts of it in statements of their own"));
        return None;
    }
    Some(value)
}

fn assignment(statement: &ast::Assignment, extents: Vec<Expr>, value: Value) -> Assignment {
    let indices = statement.indices.iter().map(|index| index.value.clone()).collect();
    Assignment { target: statement.target.value.clone(), indices, extents, value }
}
