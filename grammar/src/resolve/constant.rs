//! Arithmetic on numbers that are written out: what has no value for any configuration is said where it stands.
//!
//! Evaluates nothing that a name stands in; that is for whoever knows the name's value.

use crate::ir::{BinaryOp, Expr};
use crate::syntax::{Report, Span, WHOLE_NUMBERS};

/// Reports an operation on known numbers that has no value. `span` is the operation's, `divisor` its right side's.
pub(super) fn check(op: BinaryOp, left: &Expr, right: &Expr, span: Span, divisor: Span, out: &mut Report<'_>) {
    match (op, known(left), known(right)) {
        (BinaryOp::Div | BinaryOp::Mod, _, Some(0)) => divided_by_zero(divisor, out),
        (_, Some(left), Some(right)) if overflows(op, left, right) => {
            let diagnostic = out.error("peak::number-range", span, "the result does not fit 64 bits");
            out.push(diagnostic.help(WHOLE_NUMBERS));
        }
        _ => {}
    }
}

/// Reports a rounded division by a known zero.
pub(super) fn check_divisor(right: &Expr, divisor: Span, out: &mut Report<'_>) {
    if known(right) == Some(0) {
        divided_by_zero(divisor, out);
    }
}

fn divided_by_zero(divisor: Span, out: &mut Report<'_>) {
    let diagnostic = out.error("peak::division-by-zero", divisor, "a number is divided by 0").label("this is 0");
    out.push(diagnostic.help("no configuration would be valid: divide by something else"));
}

fn overflows(op: BinaryOp, left: i64, right: i64) -> bool {
    let operation = match op {
        BinaryOp::Add => i64::checked_add,
        BinaryOp::Sub => i64::checked_sub,
        BinaryOp::Mul => i64::checked_mul,
        BinaryOp::Div => i64::checked_div,
        BinaryOp::Mod => i64::checked_rem_euclid,
    };
    operation(left, right).is_none()
}

/// The value of an expression without names; none where it has none.
fn known(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Integer(value) => Some(*value),
        Expr::Negate(inner) => known(inner)?.checked_neg(),
        Expr::Binary(op, left, right) => {
            let (left, right) = (known(left)?, known(right)?);
            match op {
                BinaryOp::Add => left.checked_add(right),
                BinaryOp::Sub => left.checked_sub(right),
                BinaryOp::Mul => left.checked_mul(right),
                BinaryOp::Div => (left.checked_rem(right)? == 0).then(|| left / right),
                BinaryOp::Mod => left.checked_rem_euclid(right),
            }
        }
        Expr::Min(items) => items.iter().map(known).collect::<Option<Vec<i64>>>()?.into_iter().min(),
        Expr::Max(items) => items.iter().map(known).collect::<Option<Vec<i64>>>()?.into_iter().max(),
        _ => None,
    }
}
