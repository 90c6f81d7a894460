//! A unit that the language does not know.

fn main() {
    let _ = peak_macros::device!(
        r#"
        device my-gpu "Mine"
          speaks cuda sm_90a
          has l2 = 50 MB
        "#
    );
}
