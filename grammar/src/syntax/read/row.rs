//! Operands and operators in a row, grouped by precedence: `or`, `and`, `not`, one comparison, sums, products, signs.

use super::clause::{Piece, Rule};
use super::expression::primary;
use crate::ir::{BinaryOp, CompareOp};
use crate::syntax::ast::{Expression, ExpressionKind};
use crate::syntax::{Report, Span};

/// What was written, in order.
struct Row {
    operands: Vec<Operand>,
    /// The operator before each operand but the first.
    operators: Vec<(Operator, Span)>,
    /// The operand that comes next.
    at: usize,
}

struct Operand {
    /// How many `not` stand before it, and where the first is.
    nots: Vec<Span>,
    /// Its value, signs included.
    value: Option<Expression>,
    /// With its brackets.
    span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    Or,
    And,
    Compare(CompareOp),
    Sum(BinaryOp),
    Product(BinaryOp),
}

/// An expression, and where it is with the brackets around it.
type Placed = (Expression, Span);

/// The row that an `expression`, `row` or `product` opens with, as one expression.
pub(super) fn grouped(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Expression> {
    // What follows `where` is read on its own.
    let in_row = |part: &Piece<'_>| matches!(part.rule(), Rule::operand | Rule::infix | Rule::product_op);
    let mut parts = piece.parts().take_while(in_row);
    let first = operand(&parts.next()?, out)?;
    let next = parts.next();
    if next.is_none() && first.nots.is_empty() {
        return first.value;
    }
    let mut row = Row { operands: vec![first], operators: Vec::new(), at: 0 };
    for part in next.into_iter().chain(parts) {
        match part.rule() {
            Rule::operand => row.operands.push(operand(&part, out)?),
            _ => row.operators.push((operator(part.text()), part.span())),
        }
    }
    row.grouped(out)
}

impl Row {
    /// The whole row as one expression.
    fn grouped(mut self, out: &mut Report<'_>) -> Option<Expression> {
        let (expression, _) = self.any(out)?;
        // Only a second comparison is left over: every other operator is taken by some level.
        if let Some((_, span)) = self.ahead() {
            let diagnostic = out.error("peak::syntax", span, "a comparison cannot be compared");
            out.push(diagnostic.label("not this").help("join two comparisons with `and`: `a <= b and b <= c`"));
            return None;
        }
        Some(expression)
    }

    /// The operator before the next operand.
    fn ahead(&self) -> Option<(Operator, Span)> {
        self.at.checked_sub(1).and_then(|before| self.operators.get(before)).copied()
    }

    fn any(&mut self, out: &mut Report<'_>) -> Option<Placed> {
        self.joined(Operator::Or, Row::all, ExpressionKind::Or, out)
    }

    fn all(&mut self, out: &mut Report<'_>) -> Option<Placed> {
        self.joined(Operator::And, Row::negation, ExpressionKind::And, out)
    }

    /// One item is itself; several are joined.
    fn joined(
        &mut self,
        operator: Operator,
        item: fn(&mut Row, &mut Report<'_>) -> Option<Placed>,
        kind: fn(Vec<Expression>) -> ExpressionKind,
        out: &mut Report<'_>,
    ) -> Option<Placed> {
        let more = |row: &Row| row.ahead().is_some_and(|(ahead, _)| ahead == operator);
        let first = item(self, out)?;
        if !more(self) {
            return Some(first);
        }
        let (first, mut span) = first;
        let mut items = vec![first];
        while more(self) {
            let (next, place) = item(self, out)?;
            span = span.to(place);
            items.push(next);
        }
        Some((Expression { span, kind: kind(items) }, span))
    }

    fn negation(&mut self, out: &mut Report<'_>) -> Option<Placed> {
        let nots = self.operands.get_mut(self.at).map(|operand| std::mem::take(&mut operand.nots))?;
        let (mut expression, mut span) = self.comparison(out)?;
        for not in nots.into_iter().rev() {
            span = not.to(span);
            expression = Expression { span: not.to(expression.span), kind: ExpressionKind::Not(Box::new(expression)) };
        }
        Some((expression, span))
    }

    fn comparison(&mut self, out: &mut Report<'_>) -> Option<Placed> {
        let (left, start) = self.sum(out)?;
        let Some((Operator::Compare(op), _)) = self.ahead() else { return Some((left, start)) };
        let (right, end) = self.sum(out)?;
        let span = start.to(end);
        Some((Expression { span, kind: ExpressionKind::Compare(op, Box::new(left), Box::new(right)) }, span))
    }

    fn sum(&mut self, out: &mut Report<'_>) -> Option<Placed> {
        let mut held = self.product(out)?;
        while let Some((Operator::Sum(op), _)) = self.ahead() {
            held = binary(op, held, self.product(out)?);
        }
        Some(held)
    }

    fn product(&mut self, out: &mut Report<'_>) -> Option<Placed> {
        let mut held = self.operand(out)?;
        while let Some((Operator::Product(op), _)) = self.ahead() {
            held = binary(op, held, self.operand(out)?);
        }
        Some(held)
    }

    fn operand(&mut self, out: &mut Report<'_>) -> Option<Placed> {
        let operand = self.operands.get_mut(self.at)?;
        self.at += 1;
        if let Some(not) = operand.nots.first() {
            let diagnostic = out.error("peak::syntax", *not, "`not` stands before a whole comparison");
            out.push(
                diagnostic.label("not here").help("put it first: `not a = b`, or in brackets: `(not a = b) and c < d`"),
            );
            return None;
        }
        Some((operand.value.take()?, operand.span))
    }
}

fn operand(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Operand> {
    let (mut nots, mut signs, mut value) = (Vec::new(), Vec::new(), None);
    for part in piece.parts() {
        match part.rule() {
            Rule::prefix if part.text() == "-" => signs.push(part.span()),
            Rule::prefix if signs.is_empty() => nots.push(part.span()),
            Rule::prefix => {
                let diagnostic = out.error("peak::syntax", part.span(), "`not` stands before a whole comparison");
                out.push(diagnostic.label("not here").help("a sign belongs to a number: `not -a = b`"));
                return None;
            }
            _ => value = Some(primary(&part, out)?),
        }
    }
    let mut value = value?;
    for sign in signs.into_iter().rev() {
        value = Expression { span: sign.to(value.span), kind: ExpressionKind::Negate(Box::new(value)) };
    }
    Some(Operand { nots, value: Some(value), span: piece.span() })
}

fn operator(text: &str) -> Operator {
    match text.trim_end() {
        "or" => Operator::Or,
        "and" => Operator::And,
        "+" => Operator::Sum(BinaryOp::Add),
        "-" => Operator::Sum(BinaryOp::Sub),
        "*" => Operator::Product(BinaryOp::Mul),
        "/" => Operator::Product(BinaryOp::Div),
        "mod" => Operator::Product(BinaryOp::Mod),
        "<=" => Operator::Compare(CompareOp::LessOrEqual),
        ">=" => Operator::Compare(CompareOp::GreaterOrEqual),
        "!=" => Operator::Compare(CompareOp::NotEqual),
        "<" => Operator::Compare(CompareOp::Less),
        ">" => Operator::Compare(CompareOp::Greater),
        _ => Operator::Compare(CompareOp::Equal),
    }
}

fn binary(op: BinaryOp, left: Placed, right: Placed) -> Placed {
    let ((left, start), (right, end)) = (left, right);
    let span = left.span.to(right.span);
    (Expression { span, kind: ExpressionKind::Binary(op, Box::new(left), Box::new(right)) }, start.to(end))
}
