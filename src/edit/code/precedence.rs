//! How tightly expressions bind, so that what a metavariable stands for keeps its meaning where it is put.

use super::tree::children;
use tree_sitter::Node;

/// Binds tighter than any operator.
pub(super) const ATOM: u8 = 17;
const POSTFIX: u8 = 16;
const UNARY: u8 = 15;
const COMMA: u8 = 1;
const ASSIGNMENT: u8 = 2;
const CONDITIONAL: u8 = 3;

/// How tightly a node binds, where it is an expression.
pub(super) fn of(node: Node<'_>) -> Option<u8> {
    Some(match node.kind() {
        "comma_expression" => COMMA,
        "assignment_expression" | "throw_statement" => ASSIGNMENT,
        "conditional_expression" => CONDITIONAL,
        "binary_expression" => operator(node),
        "unary_expression" | "pointer_expression" | "cast_expression" | "update_expression" | "sizeof_expression"
        | "new_expression" | "delete_expression" | "alignof_expression" => UNARY,
        "call_expression" | "subscript_expression" | "field_expression" => POSTFIX,
        "identifier"
        | "number_literal"
        | "string_literal"
        | "char_literal"
        | "true"
        | "false"
        | "null"
        | "this"
        | "qualified_identifier"
        | "template_function"
        | "concatenated_string" => ATOM,
        kind if kind.ends_with("_expression") => ATOM,
        _ => return None,
    })
}

/// How tightly an expression must bind to stand in `node`'s place below `parent`; 0 where any may.
pub(super) fn slot(parent: Node<'_>, node: Node<'_>) -> u8 {
    let is = |field: &str| parent.child_by_field_name(field).is_some_and(|child| child.id() == node.id());
    match parent.kind() {
        "binary_expression" => operator(parent) + u8::from(!is("left")),
        "assignment_expression" => {
            if is("left") {
                UNARY
            } else {
                ASSIGNMENT
            }
        }
        "conditional_expression" if is("condition") => CONDITIONAL + 1,
        "conditional_expression" => {
            if is("consequence") {
                COMMA
            } else {
                ASSIGNMENT
            }
        }
        "comma_expression" => {
            if is("left") {
                COMMA
            } else {
                ASSIGNMENT
            }
        }
        "unary_expression" | "pointer_expression" | "cast_expression" | "update_expression" | "sizeof_expression" => {
            UNARY
        }
        "call_expression" | "subscript_expression" | "field_expression" => POSTFIX,
        "argument_list"
        | "initializer_list"
        | "init_declarator"
        | "subscript_argument_list"
        | "enumerator"
        | "optional_parameter_declaration"
        | "array_declarator"
        | "field_declaration" => ASSIGNMENT,
        // A `>` or `,` would end it.
        "template_argument_list" => 12,
        "parenthesized_expression" => 0,
        kind if kind.ends_with("_expression") => ATOM,
        _ => 0,
    }
}

/// The precedence of a binary expression.
fn operator(node: Node<'_>) -> u8 {
    let sign = node.child_by_field_name("operator").map(|operator| operator.kind());
    let sign = sign.or_else(|| children(node).get(1).map(|operator| operator.kind()));
    match sign.unwrap_or_default() {
        "||" | "or" => 4,
        "&&" | "and" => 5,
        "|" | "bitor" => 6,
        "^" | "xor" => 7,
        "&" | "bitand" => 8,
        "==" | "!=" | "not_eq" => 9,
        "<" | ">" | "<=" | ">=" | "<=>" => 10,
        "<<" | ">>" => 11,
        "+" | "-" => 12,
        "*" | "/" | "%" => 13,
        _ => 14,
    }
}
