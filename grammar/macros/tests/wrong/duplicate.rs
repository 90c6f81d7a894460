//! A name that is declared twice, the second time under another indentation than the program's.

fn main() {
    let _ = peak_macros::recipes!(r#"
transformation twice "Once"
  pass do-it
    in device code
      Do it.

transformation twice "Again"
  pass do-it
    in device code
      Do it.
"#);
}
