//! Clauses of `pack` and `specialize`.

use super::clause::{Piece, Rule, clauses, missing_block, no_block};
use super::transformation::{pass, setting, transformation, words};
use super::{device, expression, header, workflow};
use crate::syntax::ast::{Block, Header, PackClause, SpecializeClause};
use crate::syntax::{Node, Report};

pub(super) fn pack(header: Header, node: &Node<'_>, out: &mut Report<'_>) -> Block<PackClause> {
    Block { header, clauses: clauses(Rule::pack_line, node, out, pack_clause) }
}

fn pack_clause(piece: &Piece<'_>, node: &Node<'_>, out: &mut Report<'_>) -> Option<PackClause> {
    let holds_more = matches!(piece.rule(), Rule::specialize | Rule::nested);
    if holds_more && node.children.is_empty() {
        missing_block(node, out);
        return None;
    }
    match piece.rule() {
        Rule::knows => return words(node, out).map(PackClause::Knows),
        Rule::for_devices | Rule::extends | Rule::has => no_block(node, out),
        _ => {}
    }
    Some(match piece.rule() {
        Rule::for_devices => PackClause::Devices(piece.names(Rule::word)),
        Rule::extends => PackClause::Extends(piece.name(Rule::word)),
        Rule::has => PackClause::Has { languages: piece.languages(), facts: device::facts(piece, out) },
        Rule::specialize => PackClause::Specialize {
            transformation: piece.name(Rule::word),
            clauses: clauses(Rule::specialize_line, node, out, specialize_clause),
        },
        _ if piece.has(Rule::k_workflow) => PackClause::Workflow(workflow::workflow(header(piece, node), node, out)),
        _ => PackClause::Transformation(transformation(header(piece, node), node, out)),
    })
}

fn specialize_clause(piece: &Piece<'_>, node: &Node<'_>, out: &mut Report<'_>) -> Option<SpecializeClause> {
    match piece.rule() {
        Rule::replace_pass => return pass(piece, node, out).map(SpecializeClause::ReplacePass),
        Rule::knows => return words(node, out).map(SpecializeClause::Knows),
        _ => no_block(node, out),
    }
    match piece.rule() {
        Rule::introduces => expression::introduced(piece, out).map(SpecializeClause::Introduces),
        Rule::requires => expression::requirement(piece, out).map(SpecializeClause::Requires),
        _ => setting(piece, out).map(SpecializeClause::Takes),
    }
}
