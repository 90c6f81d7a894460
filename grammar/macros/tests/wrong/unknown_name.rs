//! Names that nothing has: a transformation of the standard library, a tuning parameter in prose. Both are told of.

fn main() {
    let _ = peak_macros::transformation!(
        r#"
        transformation unroll "Unroll the loop"
          after refacto
          introduces UNROLL in 2, 4, 8
          pass unroll-loop
            in device code
              Unroll the loop {UNROL} times.
        "#
    );
}
