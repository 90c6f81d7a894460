//! Edits: spans with a precondition, all or nothing; `insert` and `rename`.

use super::fixture::{matmul, name};
use peak::context::KernelContext;
use peak::edit::{Edit, EditError, EditScript, mechanical, rewrite, unified};
use peak_grammar::ir::{Action, Expr, Insertion, Place, PlanStatement, Region, SetTarget, Snippet, Target, Which};
use proptest::prelude::*;

fn edit(start: usize, expected: &str, replacement: &str) -> Edit {
    Edit { start, expected: expected.to_owned(), replacement: replacement.to_owned() }
}

fn carried_out(context: &KernelContext, action: &Action) -> Result<String, EditError> {
    let scripts = mechanical(context, Region::DeviceCode, action, &|_| None)?;
    let own = scripts.iter().find(|script| script.region == Region::DeviceCode);
    own.map_or(Ok(context.regions.device_code.clone()), |script| script.apply(&context.regions.device_code))
}

/// Code that must be there once.
fn once(pattern: &str) -> Target {
    let pattern = Snippet { text: pattern.to_owned(), ..Snippet::default() };
    Target { pattern, which: Which::Exactly(1), innermost: false, within: None, if_any: false }
}

fn insert(code: &str, place: Place) -> Action {
    Action::Insert { what: Insertion::Code(code.to_owned()), place }
}

fn rename(from: &str, to: &str) -> Action {
    Action::Rename { from: from.to_owned(), to: to.to_owned() }
}

#[test]
fn edits_apply_in_order_of_their_place() {
    let script = EditScript::new(Region::Macros, vec![edit(4, "c", "C"), edit(0, "a", "A")]).expect("disjoint");
    assert_eq!(script.apply("a b c").expect("applies"), "A b C");
}

#[test]
fn edits_that_overlap_are_refused() {
    let script = EditScript::new(Region::Macros, vec![edit(0, "ab", "x"), edit(1, "b", "y")]);
    assert_eq!(script, Err(EditError::Overlap { region: Region::Macros, at: 1 }));
}

#[test]
fn one_failed_precondition_leaves_everything_alone() {
    let script = EditScript::new(Region::Macros, vec![edit(0, "a", "A"), edit(2, "x", "X")]).expect("disjoint");
    let expected = EditError::Precondition { region: Region::Macros, at: 2, expected: "x".to_owned() };
    assert_eq!(script.apply("a b c"), Err(expected));
}

#[test]
fn a_span_inside_a_character_is_a_failed_precondition() {
    let script = EditScript::new(Region::Macros, vec![edit(1, "x", "y")]).expect("one edit");
    assert!(matches!(script.apply("é"), Err(EditError::Precondition { .. })));
}

#[test]
fn insert_stands_on_lines_of_its_own() {
    let context = matmul();
    let after = carried_out(&context, &insert("// first", Place::Top)).expect("inserts");
    assert!(after.starts_with("// first\n// C = A x B"));
    let after = carried_out(&context, &insert("// last", Place::End)).expect("inserts");
    assert!(after.ends_with("}\n// last\n"));
    let before = carried_out(&context, &insert("    // note", Place::Before(once("sum+=$PRODUCT")))).expect("inserts");
    assert!(
        before.contains("++k) {\n        // note\n        sum += A"),
        "spaces in the pattern do not count: {before}"
    );
    let after = carried_out(&context, &insert("// kept", Place::After(once("uint n ;"))));
    assert!(matches!(after, Ok(text) if text.contains("    uint n;\n    // kept\n};")));
    let block = "if (k < n) {\n    k += 1;\n\n}\n";
    let deep = carried_out(&context, &insert(block, Place::Before(once("sum+=$PRODUCT")))).expect("inserts");
    assert!(deep.contains("        if (k < n) {\n            k += 1;\n\n        }\n        sum += A"), "{deep}");
}

