//! The oracle in the language's own notation, for prompts.

use peak_grammar::ir::{Computes, Function, ReduceOp, Value, ValueOp};

/// Every statement, one a line: `C[i, j] = sum(k in 0..n) A[i, k] * B[k, j]`.
#[must_use]
pub fn computes_text(computes: &Computes) -> String {
    let lines = computes.statements.iter().map(|statement| {
        format!("{}[{}] = {}", statement.target, statement.indices.join(", "), value(&statement.value, 0))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// `least` is the precedence that needs no parentheses: 0 anything, 1 a term, 2 a factor.
fn value(v: &Value, least: u8) -> String {
    let (text, precedence) = match v {
        Value::Number(number) => (number.to_string(), 3),
        Value::Integer(expr) => {
            (expr.to_string(), if matches!(expr, peak_grammar::ir::Expr::Binary(..)) { 0 } else { 3 })
        }
        Value::Element { array, indices } => {
            let indices: Vec<String> = indices.iter().map(ToString::to_string).collect();
            (format!("{array}[{}]", indices.join(", ")), 3)
        }
        Value::Negate(inner) => (format!("-{}", value(inner, 2)), 2),
        Value::Binary(op, left, right) => binary(*op, left, right),
        Value::Call(function, values) => {
            let values: Vec<String> = values.iter().map(|v| value(v, 0)).collect();
            (format!("{}({})", function_name(*function), values.join(", ")), 3)
        }
        Value::Reduce { op, variable, low, high, body } => {
            (format!("{}({variable} in {low}..{high}) {}", reduce_name(*op), value(body, 1)), 1)
        }
        Value::Where { condition, then, otherwise } => {
            let (op, left, right) = condition.as_ref();
            (format!("where({left} {op} {right}, {}, {})", value(then, 0), value(otherwise, 0)), 3)
        }
    };
    if precedence < least { format!("({text})") } else { text }
}

fn binary(op: ValueOp, left: &Value, right: &Value) -> (String, u8) {
    let (sign, precedence) = match op {
        ValueOp::Add => ("+", 0),
        ValueOp::Sub => ("-", 0),
        ValueOp::Mul => ("*", 1),
        ValueOp::Div => ("/", 1),
    };
    // A reduction reaches as far right as it can, so on the left it stands in parentheses.
    let left = match left {
        Value::Reduce { .. } => format!("({})", value(left, 0)),
        _ => value(left, precedence),
    };
    (format!("{left} {sign} {}", value(right, precedence + 1)), precedence)
}

fn function_name(function: Function) -> &'static str {
    match function {
        Function::Exp => "exp",
        Function::Log => "log",
        Function::Sqrt => "sqrt",
        Function::Tanh => "tanh",
        Function::Abs => "abs",
        Function::Pow => "pow",
        Function::Min => "min",
        Function::Max => "max",
    }
}

fn reduce_name(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Sum => "sum",
        ReduceOp::Product => "product",
        ReduceOp::Max => "max",
        ReduceOp::Min => "min",
    }
}
