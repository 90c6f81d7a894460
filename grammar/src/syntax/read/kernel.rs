//! Clauses of `kernel`.

use super::clause::{Piece, Rule, clause, clauses, missing_block, no_block, one_fence};
use super::{expression, plan};
use crate::ir::{Code, Direction, Initializer, Region, Tolerance};
use crate::syntax::ast::{ArgumentForm, Assignment, Block, Header, HostCode, KernelClause};
use crate::syntax::{Node, Report};

pub(super) fn kernel(header: Header, node: &Node<'_>, text: &str, out: &mut Report<'_>) -> Block<KernelClause> {
    let clauses = clauses(Rule::kernel_line, node, out, |piece, node, out| {
        if !matches!(piece.rule(), Rule::computes | Rule::source | Rule::host_code) {
            no_block(node, out);
        }
        match piece.rule() {
            Rule::computes => assignments(piece, node, out).map(KernelClause::Computes),
            Rule::elements => Some(elements(piece)),
            Rule::argument => argument(piece, out),
            Rule::tolerance => tolerance(piece, out).map(KernelClause::Tolerance),
            Rule::tune => expression::introduced(piece, out).map(KernelClause::Tune),
            Rule::require => expression::requirement(piece, out).map(KernelClause::Require),
            Rule::source => source(piece, node, out),
            _ => host_code(node, text, out).map(KernelClause::HostCode),
        }
    });
    Block { header, clauses }
}

/// `computes` or `for kernels computing`: one on the line, or several below it.
pub(super) fn assignments(piece: &Piece<'_>, node: &Node<'_>, out: &mut Report<'_>) -> Option<Vec<Assignment>> {
    if let Some(inline) = piece.find(Rule::assignment) {
        no_block(node, out);
        return Some(vec![expression::assignment(&inline, out)?]);
    }
    if node.children.is_empty() {
        missing_block(node, out);
        return None;
    }
    let mut all = Vec::new();
    for child in &node.children {
        no_block(child, out);
        let line = clause(Rule::computes_line, child, out)?;
        all.push(expression::assignment(&line.piece(), out)?);
    }
    Some(all)
}

fn elements(piece: &Piece<'_>) -> KernelClause {
    let name = |rule| piece.find(rule).map(|part| part.name(Rule::ident));
    KernelClause::Elements { element: name(Rule::element_type), accumulate: name(Rule::accumulate_type) }
}

fn argument(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<KernelClause> {
    let direction = match piece.parts().next()?.rule() {
        Rule::k_input => Direction::Input,
        Rule::k_output => Direction::Output,
        _ => Direction::InOut,
    };
    let kind = match (piece.find(Rule::array_argument), piece.find(Rule::scalar_argument)) {
        (Some(array), _) => {
            let initializer = array.find(Rule::initializer).and_then(|form| initializer(&form, out));
            ArgumentForm::Array(expression::array_type(&array, out)?, initializer)
        }
        (None, scalar) => {
            let scalar = scalar?;
            let checked = scalar.find(Rule::checked).and_then(|checked| expression::values(&checked, out));
            ArgumentForm::Scalar {
                element: scalar.name(Rule::ident),
                values: expression::values(&scalar, out)?,
                checked,
            }
        }
    };
    Some(KernelClause::Argument { direction, name: piece.name(Rule::ident), kind })
}

fn initializer(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Initializer> {
    let form = piece.parts().next()?;
    Some(match form.rule() {
        Rule::k_zeros => Initializer::Zeros,
        Rule::k_ones => Initializer::Ones,
        Rule::normal => Initializer::Normal,
        _ => {
            let mut bounds = form.all(Rule::number);
            let (low, high) = (bounds.next()?.number(out), bounds.next()?.number(out));
            if low >= high {
                let diagnostic = out.error("peak::values", form.span(), "the bounds hold no number");
                out.push(diagnostic.help("write the lower bound first"));
            }
            Initializer::Uniform { low, high }
        }
    })
}

fn tolerance(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Tolerance> {
    let form = piece.parts().nth(1)?;
    let number = form.find(Rule::number);
    let value = number.as_ref().map_or(0.0, |number| number.number(out));
    if let Some(number) = number.filter(|_| value <= 0.0) {
        out.push(
            out.error("peak::values", number.span(), "a tolerance is above zero").help("or write `tolerance exact`"),
        );
    }
    Some(match form.rule() {
        Rule::k_exact => Tolerance::Exact,
        Rule::relative => Tolerance::Relative(value),
        Rule::absolute => Tolerance::Absolute(value),
        _ => Tolerance::SumLength,
    })
}

fn source(piece: &Piece<'_>, node: &Node<'_>, out: &mut Report<'_>) -> Option<KernelClause> {
    let region = if piece.has(Rule::k_macros) { Region::Macros } else { Region::DeviceCode };
    let code = match piece.find(Rule::text) {
        Some(file) => {
            no_block(node, out);
            Code::File(file.quoted().value)
        }
        None => Code::Inline(one_fence(node, out)?),
    };
    Some(KernelClause::Source { region, languages: piece.languages(), code })
}

fn host_code(node: &Node<'_>, text: &str, out: &mut Report<'_>) -> Option<HostCode> {
    let Some(span) = node.below.filter(|_| !node.children.is_empty()) else {
        missing_block(node, out);
        return None;
    };
    // The region's text is what prompts show and recordings are found by.
    out.keep(span);
    Some(HostCode {
        text: dedented(text, span.start, span.end),
        span,
        statements: plan::statements(&node.children, out),
    })
}

/// The lines from the one that holds `start` up to `end`, without the indentation of the first.
fn dedented(text: &str, start: usize, end: usize) -> String {
    let line_start = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let indent = start - line_start;
    let mut dedented = String::new();
    for line in text.get(line_start..end).unwrap_or("").lines() {
        let blanks = line.len() - line.trim_start().len();
        dedented.push_str(line.get(indent.min(blanks)..).unwrap_or("").trim_end());
        dedented.push('\n');
    }
    dedented
}
