//! Clauses of `build`.

use super::clause::{Piece, Rule, clauses, no_block};
use super::expression::values;
use crate::syntax::ast::{Block, BuildClause as Clause, Header};
use crate::syntax::{Node, Report};

pub(super) fn build(header: Header, node: &Node<'_>, out: &mut Report<'_>) -> Block<Clause> {
    Block { header, clauses: clauses(Rule::build_line, node, out, build_clause) }
}

fn build_clause(piece: &Piece<'_>, node: &Node<'_>, out: &mut Report<'_>) -> Option<Clause> {
    no_block(node, out);
    Some(match piece.rule() {
        Rule::build_kernels => Clause::Kernels(piece.names(Rule::word)),
        Rule::build_sizes => {
            let sized = piece.all(Rule::sized);
            Clause::Sizes(sized.filter_map(|sized| Some((sized.name(Rule::ident), values(&sized, out)?))).collect())
        }
        Rule::for_devices => Clause::Devices(piece.names(Rule::word)),
        Rule::using => Clause::Using(piece.name(Rule::word)),
        _ => Clause::Output(piece.find(Rule::text)?.quoted()),
    })
}
