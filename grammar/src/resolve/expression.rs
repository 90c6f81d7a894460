//! Expressions as written to sizes, conditions and the oracle's values.

use super::scope::Scope;
use crate::ir::{BinaryOp, CompareOp, Condition, Expr, Function, Value, ValueOp};
use crate::limits::MAX_VALUE_NODES;
use crate::syntax::ast::{Expression, ExpressionKind as Kind};
use crate::syntax::{Name, Report};

const SIZE_FUNCTIONS: [&str; 5] = ["ceil", "floor", "max", "min", "sizeof"];
const VALUE_FUNCTIONS: [(&str, Function, usize); 8] = [
    ("abs", Function::Abs, 1),
    ("exp", Function::Exp, 1),
    ("log", Function::Log, 1),
    ("max", Function::Max, 2),
    ("min", Function::Min, 2),
    ("pow", Function::Pow, 2),
    ("sqrt", Function::Sqrt, 1),
    ("tanh", Function::Tanh, 1),
];

impl Scope<'_> {
    /// A whole number. None where it is none; that is reported.
    pub(super) fn expr(&self, expression: &Expression, out: &mut Report<'_>) -> Option<Expr> {
        let boxed = |inner: &Expression, out: &mut Report<'_>| self.expr(inner, out).map(Box::new);
        Some(match &expression.kind {
            Kind::Integer(value) => Expr::Integer(*value),
            Kind::Name(name) => {
                self.check_number(name, expression.span, out);
                Expr::Name(name.clone())
            }
            Kind::Fact(name) => {
                self.check_fact(name, expression.span, out);
                Expr::Fact(name.clone())
            }
            Kind::Negate(inner) => Expr::Negate(boxed(inner, out)?),
            Kind::Binary(op, left, right) => {
                let (left, right) = (boxed(left, out), boxed(right, out));
                Expr::Binary(*op, left?, right?)
            }
            Kind::Call(name, arguments) => self.size_call(name, arguments, out)?,
            Kind::Number(_) => return mismatch(expression, "a whole number is needed, not a fraction", out),
            Kind::Element(..) | Kind::Reduce(..) => {
                return mismatch(expression, "a size cannot read arrays; only `computes` can", out);
            }
            Kind::Compare(..) | Kind::And(_) | Kind::Or(_) | Kind::Not(_) => {
                return mismatch(expression, "a number is needed, not a condition", out);
            }
        })
    }

    /// A condition. None where it is none; that is reported.
    pub(super) fn condition(&self, expression: &Expression, out: &mut Report<'_>) -> Option<Condition> {
        Some(match &expression.kind {
            Kind::Compare(op, left, right) => {
                let (left, right) = (self.expr(left, out), self.expr(right, out));
                Condition::Compare(*op, left?, right?)
            }
            Kind::And(items) => Condition::And(self.conditions(items, out)?),
            Kind::Or(items) => Condition::Or(self.conditions(items, out)?),
            Kind::Not(inner) => Condition::Not(Box::new(self.condition(inner, out)?)),
            _ => return mismatch(expression, "a condition is needed, such as `a <= b`", out),
        })
    }

    fn conditions(&self, items: &[Expression], out: &mut Report<'_>) -> Option<Vec<Condition>> {
        let conditions: Vec<Option<Condition>> = items.iter().map(|item| self.condition(item, out)).collect();
        conditions.into_iter().collect()
    }

    fn size_call(&self, name: &Name, arguments: &[Expression], out: &mut Report<'_>) -> Option<Expr> {
        match (name.value.as_str(), arguments) {
            ("ceil" | "floor", [only]) => {
                let Kind::Binary(BinaryOp::Div, left, right) = &only.kind else {
                    return mismatch(only, "a division is needed here, as in `ceil(n / 16)`", out);
                };
                let (left, right) = (self.expr(left, out), self.expr(right, out));
                let (left, right) = (Box::new(left?), Box::new(right?));
                Some(if name.value == "ceil" { Expr::CeilDiv(left, right) } else { Expr::FloorDiv(left, right) })
            }
            ("min" | "max", [_, _, ..]) => {
                let items: Vec<Option<Expr>> = arguments.iter().map(|item| self.expr(item, out)).collect();
                let items = items.into_iter().collect::<Option<Vec<Expr>>>()?;
                Some(if name.value == "min" { Expr::Min(items) } else { Expr::Max(items) })
            }
            ("sizeof", [Expression { kind: Kind::Name(what), span }]) => {
                self.check_sized(&Name::new(what.clone(), *span), out);
                Some(Expr::SizeOf(what.clone()))
            }
            (known, _) if SIZE_FUNCTIONS.contains(&known) => {
                let message = format!("`{known}` does not take {} arguments here", arguments.len());
                let forms = "`ceil(a / b)`, `floor(a / b)`, `min(a, b)`, `max(a, b)`, `sizeof(element)`";
                out.push(out.error("peak::type-mismatch", name.span, message).help(format!("the forms are {forms}")));
                None
            }
            (unknown, _) => {
                let message = format!("`{unknown}` is no function of sizes");
                let diagnostic = out.error("peak::unknown-function", name.span, message);
                out.push(diagnostic.suggest(unknown, SIZE_FUNCTIONS));
                None
            }
        }
    }

    fn check_sized(&self, what: &Name, out: &mut Report<'_>) {
        let known = matches!(what.value.as_str(), "element" | "accumulator");
        let named = self.arrays.contains_key(&what.value) || self.numbers.contains(&what.value);
        if known || self.open || named {
            return;
        }
        let message = format!("`{}` has no size that is known here", what.value);
        let names = self.arrays.keys().map(String::as_str).chain(["element", "accumulator"]);
        let diagnostic = out.error("peak::unknown-name", what.span, message).suggest(&what.value, names);
        out.push_unknown(&what.value, diagnostic);
    }

    /// A value of the oracle. None where it is none; that is reported.
    pub(super) fn value(&self, expression: &Expression, out: &mut Report<'_>) -> Option<Value> {
        let boxed = |inner: &Expression, out: &mut Report<'_>| self.value(inner, out).map(Box::new);
        Some(match &expression.kind {
            // Beyond 2^53 a double is not exact; nobody writes such a literal in an oracle.
            #[allow(clippy::cast_precision_loss, reason = "the oracle computes in double precision")]
            Kind::Integer(value) => Value::Number(*value as f64),
            Kind::Number(value) => Value::Number(*value),
            Kind::Name(name) if self.arrays.get(name) == Some(&Some(0)) => {
                Value::Element { array: name.clone(), indices: Vec::new() }
            }
            Kind::Name(_) | Kind::Fact(_) => Value::Integer(self.expr(expression, out)?),
            Kind::Element(array, indices) => {
                self.check_array(array, Some(indices.len()), out);
                let indices: Vec<Option<Expr>> = indices.iter().map(|index| self.expr(index, out)).collect();
                Value::Element { array: array.value.clone(), indices: indices.into_iter().collect::<Option<_>>()? }
            }
            Kind::Negate(inner) => Value::Negate(boxed(inner, out)?),
            Kind::Binary(op, left, right) => match value_op(*op) {
                Some(op) => {
                    let (left, right) = (boxed(left, out), boxed(right, out));
                    Value::Binary(op, left?, right?)
                }
                None => Value::Integer(self.expr(expression, out)?),
            },
            Kind::Call(name, arguments) => self.value_call(name, arguments, out)?,
            Kind::Reduce(op, bounds, body) => {
                let mut inner = self.clone();
                let mut ranges = Vec::new();
                for bound in bounds {
                    let (low, high) = (inner.expr(&bound.low, out), inner.expr(&bound.high, out));
                    inner.fresh_variable(&bound.variable, out);
                    ranges.push((bound.variable.value.clone(), low, high));
                }
                let mut value = inner.value(body, out)?;
                for (variable, low, high) in ranges.into_iter().rev() {
                    value = Value::Reduce { op: *op, variable, low: low?, high: high?, body: Box::new(value) };
                }
                value
            }
            Kind::Compare(..) | Kind::And(_) | Kind::Or(_) | Kind::Not(_) => {
                return mismatch(
                    expression,
                    "a number is needed, not a condition: `where(CONDITION, a, b)` picks one",
                    out,
                );
            }
        })
    }

    fn value_call(&self, name: &Name, arguments: &[Expression], out: &mut Report<'_>) -> Option<Value> {
        match (name.value.as_str(), arguments) {
            ("where", [condition, then, otherwise]) => {
                let condition = self.condition(condition, out);
                let (then, otherwise) = (self.value(then, out), self.value(otherwise, out));
                let (condition, then, otherwise) = (condition?, then?, otherwise?);
                if chosen_nodes(&condition, then.nodes(), otherwise.nodes()) > MAX_VALUE_NODES {
                    let message = "the condition of this `where` is too long";
                    let diagnostic = out.error("peak::too-deep", name.span, message);
                    out.push(diagnostic.help("compute parts of it in a statement of their own"));
                    return None;
                }
                return Some(choose(&condition, then, otherwise));
            }
            ("ceil" | "floor" | "sizeof", _) => return self.size_call(name, arguments, out).map(Value::Integer),
            _ => {}
        }
        let Some((_, function, count)) = VALUE_FUNCTIONS.iter().find(|(known, ..)| *known == name.value) else {
            let message = format!("`{}` is no function of the oracle", name.value);
            let known = VALUE_FUNCTIONS.iter().map(|(known, ..)| *known).chain(["where", "sum", "product"]);
            out.push(out.error("peak::unknown-function", name.span, message).suggest(&name.value, known));
            return None;
        };
        if arguments.len() != *count {
            let message = format!("`{}` takes {count} arguments, not {}", name.value, arguments.len());
            out.push(out.error("peak::type-mismatch", name.span, message));
            return None;
        }
        let values: Vec<Option<Value>> = arguments.iter().map(|argument| self.value(argument, out)).collect();
        Some(Value::Call(*function, values.into_iter().collect::<Option<_>>()?))
    }
}

