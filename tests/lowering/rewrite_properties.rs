//! What holds of every rewrite: swapping twice is nothing, meaning stays, any bytes are survived, large code is quick.

use peak::edit::code::limits::MAX_PATTERN_BYTES;
use peak::edit::code::{CodeLanguage, RewriteError, rewrite_code};
use proptest::prelude::*;

fn language() -> impl Strategy<Value = CodeLanguage> {
    prop::sample::select(CodeLanguage::ALL.to_vec())
}

/// An expression, every sum that is an operand in parentheses of its own.
fn explicit() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["a", "b[i]", "f(x, y)", "3", "p.x", "-q", "(t)"]).prop_map(str::to_owned);
    leaf.prop_recursive(5, 40, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} + {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} * {b})")),
            inner.prop_map(|a| format!("g({a})")),
        ]
    })
}

/// An expression over `1`, `2`, `3` with as few parentheses as may be, beside its value.
fn valued() -> impl Strategy<Value = (String, i64)> {
    let leaf = prop::sample::select(vec![("1", 1_i64), ("2", 2), ("3", 3)]).prop_map(|(t, v)| (t.to_owned(), v));
    leaf.prop_recursive(5, 40, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            pair.clone().prop_map(|((a, x), (b, y))| (format!("{a} + {b}"), (a, x, '+', b, y))),
            pair.clone().prop_map(|((a, x), (b, y))| (format!("{a} - ({b})"), (a, x, '-', b, y))),
            pair.prop_map(|((a, x), (b, y))| (format!("({a}) * ({b})"), (a, x, '*', b, y))),
        ]
        .prop_map(|(text, (_, x, sign, _, y))| {
            let value = match sign {
                '+' => x.wrapping_add(y),
                '-' => x.wrapping_sub(y),
                _ => x.wrapping_mul(y),
            };
            (text, value)
        })
    })
}

/// The value of an expression over whole numbers with `+ - *` and parentheses.
fn value(text: &str) -> i64 {
    struct Reader<'a>(std::iter::Peekable<std::str::Chars<'a>>);
    impl Reader<'_> {
        fn sum(&mut self) -> i64 {
            let mut left = self.product();
            while let Some(sign) = self.0.next_if(|c| matches!(c, '+' | '-')) {
                let right = self.product();
                left = if sign == '+' { left.wrapping_add(right) } else { left.wrapping_sub(right) };
            }
            left
        }

        fn product(&mut self) -> i64 {
            let mut left = self.operand();
            while self.0.next_if_eq(&'*').is_some() {
                left = left.wrapping_mul(self.operand());
            }
            left
        }

        fn operand(&mut self) -> i64 {
            if self.0.next_if_eq(&'(').is_some() {
                let inner = self.sum();
                assert_eq!(self.0.next(), Some(')'));
                return inner;
            }
            let mut digits = String::new();
            while let Some(digit) = self.0.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            digits.parse().expect("a number")
        }
    }
    let packed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let mut reader = Reader(packed.chars().peekable());
    let found = reader.sum();
    assert_eq!(reader.0.next(), None, "{text}");
    found
}