#[test]
fn a_pattern_must_match_once() {
    let twice = insert("x", Place::Before(once("id.y * n")));
    assert!(matches!(carried_out(&matmul(), &twice), Err(EditError::Count { count: 2, .. })));
    let never = insert("x", Place::After(once("no_such_code")));
    assert!(matches!(carried_out(&matmul(), &never), Err(EditError::NotFound { .. })));
}

#[test]
fn rename_spares_comments_and_longer_names() {
    let mut context = matmul();
    context.regions.device_code = "// sum\nfloat sum = sum_of(\"sum\") + sum;\n".to_owned();
    let after = carried_out(&context, &rename("sum", "total")).expect("renames");
    assert_eq!(after, "// sum\nfloat total = sum_of(\"sum\") + total;\n");
}

#[test]
fn rename_refuses_what_would_join_names_or_find_nothing() {
    assert!(matches!(carried_out(&matmul(), &rename("sum", "n")), Err(EditError::NameTaken { .. })));
    assert!(matches!(carried_out(&matmul(), &rename("nothing", "something")), Err(EditError::NothingToRename { .. })));
    assert!(matches!(carried_out(&matmul(), &rename("sum", "a b")), Err(EditError::NoIdentifier { .. })));
}

fn set(target: SetTarget, to: Vec<Expr>) -> Result<String, EditError> {
    let mut context = matmul();
    context.regions.host_code.insert_str(0, "let tiles = n\n");
    context.plan.statements.insert(0, PlanStatement::Let { name: "tiles".to_owned(), value: name("n") });
    let scripts = mechanical(&context, Region::HostCode, &Action::Set { target, to }, &|_| None)?;
    scripts[0].apply(&context.regions.host_code)
}

#[test]
fn set_changes_the_launch_plan_where_it_says() {
    let plan = set(SetTarget::Block, vec![name("BLOCK_X"), Expr::Integer(4)]).expect("sets");
    assert!(plan.contains("  block BLOCK_X, 4\n") && plan.contains("  grid n / BLOCK_X, n / BLOCK_Y\n"), "{plan}");
    let plan = set(SetTarget::Shared, vec![Expr::Integer(1024)]).expect("sets");
    assert!(plan.contains("  shared 1024 bytes\n"), "{plan}");
    let plan = set(SetTarget::Let("tiles".to_owned()), vec![Expr::Integer(8)]).expect("sets");
    assert!(plan.starts_with("let tiles = 8\n"), "{plan}");
}

#[test]
fn set_refuses_what_is_not_there() {
    assert!(matches!(set(SetTarget::Let("none".to_owned()), vec![name("n")]), Err(EditError::NothingToSet { .. })));
    assert!(matches!(set(SetTarget::Grid, Vec::new()), Err(EditError::SetCount { .. })));
    let grid = Action::Set { target: SetTarget::Grid, to: vec![name("n")] };
    assert!(matches!(carried_out(&matmul(), &grid), Err(EditError::SetOutsideHostCode { .. })));
}

#[test]
fn a_diff_for_people_names_the_region() {
    let text = unified(Region::DeviceCode, "a\nb\n", "a\nc\n");
    assert_eq!(text, "--- a/device-code\n+++ b/device-code\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
    assert_eq!(unified(Region::Macros, "a\n", "a\n"), "");
}

proptest! {
    #[test]
    fn a_rewrite_gives_the_new_text(old in "([ab\u{e9}]{0,3}\n){0,8}[ab]{0,2}", new in "([ab\u{e9}]{0,3}\n){0,8}[ab]{0,2}") {
        let script = rewrite(Region::Macros, &old, &new);
        prop_assert_eq!(script.apply(&old), Ok(new.clone()));
        prop_assert_eq!(script.is_empty(), old == new);
    }

    #[test]
    fn tokens_cover_any_text(text in ".{0,200}") {
        use peak::edit::tokens::{Syntax, tokens};
        for syntax in [Syntax::Code, Syntax::LaunchPlan] {
            let spans: Vec<_> = tokens(&text, syntax).into_iter().map(|token| token.span).collect();
            prop_assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start));
        }
    }
}