/// How many operations [`choose`] makes of sides with so many.
fn chosen_nodes(condition: &Condition, then: usize, otherwise: usize) -> usize {
    match condition {
        Condition::Compare(..) => then.saturating_add(otherwise).saturating_add(1),
        Condition::And(items) => items.iter().fold(then, |chosen, item| chosen_nodes(item, chosen, otherwise)),
        Condition::Or(items) => items.iter().fold(otherwise, |other, item| chosen_nodes(item, then, other)),
        Condition::Not(inner) => chosen_nodes(inner, otherwise, then),
    }
}

fn value_op(op: BinaryOp) -> Option<ValueOp> {
    Some(match op {
        BinaryOp::Add => ValueOp::Add,
        BinaryOp::Sub => ValueOp::Sub,
        BinaryOp::Mul => ValueOp::Mul,
        BinaryOp::Div => ValueOp::Div,
        BinaryOp::Mod => return None,
    })
}

/// `where` over a condition of any form, as nested choices over comparisons.
fn choose(condition: &Condition, then: Value, otherwise: Value) -> Value {
    match condition {
        Condition::Compare(op, left, right) => Value::Where {
            condition: Box::new((*op, left.clone(), right.clone())),
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        },
        Condition::And(items) => items.iter().rev().fold(then, |chosen, item| choose(item, chosen, otherwise.clone())),
        Condition::Or(items) => items.iter().rev().fold(otherwise, |other, item| choose(item, then.clone(), other)),
        Condition::Not(inner) => choose(&negated(inner), then, otherwise),
    }
}

fn negated(condition: &Condition) -> Condition {
    let all = |items: &[Condition]| items.iter().map(negated).collect();
    match condition {
        Condition::Compare(op, left, right) => {
            let op = match op {
                CompareOp::Equal => CompareOp::NotEqual,
                CompareOp::NotEqual => CompareOp::Equal,
                CompareOp::Less => CompareOp::GreaterOrEqual,
                CompareOp::LessOrEqual => CompareOp::Greater,
                CompareOp::Greater => CompareOp::LessOrEqual,
                CompareOp::GreaterOrEqual => CompareOp::Less,
            };
            Condition::Compare(op, left.clone(), right.clone())
        }
        Condition::And(items) => Condition::Or(all(items)),
        Condition::Or(items) => Condition::And(all(items)),
        Condition::Not(inner) => (**inner).clone(),
    }
}

fn mismatch<T>(expression: &Expression, message: &str, out: &mut Report<'_>) -> Option<T> {
    out.push(out.error("peak::type-mismatch", expression.span, message));
    None
}
