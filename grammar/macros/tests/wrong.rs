//! Wrong recipes fail the compilation: each program of `wrong/` beside what the compiler says of it.

#[test]
fn wrong_recipes_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/wrong/*.rs");
}
