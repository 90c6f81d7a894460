//! The response parser: fences, notes, and no text that makes it panic.

use peak::lowering::{MAX_ANSWER_BYTES, ResponseDefect, parse};
use proptest::prelude::*;

#[test]
fn one_block_and_notes() {
    let answer = parse("Sure.\n```hlsl\nint x;\n```\nAnd:\n```notes\nassumes x\n```\n").expect("an answer");
    assert_eq!((answer.region().language.as_str(), answer.region().text.as_str()), ("hlsl", "int x;\n"));
    assert_eq!(answer.notes.as_deref(), Some("assumes x"));
}

#[test]
fn a_longer_fence_holds_shorter_ones_and_line_ends_are_plain() {
    let answer = parse("````cuda\r\n// ```\r\nint x;\r\n````\r\n").expect("an answer");
    assert_eq!(answer.region().text, "// ```\nint x;\n");
    assert_eq!(answer.notes, None);
}

#[test]
fn defects_are_told_apart() {
    assert_eq!(parse("```hlsl\nint x;\n"), Err(ResponseDefect::Unterminated { line: 1 }));
    assert_eq!(parse("int x;"), Err(ResponseDefect::NoBlock));
    assert_eq!(parse("```hlsl\n// nothing but this\n```"), Err(ResponseDefect::NoBlock));
    assert_eq!(parse("```notes\nwords\n```"), Err(ResponseDefect::NoBlock));
    assert_eq!(parse(""), Err(ResponseDefect::NoBlock));
    let flood = "x".repeat(MAX_ANSWER_BYTES + 1);
    assert_eq!(parse(&flood), Err(ResponseDefect::TooLong { bytes: flood.len() }));
}

proptest! {
    #[test]
    fn any_text_is_an_answer_or_a_defect(text in "(```|````|notes|hlsl|\n|\r\n| |\u{e9}|\u{0}|[a-z{}]){0,60}") {
        if let Ok(answer) = parse(&text) {
            prop_assert!(!answer.code.is_empty());
            prop_assert!(text.contains("```"));
        }
    }

    #[test]
    fn text_without_a_fence_never_is_one(text in "[^`]{0,300}") {
        prop_assert_eq!(parse(&text), Err(ResponseDefect::NoBlock));
    }
}
