//! Expressions, assignments and sets of values.

use super::clause::{Piece, Rule};
use super::row::grouped;
use crate::ir::ReduceOp;
use crate::limits::MAX_EXPRESSION_DEPTH;
use crate::syntax::Report;
use crate::syntax::ast::{ArrayType, Assignment, Bound, Expression, ExpressionKind, Introduced, Requirement, ValueSet};

/// The first expression inside `piece`.
pub(super) fn expression(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Expression> {
    read_checked(&piece.find(Rule::expression)?, out)
}

/// Every expression directly inside `piece`, or inside its list.
pub(super) fn expressions(piece: &Piece<'_>, out: &mut Report<'_>) -> Vec<Expression> {
    let list = piece.find(Rule::expressions).unwrap_or(*piece);
    list.all(Rule::expression).filter_map(|item| read_checked(&item, out)).collect()
}

/// `NAME[I, J in LOW..HIGH] = VALUE`.
pub(super) fn assignment(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Assignment> {
    let (mut indices, mut ranges) = (Vec::new(), Vec::new());
    for index in piece.all(Rule::target_index) {
        match index.find(Rule::bound) {
            Some(range) => {
                let range = bound(&range, out)?;
                indices.push(range.variable.clone());
                ranges.push(range);
            }
            None => indices.push(index.name(Rule::ident)),
        }
    }
    let value = expression(piece, out)?;
    Some(Assignment { span: piece.span(), target: piece.name(Rule::ident), indices, ranges, value })
}

/// `[NAME:] CONDITION`.
pub(super) fn requirement(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Requirement> {
    let inner = piece.find(Rule::requirement)?;
    let name = inner.find(Rule::word).map(|word| word.as_name());
    Some(Requirement { name, condition: expression(&inner, out)? })
}

/// `array[SHAPE] of T`.
pub(super) fn array_type(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<ArrayType> {
    let inner = piece.find(Rule::array_type)?;
    Some(ArrayType { shape: expressions(&inner, out), element: inner.name(Rule::ident) })
}

/// `NAME in VALUES [start at N]`.
pub(super) fn introduced(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Introduced> {
    let inner = piece.find(Rule::parameter)?;
    let start = inner.find(Rule::start).and_then(|start| start.find(Rule::integer));
    let start = start.map(|start| start.integer(out));
    Some(Introduced { name: inner.name(Rule::ident), values: values(&inner, out)?, start })
}

/// What stands after `in`.
pub(super) fn values(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<ValueSet> {
    let form = piece.find(Rule::values)?.parts().next()?;
    let mut numbers = form.all(Rule::integer).map(|number| number.integer(out)).collect::<Vec<_>>().into_iter();
    Some(match form.rule() {
        Rule::powers => ValueSet::Powers { base: numbers.next()?, low: numbers.next()?, high: numbers.next()? },
        Rule::range => ValueSet::Range { low: numbers.next()?, high: numbers.next()?, step: numbers.next() },
        _ => ValueSet::List(numbers.collect()),
    })
}

fn read_checked(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Expression> {
    let expression = read(piece, out)?;
    if expression.depth() > MAX_EXPRESSION_DEPTH {
        let message = format!("more than {MAX_EXPRESSION_DEPTH} operations stand inside one another");
        out.push(out.error("peak::too-deep", expression.span, message).help("name parts with `let`, or simplify"));
        return None;
    }
    Some(expression)
}

/// An expression, a row of it, or the product that a reduction reaches over.
fn read(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Expression> {
    let then = grouped(piece, out)?;
    let Some(condition) = piece.find(Rule::row) else { return Some(then) };
    let condition = Box::new(read(&condition, out)?);
    let otherwise = Box::new(read(&piece.find(Rule::expression)?, out)?);
    Some(Expression { span: piece.span(), kind: ExpressionKind::Where(condition, Box::new(then), otherwise) })
}

/// What an operand is, brackets and signs aside.
pub(super) fn primary(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Expression> {
    let span = piece.span();
    let make = |kind| Some(Expression { span, kind });
    match piece.rule() {
        Rule::expression => read(piece, out),
        Rule::reduction => reduction(piece, out),
        Rule::old => {
            let element = piece.find(Rule::element)?;
            make(ExpressionKind::Old(piece.name(Rule::ident), expressions(&element, out)))
        }
        Rule::fact => make(ExpressionKind::Fact(piece.name(Rule::ident).value)),
        Rule::quantity => make(quantity(piece, out)?),
        _ => reference(piece, out),
    }
}

/// A name, a call or an element.
fn reference(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Expression> {
    let mut parts = piece.parts();
    let name = parts.next()?;
    let kind = match parts.next() {
        None => ExpressionKind::Name(name.text().to_owned()),
        Some(call) if call.rule() == Rule::call => ExpressionKind::Call(name.as_name(), expressions(&call, out)),
        Some(element) => ExpressionKind::Element(name.as_name(), expressions(&element, out)),
    };
    Some(Expression { span: piece.span(), kind })
}

fn reduction(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Expression> {
    let op = match piece.find(Rule::reduce_op)?.text() {
        "sum" => ReduceOp::Sum,
        "product" => ReduceOp::Product,
        "max" => ReduceOp::Max,
        _ => ReduceOp::Min,
    };
    let bounds = piece.all(Rule::bound).map(|range| bound(&range, out)).collect::<Option<Vec<Bound>>>()?;
    let filter = match piece.find(Rule::filter) {
        Some(filter) => Some(Box::new(read(&filter.find(Rule::row)?, out)?)),
        None => None,
    };
    let body = Box::new(read(&piece.find(Rule::product)?, out)?);
    Some(Expression { span: piece.span(), kind: ExpressionKind::Reduce(op, bounds, filter, body) })
}

/// `k in LOW..HIGH`.
fn bound(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Bound> {
    let mut ends = piece.all(Rule::row);
    let (low, high) = (read(&ends.next()?, out)?, read(&ends.next()?, out)?);
    Some(Bound { variable: piece.name(Rule::ident), low, high })
}

fn quantity(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<ExpressionKind> {
    let digits = piece.find(Rule::unsigned)?;
    let factor: i64 = match piece.find(Rule::unit).as_ref().map(Piece::text) {
        Some("KiB") => 1 << 10,
        Some("MiB") => 1 << 20,
        Some("GiB") => 1 << 30,
        _ => 1,
    };
    if factor == 1 && digits.text().contains(['.', 'e', 'E']) {
        return Some(ExpressionKind::Number(digits.number(out)));
    }
    let value: Option<i64> = digits.integer(out).value.checked_mul(factor);
    if value.is_none() {
        out.push(
            out.error("peak::number-range", piece.span(), "the number does not fit 64 bits")
                .help(crate::syntax::WHOLE_NUMBERS),
        );
    }
    value.map(ExpressionKind::Integer)
}

impl Expression {
    /// How many operations stand inside one another.
    fn depth(&self) -> usize {
        let deepest = |items: &[Expression]| items.iter().map(Expression::depth).max().unwrap_or(0);
        1 + match &self.kind {
            ExpressionKind::Integer(_)
            | ExpressionKind::Number(_)
            | ExpressionKind::Name(_)
            | ExpressionKind::Fact(_) => 0,
            ExpressionKind::Element(_, items)
            | ExpressionKind::Old(_, items)
            | ExpressionKind::Call(_, items)
            | ExpressionKind::And(items)
            | ExpressionKind::Or(items) => deepest(items),
            ExpressionKind::Reduce(_, bounds, filter, body) => {
                // Each bound becomes a reduction of its own.
                let bounds_count = bounds.len();
                let deepest = bounds.iter().map(|bound| bound.low.depth().max(bound.high.depth())).max();
                let filter = filter.as_ref().map_or(0, |filter| filter.depth());
                bounds_count + body.depth().max(deepest.unwrap_or(0)).max(filter)
            }
            ExpressionKind::Where(condition, then, otherwise) => {
                condition.depth().max(then.depth()).max(otherwise.depth())
            }
            ExpressionKind::Negate(inner) | ExpressionKind::Not(inner) => inner.depth(),
            ExpressionKind::Binary(_, left, right) | ExpressionKind::Compare(_, left, right) => {
                left.depth().max(right.depth())
            }
        }
    }
}
