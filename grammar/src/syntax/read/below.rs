//! What stands below a head that could not be read: its errors are told as well. Keeps nothing of it.

use super::clause::{Rule, clauses};
use super::{build, device, kernel, pack, plan, transformation, utility, workflow};
use crate::syntax::ast::Header;
use crate::syntax::{Node, Report, Spanned};

/// The clauses below the head of a declaration.
pub(super) fn declaration(node: &Node<'_>, text: &str, out: &mut Report<'_>) {
    if node.children.is_empty() {
        return;
    }
    let header = header(node);
    match first_word(node) {
        "kernel" => drop(kernel::kernel(header, node, text, out)),
        "utility" => drop(utility(header, node, out)),
        "transformation" => drop(transformation::transformation(header, node, out)),
        "device" => drop(device::device(header, node, out)),
        "pack" => drop(pack::pack(header, node, out)),
        "workflow" => drop(workflow::workflow(header, node, out)),
        "build" => drop(build::build(header, node, out)),
        _ => {}
    }
}

/// The lines below a clause of a block.
pub(super) fn clause(rule: Rule, node: &Node<'_>, out: &mut Report<'_>) {
    if node.children.is_empty() {
        return;
    }
    match (rule, first_word(node)) {
        (Rule::transformation_line, "pass") | (Rule::specialize_line, "replace") => {
            drop(clauses(Rule::pass_line, node, out, transformation::pass_clause));
        }
        (Rule::pack_line, "transformation") => drop(transformation::transformation(header(node), node, out)),
        (Rule::pack_line, "workflow") => drop(workflow::workflow(header(node), node, out)),
        (Rule::workflow_line | Rule::workflow_step_line, "choose" | "repeat" | "branch") => {
            drop(workflow::steps(node, out));
        }
        (Rule::plan_line, "launch") => drop(clauses(Rule::launch_line, node, out, plan::launch)),
        (Rule::plan_line, "repeat") => drop(plan::statements(&node.children, out)),
        _ => {}
    }
}

fn first_word<'n>(node: &Node<'n>) -> &'n str {
    node.text.split_whitespace().next().unwrap_or("")
}

fn header(node: &Node<'_>) -> Header {
    let name = node.text.split_whitespace().nth(1).unwrap_or("");
    Header { name: Spanned::new(name.to_owned(), node.span), title: None, span: node.whole() }
}
