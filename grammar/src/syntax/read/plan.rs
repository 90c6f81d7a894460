//! Statements of a launch plan.

use super::clause::{Piece, Rule, clause, clauses, missing_block, no_block};
use super::expression::{array_type, expression, expressions};
use crate::syntax::ast::{LaunchClause, PlanStatement};
use crate::syntax::{Node, Report, Spanned};

pub(super) fn statements(nodes: &[Node<'_>], out: &mut Report<'_>) -> Vec<Spanned<PlanStatement>> {
    let mut statements = Vec::with_capacity(nodes.len());
    for node in nodes {
        let Some(line) = clause(Rule::plan_line, node, out) else { continue };
        match statement(&line.piece(), node, out) {
            Some(statement) => statements.push(Spanned::new(statement, node.whole())),
            None => out.unread(node.span, node.text),
        }
    }
    statements
}

fn statement(piece: &Piece<'_>, node: &Node<'_>, out: &mut Report<'_>) -> Option<PlanStatement> {
    match piece.rule() {
        Rule::launch | Rule::repeat_plan if node.children.is_empty() => {
            missing_block(node, out);
            return None;
        }
        Rule::launch | Rule::repeat_plan => {}
        _ => no_block(node, out),
    }
    let name = piece.name(Rule::ident);
    Some(match piece.rule() {
        Rule::let_name => PlanStatement::Let(name, expression(piece, out)?),
        Rule::scratch => PlanStatement::Scratch(name, array_type(piece, out)?),
        Rule::fill => PlanStatement::Fill(name, piece.find(Rule::number)?.number(out)),
        Rule::tensor_map => PlanStatement::TensorMap {
            name,
            array: piece.names(Rule::ident).pop()?,
            extents: expressions(piece, out),
            swizzle: piece.find(Rule::swizzle).and_then(|form| form.find(Rule::integer)).map(|size| size.integer(out)),
        },
        Rule::launch => PlanStatement::Launch { kernel: name, clauses: clauses(Rule::launch_line, node, out, launch) },
        Rule::repeat_plan => PlanStatement::Repeat(expression(piece, out)?, statements(&node.children, out)),
        _ => PlanStatement::Reject(expression(piece, out)?, piece.find(Rule::text)?.quoted().value),
    })
}

pub(super) fn launch(piece: &Piece<'_>, node: &Node<'_>, out: &mut Report<'_>) -> Option<LaunchClause> {
    no_block(node, out);
    Some(match piece.rule() {
        Rule::grid => LaunchClause::Grid(expressions(piece, out)),
        Rule::block => LaunchClause::Block(expressions(piece, out)),
        Rule::shared => LaunchClause::Shared(expression(piece, out)?),
        Rule::cluster => LaunchClause::Cluster(expressions(piece, out)),
        Rule::cooperative => LaunchClause::Cooperative,
        _ => LaunchClause::Arguments(piece.names(Rule::ident)),
    })
}
