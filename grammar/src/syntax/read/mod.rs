//! Lines to clauses: each is matched alone against `peak.pest`, so one bad clause costs only itself.
//!
//! The grammar is compiled twice: to `matcher`, which is quick and takes every right line, and by pest, which says of a
//! wrong one what was expected.

#[cfg(test)]
mod agreement;
mod below;
mod build;
mod clause;
mod device;
mod expected;
mod expression;
mod kernel;
mod matcher;
mod pack;
mod piece;
mod plan;
mod row;
mod token;
mod transformation;
mod workflow;

use super::ast::{Block, Declaration, File, Header, UtilityClause};
use super::{Node, Report, Spanned};
use clause::{Piece, Rule, clause, clauses, missing_block, no_block, one_fence};

/// Reads the tree of a file.
pub(super) fn file(name: &str, tree: &[Node<'_>], text: &str, out: &mut Report<'_>) -> File {
    let mut file = File { name: name.to_owned(), ..File::default() };
    for node in tree {
        let Some(line) = clause(Rule::file_line, node, out) else {
            below::declaration(node, text, out);
            continue;
        };
        let piece = line.piece();
        match piece.rule() {
            Rule::use_file => {
                no_block(node, out);
                file.uses.extend(piece.find(Rule::text).map(|text| text.quoted()));
            }
            _ => match declaration(&piece, node, text, out) {
                Some(declaration) => file.declarations.push(declaration),
                None => out.unread(node.span, node.text),
            },
        }
    }
    file
}

/// Reads the statements of a launch plan that stands alone.
pub(super) fn plan(tree: &[Node<'_>], out: &mut Report<'_>) -> Vec<Spanned<super::ast::PlanStatement>> {
    plan::statements(tree, out)
}

fn declaration(piece: &Piece<'_>, node: &Node<'_>, text: &str, out: &mut Report<'_>) -> Option<Declaration> {
    let header = header(piece, node);
    let kind = piece.parts().next()?.rule();
    if node.children.is_empty() {
        missing_block(node, out);
        return None;
    }
    Some(match kind {
        Rule::k_kernel => Declaration::Kernel(kernel::kernel(header, node, text, out)),
        Rule::k_utility => Declaration::Utility(utility(header, node, out)),
        Rule::k_transformation => Declaration::Transformation(transformation::transformation(header, node, out)),
        Rule::k_device => Declaration::Device(device::device(header, node, out)),
        Rule::k_pack => Declaration::Pack(pack::pack(header, node, out)),
        Rule::k_build => Declaration::Build(build::build(header, node, out)),
        _ => Declaration::Workflow(workflow::workflow(header, node, out)),
    })
}

fn header(piece: &Piece<'_>, node: &Node<'_>) -> Header {
    let title = piece.find(Rule::text).map(|text| text.quoted().value);
    Header { name: piece.name(Rule::word), title, span: node.whole() }
}

fn utility(header: Header, node: &Node<'_>, out: &mut Report<'_>) -> Block<UtilityClause> {
    let clauses = clauses(Rule::utility_line, node, out, |piece, node, out| match piece.rule() {
        Rule::utility_takes => {
            no_block(node, out);
            Some(UtilityClause::Takes(piece.names(Rule::ident)))
        }
        _ => Some(UtilityClause::Code { languages: piece.languages(), code: one_fence(node, out)? }),
    });
    Block { header, clauses }
}
