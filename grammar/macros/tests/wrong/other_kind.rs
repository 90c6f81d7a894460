//! A text of another kind than the macro's, and an argument that is no literal.

fn main() {
    let _ = peak_macros::workflow!(
        r#"
        transformation do-it "Do it"
          pass do-it
            in device code
              Do it.
        "#
    );
    let _ = peak_macros::recipes!(env!("HOME"));
}
