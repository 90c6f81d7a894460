//! A clause that does not follow its grammar.

fn main() {
    let _ = peak_macros::transformation!(
        r#"
        transformation unroll "Unroll the loop"
          introduces UNROLL from 2 to 8
          pass unroll-loop
            in device code
              Unroll the loop {UNROLL} times.
        "#
    );
}
