//! Index notation: statements in order, each over indices, arguments and earlier results.

use super::scope::Scope;
use crate::ir::{Assignment, Computes, Value};
use crate::limits::MAX_EXPRESSION_DEPTH;
use crate::syntax::Report;
use crate::syntax::ast;
use std::collections::BTreeSet;

/// The oracle of a kernel. `scope` holds its arguments, `inputs_only` those that may not be assigned.
pub(super) fn computes(
    statements: &[ast::Assignment],
    scope: &Scope<'_>,
    inputs_only: &BTreeSet<String>,
    out: &mut Report<'_>,
) -> Computes {
    let mut scope = scope.clone();
    let mut resolved = Vec::new();
    for statement in statements {
        let target = &statement.target;
        if inputs_only.contains(&target.value) {
            let message = format!("`{}` is an input, and cannot be computed", target.value);
            out.push(out.error("peak::type-mismatch", target.span, message).help("declare it `output` or `inout`"));
        } else if scope.numbers.contains(&target.value) || scope.arrays.contains_key(&target.value) {
            scope.check_array(target, Some(statement.indices.len()), out);
        }
        let value = value(statement, &scope, out);
        scope.arrays.entry(target.value.clone()).or_insert(Some(statement.indices.len()));
        resolved.extend(value.map(|value| assignment(statement, value)));
    }
    Computes { statements: resolved }
}

/// A pattern: its names are its own.
pub(super) fn pattern(statements: &[ast::Assignment], scope: &Scope<'_>, out: &mut Report<'_>) -> Computes {
    let values = statements.iter().filter_map(|statement| Some(assignment(statement, value(statement, scope, out)?)));
    Computes { statements: values.collect() }
}

/// The names that a pattern binds, into a scope: arrays, sizes, and index variables (for prose only).
pub(super) fn bound_names(pattern: &Computes, scope: &mut Scope<'_>) {
    for statement in &pattern.statements {
        scope.arrays.insert(statement.target.clone(), Some(statement.indices.len()));
        let mut variables: BTreeSet<String> = statement.indices.iter().cloned().collect();
        let mut names = BTreeSet::new();
        walk(&statement.value, scope, &mut variables, &mut names);
        scope.numbers.extend(names.difference(&variables).cloned());
        scope.words.extend(variables);
    }
}

fn walk(value: &Value, scope: &mut Scope<'_>, variables: &mut BTreeSet<String>, names: &mut BTreeSet<String>) {
    match value {
        Value::Number(_) => {}
        Value::Integer(expr) => expr.collect_names(names),
        Value::Element { array, indices } => {
            scope.arrays.entry(array.clone()).or_insert(Some(indices.len()));
            indices.iter().for_each(|index| index.collect_names(names));
        }
        Value::Negate(inner) => walk(inner, scope, variables, names),
        Value::Binary(_, left, right) => {
            walk(left, scope, variables, names);
            walk(right, scope, variables, names);
        }
        Value::Call(_, arguments) => arguments.iter().for_each(|item| walk(item, scope, variables, names)),
        Value::Reduce { variable, low, high, body, .. } => {
            variables.insert(variable.clone());
            low.collect_names(names);
            high.collect_names(names);
            walk(body, scope, variables, names);
        }
        Value::Where { condition, then, otherwise } => {
            condition.1.collect_names(names);
            condition.2.collect_names(names);
            walk(then, scope, variables, names);
            walk(otherwise, scope, variables, names);
        }
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

fn assignment(statement: &ast::Assignment, value: Value) -> Assignment {
    let indices = statement.indices.iter().map(|index| index.value.clone()).collect();
    Assignment { target: statement.target.value.clone(), indices, value }
}