fn statement(expression: &str) -> String {
    format!("void h() {{ y = {expression}; }}\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn swapping_twice_is_the_identity(language in language(), a in explicit(), b in explicit()) {
        let code = statement(&format!("{a} + {b}"));
        let swap = |code: &str| rewrite_code(language, code, "$A + $B", "$B + $A").expect("there is a sum");
        prop_assert_eq!(swap(&swap(&code)), code);
    }

    #[test]
    fn a_sum_swapped_has_the_same_value(language in language(), (text, expected) in valued()) {
        prop_assert_eq!(value(&text), expected, "the test's own reading");
        let code = statement(&text);
        for (pattern, replacement) in [("$A + $B", "$B + $A"), ("$A - $B", "0 - $B + $A"), ("$A * $B", "$B * $A")] {
            match rewrite_code(language, &code, pattern, replacement) {
                Ok(after) => {
                    let after = after.strip_prefix("void h() { y = ").and_then(|rest| rest.strip_suffix("; }\n"));
                    prop_assert_eq!(value(after.expect("only the expression changed")), expected);
                }
                Err(RewriteError::Select(_)) => {}
                Err(error) => prop_assert!(false, "{}", error),
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic(
        language in language(),
        code in ".{0,200}",
        pattern in ".{0,40}",
        replacement in ".{0,40}",
    ) {
        let _ = rewrite_code(language, &code, &pattern, &replacement);
    }

    #[test]
    fn no_pieces_of_code_make_it_panic(
        language in language(),
        code in pieces(60),
        pattern in pieces(8),
        replacement in pieces(8),
    ) {
        if let Ok(after) = rewrite_code(language, &code, &pattern, &replacement) {
            prop_assert!(after.len() <= peak::edit::code::limits::MAX_CODE_BYTES);
        }
    }
}

/// Pieces of code in any order, which mostly do not parse.
fn pieces(most: usize) -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "$A",
        "$B",
        "$$$C",
        "$_",
        "$$$",
        "x",
        "y",
        "f",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ";",
        ",",
        "+",
        "*",
        "-",
        "=",
        "if",
        "else",
        "for",
        "while",
        "return",
        "int",
        "float",
        "#define M(x) x\n",
        "\\\n",
        "// é\n",
        "/*",
        "*/",
        "\"",
        "'",
        "<",
        ">",
        "::",
        ".",
        "->",
        "1",
        "0x",
        "struct",
        "template",
        "[unroll]",
        "#if 1\n",
        "#endif\n",
        "\r\n",
        "\t",
        "\u{0}",
        "∞",
        "__shared__",
        "case",
        ":",
        "?",
        "&",
        "asm",
        "R\"(",
    ]);
    prop::collection::vec(piece, 0..most).prop_map(|pieces| pieces.join(" "))
}

/// A megabyte of code that is all sums. That it ends within the test's patience is what is asked, not how fast it is.
#[test]
fn a_megabyte_of_code_is_rewritten() {
    let line = "    y[i] = a[i] + b[i]; /* é */ if (c) { z += f(x, y[i]); }\n";
    let lines = (1 << 20) / line.len() + 1;
    let code = format!("void f() {{\n{}}}\n", line.repeat(lines));
    for language in CodeLanguage::ALL {
        let after = rewrite_code(language, &code, "$A + $B", "add($A, $B)").expect("rewrites");
        assert_eq!(after.matches("add(a[i], b[i])").count(), lines);
    }
}

#[test]
fn nesting_deeper_than_a_stack_is_survived() {
    let deep = 20_000;
    for code in [
        format!("void f() {{ y = {}x{}; }}", "(".repeat(deep), ")".repeat(deep)),
        format!("void f() {{ y = {}x; }}", "x + ".repeat(deep)),
        format!("void f() {}{}", "{".repeat(deep), "}".repeat(deep)),
        "(".repeat(deep),
    ] {
        for pattern in ["$A + $A", "$A + $B", "{ $$$B }", "f($A)"] {
            let _ = rewrite_code(CodeLanguage::Cuda, &code, pattern, "g()");
        }
    }
}

#[test]
fn a_pattern_beyond_its_bounds_is_refused() {
    let long = "x".repeat(MAX_PATTERN_BYTES + 1);
    let deep = format!("{}x{}", "(".repeat(500), ")".repeat(500));
    for pattern in [long.as_str(), deep.as_str()] {
        let refused = rewrite_code(CodeLanguage::Hlsl, "void f() { x = 1; }", pattern, "y");
        assert!(matches!(refused, Err(RewriteError::Select(_))), "{refused:?}");
    }
}

#[test]
fn a_result_beyond_its_bounds_is_refused() {
    let code = format!("void f() {{ {} }}", format!("g({});", "x".repeat(100_000)).repeat(20));
    let refused = rewrite_code(CodeLanguage::Cuda, &code, "g($A)", &"g($A); ".repeat(250));
    assert_eq!(refused, Err(RewriteError::TooLarge));
}
