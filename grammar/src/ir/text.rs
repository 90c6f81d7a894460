//! The IR's index notation and launch plans as text, in the language's own spelling.

use super::{
    Assignment, BinaryOp, Computes, Expr, Function, Launch, LaunchPlan, PlanStatement, Predicate, ReduceOp, Value,
    ValueOp,
};
use std::fmt::{self, Display, Formatter, Write};

impl Display for Computes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.statements.iter().map(Assignment::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl Display for Assignment {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let index = |(at, index): (usize, &String)| match self.extents.get(at) {
            Some(extent) => format!("{index} in 0..{extent}"),
            None => index.clone(),
        };
        match self.indices.as_slice() {
            [] => write!(f, "{} = {}", self.target, self.value),
            indices => {
                let indices: Vec<String> = indices.iter().enumerate().map(index).collect();
                write!(f, "{}[{}] = {}", self.target, indices.join(", "), self.value)
            }
        }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(value) => write!(f, "{value}"),
            Value::Integer(expr) => write!(f, "{expr}"),
            Value::Element { array, indices } if indices.is_empty() => f.write_str(array),
            Value::Element { array, indices } => write!(f, "{array}[{}]", list(indices)),
            Value::Old { array, indices } if indices.is_empty() => write!(f, "old {array}"),
            Value::Old { array, indices } => write!(f, "old {array}[{}]", list(indices)),
            Value::Negate(inner) => write!(f, "-{}", Side(inner, 4)),
            Value::Binary(op, left, right) => {
                let least = self.precedence();
                write!(f, "{} {} {}", Side(left, least), op.sign(), Side(right, least + 1))
            }
            Value::Call(function, arguments) => write!(f, "{}({})", function.name(), list(arguments)),
            Value::Reduce { op, variable, low, high, filter, body } => {
                write!(f, "{}({variable} in {low}..{high}", op.name())?;
                if let Some(filter) = filter {
                    write!(f, " where {filter}")?;
                }
                write!(f, ") {}", Side(body, 2))
            }
            Value::Where { condition, then, otherwise } => {
                write!(f, "{} where {condition} else {otherwise}", Side(then, 1))
            }
        }
    }
}

/// A side of an operation, in parentheses where it binds less than `1`.
struct Side<'a>(&'a Value, u8);

impl Display for Side<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0.precedence() < self.1 {
            true => write!(f, "({})", self.0),
            false => write!(f, "{}", self.0),
        }
    }
}

impl Value {
    fn precedence(&self) -> u8 {
        match self {
            Value::Binary(ValueOp::Add | ValueOp::Sub, ..) => 1,
            // A reduction's body reaches as far as a product does.
            Value::Binary(..) | Value::Reduce { .. } => 2,
            Value::Negate(_) => 3,
            Value::Integer(Expr::Binary(BinaryOp::Add | BinaryOp::Sub, ..)) => 1,
            Value::Integer(Expr::Binary(..)) => 2,
            Value::Integer(Expr::Negate(_)) => 3,
            Value::Where { .. } => 0,
            _ => 4,
        }
    }
}

impl Display for Predicate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let join = |f: &mut Formatter<'_>, word: &str, items: &[Predicate]| {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    write!(f, " {word} ")?;
                }
                match item {
                    Predicate::Compare(..) | Predicate::Not(_) => write!(f, "{item}")?,
                    _ => write!(f, "({item})")?,
                }
            }
            Ok(())
        };
        match self {
            Predicate::Compare(op, left, right) => write!(f, "{} {op} {}", Side(left, 1), Side(right, 1)),
            Predicate::And(items) => join(f, "and", items),
            Predicate::Or(items) => join(f, "or", items),
            Predicate::Not(inner) => write!(f, "not ({inner})"),
        }
    }
}

impl Value {
    /// How many operations stand inside one another.
    pub(crate) fn depth(&self) -> usize {
        1 + self.parts().into_iter().map(Value::depth).max().unwrap_or(0)
    }
}

impl ValueOp {
    fn sign(self) -> char {
        match self {
            ValueOp::Add => '+',
            ValueOp::Sub => '-',
            ValueOp::Mul => '*',
            ValueOp::Div => '/',
        }
    }
}

impl ReduceOp {
    /// The word of the language: `sum`, `product`, `max`, `min`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ReduceOp::Sum => "sum",
            ReduceOp::Product => "product",
            ReduceOp::Max => "max",
            ReduceOp::Min => "min",
        }
    }
}

impl Function {
    /// The word of the language.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Function::Exp => "exp",
            Function::Log => "log",
            Function::Sqrt => "sqrt",
            Function::Rsqrt => "rsqrt",
            Function::Tanh => "tanh",
            Function::Sigmoid => "sigmoid",
            Function::Sin => "sin",
            Function::Cos => "cos",
            Function::Erf => "erf",
            Function::Abs => "abs",
            Function::Floor => "floor",
            Function::Ceil => "ceil",
            Function::Pow => "pow",
            Function::Min => "min",
            Function::Max => "max",
        }
    }
}

/// Prints a launch plan in the language's own spelling: what [`crate::parse_launch_plan`] reads back as the same plan.
#[must_use]
pub fn print_launch_plan(plan: &LaunchPlan) -> String {
    let mut text = String::new();
    statements(&plan.statements, 0, &mut text);
    text
}

fn statements(items: &[PlanStatement], indent: usize, text: &mut String) {
    for item in items {
        line(indent, &head(item), text);
        match item {
            PlanStatement::Launch(launch) => clauses(launch, indent + 2, text),
            PlanStatement::Repeat { body, .. } => statements(body, indent + 2, text),
            _ => {}
        }
    }
}

fn head(item: &PlanStatement) -> String {
    match item {
        PlanStatement::Let { name, value } => format!("let {name} = {value}"),
        PlanStatement::Scratch { name, shape, element } => {
            format!("scratch {name}: array[{}] of {element}", list(shape))
        }
        PlanStatement::Fill { name, value } => format!("fill {name} with {value}"),
        PlanStatement::TensorMap { name, array, box_shape, swizzle } => {
            let swizzle = if *swizzle == 0 { String::new() } else { format!(" swizzle {swizzle}") };
            format!("tensor map {name} over {array} box ({}){swizzle}", list(box_shape))
        }
        PlanStatement::Launch(launch) => format!("launch {}", launch.kernel),
        PlanStatement::Repeat { count, .. } => format!("repeat {count} times"),
        PlanStatement::Reject { when, why } => format!("reject when {when} \"{why}\""),
    }
}

fn clauses(launch: &Launch, indent: usize, text: &mut String) {
    line(indent, &format!("grid {}", list(&launch.grid)), text);
    line(indent, &format!("block {}", list(&launch.block)), text);
    if let Some(bytes) = &launch.shared {
        line(indent, &format!("shared {bytes} bytes"), text);
    }
    if let Some(cluster) = &launch.cluster {
        line(indent, &format!("cluster {}", list(cluster)), text);
    }
    if launch.cooperative {
        line(indent, "cooperative", text);
    }
    line(indent, &format!("arguments {}", launch.arguments.join(", ")), text);
}

fn line(indent: usize, words: &str, text: &mut String) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{:indent$}{words}", "");
}

fn list<T: Display>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(T::to_string).collect();
    items.join(", ")
}
