//! Expressions as written to sizes, conditions and the oracle's values.

use super::constant;
use super::scope::{Scope, element_form};
use crate::ir::{BinaryOp, CompareOp, Condition, Expr, Function, Predicate, ReduceOp, Value, ValueOp};
use crate::syntax::ast::{Bound, Expression, ExpressionKind as Kind};
use crate::syntax::{Name, Report};

const SIZE_FUNCTIONS: [&str; 5] = ["ceil", "floor", "max", "min", "sizeof"];

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
                let divisor = right.span;
                let (left, right) = (boxed(left, out), boxed(right, out));
                let (left, right) = (left?, right?);
                constant::check(*op, &left, &right, expression.span, divisor, out);
                Expr::Binary(*op, left, right)
            }
            Kind::Call(name, arguments) => self.size_call(name, arguments, out)?,
            Kind::Number(_) => {
                let help = "write a quotient of whole numbers, as in `n * 3 / 2`; `ceil(a / b)` rounds up";
                return mismatch(expression, "a whole number is needed, not a fraction", "a fraction", help, out);
            }
            Kind::Element(..) | Kind::Old(..) | Kind::Reduce(..) => {
                let help = "a size is made of scalar inputs, tuning parameters, lets, and facts such as `device.warp`";
                let message = "a size cannot read arrays; only `computes` can";
                return mismatch(expression, message, "reads an array", help, out);
            }
            Kind::Where(..) => {
                let help = "`min(a, b)` and `max(a, b)` take the smaller and the larger";
                return mismatch(expression, "a size cannot choose; only `computes` can", "chooses", help, out);
            }
            Kind::Compare(..) | Kind::And(_) | Kind::Or(_) | Kind::Not(_) => {
                let help = "a comparison stands alone in `require` and in `reject when`";
                return mismatch(expression, "a number is needed, not a condition", "a condition", help, out);
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
            Kind::Name(name) if self.flags.contains(name) => {
                Condition::Compare(CompareOp::NotEqual, Expr::Name(name.clone()), Expr::Integer(0))
            }
            _ => return no_condition(expression, out),
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
                    let message = format!("`{0}` rounds a division, as in `{0}(n / 16)`", name.value);
                    return mismatch(only, &message, "no division", "without one, a size is whole as it stands", out);
                };
                let divisor = right.span;
                let (left, right) = (self.expr(left, out), self.expr(right, out));
                let (left, right) = (Box::new(left?), Box::new(right?));
                constant::check_divisor(&right, divisor, out);
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
                self.check_read(&Name::new(name.clone(), expression.span), out);
                Value::Element { array: name.clone(), indices: Vec::new() }
            }
            Kind::Name(name) if self.arrays.contains_key(name) => {
                let message = format!("`{name}` is an array, and one of its elements is needed");
                let rank = self.arrays.get(name).copied().flatten().unwrap_or(1);
                let diagnostic = out.error("peak::not-an-array", expression.span, message).label("an array");
                out.push(diagnostic.help(format!("write `{}`", element_form(name, rank))));
                return None;
            }
            Kind::Name(_) | Kind::Fact(_) => Value::Integer(self.expr(expression, out)?),
            Kind::Element(array, indices) => {
                self.check_array(array, Some(indices.len()), out);
                self.check_read(array, out);
                Value::Element { array: array.value.clone(), indices: self.indices(indices, out)? }
            }
            Kind::Old(array, indices) => {
                self.check_array(array, Some(indices.len()), out);
                self.check_old(array, out);
                Value::Old { array: array.value.clone(), indices: self.indices(indices, out)? }
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
            Kind::Reduce(op, bounds, filter, body) => self.reduction(*op, bounds, filter.as_deref(), body, out)?,
            Kind::Where(condition, then, otherwise) => self.choice(condition, then, otherwise, out)?,
            Kind::Compare(..) | Kind::And(_) | Kind::Or(_) | Kind::Not(_) => {
                let help = "`(1 where CONDITION else 0)` makes a number of it";
                return mismatch(expression, "a number is needed, not a condition", "a condition", help, out);
            }
        })
    }

    fn indices(&self, indices: &[Expression], out: &mut Report<'_>) -> Option<Vec<Expr>> {
        let index = |index: &Expression| match read_in(index) {
            Some(read) => {
                let diagnostic = out.error("peak::type-mismatch", read.span, "an index cannot be read from an array");
                let help = "indices are whole-number expressions of index variables and scalar inputs";
                out.push(diagnostic.label("an element").help(help));
                None
            }
            None => self.expr(index, out),
        };
        let indices: Vec<Option<Expr>> = indices.iter().map(index).collect();
        indices.into_iter().collect()
    }

    /// Each range may read the variables of those before it; the condition and the body read all.
    fn reduction(
        &self,
        op: ReduceOp,
        bounds: &[Bound],
        filter: Option<&Expression>,
        body: &Expression,
        out: &mut Report<'_>,
    ) -> Option<Value> {
        let mut inner = self.clone();
        let mut ranges = Vec::new();
        for bound in bounds {
            let (low, high) = (inner.expr(&bound.low, out), inner.expr(&bound.high, out));
            inner.fresh_variable(&bound.variable, out);
            ranges.push((bound.variable.value.clone(), low, high));
        }
        let filter = filter.map(|filter| inner.predicate(filter, out));
        let mut value = inner.value(body, out)?;
        let mut filter = match filter {
            Some(filter) => Some(Box::new(filter?)),
            None => None,
        };
        for (variable, low, high) in ranges.into_iter().rev() {
            let filter = filter.take();
            value = Value::Reduce { op, variable, low: low?, high: high?, filter, body: Box::new(value) };
        }
        Some(value)
    }

    fn choice(
        &self,
        condition: &Expression,
        then: &Expression,
        otherwise: &Expression,
        out: &mut Report<'_>,
    ) -> Option<Value> {
        let condition = self.predicate(condition, out);
        let (then, otherwise) = (self.value(then, out), self.value(otherwise, out));
        Some(Value::Where { condition: Box::new(condition?), then: Box::new(then?), otherwise: Box::new(otherwise?) })
    }

    /// A condition over values. None where it is none; that is reported.
    fn predicate(&self, expression: &Expression, out: &mut Report<'_>) -> Option<Predicate> {
        let all = |items: &[Expression], out: &mut Report<'_>| {
            let items: Vec<Option<Predicate>> = items.iter().map(|item| self.predicate(item, out)).collect();
            items.into_iter().collect::<Option<Vec<Predicate>>>()
        };
        Some(match &expression.kind {
            Kind::Compare(op, left, right) => {
                let whole = self.is_whole(left) && self.is_whole(right);
                let side = |side: &Expression, out: &mut Report<'_>| match whole {
                    true => self.expr(side, out).map(Value::Integer),
                    false => self.value(side, out),
                };
                let (left, right) = (side(left, out), side(right, out));
                Predicate::Compare(*op, left?, right?)
            }
            Kind::And(items) => Predicate::And(all(items, out)?),
            Kind::Or(items) => Predicate::Or(all(items, out)?),
            Kind::Not(inner) => Predicate::Not(Box::new(self.predicate(inner, out)?)),
            _ => return no_condition(expression, out),
        })
    }

    /// Whether an expression is one of whole numbers only: literals, index variables, scalars.
    fn is_whole(&self, expression: &Expression) -> bool {
        match &expression.kind {
            Kind::Integer(_) | Kind::Fact(_) => true,
            Kind::Name(name) => !self.arrays.contains_key(name),
            Kind::Negate(inner) => self.is_whole(inner),
            Kind::Binary(_, left, right) => self.is_whole(left) && self.is_whole(right),
            Kind::Call(name, arguments) => {
                SIZE_FUNCTIONS.contains(&name.value.as_str()) && arguments.iter().all(|item| self.is_whole(item))
            }
            _ => false,
        }
    }

    fn value_call(&self, name: &Name, arguments: &[Expression], out: &mut Report<'_>) -> Option<Value> {
        match (name.value.as_str(), arguments) {
            ("where", [condition, then, otherwise]) => return self.choice(condition, then, otherwise, out),
            ("where", _) => {
                let message = format!("`where` takes 3 arguments, not {}", arguments.len());
                let diagnostic = out.error("peak::type-mismatch", name.span, message);
                out.push(diagnostic.help("write `a where CONDITION else b`"));
                return None;
            }
            ("sizeof", _) => return self.size_call(name, arguments, out).map(Value::Integer),
            // Of a division of whole numbers, exact; of anything else, of the double.
            ("ceil" | "floor", [only]) if self.is_whole(only) => {
                return self.size_call(name, arguments, out).map(Value::Integer);
            }
            _ => {}
        }
        let Some(function) = Function::ALL.into_iter().find(|known| known.name() == name.value) else {
            let message = format!("`{}` is no function of the oracle", name.value);
            let known = Function::ALL.into_iter().map(Function::name).chain(["where", "sum", "product"]);
            out.push(out.error("peak::unknown-function", name.span, message).suggest(&name.value, known));
            return None;
        };
        // The smallest or largest of more than two is that of the first and of the rest.
        let several = matches!(function, Function::Min | Function::Max) && arguments.len() > 2;
        if arguments.len() != function.arity() && !several {
            let counted = if function.arity() == 1 { "1 argument".to_owned() } else { "2 arguments".to_owned() };
            let message = format!("`{}` takes {counted}, not {}", name.value, arguments.len());
            let form = if function.arity() == 1 { "x" } else { "a, b" };
            let diagnostic = out.error("peak::type-mismatch", name.span, message).label(format!("takes {counted}"));
            out.push(diagnostic.help(format!("write `{}({form})`", name.value)));
            return None;
        }
        let values: Vec<Option<Value>> = arguments.iter().map(|argument| self.value(argument, out)).collect();
        let values = values.into_iter().collect::<Option<Vec<Value>>>()?;
        match several {
            true => values.into_iter().reduce(|held, value| Value::Call(function, vec![held, value])),
            false => Some(Value::Call(function, values)),
        }
    }
}

/// An element of an array in an expression, if there is one.
fn read_in(expression: &Expression) -> Option<&Expression> {
    match &expression.kind {
        Kind::Element(..) | Kind::Old(..) => Some(expression),
        Kind::Negate(inner) => read_in(inner),
        Kind::Binary(_, left, right) => read_in(left).or_else(|| read_in(right)),
        Kind::Call(_, arguments) => arguments.iter().find_map(read_in),
        _ => None,
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

/// `label` says what the expression is, `help` what to write.
fn mismatch<T>(expression: &Expression, message: &str, label: &str, help: &str, out: &mut Report<'_>) -> Option<T> {
    out.push(out.error("peak::type-mismatch", expression.span, message).label(label).help(help));
    None
}

fn no_condition<T>(expression: &Expression, out: &mut Report<'_>) -> Option<T> {
    let help = "compare it with something, as in `n mod 16 = 0`";
    mismatch(expression, "a condition is needed, such as `a <= b`", "no condition", help, out)
}
