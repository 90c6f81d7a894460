//! A requirement that no values of the tuning parameters meet.

fn main() {
    let _ = peak_macros::transformation!(
        r#"
        transformation tile "Tile the loop"
          introduces TILE in 8, 16
          introduces STEP in 3, 5
          requires whole-steps: TILE mod STEP = 0
          pass tile-loop
            in device code
              Tile the loop by {TILE}, {STEP} at a time.
        "#
    );
}
